"""Counts, chunks and clocks of the block protocol, without a GPU."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.engine.timing.fake_gpu import FakeGpu
from workbench.engine.host.stopping import StopFlag, StoppedError
from workbench.engine.timing import clocks
from workbench.engine.timing.block import Plan, block_launches, block_plan, measure_block
from workbench.engine.timing.clocks import CudaClock, HostClock
from workbench.run.request import Problem
from workbench.stats.arrays import FloatArray
from workbench.words.times import figure_text


@pytest.mark.parametrize(
    ("problem", "launches"),
    [
        (Problem(7, 13, 8), 100),
        (Problem(256, 512, 64), 100),
        (Problem(512, 2048, 128), 50),
        (Problem(1024, 4096, 128), 20),
    ],
)
def test_the_protocols_counts(problem: Problem, launches: int) -> None:
    assert block_launches(problem) == launches
    assert block_plan(problem, "cuda", 1e-4).warmups == 10
    assert block_plan(problem, "cuda", 1e-4).launches == launches


def test_on_the_interpreter_as_many_launches_as_fit() -> None:
    assert block_plan(Problem(7, 13, 8), "interpreter", 0.01) == Plan(2, 20, 5)
    assert block_plan(Problem(512, 512, 64), "interpreter", 8.4) == Plan(1, 3, 1)


def test_every_launch_is_counted_and_reported_once() -> None:
    calls = 0
    reports: list[FloatArray] = []

    def launch() -> None:
        nonlocal calls
        calls += 1

    latency = measure_block(launch, Plan(3, 7, 2), HostClock(), reports.append, StopFlag())
    assert calls == 3 + 7
    assert [len(r) for r in reports] == [2, 2, 2, 1]
    np.testing.assert_array_equal(np.concatenate(reports), latency.samples)
    assert (latency.warmups, latency.launches, latency.clock, latency.protocol) == (3, 7, "host", "block")


def test_the_host_clock_measures_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """In microseconds, of a clock that each launch puts on by 20 ms."""
    clock = SimpleNamespace(now=5.0)
    clock.perf_counter = lambda: clock.now
    monkeypatch.setattr(clocks, "time", clock)

    def launch() -> None:
        clock.now += 0.02

    np.testing.assert_allclose(HostClock().singles(launch, 3), 20_000)


def test_the_figure_is_a_block_that_no_event_interrupts() -> None:
    """A launch that takes the CPU 9 us is as long as that in a block; single launches are held until all are there."""
    gpu = FakeGpu(submit_us=9.0)
    gpu.log.clear()
    launch = gpu.implementation("a", 4.0)
    latency = measure_block(launch, Plan(10, 50), CudaClock(gpu), lambda values: None, StopFlag())
    assert gpu.log[:64] == [*["a"] * 10, "record", *["a"] * 50, "record", "wait", "hold"]
    assert latency.block_average_us == latency.figure_us == latency.launched_us == pytest.approx(9.0, abs=0.5)
    assert latency.median == pytest.approx(4.0) and latency.late_samples == 0
    assert figure_text(latency) == "average of 50 launches"


def test_an_average_of_nothing_is_no_missing_average() -> None:
    """A block on a clock that did not move is 0, and not what the samples say."""
    gpu = FakeGpu(submit_us=0.0)
    turns = iter(range(1000))
    launch = gpu.implementation("a", lambda: 0.0 if next(turns) < 30 else 4.0)
    latency = measure_block(launch, Plan(10, 20), CudaClock(gpu), lambda values: None, StopFlag())
    assert latency.block_average_us == pytest.approx(0.0, abs=0.1) and latency.median == 4.0


def test_late_samples_of_the_block_are_counted() -> None:
    gpu = FakeGpu(submit_us=2000.0)
    launch = gpu.implementation("a", 4.0)
    latency = measure_block(launch, Plan(1, 40), CudaClock(gpu), lambda values: None, StopFlag())
    assert 0 < latency.late_samples <= 32, "the second queue waits longer"
    assert "may hold launch cost" in latency.notes[0].label


def test_a_stop_is_seen_between_samples() -> None:
    stop = StopFlag()
    taken: list[FloatArray] = []

    def report(values: FloatArray) -> None:
        taken.append(values)
        stop._on_signal(0, None)

    with pytest.raises(StoppedError):
        measure_block(lambda: None, Plan(1, 10, 1), HostClock(), report, stop)
    assert len(taken) == 1
