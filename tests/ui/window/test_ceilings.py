"""Measuring the device's ceilings from the window, and where it cannot be done."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from tests.patience import LIMIT_MS
from tests.samples import make_record
from tests.ui.conftest import MakeWindow
from tests.ui.window.test_main import SMALL, run_to_end
from workbench.run.events import Failed
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.run.session import Session
from workbench.ui.panels.memory.panel import MemoryPanel
from workbench.ui.panels.roofline.panel import RooflinePanel
from workbench.ui.window.main import MainWindow
from workbench.ui.worker import OfCeilings, Rested, RunWorker


def add_record(window: MainWindow) -> RunRecord:
    """A run that the window has kept."""
    record = Session(window.session_path()).add(make_record(1, Problem(16, 32, 8)))
    return window._library.add(record, saved=True)


def test_ceilings_cannot_be_measured_on_the_interpreter_and_the_panel_says_why(
    qtbot: QtBot, make_warm_window: MakeWindow
) -> None:
    window = make_warm_window()
    run_to_end(qtbot, window, SMALL)
    command = window.command("ceilings")
    assert not command.isEnabled() and "the interpreter has no GPU" in command.toolTip()
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
    worker = RunWorker(Session(window.session_path()), "auto", "tests.engine.host.fake_jobs")
    seen: list[object] = []
    worker.arrived.connect(seen.append)
    worker.arrived.connect(window._take)
    window.show_record(add_record(window))
    window.flush()
    before = window.headline.text()
    worker.start()
    try:
        worker.measure_ceilings()
        qtbot.waitUntil(lambda: any(isinstance(e, Rested) for e in seen), timeout=LIMIT_MS)
    finally:
        worker.close()
    measuring = [event.event for event in seen if isinstance(event, OfCeilings)]
    assert [type(event).__name__ for event in measuring] == ["Progress", "CeilingsMeasured", "Finished"]
    assert "are measured" in window.status.currentMessage()
    window.flush()
    assert window.headline.text() == before


def test_a_stop_cancels_ceilings_that_wait(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    worker = RunWorker(Session(window.session_path()), "auto", "tests.engine.host.fake_jobs")
    seen: list[object] = []
    worker.arrived.connect(seen.append)
    worker.measure_ceilings()
    worker.stop()
    (event,) = seen
    assert isinstance(event, OfCeilings) and isinstance(event.event, Failed) and event.event.kind == "cancelled"
    window._take(event)
    assert "The ceilings were not measured: stopped" in window.status.currentMessage()
