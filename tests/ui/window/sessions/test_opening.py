"""Opening, continuing and closing sessions and recordings in one window."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import QMimeData, QPointF, Qt, QUrl
from PyQt6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

from tests.samples import GPU, events_of, make_record
from tests.ui.conftest import MakeWindow
from workbench.run.record import RunBuilder
from workbench.run.request import Problem, RunRequest
from workbench.run.session import Session, SessionError
from workbench.ui.files.recent import MOST, Recent
from workbench.ui.window.main import MainWindow
from workbench.ui.worker import Grown, Kept

PROBLEM = Problem(32, 64, 16)
OTHER = Problem(48, 80, 16)


def make_file(path: Path, sealed: bool = False, problem: Problem = PROBLEM) -> Path:
    session = Session(path)
    session.add(make_record(1, problem, device=GPU))
    if sealed:
        session.seal()
    return path


def menu_of(window: MainWindow, name: str) -> dict[str, Callable[[], None]]:
    """The entries of a menu that can be chosen."""
    menu = window.command(name).menu()
    assert menu is not None
    menu.aboutToShow.emit()
    return {action.text(): action.trigger for action in menu.actions() if action.isEnabled()}


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    # Not by Qt, which sends a drop only to where its own drag manager has seen something enter.
    assert window._files.eventFilter(window, QDropEvent(QPointF(5, 5), copy, data, left, none))


def open_it(window: MainWindow, path: Path) -> None:
    window._filing.do(lambda: window.open_file(path))


@pytest.mark.parametrize("opens", [open_it, drop])
@pytest.mark.parametrize("sealed", [False, True], ids=["session", "recording"])
def test_the_file_says_whether_it_is_gone_on_with(
    make_test_window: MakeWindow, tmp_path: Path, opens: Callable[[MainWindow, Path], None], sealed: bool
) -> None:
    window = make_test_window("first.tilescope")
    path = make_file(tmp_path / "kv-tiles.tilescope", sealed)
    opens(window, path)
    assert window.session_path().name == ("first.tilescope" if sealed else "kv-tiles.tilescope")
    assert [record.source for record in window.results.records()] == ["kv-tiles" if sealed else ""]
    assert "32 × 64" in window.headline.text() and "kv-tiles" in window.windowTitle()
    if not sealed:
        assert window.controls.request().problem == PROBLEM


def missing(path: Path) -> None:
    pass


def folder(path: Path) -> None:
    path.mkdir()


def prose(path: Path) -> None:
    path.write_text("no database at all, however long it is\n" * 40)


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table birds (name text)")


@pytest.mark.parametrize("make", [missing, folder, prose, foreign])
def test_a_wrong_file_is_one_line_that_names_it_and_changes_nothing(
    make_test_window: MakeWindow, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "wrong.tilescope"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    window = make_test_window()
    open_it(window, path)
    (notice,) = window.notices.notices()
    assert "wrong.tilescope" in notice.line and "\n" not in notice.line
    assert window.session_path().name == "test.tilescope"
    assert (path.read_bytes() if path.is_file() else None) == before
    open_it(window, make_file(tmp_path / "good.tilescope"))
    assert window.notices.notices() == (), "a file that can be opened makes it old"


def test_two_windows_of_two_sessions_have_two_titles(make_test_window: MakeWindow) -> None:
    titles = [make_test_window(name).windowTitle() for name in ("kv-tiles.tilescope", "heads.tilescope")]
    assert titles == ["kv-tiles.tilescope – Tilescope", "heads.tilescope – Tilescope"]


def test_the_title_says_where_the_run_shown_is_from(make_test_window: MakeWindow, tmp_path: Path) -> None:
    make_file(tmp_path / "mine.tilescope")
    window = make_test_window("mine.tilescope")
    window.open_recording(make_file(tmp_path / "theirs.tilescope", sealed=True))
    assert "mine.tilescope" in window.windowTitle() and "theirs, run 1" in window.windowTitle()
    window.show_record(window.results.records()[0])
    assert window.windowTitle() == "mine.tilescope – Tilescope"


def test_a_new_session_begins_with_nothing_and_the_old_one_is_among_the_recent(
    make_test_window: MakeWindow, tmp_path: Path
) -> None:
    make_file(tmp_path / "old.tilescope")
    window = make_test_window("old.tilescope")
    window.show_record(window.results.records()[0])
    window.command("new").trigger()
    window.flush()
    assert window.session_path().parent.is_relative_to(tmp_path / "data")
    assert len(window.results.records()) == 0 and "µs" not in window.headline.text()
    assert window._stage.run is None
    menu_of(window, "recent")["old"]()
    assert window.session_path().name == "old.tilescope" and len(window.results.records()) == 1


def test_new_sessions_of_one_second_have_a_file_each(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    paths = []
    for _ in range(3):
        window.command("new").trigger()
        make_file(window.session_path())
        paths.append(window.session_path())
    assert len(set(paths)) == 3


def test_a_recording_is_closed_with_all_that_is_shown_of_it(make_test_window: MakeWindow, tmp_path: Path) -> None:
    make_file(tmp_path / "mine.tilescope")
    window = make_test_window("mine.tilescope")
    paths = [make_file(tmp_path / f"{name}.tilescope", sealed=True, problem=OTHER) for name in ("one", "two")]
    before = [path.read_bytes() for path in paths]
    for path in paths:
        window.open_recording(path)
    form = window.controls.request()
    menu_of(window, "close_recording")["two"]()
    window.flush()
    assert [record.source for record in window.results.records()] == ["", "one"]
    assert "32 × 64" in window.headline.text() and "two" not in window.windowTitle()
    assert window.controls.request() == form, "what was entered is the person's"
    menu_of(window, "close_recording")["one"]()
    assert menu_of(window, "close_recording") == {}
    assert [path.read_bytes() for path in paths] == before


def test_a_closed_recording_leaves_an_empty_window_where_there_is_no_other_run(
    make_test_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_test_window()
    window.open_recording(make_file(tmp_path / "one.tilescope", sealed=True))
    menu_of(window, "close_recording")["one"]()
    window.flush()
    assert "µs" not in window.headline.text()
    assert all(panel.run is None for panel in window._stage.panels.values())
    for panel in window._stage.panels.values():
        panel.draw_now()


def test_a_run_that_goes_on_is_kept_in_the_session_in_which_it_began(
    make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window = make_test_window("first.tilescope")
    second = make_file(tmp_path / "second.tilescope", problem=OTHER)
    told: list[object] = []
    window._worker.arrived.connect(told.append)
    events = list(events_of(make_record(1, PROBLEM, device=GPU)))

    def run(request: RunRequest) -> object:
        yield events[0]
        window.open_file(second)
        yield from events[1:]

    monkeypatch.setattr(window._worker._host, "run", run)
    window._worker._run(RunRequest(PROBLEM))
    window.flush()
    assert Session(tmp_path / "first.tilescope").numbers() == [1] and Session(second).numbers() == [1]
    assert window.session_path() == second
    assert [record.started.request.problem for record in window.results.records()] == [OTHER]
    monkeypatch.setattr(window._worker._host, "run", lambda request: iter(events))
    window._worker._run(RunRequest(PROBLEM))
    assert Session(second).numbers() == [1, 2], "the next one is of the session that is open"


def test_a_live_run_of_the_session_before_is_shown_as_from_there(make_test_window: MakeWindow, tmp_path: Path) -> None:
    window = make_test_window("first.tilescope")
    record = replace(make_record(1, PROBLEM, device=GPU), run_id=-1)
    window._take(Grown(RunBuilder(record.started.request, -1).record()))
    before = window.session_path()
    window.command("new").trigger()
    assert window._stage.run is not None and window._stage.run.run_id == -1, "it goes on"
    window._take(Grown(record))
    window._on_kept(Kept(replace(record, run_id=1), record.key, session=before))
    assert "first, run 1" in window.windowTitle()


def test_runs_that_are_in_no_file_are_not_left_behind(make_test_window: MakeWindow, tmp_path: Path) -> None:
    window = make_test_window()
    record = replace(make_record(1, PROBLEM, device=GPU), run_id=-1)
    window._on_kept(Kept(record, record.key, "disk full."))
    window.command("new").trigger()
    assert window.session_path().name == "test.tilescope"
    assert any("1 run" in notice.line for notice in window.notices.notices())
    window.save_session(tmp_path / "saved.tilescope")
    window.command("new").trigger()
    assert window.session_path().name != "test.tilescope"
    assert Session(tmp_path / "saved.tilescope").numbers() == [1]


def test_a_session_that_cannot_be_used_leaves_the_one_that_is_open(
    make_test_window: MakeWindow, tmp_path: Path
) -> None:
    make_file(tmp_path / "mine.tilescope")
    window = make_test_window("mine.tilescope")
    other = make_file(tmp_path / "other.tilescope")
    window._library.open_recording(make_file(tmp_path / "rec.tilescope", sealed=True))
    sealed = make_file(tmp_path / "sealed.tilescope", sealed=True)
    with pytest.raises(SessionError, match="is a recording"):
        window._library.use(Session(sealed))
    assert len(window._library.records()) == 2 and window.session_path().name == "mine.tilescope"
    window._library.use(Session(other))
    assert [record.source for record in window._library.records()] == ["rec", ""]


def test_recent_files_are_the_latest_first_without_what_is_gone_and_last_over_a_restart(
    make_test_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_test_window()
    names = [f"s{number}" for number in range(MOST + 3)]
    for name in names:
        open_it(window, make_file(tmp_path / f"{name}.tilescope"))
    open_it(window, tmp_path / "s5.tilescope")
    (tmp_path / "s7.tilescope").unlink()
    window.close()
    recent = Recent(make_test_window()._settings).paths()
    assert len(recent) == MOST - 1 and [path.stem for path in recent[:2]] == ["s5", names[-1]]
    assert "s7" not in {path.stem for path in recent}
