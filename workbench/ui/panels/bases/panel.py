"""What every panel is: it stores events as they come and draws on the window's one timer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from workbench.run.events import RunEvent
from workbench.run.record import RunRecord
from workbench.ui.theme import Theme


class Panel(QWidget):
    """One view of a run.

    Subclasses set `name` (used on the command line and in saved layouts) and `title`, override `take` to
    store what they need from an event, calling `mark_stale`, and `draw` to show what is stored. A `Started`
    event begins a new run: the panel forgets the last one. Recorded runs arrive as the same events.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    rest_s: ClassVar[float] = 0.0  # the least time between two draws of what arrives during a run

    commandRequested = pyqtSignal(str)  # a name in COMMANDS, of what the panel offers to do

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._stale = True

    def take(self, event: RunEvent) -> None:
        """Store what this panel shows of `event`. Must be fast: no drawing here."""
        raise NotImplementedError

    def draw(self) -> None:
        """Show what is stored."""
        raise NotImplementedError

    def set_history(self, records: Sequence[RunRecord]) -> None:
        """Learn of all finished runs, oldest first; panels that show a trend override this."""

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`; override to recolour plots, then call this."""
        self.theme = theme
        self.mark_stale()

    def mark_stale(self) -> None:
        """Ask for a draw at the next tick."""
        self._stale = True

    def tick(self) -> bool:
        """Draw if something changed and somebody can see it; says whether it did.

        Behind another tab Qt calls a dock's widget visible, but no part of it is.
        """
        if not self._stale or not self.isVisible() or self.visibleRegion().isEmpty():
            return False
        return self.draw_now()

    def draw_now(self) -> bool:
        """Draw if something changed, seen or not, as for a picture; says whether it did."""
        stale, self._stale = self._stale, False
        if stale:
            self.draw()
        return stale
