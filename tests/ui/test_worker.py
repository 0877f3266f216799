"""The engine's thread: its engine can be started ahead of whoever listens, and nothing is said before somebody does."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.patience import LIMIT_MS
from workbench.run.events import Progress, Ready
from workbench.run.session import Session
from workbench.ui.worker import RunWorker

FAKE = "tests.engine.host.fake_jobs"


def test_an_engine_that_is_started_ahead_keeps_what_it_says_for_later(qtbot: QtBot, tmp_path: Path) -> None:
    worker = RunWorker(Session(tmp_path / "runs.tilescope"), job=FAKE)
    heard: list[object] = []
    worker.start_ahead()
    try:
        qtbot.waitUntil(lambda: worker.engine_pid is not None, timeout=LIMIT_MS)
        worker.arrived.connect(heard.append)  # only now: what was said before would be lost
        worker.speak()
        qtbot.waitUntil(lambda: any(isinstance(event, Ready) for event in heard), timeout=LIMIT_MS)
    finally:
        worker.close()
    phases = [event.phase for event in heard if isinstance(event, Progress)]
    assert phases and all(phase.startswith("starting the engine: ") for phase in phases), "what is waited for is said"


@pytest.mark.parametrize("ahead", [False, True])
def test_a_worker_that_nobody_listened_to_can_be_closed(tmp_path: Path, ahead: bool) -> None:
    worker = RunWorker(Session(tmp_path / "runs.tilescope"), job=FAKE)
    if ahead:
        worker.start_ahead()
    worker.close()
    assert not worker.isRunning() and worker.engine_pid is None
