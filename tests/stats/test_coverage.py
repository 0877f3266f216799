"""Whether 95% intervals hold what they bound 95 times in a hundred: simulated, since the truth is known then."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log

import numpy as np
import pytest

from tests.stats.test_summary import autocorrelated, on_grid, rounds
from workbench.engine.timing.rounds import GROWTH, SETTLED_LOOKS
from workbench.stats.arrays import FloatArray
from workbench.stats.summary import MIN_SETTLED, is_settled, median_interval, paired_ratio

Draw = Callable[[np.random.Generator], FloatArray]


def coverage(draw: Draw, truth: float, repeats: int = 400, seed: int = 1) -> float:
    """The share of intervals that hold the true median."""
    rng = np.random.default_rng(seed)
    found = [median_interval(draw(rng)) for _ in range(repeats)]
    return float(np.mean([interval.low <= truth <= interval.high for interval in found]))


UNIMODAL: dict[str, tuple[Draw, float]] = {
    "normal, 6": (lambda rng: rng.normal(100, 1, 6), 100),
    "normal, 20": (lambda rng: rng.normal(100, 1, 20), 100),
    "normal, 500": (lambda rng: rng.normal(100, 1, 500), 100),
    "exponential, 100": (lambda rng: rng.exponential(1, 100), log(2)),
    "log-normal, 1000": (lambda rng: rng.lognormal(0, 1, 1000), 1),
    "Cauchy, 100": (lambda rng: rng.standard_cauchy(100), 0),
    "on the clock's grid, 100": (lambda rng: on_grid(rng.normal(37.3, 0.03, 100)), 37.3),
    "autocorrelated, 2000": (lambda rng: 100 + autocorrelated(rng, 2000, 0.9), 100),
    "strongly autocorrelated, 4000": (lambda rng: 100 + autocorrelated(rng, 4000, 0.97), 100),
}


@pytest.mark.parametrize("name", UNIMODAL)
def test_intervals_hold_the_true_median_as_often_as_they_say(name: str) -> None:
    """95% of 400 are 380; were it 92%, as many as 377 would be found in one case of twenty."""
    draw, truth = UNIMODAL[name]
    assert coverage(draw, truth) >= 377 / 400


@pytest.mark.parametrize("factor", [0.0, 0.9])
def test_ten_repeats_agree_within_their_intervals_nine_times_in_ten(factor: float) -> None:
    """What a user does: run it ten times, and look whether the runs contradict each other."""
    rng = np.random.default_rng(3)
    good = 0
    for _ in range(40):
        runs = [100 + autocorrelated(rng, 1000, factor) for _ in range(10)]
        common = np.median(np.concatenate(runs))
        held = sum(i.low <= common <= i.high for i in map(median_interval, runs))
        good += held >= 9
    assert good >= 38


def settled_part(samples: FloatArray) -> FloatArray:
    """The samples that a run has taken when it ends by itself, by the rule of `run_rounds`."""
    count, looks = MIN_SETTLED, 0
    while True:
        looks = looks + 1 if is_settled(samples[:count]) else 0
        if looks == SETTLED_LOOKS:
            return samples[:count]
        assert count < len(samples), "the run never ended"
        count = min(len(samples), ceil(count * GROWTH))


# Of each kind samples around 0, and how many microseconds their unit is where 100 us are measured: so that runs end
# when they have some 100 to 300 samples, where what is unlike the truth by luck has most weight.
STOPPED: dict[str, tuple[Callable[[np.random.Generator, int], FloatArray], float]] = {
    "independent": (lambda rng, n: rng.standard_normal(n), 3.4),
    "skewed": (lambda rng, n: rng.lognormal(0, 1, n) - 1, 3.4),
    "heavy-tailed": (lambda rng, n: rng.standard_t(2, n), 3.0),
    "correlated by 0.5": (lambda rng, n: autocorrelated(rng, n, 0.5), 2.0),
    "correlated by 0.8": (lambda rng, n: autocorrelated(rng, n, 0.8), 1.2),
    "correlated by 0.9": (lambda rng, n: autocorrelated(rng, n, 0.9), 0.8),
}


@pytest.mark.parametrize("name", STOPPED)
def test_ending_a_run_once_it_is_settled_does_not_spoil_its_interval(name: str) -> None:
    """95% of 400 are 380; were it 92%, as many as 377 would be found in one case of twenty.

    Samples are looked at again and again, which favours moments at which they happen to be alike.
    """
    draw, unit = STOPPED[name]
    rng, held = np.random.default_rng(11), 0
    for _ in range(400):
        interval = median_interval(settled_part(100 + unit * draw(rng, 5000)))
        held += interval.low <= 100 <= interval.high
    assert held >= 377


def test_the_interval_of_a_ratio_holds_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(13)
    found = [paired_ratio(*rounds(rng, 1.2, 1 + 0.1 * rng.random(60))) for _ in range(400)]
    assert sum(ratio.low <= 1.2 <= ratio.high for ratio in found) >= 377
