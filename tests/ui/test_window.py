"""The whole window with its real engine: what a person does, and what they see."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import QSettings, Qt
from PyQt6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from tests.samples import make_record
from tests.ui.conftest import MakeWindow
from tests.ui.hands import press_key
from workbench.model import Failed, Finished, Problem, RunRecord, RunRequest, TileConfig
from workbench.session import Session
from workbench.ui.bridge import OfCeilings, Rested, RunWorker
from workbench.ui.main_window import MainWindow
from workbench.ui.panels import PANELS
from workbench.ui.panels.memory import MemoryPanel
from workbench.ui.panels.roofline import RooflinePanel

RUN_MS = 60_000
SMALL = RunRequest(Problem(20, 40, 8), TileConfig(16, 16), device="interpreter")
# Several seconds on the interpreter: long enough to stop, to crash, or to be overtaken, and on a busy machine still
# below what the window asks about first.
LONG = RunRequest(Problem(192, 192, 16), TileConfig(16, 16), device="interpreter")


def add_record(window: MainWindow) -> RunRecord:
    """A run that the window has kept."""
    record = Session(window.session_path()).add(make_record(1, Problem(16, 32, 8)))
    return window._library.add(record, saved=True)


def run_to_end(
    qtbot: QtBot, window: MainWindow, request: RunRequest | None = None, draw_at_once: bool = True
) -> RunRecord:
    """Start the window or, if it has been, run `request`; returns the run's record.

    `draw_at_once` shows everything before it returns; the window itself takes some frames for that.
    """
    with qtbot.waitSignal(window.settled, timeout=RUN_MS) as blocker:
        if window.is_started():
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


def test_a_first_launch_shows_a_finished_run_of_its_own_accord(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    record = run_to_end(qtbot, window)
    assert isinstance(record.end, Finished)
    assert record.started.request.problem == Problem(35, 67, 32)
    assert "interpreter, not GPU time" in window.verdict.text()
    assert "passed" in window.verdict.text()
    assert [r.run_id for r in window.results.records()] == [1]
    assert "Finished in" in window.status.text()


def test_run_by_key_and_see_the_run_in_the_table_and_the_session(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    window.controls.set_request(RunRequest(Problem(20, 40, 8), TileConfig(32, 16), device="interpreter"))
    for keys in (Qt.Key.Key_F5, (Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)):
        with qtbot.waitSignal(window.settled, timeout=RUN_MS):
            press_key(window, *keys) if isinstance(keys, tuple) else press_key(window, keys)
    assert [r.started.request.tile.block_m for r in window.results.records()] == [16, 32, 32]
    kept = Session(window.session_path()).summaries()
    assert [r.run_id for r in kept] == [1, 2, 3]


def test_a_kept_run_is_shown_again_in_every_panel(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    first = run_to_end(qtbot, window, SMALL)
    run_to_end(qtbot, window, RunRequest(Problem(7, 13, 8), TileConfig(16, 16), device="interpreter"))
    assert "7 × 13 × 8" in window.verdict.text()
    window.show_record(window.results.records()[0])
    window.flush()
    assert "20 × 40 × 8" in window.verdict.text()
    check = first.check("kernel")
    assert check is not None
    shown = Session(window.session_path()).load(1)
    assert shown.states is not None and shown.states.m_running is not None
    assert shown.states.m_running.shape == (1, 20, 3)


def test_auto_run_follows_a_change_and_the_newest_change_wins(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    window.command("auto").setChecked(True)
    window.controls.set_request(LONG)
    qtbot.waitUntil(window.is_running, timeout=5000)
    qtbot.wait(300)
    newest = RunRequest(Problem(20, 40, 8), TileConfig(16, 32), device="interpreter")
    with qtbot.waitSignal(
        window.settled, timeout=RUN_MS, check_params_cb=lambda record: record.started.request.tile == newest.tile
    ):
        window.controls.set_request(newest)
    last = window.results.records()[-1]
    assert last.started.request.tile == newest.tile and isinstance(last.end, Finished)
    assert not any(isinstance(r.end, Finished) and r.started.request == LONG for r in window.results.records())


def test_stop_works_while_a_run_replaces_another(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    for seed in (1, 2):
        problem = Problem(LONG.problem.m, LONG.problem.n, LONG.problem.d, seed=seed)
        window.controls.set_request(RunRequest(problem, device="interpreter"))
        window.run()
        qtbot.waitUntil(lambda: "checking" in window.status.text().lower(), timeout=15_000)
        assert window.command("stop").isEnabled() and window.is_running()
    press_key(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.is_running(), timeout=8000)
    assert not window.command("stop").isEnabled()


def test_the_first_run_gives_way_to_the_user(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    window.start(None)
    mine = RunRequest(Problem(20, 41, 8), TileConfig(32, 32), device="interpreter")
    window.controls.set_request(mine)
    with qtbot.waitSignal(window.settled, timeout=RUN_MS) as blocker:
        window.run()
    assert blocker.args is not None and blocker.args[0].started.request.problem == mine.problem
    qtbot.waitUntil(lambda: not window.is_running(), timeout=5000)
    assert window.controls.request().problem == mine.problem
    assert len(window.results.records()) == 1


def test_an_engine_that_cannot_start_leaves_the_shown_run_alone(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("here the GPU can be chosen")
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    before = window.verdict.text()
    window.controls.set_request(RunRequest(SMALL.problem, device="cuda"))
    qtbot.waitUntil(lambda: "could not start" in window.status.text(), timeout=15_000)
    assert window.verdict.text() == before
    assert "no NVIDIA GPU" in window.status.currentMessage()


def test_stop_by_escape_leaves_the_window_ready(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    window.controls.set_request(LONG)
    window.run()
    qtbot.waitUntil(lambda: "checking" in window.status.text().lower(), timeout=10_000)
    press_key(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.is_running(), timeout=5000)
    assert "stopped" in window.verdict.text().lower()
    assert isinstance(run_to_end(qtbot, window, SMALL).end, Finished)


def test_a_killed_engine_is_one_clear_failure_and_the_next_run_works(
    qtbot: QtBot, make_test_window: MakeWindow
) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    window.controls.set_request(LONG)
    with qtbot.waitSignal(window.settled, timeout=RUN_MS) as blocker:
        window.run()
        qtbot.waitUntil(lambda: "checking" in window.status.text().lower(), timeout=10_000)
        pid = window.engine_pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    assert blocker.args is not None
    end = blocker.args[0].end
    assert isinstance(end, Failed) and end.kind == "died" and "SIGKILL" in end.message
    window.flush()
    assert "SIGKILL" in window.verdict.text()
    assert isinstance(run_to_end(qtbot, window, SMALL).end, Finished)


def test_a_long_run_asks_first(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    window.controls.set_request(RunRequest(Problem(1024, 4096, 128), device="interpreter"))
    window.run()
    box = window.findChild(QMessageBox, "long_run")
    assert box is not None and "on the interpreter" in box.text()
    assert not window.is_running()
    press_key(box, Qt.Key.Key_Escape)
    assert not window.is_running()


def test_a_form_that_cannot_work_runs_nothing_and_says_why(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    window.controls.set_request(RunRequest(Problem(20, 40, 8), TileConfig(48, 16), device="interpreter"))
    assert not window.command("run").isEnabled()
    window.run()
    assert not window.is_running()
    assert "BLOCK_M is 48" in window.status.currentMessage()


def test_a_recording_is_shown_without_running_it(qtbot: QtBot, make_test_window: MakeWindow, tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.tilescope"
    Session(path).add(make_record(1))
    Session(path).add(make_record(2, tile=TileConfig(32, 32)))
    before = path.read_bytes()
    window = make_test_window()
    window.open_recording(path)
    window.flush()
    assert [(r.source, r.run_id) for r in window.results.records()] == [("elsewhere", 1), ("elsewhere", 2)]
    assert "32×32" in window.verdict.text()
    run_to_end(qtbot, window, SMALL)
    assert path.read_bytes() == before
    assert [r.source for r in window.results.records()] == ["elsewhere", "elsewhere", ""]


def test_the_layout_comes_back(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    window.docks.dock("error").hide()
    window.resize(1200, 800)
    window.close()
    again = make_test_window("other.tilescope")
    assert not again.docks.dock("error").isVisibleTo(again)
    assert again.docks.dock("latency").isVisibleTo(again)
    again.command("reset").trigger()
    assert again.docks.dock("error").isVisibleTo(again)


def test_a_session_is_opened_with_what_it_holds(qtbot: QtBot, make_test_window: MakeWindow, tmp_path: Path) -> None:
    Session(tmp_path / "kept.tilescope").add(make_record(1))
    window = make_test_window("kept.tilescope")
    record = run_to_end(qtbot, window, SMALL)
    assert record.run_id == 2
    assert [r.run_id for r in window.results.records()] == [1, 2]


def test_a_session_with_runs_shows_its_last_finished_one_and_runs_nothing(
    qtbot: QtBot, make_test_window: MakeWindow, tmp_path: Path
) -> None:
    session = Session(tmp_path / "kept.tilescope")
    session.add(make_record(1, Problem(16, 32, 8)))
    last = session.add(make_record(2, Problem(32, 64, 8), TileConfig(32, 32)))
    session.add(make_record(3, Problem(16, 32, 8), failure=Failed("died", "the engine died")))
    window = make_test_window("kept.tilescope")
    with qtbot.waitSignal(window._worker.arrived, timeout=RUN_MS):
        window.start(None)
    window.flush()
    assert "32×32, 32 × 64 × 8" in window.verdict.text() and "Ready" not in window.verdict.text()
    selected = window.results.selected()
    assert selected is not None and selected.run_id == last.run_id
    assert window.controls.request() == last.started.request
    assert not window.is_running() and len(window.results.records()) == 3


def test_a_form_that_is_not_of_the_run_shown_says_so(
    qtbot: QtBot, make_test_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_test_window()
    setup = window.docks.dock("controls")
    assert setup.windowTitle() == "Setup", "before any run"
    record = run_to_end(qtbot, window, SMALL)
    assert setup.windowTitle() == "Setup"
    window.controls.set_request(replace(SMALL, problem=replace(SMALL.problem, m=24)))
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
    qtbot: QtBot, make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.session import SessionError

    window = make_test_window("lost.tilescope")

    def refuse(self: Session, record: RunRecord, compress: bool = False) -> None:
        raise SessionError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(Session, "add", refuse)
        run_to_end(qtbot, window, SMALL)
    assert "disk full" in window.status.currentMessage()
    copy = tmp_path / "saved.tilescope"
    assert window.save_session(copy) == 1
    states = Session(copy).load(1).states
    assert states is not None and states.m_running is not None


def test_both_themes_and_a_picture(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    from workbench.ui.pictures import take_picture
    from workbench.ui.theme import load_theme

    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    colors = []
    for name in ("dark", "light"):
        window.set_theme(load_theme(name))
        window.flush()
        image = take_picture(window, 2.0)
        assert (image.width(), image.height()) == (window.width() * 2, window.height() * 2)
        colors.append(image.pixelColor(image.width() // 2, 4).lightness())
    assert colors[0] < 80 < 180 < colors[1]


def test_best_tile_by_key(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
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


def test_a_first_run_whose_tile_the_engine_chooses_puts_it_into_the_form(
    qtbot: QtBot, make_test_window: MakeWindow
) -> None:
    window = make_test_window()
    names = ("block_m", "block_n", "num_warps", "num_stages", "splits")
    record = run_to_end(qtbot, window, replace(SMALL, auto_tile=names))
    assert record.started.request.tile == TileConfig(32, 32, 4, 1)
    assert window.controls.request().tile == record.started.request.tile


@pytest.mark.parametrize("name", ["Ctrl+R", "F5", "Esc", "Ctrl+B", "Ctrl+Shift+S"])
def test_the_promised_keys_exist_once(make_test_window: MakeWindow, name: str) -> None:
    window = make_test_window()
    owners = [a for a in window.actions() if name in [s.toString() for s in a.shortcuts()]]
    assert len(owners) == 1


NEW_PANELS = ("roofline", "memory")


def test_the_first_sight_is_of_the_runs_with_the_new_panels_behind_them(
    qtbot: QtBot, make_test_window: MakeWindow
) -> None:
    window = make_test_window()
    qtbot.waitExposed(window)
    QApplication.processEvents()
    assert not window.results.visibleRegion().isEmpty()
    docks = window.tabifiedDockWidgets(window.docks.dock("results"))
    assert [dock.windowTitle() for dock in docks] == ["Roofline", "Memory", "Log"]
    menus = window.menuBar()
    assert menus is not None
    view = next(action.menu() for action in menus.actions() if action.text() == "&View")
    assert view is not None
    assert {"Roofline", "Memory"} <= {action.text() for action in view.actions()}
    assert set(NEW_PANELS) <= set(window.widget_names())


@pytest.mark.parametrize("kept_names", [False, True], ids=["an old program's layout", "this one's, of fewer panels"])
def test_a_layout_that_does_not_know_a_panel_does_not_hide_it(
    make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_names: bool
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("workbench.ui.stage.PANELS", tuple(p for p in PANELS if p.name not in NEW_PANELS))
        old = make_test_window()
        old.docks.dock("error").hide()
        old.close()
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    if not kept_names:
        settings.remove("docks")
        settings.sync()
    window = make_test_window("other.tilescope")
    QApplication.processEvents()
    for name in NEW_PANELS:
        dock = window.docks.dock(name)
        assert dock.isVisibleTo(window) and not dock.isFloating()
        assert dock in window.tabifiedDockWidgets(window.docks.dock("results"))
    assert not window.results.visibleRegion().isEmpty()
    assert not window.docks.dock("error").isVisibleTo(window)  # what was hidden stays so
    window.docks.dock("roofline").hide()
    window.close()
    again = make_test_window("third.tilescope")
    assert not again.docks.dock("roofline").isVisibleTo(again)  # a known one that was hidden is no new one


def test_ceilings_cannot_be_measured_on_the_interpreter_and_the_panel_says_why(
    qtbot: QtBot, make_test_window: MakeWindow
) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    command = window.command("ceilings")
    assert not command.isEnabled() and "on the interpreter" in command.toolTip()
    roofline = window.widget("roofline")
    assert isinstance(roofline, RooflinePanel)
    window.flush()
    assert "interpreter" in roofline.stack.card.label.text()
    memory = window.widget("memory")
    assert isinstance(memory, MemoryPanel)
    window.flush()
    assert memory.numbers is not None and memory.numbers.whole.scores == 20 * 40 * 4


def test_measuring_ceilings_reaches_the_panels_and_leaves_the_shown_run(
    qtbot: QtBot, make_test_window: MakeWindow
) -> None:
    window = make_test_window()
    worker = RunWorker(Session(window.session_path()), "auto", "tests.engine.fake_jobs")
    seen: list[object] = []
    worker.arrived.connect(seen.append)
    worker.arrived.connect(window._take)
    window.show_record(add_record(window))
    window.flush()
    before = window.verdict.text()
    worker.start()
    try:
        worker.measure_ceilings()
        qtbot.waitUntil(lambda: any(isinstance(e, Rested) for e in seen), timeout=RUN_MS)
    finally:
        worker.close()
    measuring = [event.event for event in seen if isinstance(event, OfCeilings)]
    assert [type(event).__name__ for event in measuring] == ["Progress", "CeilingsMeasured", "Finished"]
    assert "are measured" in window.status.currentMessage()
    window.flush()
    assert window.verdict.text() == before


def test_a_stop_cancels_ceilings_that_wait(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    worker = RunWorker(Session(window.session_path()), "auto", "tests.engine.fake_jobs")
    seen: list[object] = []
    worker.arrived.connect(seen.append)
    worker.measure_ceilings()
    worker.stop()
    (event,) = seen
    assert isinstance(event, OfCeilings) and isinstance(event.event, Failed) and event.event.kind == "cancelled"
    window._take(event)
    assert "The ceilings were not measured: stopped" in window.status.currentMessage()
