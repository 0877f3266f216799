"""The compare panel's wires: the runs it compares are chosen in the table, and it can have two measured again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import QObject

from workbench.run.record import RunRecord
from workbench.run.request import RunRequest
from workbench.ui.panels.compare.panel import ComparePanel
from workbench.ui.runs.table import ResultsTable
from workbench.ui.window.layout.docks import Docks
from workbench.ui.window.stage import Stage


class Comparing(QObject):
    """Hands chosen runs to the panel, and brings it to the front when there are two of them.

    The headline has the same reference as the panel. `submit` runs a request, `load` gives
    a run with its maps and states, and may be called in a thread.
    """

    def __init__(
        self,
        results: ResultsTable,
        stage: Stage,
        docks: Docks,
        submit: Callable[[RunRequest], None],
        load: Callable[[RunRecord], RunRecord],
    ) -> None:
        panel = stage.panels[ComparePanel.name]
        assert isinstance(panel, ComparePanel)
        super().__init__(panel)
        self._panel = panel
        panel.load = load
        self._dock = docks.dock(panel.name)
        results.recordsChosen.connect(self._on_chosen)
        results.referenceRequested.connect(panel.set_reference)
        panel.referenceChanged.connect(stage.headline.set_reference)
        panel.turnsRequested.connect(submit)

    def _on_chosen(self, records: Sequence[RunRecord]) -> None:
        could = self._panel.can_compare
        self._panel.choose(records)
        # Only as it becomes a comparison: who looks at another panel meanwhile is not taken away from it again.
        if self._panel.can_compare and not could and not self._dock.isHidden():
            self._dock.raise_()
