"""CeilingsPanel: what the panels that hold a run against the ceilings of its device have in common."""

from __future__ import annotations

from PyQt6.QtWidgets import QVBoxLayout, QWidget

from workbench.run.events import CeilingsMeasured, DeviceState, Failed, Finished, Measured, Ready, RunEvent, Started
from workbench.run.measurement import Measurement, Role
from workbench.ui.panels.bases.known_ceilings import KnownCeilings
from workbench.ui.panels.bases.plots import PlotPanel
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.text.cards import HoverCard, PlotStack
from workbench.ui.theme import Theme


class CeilingsPanel(PlotPanel):
    """One plot in `graphics` with its card under the mouse, or the reason why there is none.

    Subclasses put `graphics` and what stands above it into `content`, and look at `started`, `measured`, `end` and
    `known` when they draw. One that shows more of a run overrides `keep` and `forget`.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.ready: Ready | None = None
        self.started: Started | None = None
        self.measured: dict[Role, Measurement] = {}
        self.end: Finished | Failed | None = None
        self.known = KnownCeilings()
        self.graphics = PlotArea()
        self.graphics.ci.layout.setContentsMargins(0, 4, 0, 0)
        self.content = QWidget()
        self.stack = PlotStack(theme, self.content)
        self.hover = HoverCard(theme, self.graphics)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 4)
        layout.addWidget(self.stack)
        self.watch_mouse()

    def keep(self, event: RunEvent) -> bool:
        """Store what else is shown of `event`; False if that is nothing."""
        return False

    def forget(self) -> None:
        """Forget what `keep` has stored of the last run."""

    def take(self, event: RunEvent) -> None:
        """Keep how far the run has come, its measurements, and the ceilings that are known."""
        match event:
            case Started():
                self.started, self.measured, self.end = event, {}, None
                self.known.take(event)
                self.forget()
            case DeviceState():
                if not self.known.take(event):  # it comes again and again, mostly of the same GPU
                    return
            case Measured():
                self.measured[event.measurement.role] = event.measurement
            case Finished() | Failed():
                self.end = event
            case Ready():
                self.ready = event
                self.known.take(event)
            case CeilingsMeasured():
                self.known.take(event)
            case _:
                if not self.keep(event):
                    return
        self.mark_stale()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the plot's ground and the cards."""
        super().apply_theme(theme)
        self.graphics.setBackground(theme.surface)
        self.stack.card.apply_theme(theme)
        self.hover.apply_theme(theme)
