"""What every panel is: it reads the run that is shown, is told what has changed, and draws on the window's timer."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import ClassVar

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from workbench.run.events import CeilingsMeasured, Failed, Finished, Log, Progress, Ready, RunEvent, Started
from workbench.run.record import RunRecord
from workbench.ui.places import Place
from workbench.ui.theme import Theme

BUDGET_S = 0.012  # of a frame; the rest of it is painting


class Panel(QWidget):
    """One view of a run.

    Subclasses state what `places.Docked` asks for, and name in `reads` the kinds of events that change what they show:
    a run's begin and end always do. They override `draw`, which shows `run`. A recorded run is shown as a live one: by
    its record.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[Place] = Place.BEHIND_LOWER
    reads: ClassVar[tuple[type, ...]] = ()
    shows_run: ClassVar[bool] = True  # and not the engine, whichever run that is
    rest_s: ClassVar[float] = 0.0  # the least time between two draws of what arrives during a run

    commandRequested = pyqtSignal(str)  # a name in COMMANDS, of what the panel offers to do
    recordChosen = pyqtSignal(object)  # RunRecord, of a run that the whole window is to show

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.run: RunRecord | None = None
        self._stale = True
        self.budget_s = inf  # what `draw` may take

    def show_run(self, run: RunRecord, change: RunEvent | None = None) -> None:
        """Show `run`, which has grown by `change`; None: it is another run than before. Must be fast: no drawing."""
        self.run = run
        if change is None:
            self.begin()
        if change is None or isinstance(change, (Started, Finished, Failed, *self.reads)):
            self.redraw()

    def show_nothing(self) -> None:
        """Show no run, as at first."""
        self.run = None
        self.begin()
        self.redraw()

    def begin(self) -> None:
        """Forget what was chosen or zoomed in the last run; `run` is the new one, None for none."""

    def hear(self, event: Ready | CeilingsMeasured | Log | Started | Failed) -> None:
        """Learn what the engine says, whichever run is shown."""

    def show_measuring(self, on: bool, progress: Progress | None = None) -> None:
        """Say that the device's ceilings are being measured and how far that is, or no longer."""

    def draw(self) -> None:
        """Show `run`."""
        raise NotImplementedError

    def set_history(self, records: Sequence[RunRecord]) -> None:
        """Learn of all finished runs, oldest first; panels that show a trend override this."""

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`; override to recolour plots, then call this."""
        self.theme = theme
        self.redraw()

    def redraw(self) -> None:
        """Show all anew at the next tick."""
        self.mark_stale()

    def mark_stale(self) -> None:
        """Ask for a draw at the next tick."""
        self._stale = True

    def tick(self, budget_s: float = BUDGET_S) -> bool:
        """Draw if something changed and somebody can see it; says whether it did.

        What takes longer than `budget_s` goes on at the next tick, where a panel can leave off. Behind another tab Qt
        calls a dock's widget visible, but no part of it is.
        """
        if not self._stale or not self.isVisible() or self.visibleRegion().isEmpty():
            return False
        self.budget_s = budget_s
        try:
            return self.draw_now()
        finally:
            self.budget_s = inf

    def draw_now(self) -> bool:
        """Draw if something changed, seen or not, as for a picture; says whether it did."""
        stale, self._stale = self._stale, False
        if stale:
            self.draw()
        return stale
