"""What the window shows is of one run: whatever ends without a result empties every panel, and says why."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from tests.samples import GPU, events_of, make_record
from tests.ui.conftest import MakeWindow
from workbench.run.events import Failed
from workbench.run.record import RunBuilder, RunKey
from workbench.run.request import Problem, RunRequest
from workbench.run.session import Session
from workbench.ui.panels import PANELS
from workbench.ui.panels.bases.panel import Panel
from workbench.ui.window.main import MainWindow
from workbench.ui.worker import Grown, Kept

PROBLEM = Problem(32, 64, 16)
REASON = "no NVIDIA GPU can be used here"


def run_panels(window: MainWindow) -> list[Panel]:
    return [panel for panel in window._stage.panels.values() if panel.shows_run]


def said(panel: Panel) -> str:
    """What can be read in a panel, as if it was in front."""
    panel.draw_now()
    return "\n".join(label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel))


def a_refused_run(window: MainWindow, folder: Path) -> None:
    """An engine that cannot be had for the device that is asked for."""
    builder = RunBuilder(RunRequest(PROBLEM, device="cuda"), -1)
    window._shown.is_live = True
    window._take(Grown(builder.record()))
    failure = Failed("invalid", REASON)
    builder.take(failure)
    window._take(Grown(builder.record(), failure))


def a_damaged_run(window: MainWindow, folder: Path) -> None:
    """A recording whose maps were lost after it was opened."""
    session = Session(folder / "damaged.tilescope")
    session.add(make_record(1, PROBLEM, device=GPU))
    record = window.open_recording(session.path)
    show_another(window)
    with closing(sqlite3.connect(session.path)) as db:
        db.execute("update runs set arrays = x'00'")
        db.commit()
    window.show_record(record)


def show_another(window: MainWindow) -> None:
    window._stage.show_run(make_record(9, Problem(48, 80, 16), device=GPU, protocol="cold"))
    window.flush()


@pytest.mark.parametrize(
    ("ends", "reason"), [(a_refused_run, REASON), (a_damaged_run, "are damaged")], ids=["refused", "damaged"]
)
def test_a_run_without_a_result_leaves_no_other_s_in_any_panel(
    make_test_window: MakeWindow, tmp_path: Path, ends: Callable[[MainWindow, Path], None], reason: str
) -> None:
    window = make_test_window()
    show_another(window)
    before = {panel.name: said(panel) for panel in run_panels(window)}
    assert any("PASS" in text for text in before.values())
    ends(window, tmp_path)
    window.flush()
    assert window._stage.run is not None and window._stage.run.has_nothing
    for panel in run_panels(window):
        assert panel.run is window._stage.run
        assert reason in said(panel), panel.name
        assert "PASS" not in said(panel) and "µs" not in said(panel), panel.name
    assert reason in window.headline.text() and "µs" not in window.headline.text()
    assert "48 × 80" not in window.headline.text()


def test_a_stopped_run_that_never_began_is_shown_as_that(make_test_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_test_window()
    show_another(window)
    window._shown.is_live = True
    with qtbot.waitSignal(window._worker.arrived):
        window._worker._request = RunRequest(PROBLEM)  # it waits: the engine has not been started
        window._worker.stop()
    QApplication.processEvents()
    window.flush()
    assert "stopped" in window.headline.text() and "µs" not in window.headline.text()


def test_a_run_keeps_its_identity_when_a_file_gives_it_a_number(make_test_window: MakeWindow, tmp_path: Path) -> None:
    window = make_test_window()
    record = replace(make_record(1, PROBLEM, device=GPU), run_id=-1)
    window._take(Grown(record))
    window.flush()
    stale = [panel.name for panel in run_panels(window) if panel._stale]
    window._stage.rename(RunKey("", -1), RunKey("", 7))
    assert window._stage.run is not None and window._stage.run.key == RunKey("", 7)
    assert all(panel.run is window._stage.run for panel in run_panels(window))
    assert [panel.name for panel in run_panels(window) if panel._stale] == stale, "a number is nothing new to be drawn"
    window._stage.rename(RunKey("", -2), RunKey("", 8))
    assert window._stage.run.key == RunKey("", 7), "that was another run"


def test_what_a_run_grows_by_reaches_only_the_panels_that_read_it(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    whole = replace(make_record(1, PROBLEM, device=GPU), run_id=-1)
    builder = RunBuilder(whole.started.request, -1)
    window._take(Grown(builder.record()))
    for panel in run_panels(window):
        panel.draw_now()
    for check in whole.checked:
        builder.take(check)
        window._take(Grown(builder.record(), check))
    for panel in run_panels(window):
        assert panel.run is builder.record()
        assert panel._stale == (type(whole.checked[0]) in panel.reads), panel.name


def test_a_run_of_this_session_whose_file_is_damaged_is_in_the_table_and_says_so(
    make_test_window: MakeWindow, tmp_path: Path
) -> None:
    session = Session(tmp_path / "test.tilescope")
    kept = session.add(make_record(1, PROBLEM, device=GPU))
    window = make_test_window()
    with closing(sqlite3.connect(session.path)) as db:
        data = json.loads(db.execute("select record from runs").fetchone()[0])
        data["measured"] = [1, 2]
        db.execute("update runs set record = ?", (json.dumps(data),))
        db.commit()
    window.show_record(kept)
    window.flush()
    assert "cannot be read" in window.headline.text()


def test_a_run_that_has_only_been_asked_for_says_nothing_of_a_device(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    show_another(window)
    window._shown.is_live = True
    window._take(Grown(RunBuilder(RunRequest(PROBLEM), -1).record()))
    window.flush()
    shown = [window.headline.text(), *map(said, run_panels(window)), *window._stage.caption("latency")]
    assert not any("interpreter" in text or "µs" in text or "PASS" in text for text in shown), shown


def test_the_table_marks_the_run_that_is_shown_and_no_other(make_test_window: MakeWindow) -> None:
    """The next run may have begun before the last one is in the file."""
    window = make_test_window()
    window._shown.is_live = True
    ended = replace(make_record(1, PROBLEM, device=GPU), run_id=-1)
    window._take(Grown(ended))
    window._take(Grown(RunBuilder(RunRequest(PROBLEM), -2).record()))
    window._shown.add(Kept(replace(ended, run_id=1), ended.key))
    assert window._stage.run is not None and window._stage.run.key == RunKey("", -2)
    assert window.results.selected() is None
    window._take(Grown(ended))
    window._shown.add(Kept(replace(ended, run_id=2), ended.key))
    selected = window.results.selected()
    assert selected is not None and selected.key == window._stage.run.key == RunKey("", 2)


@pytest.mark.parametrize("error", [OverflowError("string longer than 2147483647 bytes"), MemoryError()], ids=repr)
def test_a_run_that_cannot_be_written_ends_all_the_same(
    make_test_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: object) -> None:
        raise error

    window = make_test_window()
    told: list[object] = []
    window._worker.arrived.connect(told.append)
    monkeypatch.setattr(Session, "add", refuse)
    monkeypatch.setattr(
        window._worker._host, "run", lambda request: iter(events_of(make_record(1, PROBLEM, device=GPU)))
    )
    window._worker._run(RunRequest(PROBLEM))
    ended, kept = [one for one in told if isinstance(one, Grown | Kept)][-2:]
    assert isinstance(ended, Grown) and ended.record.end is not None
    assert isinstance(kept, Kept) and type(error).__name__ in kept.problem and kept.record.measured


@pytest.mark.parametrize("panel", [panel.name for panel in PANELS])
def test_a_run_chosen_in_a_panel_is_shown_in_the_whole_window(make_test_window: MakeWindow, panel: str) -> None:
    window = make_test_window()
    session = window._library.session
    for number in (1, 2):
        kept = session.add(make_record(number, PROBLEM))
        window._shown.add(Kept(kept, kept.key))
    first, last = window.results.records()
    window.show_record(last)
    window._stage.panels[panel].recordChosen.emit(first)
    selected = window.results.selected()
    assert selected is not None and selected.key == first.key
    assert all(one.run is not None and one.run.key == first.key for one in run_panels(window))
