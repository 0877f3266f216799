"""The window and an engine of its own: how it starts, how it cannot, and how it is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from kernels.variants.flash import FLASH
from tests.patience import LIMIT_MS
from tests.shared_engine import one_thread
from tests.ui.conftest import MakeWindow
from tests.ui.window.test_main import LONG, SMALL, TINY, run_to_end
from workbench.run.events import Failed, Finished
from workbench.run.request import Problem, RunRequest


@pytest.fixture(autouse=True)
def starts_quickly() -> Iterator[None]:
    with one_thread():
        yield


def test_a_first_launch_shows_a_finished_run_of_its_own_accord(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    record = run_to_end(qtbot, window)
    assert isinstance(record.end, Finished)
    assert record.started.request.problem == Problem(35, 67, 32)
    assert "interpreter, not GPU time" in window.headline.text()
    assert "passed" in window.headline.text()
    assert [r.run_id for r in window.results.records()] == [1]
    assert "Finished in" in window.status.text()


def test_a_first_run_whose_tile_the_engine_chooses_puts_it_into_the_form(
    qtbot: QtBot, make_test_window: MakeWindow
) -> None:
    window = make_test_window()
    names = ("block_m", "block_n", "num_warps", "num_stages", "splits")
    record = run_to_end(qtbot, window, replace(SMALL, kernel=FLASH.name, auto_tile=names))
    assert record.started.request.tile == TileConfig(32, 32, 4, 1)
    assert window.controls.request().tile == record.started.request.tile


def test_the_first_run_gives_way_to_the_user(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = make_test_window()
    window.start(None)
    mine = RunRequest(Problem(20, 41, 8), TileConfig(32, 32), device="interpreter")
    window.controls.set_request(mine)
    with qtbot.waitSignal(window.settled, timeout=LIMIT_MS) as blocker:
        window.run()
    assert blocker.args is not None and blocker.args[0].started.request.problem == mine.problem
    qtbot.waitUntil(lambda: not window.is_running(), timeout=LIMIT_MS)
    assert window.controls.request().problem == mine.problem
    assert len(window.results.records()) == 1


def test_an_engine_that_cannot_start_leaves_the_shown_run_alone(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("here the GPU can be chosen")
    window = make_test_window()
    run_to_end(qtbot, window, TINY)
    before = window.headline.text()
    window._worker.use_device("cuda")  # which the form itself asks for only where it knows of no reason against it
    qtbot.waitUntil(lambda: "could not start" in window.status.text(), timeout=LIMIT_MS)
    assert window.headline.text() == before
    assert "no NVIDIA GPU" in window.notices.text()
    assert not window.controls.faults(), "the form's own device is there"


def test_a_killed_engine_is_one_clear_failure_and_the_next_run_works(
    qtbot: QtBot, make_test_window: MakeWindow
) -> None:
    window = make_test_window()
    run_to_end(qtbot, window, SMALL)
    window.controls.set_request(LONG)
    with qtbot.waitSignal(window.settled, timeout=LIMIT_MS) as blocker:
        window.run()
        qtbot.waitUntil(lambda: "checking" in window.status.text().lower(), timeout=LIMIT_MS)
        pid = window.engine_pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    assert blocker.args is not None
    end = blocker.args[0].end
    assert isinstance(end, Failed) and end.kind == "died" and "SIGKILL" in end.message
    window.flush()
    assert "SIGKILL" in window.headline.text()
    assert isinstance(run_to_end(qtbot, window, TINY).end, Finished)
