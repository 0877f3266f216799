"""Writes chosen runs for other programs, while the window goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from workbench.analysis.numbers import counted
from workbench.export.files import WRITERS, ExportError, export_runs
from workbench.run.record import RunRecord
from workbench.run.session import SessionError
from workbench.ui.files.filing import ask_where_to_save

KINDS = f"Tables ({' '.join(f'*{ending}' for ending in WRITERS)})"


class Exporting(QObject):
    """Asks for a file and writes runs to it in a thread of its own; `told` carries the outcome, in a line."""

    told = pyqtSignal(str)

    def __init__(self, parent: QWidget, say: Callable[[str], None]) -> None:
        super().__init__(parent)
        self._window = parent
        self.told.connect(say)

    def export(self, records: Sequence[RunRecord]) -> None:
        """Ask where to, and write `records` as the kind of table that the file's name ends in."""
        if not records:
            self.told.emit("There are no runs to export")
            return
        runs = counted(len(records), "run")
        path = ask_where_to_save(self._window, f"Export {runs}", "runs.csv", KINDS)
        if path is not None:
            # Not a daemon: a window that is closed meanwhile leaves no half of it unwritten.
            threading.Thread(target=self._write, args=(records, path, runs), name="export").start()

    def _write(self, records: Sequence[RunRecord], path: Path, runs: str) -> None:
        try:
            export_runs(records, path)
            outcome = f"Exported {runs} to {path}"
        except (ExportError, SessionError) as error:
            outcome = str(error)
        with suppress(RuntimeError):  # the window is gone
            self.told.emit(outcome)
