"""Statistics of synthetic samples whose answers are known. The simulations have fixed seeds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pytest
from scipy.signal import lfilter

from tests.samples import make_record
from tests.yardstick import cost_ms
from workbench.run.codec import decode, encode, plain
from workbench.run.events import Comparison
from workbench.stats.arrays import FloatArray
from workbench.stats.summary import (
    BETWEEN_RUNS,
    MIN_SETTLED,
    PRECISION,
    Interval,
    Ratio,
    find_drift,
    grid_step,
    is_settled,
    median_interval,
    paired_ratio,
)

TICK = 0.032  # us, the grid of CUDA events on recent GPUs


def autocorrelated(rng: np.random.Generator, count: int, factor: float) -> FloatArray:
    """Normal values with standard deviation 1, each `factor` of the one before plus noise."""
    noise = rng.standard_normal(count) * np.sqrt(1 - factor**2)
    values, _ = lfilter([1], [1, -factor], noise, zi=[factor * rng.standard_normal()])
    return np.asarray(values)


def on_grid(values: FloatArray, step: float = TICK) -> FloatArray:
    """What a clock with that step would say, in the 32-bit milliseconds of an event."""
    milliseconds = (np.round(values / step) * step / 1e3).astype(np.float32)
    return milliseconds.astype(np.float64) * 1e3


def test_intervals_of_independent_samples_are_not_wider_than_needed() -> None:
    """The median of 1000 normal samples has a standard error of sqrt(pi / 2 / 1000) = 0.0396."""
    rng = np.random.default_rng(2)
    widths = [np.ptp([i.low, i.high]) for i in (median_interval(rng.normal(100, 1, 1000)) for _ in range(50))]
    assert np.mean(widths) == pytest.approx(2 * 2.13 * 0.0396, rel=0.15)


def test_a_drift_widens_the_interval() -> None:
    rng = np.random.default_rng(4)
    noise = rng.normal(0, 0.1, 2000)
    steady = median_interval(100 + noise)
    drifting = median_interval(100 + noise + np.linspace(-2, 2, 2000))
    assert drifting.low < 99.5 and drifting.high > 100.5
    assert steady.high - steady.low < 0.02


def test_an_interval_between_two_modes_spans_both() -> None:
    """Half of the launches take 100 and half 103 us, in turns of fifty: which of them the median is, is chance."""
    samples = np.where(np.arange(2000) // 50 % 2 == 0, 100.0, 103.0)
    samples += np.random.default_rng(5).normal(0, 0.1, 2000)
    interval = median_interval(samples)
    assert interval.low < 100.5 and interval.high > 102.5


def test_one_sample_bounds_nothing() -> None:
    interval = median_interval(np.array([37.0]))
    assert (interval.low, interval.high) == (0.0, inf)
    assert not interval.is_bounded
    assert interval.relative_half_width(37.0) == inf


@pytest.mark.parametrize("count", [2, 5])
def test_so_few_samples_have_no_95_percent_interval(count: int) -> None:
    assert not median_interval(np.arange(1.0, count + 1)).is_bounded


def test_five_samples_have_a_90_percent_interval() -> None:
    interval = median_interval(np.array([3.0, 1.0, 5.0, 2.0, 4.0]), confidence=0.9)
    assert interval == Interval(1.0, 5.0, sampling=2 / 3, unseen=0.0)


def test_constant_samples_give_an_interval_of_no_width() -> None:
    interval = median_interval(np.full(50, 37.312))
    assert (interval.low, interval.high) == (37.312, 37.312)
    assert interval.relative_half_width(37.312) == 0


def test_an_interval_never_ends_inside_a_step_of_the_clock() -> None:
    """All but a few samples show one tick: the median is known to half a tick, and not exactly."""
    samples = on_grid(np.r_[np.full(97, 32.0), np.full(3, 32.0 + TICK)])
    interval = median_interval(samples)
    assert interval.low == pytest.approx(32.0 - TICK / 2, abs=1e-5)
    assert interval.high == pytest.approx(32.0 + TICK / 2, abs=1e-5)


def test_what_the_samples_cannot_show_is_added_to_what_they_do() -> None:
    """Sides of 3 and 4: the interval's own half-width and four thirds of it give five thirds."""
    samples = np.random.default_rng(23).normal(100, 5, 400)
    centre, own = float(np.median(samples)), median_interval(samples)
    more = median_interval(samples, unseen=4 / 3 * (own.high - centre) / centre)
    assert more.high - centre == pytest.approx(5 / 3 * (own.high - centre))
    assert more.low < own.low
    constant = median_interval(np.full(50, 37.0), unseen=BETWEEN_RUNS)
    assert (constant.low, constant.high) == pytest.approx((37 * (1 - BETWEEN_RUNS), 37 * (1 + BETWEEN_RUNS)))


def test_what_the_samples_show_and_what_they_cannot_are_told_apart() -> None:
    samples = np.random.default_rng(24).normal(100, 5, 400)
    own, both = median_interval(samples), median_interval(samples, unseen=0.01)
    width = own.relative_half_width(float(np.median(samples)))
    assert own.sampling == both.sampling == pytest.approx(width)
    assert (own.unseen, both.unseen) == (0.0, 0.01)
    assert both.relative_half_width(float(np.median(samples))) == pytest.approx(np.hypot(width, 0.01), rel=0.01)
    few = median_interval(samples[:3], unseen=0.01)
    assert (few.sampling, few.unseen) == (inf, 0.01)
    assert plain(both)["unseen"] == 0.01 and plain(few)["sampling"] is None


def test_files_of_before_open_and_claim_nothing_of_the_parts() -> None:
    record = make_record(1)
    (first, *_), interval = record.measured, Interval(9.0, 11.0, 0.08, 0.06)
    latency = replace(first.measurement.latency, interval=interval)
    measured = replace(first, measurement=replace(first.measurement, latency=latency))
    record = replace(record, measured=(measured,), comparison=Comparison(Ratio(2.0, 1.0, 3.0, 0.1, 0.0)))
    data, arrays = encode(record)
    now = decode(json.loads(json.dumps(data)), arrays)
    assert now.comparison == record.comparison and now.measured[0].measurement.latency.interval == interval
    without = re.sub(r', "(sampling|unseen)": [0-9.]+', "", json.dumps(data))
    old = decode(json.loads(without), arrays)
    assert old.comparison == Comparison(Ratio(2.0, 1.0, 3.0))
    assert old.measured[0].measurement.latency.interval == Interval(9.0, 11.0)


def test_an_outlier_hardly_moves_an_interval_and_is_not_removed() -> None:
    samples = np.random.default_rng(6).normal(100, 1, 200)
    with_outlier = samples.copy()
    with_outlier[17] = 1e9
    before, after = median_interval(samples), median_interval(with_outlier)
    assert after.high - before.high < 0.1 and before.low - after.low < 0.1
    few = np.r_[samples[:5], 1e9]
    assert median_interval(few).high == 1e9


def test_the_same_seed_gives_the_same_interval_and_more_confidence_a_wider_one() -> None:
    samples = np.random.default_rng(7).lognormal(3, 0.1, 300)
    assert median_interval(samples, seed=8) == median_interval(samples, seed=8)
    narrow, wide = median_interval(samples, 0.8), median_interval(samples, 0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("samples", [[], [1.0, np.nan], [1.0, inf]])
def test_samples_that_are_none_are_refused(samples: list[float]) -> None:
    with pytest.raises(ValueError, match="allowed are"):
        median_interval(np.array(samples))


def test_a_run_is_settled_once_its_interval_is_narrow() -> None:
    """A spread of 10% needs some (1.96 x 10 x 1.25 / 1)^2 = 600 samples for 1%."""
    samples = np.random.default_rng(9).normal(100, 10, 4000)
    assert not is_settled(samples[:200])
    assert is_settled(samples)
    assert not is_settled(samples, limit=0.001)


def test_few_samples_are_not_settled_however_alike() -> None:
    assert not is_settled(np.full(MIN_SETTLED - 1, 100.0))
    assert is_settled(np.full(MIN_SETTLED, 100.0))


def test_what_a_run_cannot_see_counts_when_it_is_asked_whether_it_is_settled() -> None:
    """Else a run would end at a precision of 1% and state an interval wider than that."""
    samples = np.random.default_rng(25).normal(100, 6, 700)
    own = median_interval(samples).relative_half_width(float(np.median(samples)))
    assert 0.005 < own < PRECISION
    assert is_settled(samples) and is_settled(samples, unseen=0.9 * sqrt(PRECISION**2 - own**2))
    assert not is_settled(samples, unseen=1.1 * sqrt(PRECISION**2 - own**2))


@pytest.mark.parametrize("period", [20, 64])
def test_what_takes_turns_widens_an_interval_little(period: int) -> None:
    """Launches are half a percent slower in every other half period: blocks may differ, but the run has seen it all."""
    noise = np.random.default_rng(26).normal(0, 0.3, 2000)
    interval = median_interval(100 + noise + 0.5 * (np.arange(2000) % period < period // 2))
    assert interval.low <= 100.25 <= interval.high
    assert interval.high - interval.low < 0.5


def test_asking_costs_some_milliseconds() -> None:
    samples = np.random.default_rng(11).lognormal(3, 0.1, 20_000)
    is_settled(samples)  # imports SciPy
    assert cost_ms(lambda: is_settled(samples)) < 10


def rounds(rng: np.random.Generator, factor: float, common: FloatArray) -> tuple[list[FloatArray], list[FloatArray]]:
    """Rounds of three launches each: the baseline takes `factor` times the kernel, both `common` times as long."""
    kernel = [100 * slow * rng.normal(1, 0.01, 3) for slow in common]
    baseline = [100 * factor * slow * rng.normal(1, 0.01, 3) for slow in common]
    return kernel, baseline


def test_a_ratio_is_that_of_baseline_to_kernel() -> None:
    rng = np.random.default_rng(12)
    ratio = paired_ratio(*rounds(rng, 1.5, np.ones(100)))
    assert ratio.baseline_over_kernel == pytest.approx(1.5, rel=0.005)
    assert 1.48 < ratio.low < ratio.baseline_over_kernel < ratio.high < 1.52
    assert not ratio.is_level


def test_what_slows_both_drops_out_of_the_ratio() -> None:
    """The clock falls by a third in the middle of the run: the medians of the whole say little, the ratio all."""
    rng = np.random.default_rng(14)
    kernel, baseline = rounds(rng, 1.1, np.r_[np.ones(50), np.full(50, 1.5)])
    ratio = paired_ratio(kernel, baseline)
    assert ratio.baseline_over_kernel == pytest.approx(1.1, rel=0.01)
    assert ratio.high - ratio.low < 0.02
    assert median_interval(np.concatenate(kernel)).relative_half_width(100) > 0.1


def test_equal_times_are_level() -> None:
    assert paired_ratio(*rounds(np.random.default_rng(15), 1.0, np.ones(50))).is_level


def test_one_round_bounds_no_ratio_and_its_inverse_is_as_open() -> None:
    ratio = paired_ratio([np.array([100.0])], [np.array([150.0])])
    assert ratio == Ratio(1.5, 0.0, inf, sampling=inf, unseen=0.0)
    assert ratio.is_level
    assert ratio.inverse == Ratio(1 / 1.5, 0.0, inf, sampling=inf, unseen=0.0)


def test_a_ratio_of_two_that_each_have_something_unseen_has_more_of_it() -> None:
    exact = [np.full(3, 100.0)] * 30
    ratio = paired_ratio(exact, exact, unseen=0.01)
    assert (ratio.low, ratio.high) == pytest.approx((1 - 0.01414, 1 + 0.01414), abs=1e-5)
    assert ratio.sampling == 0.0 and ratio.unseen == pytest.approx(0.01414, abs=1e-5)
    assert (ratio.inverse.sampling, ratio.inverse.unseen) == (ratio.sampling, ratio.unseen)


def test_rounds_may_have_different_numbers_of_launches() -> None:
    ratio = paired_ratio([np.full(2, 10.0), np.full(3, 20.0)], [np.full(1, 20.0), np.full(5, 40.0)])
    assert ratio.baseline_over_kernel == 2.0


@pytest.mark.parametrize(
    ("kernel", "baseline", "words"),
    [
        ([[1.0]], [[1.0], [2.0]], "1 rounds of the kernel and 2 of the baseline"),
        ([[1.0], []], [[1.0], [2.0]], "no samples"),
        ([[0.0]], [[1.0]], "not above 0"),
        ([], [], "no samples"),
    ],
)
def test_rounds_that_give_no_ratio_are_refused(
    kernel: list[list[float]], baseline: list[list[float]], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        paired_ratio([np.array(r) for r in kernel], [np.array(r) for r in baseline])


@pytest.mark.parametrize("change", [-0.05, 0.02, 0.3])
def test_a_drift_is_found_and_measured(change: float) -> None:
    rng = np.random.default_rng(16)
    samples = 100 * (1 + change * np.linspace(-0.5, 0.5, 3000)) + autocorrelated(rng, 3000, 0.5)
    drift = find_drift(samples)
    assert drift is not None
    assert drift.relative == pytest.approx((1 + change / 2) / (1 - change / 2) - 1, abs=0.006)
    assert drift.text == f"drifting by {drift.relative:+.1%} from begin to end"


def test_a_drift_is_a_share_of_the_beginning_that_a_time_can_lose() -> None:
    """What settles from 10 to 1 has lost nine tenths, though that is 900% of its median."""
    samples = 1.0 + 9.0 * np.exp(-np.arange(200) / 60)
    drift = find_drift(samples)
    assert drift is not None and -1 < drift.relative < -0.5


@pytest.mark.parametrize("kind", ["settling", "walking", "independent"])
def test_an_interval_never_leaves_the_range_of_the_samples(kind: str) -> None:
    """However few there are, and however much they settle or wander, as on a busy machine."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        values = 100 + rng.normal(0, 1, 20)
        if kind == "settling":
            values = 1.0 + 9.0 * np.exp(-np.arange(20) / rng.uniform(1, 9))
        elif kind == "walking":
            values = 100 + np.cumsum(values - 100)
        interval = median_interval(values)
        assert values.min() <= interval.low <= np.median(values) <= interval.high <= values.max()


@pytest.mark.parametrize("count", [100, 5000])
def test_noise_does_not_drift(count: int) -> None:
    rng = np.random.default_rng(17)
    found = [find_drift(100 + 3 * autocorrelated(rng, count, 0.8)) for _ in range(50)]
    assert sum(drift is not None for drift in found) <= 2


def test_a_slow_beginning_and_outliers_are_no_drift() -> None:
    samples = 100 + np.random.default_rng(18).normal(0, 0.5, 2000)
    samples[:100] += np.linspace(50, 0, 100)
    samples[1990:] = 900
    assert find_drift(samples) is None


def test_a_drift_under_the_limit_is_not_called_one() -> None:
    samples = 100 + np.linspace(0, 0.5, 1000) + np.random.default_rng(19).normal(0, 0.05, 1000)
    assert find_drift(samples) is None
    assert find_drift(samples, limit=0.001) is not None


@pytest.mark.parametrize(
    "samples",
    [[37.0], [1.0, 2, 3, 4, 5, 6, 7], [37.0] * 100, [0.0] * 100, [0.0] * 60 + [1.0, 2.0] * 20, list(range(-90, 10))],
    ids=["one", "seven", "constant", "zeros", "most are zero", "mostly below zero"],
)
def test_few_or_constant_samples_do_not_drift(samples: list[float]) -> None:
    assert find_drift(np.array(samples)) is None


@pytest.mark.parametrize(
    ("samples", "step"),
    [
        (on_grid(np.random.default_rng(20).normal(37.3, 0.1, 500)), TICK),
        (on_grid(np.random.default_rng(21).normal(762.6, 3.0, 20_000)), TICK),
        (on_grid(np.random.default_rng(27).normal(5.2, 0.15, 500), 0.5), 0.5),  # as coarse as a clock's is taken to be
        (on_grid(np.r_[np.random.default_rng(28).normal(37.3, 0.1, 500), 900.0, 2e6]), TICK),
        (np.random.default_rng(22).normal(37.3, 0.1, 500), 0),
        (np.full(100, 37.312), 0),
        (np.array([37.3]), 0),
        (np.tile([100.0, 103.0], 50), 0),  # a step of 3%: two kinds of launches, and no clock's
    ],
    ids=[
        "grid",
        "large grid",
        "coarse grid",
        "grid with outliers",
        "continuous",
        "constant",
        "one sample",
        "two values",
    ],
)
def test_the_clocks_grid_is_seen(samples: FloatArray, step: float) -> None:
    assert grid_step(samples) == pytest.approx(step, rel=1e-2)


def test_importing_it_leaves_scipy_out() -> None:
    code = "import sys, workbench.stats.summary, workbench.stats.modes; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
