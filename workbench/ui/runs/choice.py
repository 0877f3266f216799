"""The runs that are chosen in the table, in the order in which they were: the first is what others are held against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PyQt6.QtCore import QItemSelectionRange, QObject, pyqtSignal
from PyQt6.QtWidgets import QTableView

from workbench.run.record import RunKey, RunRecord

MOST_TOLD = 7  # one more than can be compared, so that who listens knows of too many


class Choice(QObject):
    """Follows a view's selection, made by mouse or keys; `record_at` gives the run in a row of what is shown.

    `changed` carries the chosen runs, at most MOST_TOLD of them, however many are selected: all of 100,000 may be.
    """

    changed = pyqtSignal(object)  # tuple[RunRecord, ...]

    def __init__(self, view: QTableView, record_at: Callable[[int], RunRecord]) -> None:
        super().__init__(view)
        self._view = view
        self._record_at = record_at
        self._order: list[RunKey] = []
        self._told: tuple[RunKey, ...] = ()
        selection = view.selectionModel()
        assert selection is not None
        selection.selectionChanged.connect(self._follow)

    def records(self) -> tuple[RunRecord, ...]:
        """The chosen runs in the order of choosing; those chosen at once, as with Shift, from the top down."""
        selected = {record.key: record for record in map(self._record_at, self._rows())}
        kept = [key for key in self._order if key in selected]
        self._order = kept + [key for key in selected if key not in kept]
        return tuple(selected[key] for key in self._order)

    def _rows(self) -> list[int]:
        """The first selected rows from the top."""
        selection = self._view.selectionModel()
        assert selection is not None
        rows: list[int] = []
        parts: Any = selection.selection()  # a list, by its stubs no sequence
        for part in sorted(parts, key=QItemSelectionRange.top):
            rows += range(part.top(), min(part.bottom() + 1, part.top() + MOST_TOLD - len(rows)))
            if len(rows) >= MOST_TOLD:
                break
        return rows

    def _follow(self) -> None:
        records = self.records()
        keys = tuple(record.key for record in records)
        if keys != self._told:
            self._told = keys
            self.changed.emit(records)
