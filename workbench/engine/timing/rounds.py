"""Rounds in which implementations take turns in random order, until their medians are known well enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np

from workbench.engine.host.stopping import StopFlag
from workbench.engine.timing.clocks import Timed
from workbench.engine.timing.sampler import Sampler
from workbench.run.measurement import Ending, Role
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.resampling import BLOCKS
from workbench.stats.summary import is_settled

# What changes within less than this would be taken for the whole truth.
MIN_SECONDS = 0.3
# The ratio's interval is drawn from rounds, in blocks.
MIN_ROUNDS = BLOCKS
# Asking costs some milliseconds, so that it is done when there are so many more samples.
GROWTH = 1.1
# An interval that is asked for again and again is narrow now and then by chance: it must be so at two looks in a row.
SETTLED_LOOKS = 2

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

    def count(self, role: Role) -> int:
        """How many samples there are."""
        return sum(map(len, self.taken[role]))

    def starts(self, role: Role) -> IntArray:
        """The index of the first sample of each round."""
        sizes = [len(values) for values in self.taken[role]]
        return np.cumsum([0, *sizes[:-1]], dtype=np.int64)


@dataclass(frozen=True)
class Limits:
    """What ends the rounds if precision does not: seconds of timing, and samples of one implementation.

    `unseen` counts towards the precision: what the samples cannot show, see `statistics.median_interval`.
    """

    seconds: float
    samples: int
    unseen: float = 0.0


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
    seconds that have passed; `stop` is checked between rounds. Where a stop or a failure breaks off a round, those who
    had their turn in it are handed over. `timed` is entered around whatever is timed. Ends as soon as two looks after
    each other found the medians of all known to `statistics.PRECISION`, but not before MIN_SECONDS and MIN_ROUNDS, or
    at `limits`.
    """
    rounds = Rounds({role: [] for role in samplers})
    order, looks = np.random.default_rng(seed), _Looks(rounds, limits.unseen)
    began = now()
    while True:
        stop.check()
        _take_round(rounds, samplers, limits, order, took, timed)
        passed = now() - began
        pause(passed)
        limit = _reached(rounds, samplers, limits, passed)
        if passed >= MIN_SECONDS and looks.are_settled(is_last=limit is not None):
            rounds.ended_by = "precision"
            return rounds
        if limit is not None:
            rounds.ended_by = limit
            return rounds


class _Looks:
    """Looks at the samples whenever there are so many more, and counts how often in a row all were settled."""

    def __init__(self, rounds: Rounds, unseen: float) -> None:
        self._rounds = rounds
        self._unseen = unseen
        self._asked = 0
        self._settled = 0

    def are_settled(self, is_last: bool) -> bool:
        """Whether the medians are known well enough; the last time is looked however few samples came."""
        rounds = self._rounds
        count = min(rounds.count(role) for role in rounds.taken)
        if min(map(len, rounds.taken.values())) < MIN_ROUNDS or not (is_last or count >= self._asked * GROWTH):
            return False
        self._asked = count
        # As the interval is stated in the end, with what the samples of one run cannot show.
        settled = all(is_settled(rounds.samples(role), unseen=self._unseen) for role in rounds.taken)
        self._settled = self._settled + 1 if settled else 0
        return self._settled >= SETTLED_LOOKS


def _take_round(
    rounds: Rounds,
    samplers: Mapping[Role, Sampler],
    limits: Limits,
    order: np.random.Generator,
    took: Took,
    timed: Timed,
) -> None:
    """One turn of each, and then its samples to `took`; also those of a round that is broken off."""
    roles = tuple(samplers)
    size = min(sampler.round_size for sampler in samplers.values())
    counts = {role: _next_count(samplers[role], size, rounds.count(role), limits) for role in roles}
    this: dict[Role, FloatArray] = {}
    try:
        for index in order.permutation(len(roles)):
            role = roles[index]
            this[role] = samplers[role].take(counts[role], timed)
    finally:
        for role in roles:
            if role in this:
                rounds.taken[role].append(this[role])
                took(role, this[role])


def _next_count(sampler: Sampler, size: int, taken: int, limits: Limits) -> int:
    """How many samples the next round takes: `size`, or what the limit still allows, in whole batches."""
    return max(sampler.batch, min(size, limits.samples - taken) // sampler.batch * sampler.batch)


def _reached(rounds: Rounds, samplers: Mapping[Role, Sampler], limits: Limits, passed: float) -> Ending | None:
    """The limit that has been reached, None if none has."""
    for role, sampler in samplers.items():
        if rounds.count(role) + sampler.batch > limits.samples:
            return "samples"
    return "time" if passed >= limits.seconds else None
