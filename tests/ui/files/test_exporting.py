"""Export from the window: the runs that are selected, in the order shown, written while the window goes on."""

from __future__ import annotations

import csv
import threading
from pathlib import Path

import pytest
from PyQt6.QtCore import QItemSelectionModel
from pytestqt.qtbot import QtBot

from tests.patience import LIMIT_MS
from tests.samples import make_record
from tests.ui.conftest import MakeWindow
from tests.ui.files.test_filing import trigger
from workbench.export.files import WRITERS
from workbench.run.request import Problem
from workbench.run.session import Session
from workbench.ui.files import exporting
from workbench.ui.window.main import MainWindow

ENTRY = "Export runs…"


@pytest.fixture
def window(make_test_window: MakeWindow, tmp_path: Path) -> MainWindow:
    """A window with four runs."""
    session = Session(tmp_path / "kept.tilescope")
    for number in range(1, 5):
        session.add(make_record(number, Problem(16, 32, 8)))
    return make_test_window("kept.tilescope")


def answer(monkeypatch: pytest.MonkeyPatch, path: Path | None) -> list[str]:
    """Answer the dialog with `path`; the list is what it asks."""
    asked: list[str] = []

    def ask(parent: object, title: str, suggestion: str, kinds: str) -> Path | None:
        asked.append(f"{title}: {Path(suggestion).name}, {kinds}")
        return path

    monkeypatch.setattr(exporting, "ask_where_to_save", ask)
    return asked


def select(window: MainWindow, *rows: int) -> None:
    """Select these rows of the table, as Ctrl and a click do."""
    view = window.results._view
    model, selection = view.model(), view.selectionModel()
    assert model is not None and selection is not None
    flag = QItemSelectionModel.SelectionFlag
    selection.clearSelection()
    for row in rows:
        selection.select(model.index(row, 0), flag.Select | flag.Rows)


def exported(qtbot: QtBot, window: MainWindow) -> str:
    """What is said once the file is written."""
    with qtbot.waitSignal(window._exporting.told, timeout=LIMIT_MS) as told:
        trigger(window, ENTRY)
    assert told.args is not None
    return str(told.args[0])


@pytest.mark.parametrize(
    ("rows", "written"),
    [((), "4321"), ((1,), "4321"), ((0, 2), "42"), ((3, 1), "31")],
    ids=["none", "one, which is shown", "two", "in the order shown"],
)
def test_what_is_selected_is_written(
    window: MainWindow,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: tuple[int, ...],
    written: str,
) -> None:
    path = tmp_path / "runs.csv"
    asked = answer(monkeypatch, path)
    select(window, *rows)
    assert exported(qtbot, window) == f"Exported {len(written)} runs to {path}"
    with path.open(newline="", encoding="utf-8") as file:
        assert "".join(row["run"] for row in csv.DictReader(file)) == written
    assert asked == [f"Export {len(written)} runs: runs.csv, Tables ({' '.join(f'*{ending}' for ending in WRITERS)})"]


def test_the_window_s_thread_writes_nothing(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, tmp_path / "runs.csv")
    threads: list[threading.Thread] = []
    monkeypatch.setattr(exporting, "export_runs", lambda *_: threads.append(threading.current_thread()))
    exported(qtbot, window)
    assert threads and threading.main_thread() not in threads


@pytest.mark.parametrize(
    ("name", "words"), [("runs.xls", "is no table's name"), ("none/runs.csv", "cannot be written")]
)
def test_a_file_that_cannot_be_written_is_said(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    answer(monkeypatch, tmp_path / name)
    with qtbot.waitSignal(window._exporting.stopped, timeout=LIMIT_MS):
        trigger(window, ENTRY)
    assert words in window.notices.text()


def test_nothing_is_written_where_the_dialog_is_left_or_there_is_no_run(
    make_test_window: MakeWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = make_test_window("new.tilescope")
    asked = answer(monkeypatch, None)
    assert exported(qtbot, empty) == "There are no runs to export" and not asked


def test_the_table_s_own_menu_exports_as_well(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(monkeypatch, None)
    window.results.exportRequested.emit()
    assert len(asked) == 1
