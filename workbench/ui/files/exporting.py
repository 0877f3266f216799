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
from workbench.ui.files.names import run_name
from workbench.ui.files.recent import FileKind, Recent
from workbench.ui.notices.notice import Kind, Notice, Topic

KINDS = f"Tables ({' '.join(f'*{ending}' for ending in WRITERS)})"


class Exporting(QObject):
    """Asks for a file and writes runs to it in a thread of its own.

    `told` carries that it is done, in a line; `stopped` what stood in the way of the file.
    """

    told = pyqtSignal(str)
    stopped = pyqtSignal(object)  # Notice

    def __init__(
        self, parent: QWidget, recent: Recent, say: Callable[[str], None], tell: Callable[[Notice], None]
    ) -> None:
        super().__init__(parent)
        self._window = parent
        self._recent = recent
        self.told.connect(say)
        self.stopped.connect(tell)

    def export(self, records: Sequence[RunRecord]) -> None:
        """Ask where to, and write `records` as the kind of table that the file's name ends in."""
        if not records:
            self.told.emit("There are no runs to export")
            return
        runs = counted(len(records), "run")
        name = f"{run_name(records[0])}.csv" if len(records) == 1 else "runs.csv"
        suggestion = self._recent.folder(FileKind.TABLE, Path.home()) / name
        path = ask_where_to_save(self._window, f"Export {runs}", str(suggestion), KINDS)
        if path is not None:
            self._recent.keep_folder(FileKind.TABLE, path)
            # Not a daemon: a window that is closed meanwhile leaves no half of it unwritten.
            threading.Thread(target=self._write, args=(records, path, runs), name="export").start()

    def _write(self, records: Sequence[RunRecord], path: Path, runs: str) -> None:
        problem = ""
        try:
            export_runs(records, path)
        except (ExportError, SessionError) as error:
            problem = str(error)
        except Exception as error:  # whatever it was, somebody waits for the file
            problem = f"{path} cannot be written: {type(error).__name__}: {error}"
        with suppress(RuntimeError):  # the window is gone
            if problem:
                self.stopped.emit(Notice(Kind.ERROR, Topic.FILE, problem))
            else:
                self.told.emit(f"Exported {runs} to {path}")
