"""The ratio of two runs that were measured apart."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.stats.independent import independent_ratio
from workbench.stats.summary import BETWEEN_RUNS

DRAWS = {
    "normal": lambda rng, count: rng.normal(100.0, 1.0, count),
    "skewed": lambda rng, count: 99.0 + rng.exponential(1.0, count),
    "heavy-tailed": lambda rng, count: 100.0 + 0.3 * rng.standard_t(2, count),
}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("factor", [1.0, 1.5])
def test_the_interval_holds_the_true_ratio_as_often_as_it_says(draw: str, factor: float) -> None:
    rng, held, repeats = np.random.default_rng(3), 0, 150
    for _ in range(repeats):
        ratio = independent_ratio(DRAWS[draw](rng, 200), factor * DRAWS[draw](rng, 150))
        held += ratio.low <= factor <= ratio.high
    assert held >= 0.91 * repeats  # 95% of them, less 2 standard deviations


def test_it_turns_round_as_the_runs_do() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(100, 1, 300), rng.normal(110, 2, 200)
    there, back = independent_ratio(ours, theirs), independent_ratio(theirs, ours).inverse
    assert there.baseline_over_kernel == pytest.approx(back.baseline_over_kernel)
    assert (there.low, there.high) == pytest.approx((back.low, back.high), rel=2e-3)


def test_what_no_run_can_see_of_itself_widens_it_for_both() -> None:
    ratio = independent_ratio(np.full(50, 100.0), np.full(50, 100.1), unseen=BETWEEN_RUNS)
    assert ratio.is_level
    assert ratio.high - ratio.low == pytest.approx(2 * BETWEEN_RUNS * 2**0.5, rel=0.01)


@pytest.mark.parametrize("counts", [(5, 500), (500, 5)])
def test_too_few_samples_of_either_bound_nothing(counts: tuple[int, int]) -> None:
    ours, theirs = (np.full(count, 10.0) for count in counts)
    ratio = independent_ratio(ours, theirs)
    assert (ratio.low, ratio.high) == (0.0, np.inf)


@pytest.mark.parametrize("bad", [np.zeros(0), np.array([1.0, np.nan]), np.zeros(20)])
def test_what_is_no_time_is_refused(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="allowed are"):
        independent_ratio(np.full(20, 10.0), bad)
