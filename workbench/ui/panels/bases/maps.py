"""MapPanel: what the panels that show one head's map at a time have in common."""

from __future__ import annotations

from workbench.run.request import Problem
from workbench.ui.panels.bases.heads import HeadBox
from workbench.ui.panels.bases.plots import PicturePanel
from workbench.ui.plots.heatmap import HeatmapView
from workbench.ui.theme import Theme


class MapPanel(PicturePanel):
    """A map with its head selector.

    Subclasses look at `changed` when they draw: what is shown is to be set anew, not only its visible part.
    """

    def __init__(self, theme: Theme, view: HeatmapView) -> None:
        super().__init__(theme, view.graphics)
        self.view = view
        self.head_box = HeadBox()
        self.changed = True
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
