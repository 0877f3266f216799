"""Stars, names, notes and deleting by the window's own commands: each is kept, and can be undone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PyQt6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from tests.samples import GPU, make_record
from tests.ui.conftest import MakeWindow
from workbench.run.kept.marks import NO_MARKS, Marks
from workbench.run.library import Library
from workbench.run.record import RunKey
from workbench.run.request import Problem
from workbench.run.session import Session, SessionError
from workbench.ui.runs.columns import COLUMNS
from workbench.ui.runs.deleted import DeletedRuns
from workbench.ui.window.main import MainWindow

PROBLEM = Problem(32, 64, 16)
SECOND = RunKey("", 2)


@pytest.fixture
def window(make_test_window: MakeWindow, tmp_path: Path) -> MainWindow:
    session = Session(tmp_path / "test.tilescope")
    for number in (1, 2, 3):
        session.add(make_record(number, PROBLEM, device=GPU, protocol="cold"))
    found = make_test_window("test.tilescope")
    found.results.select(SECOND)
    return found


def kept(window: MainWindow) -> dict[int, Marks]:
    """What the file has, apart from what the window holds."""
    return {number: marks for number, marks in Session(window.session_path()).marks().items() if marks != NO_MARKS}


def numbers(window: MainWindow) -> list[int]:
    return [window.results._runs.key(row).number for row in range(window.results._runs.rowCount())]


def answered(window: MainWindow, field: str, text: str) -> None:
    window._marks.marking.actions[{"name": 1, "note": 2}[field]].trigger()
    dialog = window.results.findChild(QInputDialog, f"ask_{field}")
    assert dialog is not None
    dialog.setTextValue(text)
    dialog.accept()


EACH: dict[str, tuple[Callable[[MainWindow], None], Marks]] = {
    "star": (lambda window: window._marks.marking.actions[0].trigger(), Marks(starred=True)),
    "name": (lambda window: answered(window, "name", "the good tile"), Marks(name="the good tile")),
    "note": (lambda window: answered(window, "note", "clocks were low"), Marks(note="clocks were low")),
    "delete": (lambda window: window._marks.marking.actions[3].trigger(), Marks(deleted=True)),
}


@pytest.mark.parametrize("what", EACH)
def test_a_mark_is_kept_at_once_and_undone_and_done_again(window: MainWindow, what: str) -> None:
    do, expected = EACH[what]
    before = Session(window.session_path()).load(2)
    do(window)
    assert kept(window) == {2: expected}
    undo, redo = window.command("undo"), window.command("redo")
    assert undo.isEnabled() and what in undo.text() and "run 2" in undo.text()
    undo.trigger()
    assert kept(window) == {} and numbers(window) == [3, 2, 1] and redo.isEnabled()
    redo.trigger()
    assert kept(window) == {2: expected}
    assert numbers(window) == ([3, 1] if what == "delete" else [3, 2, 1])
    assert Session(window.session_path()).load(2).started == before.started


def test_marks_are_seen_and_asked_for(window: MainWindow) -> None:
    EACH["star"][0](window)
    answered(window, "name", "the good tile")
    model, titles = window.results._runs, [column.title for column in COLUMNS]
    name = titles.index("Name")
    assert [model.index(row, name).data() for row in range(3)] == ["–", "★ the good tile", "–"]
    assert not window.results._view.isColumnHidden(name)
    for text in ("starred", "good", 'name:"the good"'):
        window.results.filter.edit.setText(text)
        assert numbers(window) == [2]
    window._marks.marking.actions[0].trigger()
    window.results.filter.edit.setText("starred")
    assert numbers(window) == []


def test_several_runs_are_deleted_in_one_step_and_brought_back(window: MainWindow, qtbot: QtBot) -> None:
    window.results._view.selectAll()
    EACH["delete"][0](window)
    assert numbers(window) == [] and "3 runs" in window.command("undo").text()
    assert "Deleted runs" in window.status.currentMessage()
    window.command("deleted").trigger()
    dialog = window.findChild(DeletedRuns)
    assert dialog is not None and dialog.list.count() == 3
    assert all(word in dialog.list.item(0).text() for word in ("run 1", "article", "32 × 64 × 16", "µs"))  # type: ignore[union-attr]
    dialog.buttons.accepted.emit()
    assert numbers(window) == [3, 2, 1] and kept(window) == {}
    window.command("undo").trigger()
    assert numbers(window) == []


def test_runs_of_a_recording_refuse_every_mark_in_one_line(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Library(Session(window.session_path())).save_copy(tmp_path / "r.tilescope", sealed=True)
    window.open_recording(tmp_path / "r.tilescope")
    window.results.select(RunKey("r", 2))
    undo_text = window.command("undo").text()
    for do, _ in EACH.values():
        window.status.clearMessage()
        do(window)
        assert window.status.currentMessage() == "run 2 is of r, which is only read: it cannot be marked"
    assert kept(window) == {} and window.command("undo").text() == undo_text, "what was not done is no step"


def test_a_file_that_cannot_be_written_leaves_marks_as_they_were(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise SessionError("the disk is full")

    monkeypatch.setattr(Session, "mark", refuse)
    for do, _ in EACH.values():
        do(window)
        assert window.status.currentMessage() == "the disk is full"
        assert window._library.marks(SECOND) == NO_MARKS and not window.command("undo").isEnabled()


def test_what_was_deleted_in_one_window_is_so_in_the_next(window: MainWindow, make_test_window: MakeWindow) -> None:
    EACH["delete"][0](window)
    assert [run.run_id for run in Library(Session(window.session_path())).records()] == [1, 3]
