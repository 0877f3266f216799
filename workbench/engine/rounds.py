"""Rounds in which implementations take turns in random order, until their medians are known well enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np

from workbench.engine.measure import Timed
from workbench.engine.protocols import Sampler
from workbench.engine.stopping import StopFlag
from workbench.model import Ending, FloatArray, IntArray, Role
from workbench.statistics import BLOCKS, is_settled

# What changes within less than this would be taken for the whole truth.
MIN_SECONDS = 0.3
# The ratio's interval is drawn from rounds, in blocks.
MIN_ROUNDS = BLOCKS
# Asking costs some milliseconds, so that it is done when there are so many more samples.
GROWTH = 1.1

Took = Callable[[Role, FloatArray], None]
Pause = Callable[[float], None]


@dataclass
class Rounds:
    """The samples of each role, an array a round, and what ended them."""

    taken: dict[Role, list[FloatArray]] = field(default_factory=dict)
    ended_by: Ending = "time"

    def samples(self, role: Role) -> FloatArray:
        """All samples in launch order."""
        return np.concatenate(self.taken[role])

    def starts(self, role: Role) -> IntArray:
        """The index of the first sample of each round."""
        sizes = [len(values) for values in self.taken[role]]
        return np.cumsum([0, *sizes[:-1]], dtype=np.int64)


@dataclass(frozen=True)
class Limits:
    """What ends the rounds if precision does not: seconds of timing, and samples of one implementation."""

    seconds: float
    samples: int


def run_rounds(
    samplers: Mapping[Role, Sampler],
    limits: Limits,
    seed: int,
    took: Took,
    pause: Pause,
    stop: StopFlag,
    timed: Timed = nullcontext,
    now: Callable[[], float] = time.monotonic,
) -> Rounds:
    """Time all `samplers`, which are prepared, round by round.

    Each round launches all of them equally often (but in whole batches), in an order drawn anew, so that no one's heat
    or clocks always meet the other. Only after a round are its samples handed to `took`, and is `pause` told the
    seconds that have passed; `stop` is checked between rounds. `timed` is entered around each round. Ends as soon as
    the medians of all are known to `statistics.PRECISION`, but not before MIN_SECONDS and MIN_ROUNDS, or at `limits`.
    """
    rounds = Rounds({role: [] for role in samplers})
    order = np.random.default_rng(seed)
    roles = tuple(samplers)
    size = min(sampler.round_size for sampler in samplers.values())
    began, asked = now(), 0
    while True:
        stop.check()
        this: dict[Role, FloatArray] = {}
        counts = {role: _next_count(samplers[role], size, rounds.taken[role], limits) for role in roles}
        with timed():
            for index in order.permutation(len(roles)):
                role = roles[index]
                this[role] = samplers[role].take(counts[role])
        for role in roles:
            rounds.taken[role].append(this[role])
            took(role, this[role])
        passed = now() - began
        pause(passed)
        limit = _reached(rounds, samplers, limits, passed)
        count = min(sum(map(len, rounds.taken[role])) for role in roles)
        is_ripe = passed >= MIN_SECONDS and len(rounds.taken[roles[0]]) >= MIN_ROUNDS
        if is_ripe and (limit is not None or count >= asked * GROWTH):
            asked = count
            if all(is_settled(rounds.samples(role)) for role in roles):
                rounds.ended_by = "precision"
                return rounds
        if limit is not None:
            rounds.ended_by = limit
            return rounds


def _next_count(sampler: Sampler, size: int, taken: list[FloatArray], limits: Limits) -> int:
    """How many samples the next round takes: `size`, or what the limit still allows, in whole batches."""
    left = limits.samples - sum(map(len, taken))
    return max(sampler.batch, min(size, left) // sampler.batch * sampler.batch)


def _reached(rounds: Rounds, samplers: Mapping[Role, Sampler], limits: Limits, passed: float) -> Ending | None:
    """The limit that has been reached, None if none has."""
    for role, sampler in samplers.items():
        if sum(map(len, rounds.taken[role])) + sampler.batch > limits.samples:
            return "samples"
    return "time" if passed >= limits.seconds else None
