"""A session of very many runs opens by its index: what is not looked at is not read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PyQt6.QtWidgets import QApplication

from tests.run.kept.test_runs import MANY, Reads, session_of
from tests.samples import make_record
from tests.ui.conftest import MakeWindow
from workbench.run.request import Problem
from workbench.run.session import Session
from workbench.ui.runs.model import SAMPLE
from workbench.ui.window import shown

IN_TREND = 20
VERY_MANY, LIMIT_S = 100_000, 1.5


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reads]:
    monkeypatch.setattr(shown, "MOST_IN_TREND", IN_TREND)
    monkeypatch.setattr(shown, "STEP", 5)
    yield Reads(monkeypatch)


def test_a_window_reads_the_runs_that_it_shows(make_test_window: MakeWindow, tmp_path: Path, reads: Reads) -> None:
    session = session_of(tmp_path / "test.tilescope")
    reads.count = 0
    window = make_test_window("test.tilescope")
    window._shown.show_last()
    window.flush()
    assert window.results._runs.rowCount() == MANY
    assert reads.count <= SAMPLE + 2 * IN_TREND + 5 < MANY
    reads.count = 0
    kept = session.add(make_record(9, Problem(16, 32, 8)))
    window._library.add(kept, saved=True)
    window.results.upsert(kept)
    assert reads.count <= 1, "one more costs no reading of the others"


def test_a_trend_of_many_runs_says_how_many_it_has(make_test_window: MakeWindow, tmp_path: Path, reads: Reads) -> None:
    session_of(tmp_path / "test.tilescope")
    window = make_test_window("test.tilescope")
    told: list[list[int]] = []
    window._stage.set_history = lambda runs: told.append([key.number for key in runs.keys])  # type: ignore
    window.show_record(window._library.records()[0])
    assert f"newest {IN_TREND} of {MANY} runs" in window.status.currentMessage()
    assert told == [list(range(MANY - IN_TREND + 1, MANY + 1))]


@pytest.mark.speed
def test_very_many_runs_open_at_once(make_test_window: MakeWindow, tmp_path: Path) -> None:
    """The table, sorted, with all of its runs, painted: from the file to the picture."""
    session_of(tmp_path / "test.tilescope", VERY_MANY)
    Session(tmp_path / "test.tilescope").check()
    began = time.perf_counter()
    window = make_test_window("test.tilescope")
    QApplication.processEvents()
    took = time.perf_counter() - began
    assert window.results._runs.rowCount() == VERY_MANY
    assert took < LIMIT_S, f"{took:.2f} s"
