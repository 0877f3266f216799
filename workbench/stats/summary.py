"""What can be said of samples: an interval of the median, the ratio of paired rounds, drift. See `modes` for two modes.

Pure functions of times in microseconds, in the order in which they were taken. No sample is ever removed: medians and
ranks are used because outliers hardly move them. SciPy is imported where it is used, since its import takes longer than
the window may take to appear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf, isfinite, sqrt

import numpy as np

from workbench.stats.arrays import FloatArray
from workbench.stats.resampling import BLOCKS, blocks, dependence, expanded_tail, resampled_medians
from workbench.stats.slope import median_line

# The half-width at which a run may end, relative to the median.
PRECISION = 0.01
# Fewer samples may look precise by luck.
MIN_SETTLED = 100

# What a run cannot see of itself, as a share of its median: where its tensors lie in memory differs from run to run. It
# is an allowance from one device and no law. On an H200 on 2026-11-30, ten repeats of each of six shapes and protocols,
# each in an engine of its own, had medians up to this far from their common one. It is taken over for every GPU, since
# none can be asked; times on the host's clock have none of it (0).
BETWEEN_RUNS = 0.003

# NVIDIA states about this for CUDA events; a grid of a few microseconds is no clock's.
EVENT_RESOLUTION_US = 0.5
NEAR_STEPS = 16

DRIFT_CONFIDENCE = 0.99
MIN_DRIFT_BLOCKS = 8


def unseen_by(clock: str) -> float:
    """What of the spread between runs the samples of a latency's `clock` cannot show, relative to the median."""
    return 0.0 if clock == "host" else BETWEEN_RUNS


@dataclass(frozen=True)
class Interval:
    """An interval of a median: `low` to `high`, 0 to infinity where there are too few samples for any.

    Two things make up its width, each a half-width relative to the median: `sampling` is what the samples show, and
    `unseen` what they cannot (see BETWEEN_RUNS). They add up as the root of the sum of squares. Both are None in files
    of the versions that did not tell them apart.
    """

    low: float
    high: float
    sampling: float | None = None
    unseen: float | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether the samples were enough for an interval."""
        return isfinite(self.high)

    def relative_half_width(self, centre: float) -> float:
        """Half the width over `centre`; infinite where the interval is unbounded or the centre is not positive."""
        return _relative_half_width(self.low, self.high, centre)


@dataclass(frozen=True)
class Ratio:
    """How many times as long the baseline takes as the kernel: above 1 the kernel is the faster one.

    `low` and `high` bound it at the confidence asked for; 0 and infinity where there are too few rounds. `sampling` and
    `unseen` are the parts of that, as in `Interval`; None where the bounds are not from paired rounds.
    """

    baseline_over_kernel: float
    low: float
    high: float
    sampling: float | None = None
    unseen: float | None = None

    @property
    def is_level(self) -> bool:
        """Whether the interval leaves open which one is faster."""
        return self.low <= 1 <= self.high

    @property
    def inverse(self) -> Ratio:
        """How many times as long the kernel takes as the baseline. The parts, being relative, stay what they are."""
        high = 1 / self.low if self.low else inf
        return Ratio(1 / self.baseline_over_kernel, 1 / self.high, high, self.sampling, self.unseen)


@dataclass(frozen=True)
class Drift:
    """A steady change over a run, `relative` to its beginning: 0.02 is 2% slower at the end than at the beginning."""

    relative: float

    @property
    def text(self) -> str:
        """The label that a plot and a report carry."""
        return f"drifting by {self.relative:+.1%} from begin to end"


def median_interval(samples: FloatArray, confidence: float = 0.95, seed: int = 0, unseen: float = 0.0) -> Interval:
    """An interval of the median by a block bootstrap, with expanded percentiles.

    BLOCKS consecutive blocks are drawn with replacement RESAMPLES times, and the interval lies between the percentiles
    of the medians that result: those that Student's t would give (Hesterberg 2015, "expanded percentile"), since so few
    blocks alone would make it too narrow. Where neighbouring blocks resemble each other it is widened, and the degrees
    of freedom are fewer: see `resampling.dependence`. Where the clock's grid shows, each end moves outward by half a
    step of it: a sample stands for anything within that. `unseen` is the relative half-width of what these samples
    cannot show (BETWEEN_RUNS, where the interval is to hold for repeats of the run).

    How often such intervals hold the median was simulated with runs that end as a run does, at two settled looks in a
    row, after 100 to 900 samples: 95 to 97% of 2500 for independent, skewed and heavy-tailed samples, 94.5 to 97% where
    each correlates with the one before by 0.5 to 0.9, and 94 to 94.5% for 0.95. For independent samples that makes them
    a fourth to a third wider than an interval that knew the distribution.

    It never leaves the range of the samples but for half a step of the clock and `unseen`, as no bootstrap's does. Few
    samples that resemble their neighbours much, as while they drift, are then covered less often than stated.

    Fewer than six samples have no 95% interval of the median that holds for every distribution: even their whole range
    covers it less often. It is then unbounded. Constant samples give an interval of no width. Takes about 5 ms for
    20,000 samples. Raises ValueError for no samples, and for samples that are not finite.
    """
    values = checked(samples)
    if 1 - 2 * 0.5 ** len(values) < confidence:
        return Interval(0.0, inf, inf, unseen)
    ordered = np.sort(values)
    medians = resampled_medians(values, ordered, seed)
    widening, freedom = dependence(values)
    tail = expanded_tail(confidence, min(BLOCKS, len(values)), freedom)
    low, high = np.quantile(medians, [tail, 1 - tail], method="inverted_cdf")
    centre, half_step = float(np.median(ordered)), grid_step(values) / 2
    below = max(0.0, centre - float(low)) * widening + half_step
    above = max(0.0, float(high) - centre) * widening + half_step
    below = min(below, centre - float(ordered[0]) + half_step)
    above = min(above, float(ordered[-1]) - centre + half_step)
    sampling = _relative_half_width(centre - below, centre + above, centre)
    return Interval(centre - hypot(below, unseen * centre), centre + hypot(above, unseen * centre), sampling, unseen)


def is_settled(samples: FloatArray, limit: float = PRECISION, confidence: float = 0.95, unseen: float = 0.0) -> bool:
    """Whether the half-width of the median's interval is under `limit` of the median: a run may then end.

    `unseen` is what `median_interval` will be given, so that the interval stated at the end is the one judged here.
    Costs what `median_interval` does: ask when the samples have grown by a tenth or so, not after every launch. It can
    only judge what the samples have seen: a run must also have lasted longer than the changes it is to average over.
    """
    if len(samples) < MIN_SETTLED:
        return False
    interval = median_interval(samples, confidence, unseen=unseen)
    return interval.relative_half_width(float(np.median(samples))) < limit


def paired_ratio(
    kernel_rounds: Sequence[FloatArray],
    baseline_rounds: Sequence[FloatArray],
    confidence: float = 0.95,
    seed: int = 0,
    unseen: float = 0.0,
) -> Ratio:
    """The baseline's time over the kernel's, from rounds in each of which both were launched some times.

    Each round gives one ratio, of its two medians, so that whatever slows both (clocks, heat) drops out of it. The
    result is the median of those ratios; it can differ a little from the quotient of the two medians of the whole run,
    out of which drift does not drop. The interval is `median_interval` of the ratios: a bootstrap over rounds. `unseen`
    is as there, for one of the two.

    Raises ValueError where the rounds do not pair, a round has no samples, or took no time.
    """
    if len(kernel_rounds) != len(baseline_rounds):
        raise ValueError(
            f"{len(kernel_rounds)} rounds of the kernel and {len(baseline_rounds)} of the baseline; allowed are pairs"
        )
    ours = np.array([np.median(checked(values)) for values in kernel_rounds])
    theirs = np.array([np.median(checked(values)) for values in baseline_rounds])
    if not (ours > 0).all() or not (theirs > 0).all():
        raise ValueError("the median of a round is not above 0 µs; allowed are times above 0")
    ratios = checked(theirs / ours)
    interval = median_interval(ratios, confidence, seed, unseen * sqrt(2))
    return Ratio(float(np.median(ratios)), interval.low, interval.high, interval.sampling, interval.unseen)


def find_drift(samples: FloatArray, limit: float = PRECISION) -> Drift | None:
    """A steady change from the first to the last launch, None where there is none or it is under `limit`.

    Theil and Sen's slope of the medians of consecutive blocks, which a bad block or a slow beginning hardly moves. It
    counts if its 99% interval excludes no change. Fewer than eight samples say nothing, nor do samples whose median is
    not above 0: nothing is a share of that. Raises as `median_interval`.
    """
    values = checked(samples)
    medians = np.array([np.median(values[block]) for block in blocks(len(values))])
    centre = float(np.median(values))
    if len(medians) < MIN_DRIFT_BLOCKS or centre <= 0:
        return None
    line = median_line(medians, DRIFT_CONFIDENCE)
    # A line through what settled early may leave the samples' range, which no time of the run did.
    ends = (line.intercept, line.intercept + line.slope * len(medians))
    begin, end = np.clip(ends, values.min(), values.max())
    relative = float(end / begin) - 1 if begin > 0 else inf
    if line.low <= 0 <= line.high or abs(relative) < limit:
        return None
    return Drift(relative)


def grid_step(samples: FloatArray) -> float:
    """The step of the clock's grid that all samples lie on, in us; 0 where none shows.

    A step coarser than a clock's is a property of the samples, and no grid.
    """
    distinct = np.unique(samples)
    # On a grid many samples share a value; and any two values seem to lie on one.
    if len(distinct) < 2 or len(distinct) > len(samples) / 2:
        return 0.0
    gaps, rounding = np.diff(distinct), 1e-6 * np.abs(distinct[1:])  # events give their milliseconds in 32 bits
    gaps, rounding = gaps[gaps > rounding], rounding[gaps > rounding]
    if not len(gaps):
        return 0.0
    step, own = float(gaps.min()), float(rounding[np.argmin(gaps)])
    # Across many steps the rounding of one adds up: a gap before an outlier says nothing.
    is_near = gaps <= NEAR_STEPS * step
    steps = gaps[is_near] / step
    if (np.abs(steps - np.round(steps)) > 0.05 + 4 * rounding[is_near] / step).any():
        return 0.0
    coarsest = max(EVENT_RESOLUTION_US + own, PRECISION * float(np.median(samples)))
    return step if step <= coarsest else 0.0


def checked(samples: FloatArray) -> FloatArray:
    """`samples` as float64 in one dimension; ValueError if there are none, or one is not finite."""
    values = np.asarray(samples, dtype=np.float64).ravel()
    if not len(values):
        raise ValueError("there are no samples; allowed are one and more")
    if not np.isfinite(values).all():
        raise ValueError("a sample is not finite; allowed are finite times")
    return values


def _relative_half_width(low: float, high: float, centre: float) -> float:
    return (high - low) / 2 / centre if centre > 0 else inf
