"""Runs beside each other: whether their times can be compared, and by how much one is faster than another.

They were measured apart. What lies between them, the device's temperature above all, is in no interval of theirs:
`stats.summary.BETWEEN_RUNS` is an allowance for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from workbench.run.measurement import Measurement
from workbench.run.protocols import AUTO_PROTOCOL, protocol_of
from workbench.run.record import RunRecord
from workbench.run.request import Problem, Rival, RunRequest
from workbench.stats.independent import independent_ratio
from workbench.stats.summary import Ratio, unseen_by

LEAST_RUNS, MOST_RUNS = 2, 6


@dataclass(frozen=True)
class Against:
    """A run against another one: how many times as long the other takes, above 1 where this run is the faster.

    `ratio` is None where there is none to give, and `why` says in words why.
    """

    ratio: Ratio | None = None
    why: str = ""

    @property
    def is_beyond_noise(self) -> bool:
        """Whether one of them is the faster one, whatever noise there is."""
        return self.ratio is not None and not self.ratio.is_level and isfinite(self.ratio.high)


def against(run: RunRecord, other: RunRecord) -> Against:
    """`run` against `other` by the protocol's own figure, with the interval that the samples of both give.

    The average of an unbroken block has no samples of its own; the single launches beside it then say how well it is
    known.
    """
    why = why_not(run, other)
    if why:
        return Against(why=why)
    ours, theirs = run.measurement("kernel"), other.measurement("kernel")
    assert ours is not None and theirs is not None
    return Against(ratio_of_separate(ours, theirs))


def ratio_of_separate(ours: Measurement, theirs: Measurement) -> Ratio:
    """How many times as long `theirs` takes as `ours`, which were measured apart. ValueError if one took no time."""
    one, other = ours.latency, theirs.latency
    unseen = max(unseen_by(one.clock), unseen_by(other.clock))
    ratio = independent_ratio(one.samples, other.samples, unseen=unseen)
    scale = (other.figure_us / one.figure_us) / ratio.baseline_over_kernel
    return replace(
        ratio,
        baseline_over_kernel=scale * ratio.baseline_over_kernel,
        low=scale * ratio.low,
        high=scale * ratio.high,
    )


def why_not(run: RunRecord, other: RunRecord) -> str:
    """Why the times of two runs are no ratio, in words; "" where they are one."""
    ours, theirs = run.measurement("kernel"), other.measurement("kernel")
    if ours is None or theirs is None:
        return "not measured" if ours is None else "the reference was not measured"
    if not run.passed or not other.passed:
        return "its output is wrong" if not run.passed else "the reference's output is wrong"
    device, reference = run.started.device, other.started.device
    if device.mode != reference.mode or device.name != reference.name:
        return f"another device: {device.name}, and not {reference.name}"
    if device.mode != "cuda":
        return "times on the interpreter are no GPU's"
    if work_of(ours.problem) != work_of(theirs.problem):
        return "another problem"
    if ours.latency.protocol != theirs.latency.protocol:
        return f"another protocol: {ours.latency.protocol}, and not {theirs.latency.protocol}"
    if ours.latency.clock != theirs.latency.clock:
        return f"another clock: {ours.latency.clock}, and not {theirs.latency.clock}"
    if not ours.latency.median > 0 or not theirs.latency.median > 0:
        return "a median is 0"
    return ""


def work_of(problem: Problem) -> tuple[int | bool, ...]:
    """What two problems must share for their times to be compared: what is computed, not of which values."""
    sizes = problem.m, problem.n, problem.d, problem.batch, problem.heads, problem.kv_heads
    return (*sizes, problem.causal)


def fastest_first(runs: Sequence[RunRecord], reference: RunRecord) -> list[RunRecord]:
    """Those that can be compared with `reference`, itself among them, by their figures; the rest is left out."""
    return sorted((run for run in runs if not why_not(run, reference)), key=_figure)


def _figure(run: RunRecord) -> float:
    kernel = run.measurement("kernel")
    assert kernel is not None
    return kernel.latency.figure_us


def request_in_turns(run: RunRecord, other: RunRecord) -> RunRequest | None:
    """A request that measures both runs' kernels in turns; None where they are not of one problem, or the same.

    It is `run`'s own, with the other's kernel as its rival. A protocol that takes no turns is left to the device, and
    so is the device of what is a recording's.
    """
    ours, theirs = run.started.request, other.started.request
    mine, rival = _launched(run), _launched(other)
    if ours.problem != theirs.problem or mine == rival:
        return None
    protocol = ours.protocol if protocol_of(ours.protocol).takes_turns else AUTO_PROTOCOL
    device = "auto" if run.source else ours.device
    return replace(ours, tile=mine.tile, sdpa="none", rival=rival, protocol=protocol, device=device, auto_tile=())


def _launched(run: RunRecord) -> Rival:
    """The kernel of a run with its tile, as one that is held against another."""
    request = run.started.request
    return Rival(request.kernel, request.tile, request.precision)
