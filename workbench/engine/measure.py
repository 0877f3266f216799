"""Protocols: how often a launch is repeated, and with which clock it is timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import torch

from workbench.engine.stopping import StopFlag
from workbench.estimate import timed_launches
from workbench.model import FloatArray, Latency, Mode, Problem

Launch = Callable[[], object]
Report = Callable[[FloatArray], None]

ARTICLE_WARMUPS = 10
# One unbroken queue of launches is worth about this long; between two such chunks samples go to the window.
CHUNK_US = 50_000.0
# A queue holds about a thousand entries, and one SDPA call can be a dozen kernels.
QUEUED_LAUNCHES = 32
# The GPU waits this long for each launch of a queue, so that the CPU has submitted all of them before the first begins.
SUBMIT_US = 400.0
CYCLES_PER_US = 2000


@dataclass(frozen=True)
class Plan:
    """How many launches warm up, how many are timed, and how many of those are one chunk."""

    warmups: int
    launches: int
    chunk: int = 1


class Clock(Protocol):
    """Times launches. `block_us` is the whole of an unbroken block; `singles` is each launch's own time, us."""

    name: str

    def block_us(self, launch: Launch, count: int) -> float: ...

    def singles(self, launch: Launch, count: int) -> FloatArray: ...


class CudaClock:
    """CUDA events on the current stream."""

    name = "cuda events"

    def block_us(self, launch: Launch, count: int) -> float:
        """One event before and one after `count` launches, in microseconds."""
        start, end = _event(), _event()
        start.record()
        for _ in range(count):
            launch()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) * 1e3

    def singles(self, launch: Launch, count: int) -> FloatArray:
        """An event between every two of `count` launches, all submitted while the GPU waits.

        Without the wait a short kernel's times would be those of the CPU submitting it. One untimed launch goes
        first, so that the first timed one finds the caches as the others do.
        """
        events = [_event() for _ in range(count + 1)]
        _keep_busy(SUBMIT_US * (count + 1))
        launch()
        events[0].record()
        for event in events[1:]:
            launch()
            event.record()
        events[-1].synchronize()
        return np.array([before.elapsed_time(after) * 1e3 for before, after in pairwise(events)])


class HostClock:
    """The host's monotonic clock around launches that return when they are done."""

    name = "host"

    def block_us(self, launch: Launch, count: int) -> float:
        """Host time of `count` launches, in microseconds."""
        start = time.perf_counter()
        for _ in range(count):
            launch()
        return (time.perf_counter() - start) * 1e6

    def singles(self, launch: Launch, count: int) -> FloatArray:
        """Host time of each of `count` launches, in microseconds."""
        return np.array([self.block_us(launch, 1) for _ in range(count)])


def _keep_busy(us: float) -> None:
    """Occupy the current stream for about `us` microseconds (longer where the clock is lower)."""
    sleep = getattr(torch.cuda, "_sleep", None)  # not public; without it times are as a bare loop's
    if sleep is not None:
        sleep(int(us * CYCLES_PER_US))


def _chunk(us_per_launch: float) -> int:
    return max(1, int(CHUNK_US / max(us_per_launch, 1e-3)))


def _event() -> Any:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def article_launches(problem: Problem) -> int:
    """100, 50 or 20 timed launches for a small, a middle and a large problem.

    The article names three shapes; the borders are its small (256 x 512) and its middle shape (512 x 2048), by the
    number of scores in all heads.
    """
    scores = problem.total_heads * problem.m * problem.n
    if scores <= 256 * 512:
        return 100
    return 50 if scores <= 512 * 2048 else 20


def article_plan(problem: Problem, mode: Mode, seconds_per_launch: float) -> Plan:
    """The article's counts on a GPU; on the CPU as many as fit in some seconds, at most the article's."""
    if mode == "cuda":
        return Plan(ARTICLE_WARMUPS, article_launches(problem))
    fitting = timed_launches(seconds_per_launch)
    warmups = min(ARTICLE_WARMUPS, max(1, fitting // 10))
    return Plan(warmups, min(article_launches(problem), fitting), _chunk(seconds_per_launch * 1e6))


def measure_article(launch: Launch, plan: Plan, clock: Clock, report: Report, stop: StopFlag) -> Latency:
    """Run the article's protocol and report samples between timed regions, never inside one.

    On a GPU the article's own figure, the average over an unbroken block, is taken first and the single launches
    after it: events between launches would lengthen the block. On the host's clock every launch ends before the
    next begins, so the average is that of the single launches.
    """
    for _ in range(plan.warmups):
        stop.check()
        launch()
    average, chunk = 0.0, plan.chunk
    if isinstance(clock, CudaClock):
        average = clock.block_us(launch, plan.launches) / plan.launches
        chunk = min(QUEUED_LAUNCHES, _chunk(average))
    taken: list[FloatArray] = []
    done = 0
    while done < plan.launches:
        stop.check()
        values = clock.singles(launch, min(chunk, plan.launches - done))
        report(values)
        taken.append(values)
        done += len(values)
    samples = np.concatenate(taken)
    return Latency("article", clock.name, samples, average or float(samples.mean()), plan.warmups, plan.launches)
