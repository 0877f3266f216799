"""MapPanel: what the panels that show one head's map at a time have in common."""

from __future__ import annotations

from PyQt6.QtWidgets import QVBoxLayout, QWidget

from workbench.run.request import Problem
from workbench.ui.panels.bases.heads import HeadBox
from workbench.ui.panels.bases.panel import Panel
from workbench.ui.plots.heatmap import HeatmapView
from workbench.ui.text.cards import HoverCard, PlotStack
from workbench.ui.theme import Theme


class MapPanel(Panel):
    """A map with its card under the mouse and its head selector, or the reason why there is none.

    Subclasses put their widgets into `content`, and look at `changed` when they draw: what is shown is to be set anew,
    not only its visible part.
    """

    def __init__(self, theme: Theme, view: HeatmapView) -> None:
        super().__init__(theme)
        self.view = view
        self.hover = HoverCard(theme, view.graphics)
        self.head_box = HeadBox()
        self.content = QWidget()
        self.stack = PlotStack(theme, self.content)
        self.changed = True
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 4)
        layout.addWidget(self.stack)
        view.moved.connect(self.mark_stale)
        self.head_box.chosen.connect(self.redraw)

    @property
    def problem(self) -> Problem:
        """The problem of the run that is shown; there must be one."""
        assert self.run is not None
        return self.run.started.request.problem

    def redraw(self) -> None:
        """Set all that is shown anew at the next tick."""
        self.changed = True
        self.mark_stale()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the cards."""
        super().apply_theme(theme)
        self.hover.apply_theme(theme)
        self.stack.card.apply_theme(theme)
