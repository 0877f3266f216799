"""Two modes are seen as two, and one as one, whatever its shape."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from tests.stats.test_summary import autocorrelated, on_grid
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.modes import find_modes

Draw = Callable[[np.random.Generator, int], FloatArray]


def mixture(rng: np.random.Generator, count: int, share: float, apart: float) -> FloatArray:
    """Normal around 100 us with 1% spread, a share of them `apart` us slower."""
    return np.asarray(rng.normal(100, 1, count) + apart * (rng.random(count) < share))


ONE_MODE: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(100, 1, n),
    "flat": lambda rng, n: rng.uniform(90, 110, n),
    "log-normal": lambda rng, n: 100 + rng.lognormal(0, 1, n),
    "exponential": lambda rng, n: 100 + rng.exponential(5, n),
    "one outlier": lambda rng, n: np.r_[rng.normal(100, 1, n - 1), 900.0],
    "some outliers": lambda rng, n: np.r_[rng.normal(100, 1, n - n // 30), np.full(n // 30, 200.0)],
    "on the clock's grid": lambda rng, n: on_grid(rng.normal(37.32, 0.03, n)),
    "of two ticks": lambda rng, n: on_grid(rng.normal(2.03, 0.01, n)),
    "heavy-tailed": lambda rng, n: 100 + rng.standard_t(2, n),
    "Cauchy": lambda rng, n: 1000 + rng.standard_cauchy(n),
    "autocorrelated": lambda rng, n: 100 + 3 * autocorrelated(rng, n, 0.95),
    "drifting": lambda rng, n: 100 + np.linspace(0, 5, n) + rng.normal(0, 0.2, n),
    "drifting and autocorrelated": lambda rng, n: 100 + np.linspace(0, 5, n) + autocorrelated(rng, n, 0.95),
    "warming up": lambda rng, n: 100 + 20 * np.exp(-np.arange(n) / (0.1 * n)) + rng.normal(0, 0.2, n),
    "warming up slowly": lambda rng, n: 100 - 5 * np.exp(-np.arange(n) / (0.5 * n)) + 0.2 * autocorrelated(rng, n, 0.9),
    "of few coarse ticks": lambda rng, n: on_grid(rng.normal(5.2, 0.15, n), 0.5),
    "of coarse ticks, skewed": lambda rng, n: on_grid(20 + rng.lognormal(0, 1, n), 0.5),
    "of coarse ticks, heavy-tailed": lambda rng, n: on_grid(500 + 0.5 * rng.standard_cauchy(n), 0.5),
    "of coarse ticks, autocorrelated": lambda rng, n: on_grid(20 + 0.5 * autocorrelated(rng, n, 0.95), 0.5),
    "of fine ticks, autocorrelated": lambda rng, n: on_grid(4 + 0.04 * autocorrelated(rng, n, 0.95)),
}


@pytest.mark.parametrize("count", [20, 200, 2000])
@pytest.mark.parametrize("name", ONE_MODE)
def test_one_mode_is_seldom_taken_for_two(name: str, count: int) -> None:
    """In less than one case of fifty; other numbers of samples are looked at less often."""
    rng, draws = np.random.default_rng(1), 100 if count == 200 else 20
    found = [find_modes(ONE_MODE[name](rng, count)) for _ in range(draws)]
    assert sum(modes is not None for modes in found) <= max(1, draws // 50 - 1)


@pytest.mark.parametrize("count", [50, 1000])
def test_of_the_most_dispersed_samples_one_in_a_hundred_seems_to_have_two(count: int) -> None:
    rng = np.random.default_rng(2)
    found = [find_modes(rng.uniform(90, 110, count)) for _ in range(100)]
    assert sum(modes is not None for modes in found) <= 3


@pytest.mark.parametrize(
    ("count", "share", "apart"),
    [(5000, 0.5, 3), (500, 0.5, 4), (100, 0.5, 6), (800, 0.1, 6), (250, 0.1, 10), (20_000, 0.1, 6), (1000, 0.3, 5)],
)
def test_two_modes_are_found_where_they_are(count: int, share: float, apart: float) -> None:
    rng = np.random.default_rng(3)
    found = [modes for modes in (find_modes(mixture(rng, count, share, apart)) for _ in range(20)) if modes]
    assert len(found) >= 18
    # Where the modes overlap, the tail of either counts to the other; and a draw has its share only about.
    overlap = 0.1 if apart < 5 else 0.02
    for modes in found:
        assert modes.centres == pytest.approx((100, 100 + apart), abs=0.6)
        assert modes.shares[1] == pytest.approx(share, abs=overlap + 3.5 * np.sqrt(share * (1 - share) / count))
        assert sum(modes.shares) == pytest.approx(1)


def switched(rng: np.random.Generator, count: int, dwell: int) -> IntArray:
    """0 and 1 in turns, each for `dwell` launches on average, and each for a twentieth of all launches at least."""
    while True:
        turns = rng.geometric(1 / dwell, count)
        states = (np.repeat(np.arange(count), turns)[:count] + rng.integers(2)) % 2
        if 0.06 < states.mean() < 0.94:
            return states


PERSISTENT: dict[str, Callable[[np.random.Generator, int], IntArray]] = {
    "once": lambda rng, n: np.arange(n) * 2 // n,
    "quarters": lambda rng, n: np.arange(n) * 4 // n % 2,
    "the last tenth": lambda rng, n: np.arange(n) * 10 // n // 9,
    **{f"dwell {dwell}": partial(switched, dwell=dwell) for dwell in (1, 32, 128, 512)},
}


@pytest.mark.parametrize("step", [0.02, 0.03])
@pytest.mark.parametrize("count", [320, 1000, 5000, 20_000])
@pytest.mark.parametrize("name", PERSISTENT)
def test_modes_are_seen_however_long_each_lasts(name: str, count: int, step: float) -> None:
    """A clock that falls by 2 or 3% where launches differ by 0.2%: nothing lies between the two."""
    rng = np.random.default_rng(9)
    for _ in range(20 if count <= 1000 else 3):
        states = PERSISTENT[name](rng, count)
        modes = find_modes(100 * (1 + step * states) * rng.normal(1, 0.002, count))
        assert modes is not None
        assert modes.centres == pytest.approx((100, 100 * (1 + step)), abs=0.2)
        assert modes.shares[1] == pytest.approx(states.mean(), abs=0.002)


def test_a_few_strays_do_not_hide_two_modes() -> None:
    rng = np.random.default_rng(10)
    samples = np.repeat([100.0, 103.0], 500) * rng.normal(1, 0.002, 1000)
    samples[::250] = rng.uniform(101.2, 101.8, 4)
    assert find_modes(samples) is not None


def test_outliers_are_no_mode_however_far() -> None:
    samples = np.random.default_rng(11).normal(100, 0.2, 1000)
    samples[-45:] = 130
    assert find_modes(samples) is None
    samples[-55:] = 130
    assert find_modes(samples) is not None


def test_two_values_and_nothing_else_are_two_modes() -> None:
    modes = find_modes(np.tile([100.0, 103.0, 100.0], 30))
    assert modes is not None
    assert modes.centres == (100.0, 103.0)
    assert modes.shares == pytest.approx((2 / 3, 1 / 3))


def test_modes_on_the_clocks_grid_are_found() -> None:
    rng = np.random.default_rng(4)
    samples = on_grid(rng.normal(37.3, 0.05, 600) + 2 * (rng.random(600) < 0.4))
    modes = find_modes(samples)
    assert modes is not None
    assert modes.centres == pytest.approx((37.3, 39.3), abs=0.05)


def test_a_clock_that_falls_in_mid_run_gives_two_modes() -> None:
    samples = np.random.default_rng(5).normal(100, 1, 1000) * np.repeat([1.0, 1.3], 500)
    modes = find_modes(samples)
    assert modes is not None
    assert modes.centres == pytest.approx((100, 130), abs=1)
    assert modes.shares == (0.5, 0.5)


def test_modes_closer_than_the_precision_of_a_run_are_one() -> None:
    rng = np.random.default_rng(6)
    assert find_modes(rng.normal(100, 0.05, 1000) + 0.8 * (rng.random(1000) < 0.5)) is None
    assert find_modes(rng.normal(100, 0.05, 1000) + 1.2 * (rng.random(1000) < 0.5)) is not None


@pytest.mark.parametrize("samples", [[37.0], [37.0, 38.0], [1.0, 1, 2, 2], [37.0] * 100])
def test_few_or_constant_samples_have_no_two_modes(samples: list[float]) -> None:
    assert find_modes(np.array(samples)) is None


def test_the_order_of_independent_samples_does_not_matter_much() -> None:
    samples = mixture(np.random.default_rng(7), 1000, 0.3, 6)
    shuffled = np.random.default_rng(8).permutation(samples)
    one, other = find_modes(samples), find_modes(shuffled)
    assert one is not None and other is not None
    assert one.centres == pytest.approx(other.centres, abs=0.1)
