"""A kernel that is held against another one: both are right first, and then timed in turns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernels.plain.tiles import TileConfig
from workbench.cli.outcome import result_object, summary_lines
from workbench.engine import job
from workbench.engine.baselines.rival import RivalKernel
from workbench.engine.failures import InvalidRequestError
from workbench.engine.host.stopping import StopFlag
from workbench.run.record import RunBuilder, RunRecord
from workbench.run.request import Problem, Rival, RunRequest
from workbench.run.session import Session
from workbench.words.names import implementation_text, named

pytestmark = pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="this process compiles for the GPU")

PROBLEM = Problem(16, 32, 16)
RIVAL = Rival("flash", TileConfig(16, 32))
REQUEST = RunRequest(
    PROBLEM, TileConfig(16, 16), sdpa="none", device="interpreter", rival=RIVAL, max_seconds=0.2, max_samples=40
)


@pytest.fixture(autouse=True)
def prepared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(job, "_settled", None)
    monkeypatch.setattr(job, "_is_spoiled", False)
    job.prepare("interpreter")
    yield


def run(request: RunRequest = REQUEST) -> RunRecord:
    builder = RunBuilder(request)
    job.run(request, builder.take, StopFlag())
    return builder.record()


def test_both_are_checked_timed_in_turns_and_checked_again() -> None:
    record = run()
    kernel, rival = record.measurement("kernel"), record.measurement("baseline")
    assert kernel is not None and rival is not None
    assert (rival.implementation, rival.tile, rival.precision) == ("flash", RIVAL.tile, RIVAL.precision)
    assert record.passed and len(record.rechecked) == 2
    assert all(found.bits_equal and found.deterministic is not False for found in record.rechecked)
    assert kernel.latency.rounds == rival.latency.rounds > 0
    assert record.comparison is not None
    assert named("baseline", record) == "flash 16×32" == implementation_text(rival)


def test_a_rival_that_writes_nothing_any_more_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    made = RivalKernel.__call__
    calls: list[int] = []

    def forgets(self: RivalKernel) -> object:
        calls.append(1)
        return made(self) if len(calls) == 1 else self._out

    monkeypatch.setattr(RivalKernel, "__call__", forgets)
    record = run()
    assert record.is_wrong("baseline") and not record.is_wrong("kernel")


def test_a_session_keeps_it_and_an_older_run_has_none(tmp_path: Path) -> None:
    session = Session(tmp_path / "rival.tilescope")
    session.add(run())
    session.add(run(replace(REQUEST, rival=None, trace=False)))
    with_rival, without = session.summaries()
    assert with_rival.started.request.rival == RIVAL
    assert without.started.request.rival is None
    assert np.array_equal(session.load(1).samples("baseline"), with_rival.samples("baseline"))


def test_json_and_words_name_it() -> None:
    record = run()
    baseline = result_object(record)["results"][1]
    assert baseline["implementation"] == "flash"
    assert baseline["tile"]["block_n"] == 32
    assert result_object(record)["ratio"] is None  # of the interpreter's times
    assert any(line.startswith("flash 16×32: passed") for line in summary_lines(record))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rival": Rival("nothing", TileConfig())}, "of the rival kernel is 'nothing'"),
        ({"rival": Rival("flash", TileConfig(block_m=17))}, "of the rival BLOCK_M is 17"),
        ({"rival": Rival("flash", TileConfig(), "tf64")}, "of the rival precision is"),
        ({"protocol": "block"}, "protocol is block"),
        ({"sdpa": "math"}, "sdpa is math"),
    ],
)
def test_what_cannot_be_a_rival_is_refused_in_a_line(change: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        run(replace(REQUEST, **change))  # type: ignore[arg-type]
