"""The whole window with its real engine: what a person does, and what they see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.patience import LIMIT_MS
from tests.samples import make_record
from tests.ui.conftest import MakeWindow
from tests.ui.hands import press_key
from workbench.run.events import Failed, Finished
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.run.session import Session
from workbench.ui.window.main import MainWindow

# One tile for tests that need a run, six where their number counts.
TINY = RunRequest(Problem(7, 13, 8), TileConfig(16, 16), device="interpreter")
SMALL = RunRequest(Problem(20, 40, 8), TileConfig(16, 16), device="interpreter")
# A minute and more on any interpreter, for what is stopped, killed or overtaken.
LONG = RunRequest(Problem(1024, 1024, 64), TileConfig(16, 16), device="interpreter")


def run_to_end(
    qtbot: QtBot, window: MainWindow, request: RunRequest | None = None, draw_at_once: bool = True
) -> RunRecord:
    """Start the window or, if it has been, run `request`; returns the run's record.

    `draw_at_once` shows everything before it returns; the window itself takes some frames for that.
    """
    with qtbot.waitSignal(window.settled, timeout=LIMIT_MS) as blocker:
        if window._worker.isRunning():
            assert request is not None
            window.controls.set_request(request)
            window.run()
        else:
            window.start(request)
    assert blocker.args is not None
    record = blocker.args[0]
    assert isinstance(record, RunRecord)
    if draw_at_once:
        window.flush()
    return record


def test_run_by_key_and_see_the_run_in_the_table_and_the_session(qtbot: QtBot, make_warm_window: MakeWindow) -> None:
    window = make_warm_window()
    run_to_end(qtbot, window, TINY)
    window.controls.set_request(replace(TINY, tile=TileConfig(32, 16)))
    for keys in (Qt.Key.Key_F5, (Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)):
        with qtbot.waitSignal(window.settled, timeout=LIMIT_MS):
            press_key(window, *keys) if isinstance(keys, tuple) else press_key(window, keys)
    assert [r.started.request.tile.block_m for r in window.results.records()] == [16, 32, 32]
    kept = Session(window.session_path()).summaries()
    assert [r.run_id for r in kept] == [1, 2, 3]


def test_a_kept_run_is_shown_again_in_every_panel(qtbot: QtBot, make_warm_window: MakeWindow) -> None:
    window = make_warm_window()
    first = run_to_end(qtbot, window, SMALL)
    run_to_end(qtbot, window, TINY)
    assert "7 × 13 × 8" in window.headline.text()
    window.show_record(window.results.records()[0])
    window.flush()
    assert "20 × 40 × 8" in window.headline.text()
    check = first.check("kernel")
    assert check is not None
    shown = Session(window.session_path()).load(1)
    assert shown.states is not None and shown.states.m_running is not None
    assert shown.states.m_running.shape == (1, 20, 3)


def test_auto_run_follows_a_change_and_the_newest_change_wins(qtbot: QtBot, make_warm_window: MakeWindow) -> None:
    window = make_warm_window()
    run_to_end(qtbot, window, SMALL)
    window.command("auto").setChecked(True)
    window.controls.set_request(LONG)
    qtbot.waitUntil(window.is_running, timeout=LIMIT_MS)
    qtbot.waitUntil(lambda: "checking" in window.status.text().lower(), timeout=LIMIT_MS)
    newest = replace(TINY, tile=TileConfig(16, 32))
    with qtbot.waitSignal(
        window.settled, timeout=LIMIT_MS, check_params_cb=lambda record: record.started.request.tile == newest.tile
    ):
        window.controls.set_request(newest)
    last = window.results.records()[-1]
    assert last.started.request.tile == newest.tile and isinstance(last.end, Finished)
    assert not any(isinstance(r.end, Finished) and r.started.request == LONG for r in window.results.records())


def test_stop_works_while_a_run_replaces_another(qtbot: QtBot, make_warm_window: MakeWindow) -> None:
    window = make_warm_window()
    run_to_end(qtbot, window, SMALL)
    for seed in (1, 2):
        problem = Problem(LONG.problem.m, LONG.problem.n, LONG.problem.d, seed=seed)
        window.controls.set_request(RunRequest(problem, device="interpreter"))
        window.run()
        qtbot.waitUntil(lambda: "checking" in window.status.text().lower(), timeout=LIMIT_MS)
        assert window.command("stop").isEnabled() and window.is_running()
    press_key(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.is_running(), timeout=LIMIT_MS)
    assert not window.command("stop").isEnabled()


def test_stop_by_escape_leaves_the_window_ready(qtbot: QtBot, make_warm_window: MakeWindow) -> None:
    window = make_warm_window()
    run_to_end(qtbot, window, SMALL)
    window.controls.set_request(LONG)
    window.run()
    qtbot.waitUntil(lambda: "checking" in window.status.text().lower(), timeout=LIMIT_MS)
    press_key(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.is_running(), timeout=LIMIT_MS)
    assert "stopped" in window.headline.text().lower()
    assert isinstance(run_to_end(qtbot, window, SMALL).end, Finished)


def test_a_long_run_asks_first(qtbot: QtBot, make_warm_window: MakeWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.ui.window.control.ASK_ABOVE_SECONDS", 0.0)
    window = make_warm_window()
    run_to_end(qtbot, window, SMALL)
    window.controls.set_request(RunRequest(Problem(1024, 4096, 128), device="interpreter"))
    window.run()
    box = window.findChild(QMessageBox, "long_run")
    assert box is not None and "on the interpreter" in box.text()
    assert not window.is_running()
    press_key(box, Qt.Key.Key_Escape)
    assert not window.is_running()


def test_a_form_that_cannot_work_runs_nothing_and_says_why(qtbot: QtBot, make_warm_window: MakeWindow) -> None:
    window = make_warm_window()
    run_to_end(qtbot, window, TINY)
    window.controls.set_request(replace(TINY, tile=TileConfig(48, 16)))
    assert not window.command("run").isEnabled()
    window.run()
    assert not window.is_running()
    assert "BLOCK_M is 48" in window.notices.text()


def test_a_recording_is_shown_without_running_it(qtbot: QtBot, make_warm_window: MakeWindow, tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.tilescope"
    Session(path).add(make_record(1))
    Session(path).add(make_record(2, tile=TileConfig(32, 32)))
    before = path.read_bytes()
    window = make_warm_window()
    window.open_recording(path)
    window.flush()
    assert [(r.source, r.run_id) for r in window.results.records()] == [("elsewhere", 1), ("elsewhere", 2)]
    assert "32×32" in window.headline.text()
    run_to_end(qtbot, window, TINY)
    assert path.read_bytes() == before
    assert [r.source for r in window.results.records()] == ["elsewhere", "elsewhere", ""]


def test_a_session_is_opened_with_what_it_holds(qtbot: QtBot, make_warm_window: MakeWindow, tmp_path: Path) -> None:
    Session(tmp_path / "kept.tilescope").add(make_record(1))
    window = make_warm_window("kept.tilescope")
    record = run_to_end(qtbot, window, TINY)
    assert record.run_id == 2
    assert [r.run_id for r in window.results.records()] == [1, 2]


def test_a_session_with_runs_shows_its_last_finished_one_and_runs_nothing(
    qtbot: QtBot, make_warm_window: MakeWindow, tmp_path: Path
) -> None:
    session = Session(tmp_path / "kept.tilescope")
    session.add(make_record(1, Problem(16, 32, 8)))
    last = session.add(make_record(2, Problem(32, 64, 8), TileConfig(32, 32)))
    session.add(make_record(3, Problem(16, 32, 8), failure=Failed("died", "the engine died")))
    window = make_warm_window("kept.tilescope")
    with qtbot.waitSignal(window._worker.arrived, timeout=LIMIT_MS):
        window.start(None)
    window.flush()
    assert "32×32, 32 × 64 × 8" in window.headline.text() and "Ready" not in window.headline.text()
    selected = window.results.selected()
    assert selected is not None and selected.run_id == last.run_id
    assert window.controls.request() == last.started.request
    assert not window.is_running() and len(window.results.records()) == 3


def test_a_form_that_is_not_of_the_run_shown_says_so(
    qtbot: QtBot, make_warm_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_warm_window()
    setup = window.docks.dock("controls")
    assert setup.windowTitle() == "Setup", "before any run"
    record = run_to_end(qtbot, window, TINY)
    assert setup.windowTitle() == "Setup"
    window.controls.set_request(replace(TINY, problem=replace(TINY.problem, m=24)))
    assert setup.windowTitle() == "Setup – differs from the run shown" and setup.toolTip().endswith("shown: M")
    action = setup.toggleViewAction()
    assert action is not None and action.text() == "Setup"
    window.controls.set_request(record.started.request)
    assert setup.windowTitle() == "Setup"
    path = tmp_path / "elsewhere.tilescope"
    Session(path).add(make_record(1))
    window.open_recording(path)
    assert setup.windowTitle() == "Setup – differs from the run shown"
    window.show_record(record)
    assert setup.windowTitle() == "Setup"


def test_a_run_that_cannot_be_written_is_held_and_can_be_saved(
    qtbot: QtBot, make_warm_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.run.session import SessionError

    window = make_warm_window("lost.tilescope")

    def refuse(self: Session, record: RunRecord, compress: bool = False) -> None:
        raise SessionError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(Session, "add", refuse)
        run_to_end(qtbot, window, TINY)
    assert "disk full" in window.notices.text()
    copy = tmp_path / "saved.tilescope"
    assert window.save_session(copy).runs == 1
    states = Session(copy).load(1).states
    assert states is not None and states.m_running is not None


def test_best_tile_by_key(qtbot: QtBot, make_warm_window: MakeWindow) -> None:
    window = make_warm_window()
    run_to_end(qtbot, window, RunRequest(Problem(20, 40, 8), TileConfig(16, 32), device="interpreter"))
    press_key(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert window.controls.request().tile == TileConfig(32, 32, 4, 1)
    menus = window.menuBar()
    assert menus is not None
    run_menu = next(action.menu() for action in menus.actions() if action.text() == "&Run")
    assert run_menu is not None and window.command("best") in run_menu.actions()
    window.command("keys").trigger()
    box = window.findChild(QMessageBox, "help")
    assert box is not None and "Ctrl+B" in box.text() and "Best tile" in box.text()
    box.close()
