"""What the File menu does with this session's runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.patience import LIMIT_MS
from tests.samples import make_record
from tests.ui.conftest import MakeWindow
from workbench.run.request import Problem
from workbench.run.session import Session, SessionError
from workbench.ui.window.main import MainWindow


def choose(monkeypatch: pytest.MonkeyPatch, answer: Path | None) -> list[str]:
    """The titles of the dialogs that ask where to save from now on; each is answered with `answer`."""
    titles: list[str] = []

    def ask(parent: object, title: str, suggestion: str, kinds: str) -> Path | None:
        titles.append(f"{title}: {Path(suggestion).name}, {kinds}")
        return answer

    monkeypatch.setattr("workbench.ui.files.filing.ask_where_to_save", ask)
    return titles


def trigger(window: MainWindow, text: str) -> None:
    """Choose an entry of the File menu."""
    bar = window.menuBar()
    assert bar is not None
    menu = next(action.menu() for action in bar.actions() if action.text() == "&File")
    assert menu is not None
    next(action for action in menu.actions() if action.text() == text).trigger()


@pytest.mark.parametrize(
    ("entry", "asked", "goes_on"),
    [
        ("Save session as…", "Save session: kept.tilescope, Tilescope sessions (*.tilescope)", True),
        ("Save as recording…", "Save recording: kept.tilescope, Tilescope recordings (*.tilescope)", False),
    ],
)
def test_runs_are_saved_to_go_on_with_or_to_be_only_read(
    make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, asked: str, goes_on: bool
) -> None:
    Session(tmp_path / "kept.tilescope").add(make_record(1, Problem(16, 32, 8)))
    window = make_test_window("kept.tilescope")
    path = tmp_path / "saved.tilescope"
    titles = choose(monkeypatch, path)
    trigger(window, entry)
    assert titles == [asked]
    assert window.status.currentMessage() == f"Saved 1 run to {path}"
    assert Session(path).load(1).started.request.problem == Problem(16, 32, 8)
    if goes_on:
        Session(path).check()
    else:
        with pytest.raises(SessionError, match="is a recording"):
            Session(path).check()


def test_a_recording_of_nothing_is_refused_in_a_line(
    make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_test_window()
    path = tmp_path / "saved.tilescope"
    choose(monkeypatch, path)
    trigger(window, "Save as recording…")
    assert "has no runs yet" in window.notices.text() and not path.exists()


@pytest.mark.parametrize("entry", ["Save session as…", "Save as recording…", "Picture of the window…"])
def test_a_dialog_begins_in_the_folder_where_the_last_one_ended(
    qtbot: QtBot, make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    Session(tmp_path / "kept.tilescope").add(make_record(1, Problem(16, 32, 8)))
    window = make_test_window("kept.tilescope")
    window.show_record(window.results.records()[0])
    suggested: list[Path] = []
    (tmp_path / "there").mkdir()

    def ask(parent: object, title: str, suggestion: str, kinds: str) -> Path:
        suggested.append(Path(suggestion))
        return tmp_path / "there" / Path(suggestion).name

    monkeypatch.setattr("workbench.ui.files.filing.ask_where_to_save", ask)
    for count in (1, 2):
        trigger(window, entry)
        qtbot.waitUntil(lambda count=count: len(suggested) == count, timeout=LIMIT_MS)  # type: ignore[misc]
        qtbot.waitUntil((tmp_path / "there" / suggested[0].name).is_file, timeout=LIMIT_MS)
    assert suggested[1].parent == tmp_path / "there" and suggested[0].name == suggested[1].name
    assert (tmp_path / "there" / suggested[1].name).is_file()


def test_who_cancels_the_dialog_writes_nothing(
    make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Session(tmp_path / "kept.tilescope").add(make_record(1, Problem(16, 32, 8)))
    window = make_test_window("kept.tilescope")
    titles = choose(monkeypatch, None)
    before = sorted(tmp_path.iterdir())
    for entry in ("Save session as…", "Save as recording…"):
        trigger(window, entry)
    assert len(titles) == 2 and sorted(tmp_path.iterdir()) == before
