"""The compare panel's wires: the runs it compares are chosen in the table, and it can have two measured again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QDockWidget

from workbench.run.record import RunRecord
from workbench.run.request import RunRequest
from workbench.ui.panels.bases.panel import Panel
from workbench.ui.panels.compare.panel import ComparePanel
from workbench.ui.runs.table import ResultsTable


class Comparing(QObject):
    """Hands chosen runs to the panel, and brings it to the front when there are two of them.

    `submit` runs a request.
    """

    def __init__(
        self, results: ResultsTable, panel: Panel, dock: QDockWidget, submit: Callable[[RunRequest], None]
    ) -> None:
        super().__init__(panel)
        assert isinstance(panel, ComparePanel)
        self._panel = panel
        self._dock = dock
        results.recordsChosen.connect(self._on_chosen)
        results.referenceRequested.connect(panel.set_reference)
        panel.turnsRequested.connect(submit)

    def _on_chosen(self, records: Sequence[RunRecord]) -> None:
        could = self._panel.can_compare
        self._panel.choose(records)
        # Only as it becomes a comparison: who looks at another panel meanwhile is not taken away from it again.
        if self._panel.can_compare and not could and not self._dock.isHidden():
            self._dock.raise_()
