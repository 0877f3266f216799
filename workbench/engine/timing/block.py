"""The block protocol: how often a launch is repeated, and in which order it is timed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from workbench.analysis.estimate import timed_launches
from workbench.engine.host.stopping import StopFlag
from workbench.engine.timing.clocks import Clock, CudaClock, Launch, Timed
from workbench.run.environment import Mode
from workbench.run.measurement import Latency
from workbench.run.protocols import BLOCK
from workbench.run.request import Problem
from workbench.stats.arrays import FloatArray

Report = Callable[[FloatArray], None]

BLOCK_WARMUPS = 10
# One unbroken queue of launches is worth about this long; between two such chunks samples go to the window.
CHUNK_US = 50_000.0
# A queue holds about a thousand entries, and one SDPA call can be a dozen kernels.
QUEUED_LAUNCHES = 32


@dataclass(frozen=True)
class Plan:
    """How many launches warm up, how many are timed, and how many of those are one chunk."""

    warmups: int
    launches: int
    chunk: int = 1


def chunk_of(us_per_launch: float) -> int:
    """How many launches are worth one chunk."""
    return max(1, int(CHUNK_US / max(us_per_launch, 1e-3)))


def block_launches(problem: Problem) -> int:
    """100, 50 or 20 timed launches for a small, a middle and a large problem.

    The article names three shapes; the borders are its small (256 x 512) and its middle shape (512 x 2048), by the
    number of scores in all heads.
    """
    scores = problem.total_heads * problem.m * problem.n
    if scores <= 256 * 512:
        return 100
    return 50 if scores <= 512 * 2048 else 20


def block_plan(problem: Problem, mode: Mode, seconds_per_launch: float) -> Plan:
    """The protocol's counts on a GPU; on the CPU as many as fit in some seconds, at most those."""
    if mode == "cuda":
        return Plan(BLOCK_WARMUPS, block_launches(problem))
    fitting = timed_launches(seconds_per_launch)
    warmups = min(BLOCK_WARMUPS, max(1, fitting // 10))
    return Plan(warmups, min(block_launches(problem), fitting), chunk_of(seconds_per_launch * 1e6))


def measure_block(
    launch: Launch,
    plan: Plan,
    clock: Clock,
    report: Report,
    stop: StopFlag,
    timed: Timed = nullcontext,
    warmed: Callable[[], None] = lambda: None,
) -> Latency:
    """Run the block protocol and report samples between timed regions, never inside one.

    On a GPU the protocol's own figure, the average over an unbroken block, is taken first and the single launches
    after it: events between launches would lengthen the block. On the host's clock there is no such block.
    `timed` is entered around every timed region; `warmed` is called before the first of them.
    """
    for _ in range(plan.warmups):
        stop.check()
        launch()
    warmed()
    average: float | None = None
    chunk = plan.chunk
    if isinstance(clock, CudaClock):
        average = clock.block_us(launch, plan.launches, timed) / plan.launches
        chunk = min(QUEUED_LAUNCHES, chunk_of(average))
    taken: list[FloatArray] = []
    done = 0
    while done < plan.launches:
        stop.check()
        values = clock.singles(launch, min(chunk, plan.launches - done), timed)
        report(values)
        taken.append(values)
        done += len(values)
    samples = np.concatenate(taken)
    return Latency(
        BLOCK.name,
        clock.name,
        samples,
        average,
        plan.warmups,
        plan.launches,
        launched_us=average,
        late_samples=clock.late_samples,
    )
