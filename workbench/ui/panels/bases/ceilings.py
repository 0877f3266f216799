"""CeilingsPanel: what the panels that hold a run against the ceilings of its device have in common."""

from __future__ import annotations

from typing import ClassVar

from workbench.run.events import CeilingsMeasured, DeviceState, Failed, Log, Measured, Ready, RunEvent, Started
from workbench.run.record import RunRecord
from workbench.ui.panels.bases.known_ceilings import KnownCeilings
from workbench.ui.panels.bases.plots import PlotPanel
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.theme import Theme


class CeilingsPanel(PlotPanel):
    """One plot in `graphics`. Subclasses look at `run` and `known` when they draw."""

    reads: ClassVar[tuple[type, ...]] = (Measured,)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, PlotArea())
        self.ready: Ready | None = None
        self.known = KnownCeilings()
        self.graphics.ci.layout.setContentsMargins(0, 4, 0, 0)

    def show_run(self, run: RunRecord, change: RunEvent | None = None) -> None:
        """Show `run`, and learn of which GPU it is: what the device did is told again and again, mostly of the same."""
        super().show_run(run, change)
        if (change is None or isinstance(change, Started | DeviceState)) and self.known.look_at(run):
            self.mark_stale()

    def hear(self, event: Ready | CeilingsMeasured | Log | Started | Failed) -> None:
        """Learn which device the engine is on, and its ceilings."""
        if isinstance(event, Ready):
            self.ready = event
        if isinstance(event, Ready | CeilingsMeasured):
            self.known.learn(event)
            self.mark_stale()
