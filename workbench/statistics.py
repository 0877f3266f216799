"""What can be said of samples: an interval of the median, the ratio of paired rounds, drift. See `modes` for two modes.

Pure functions of times in microseconds, in the order in which they were taken. No sample is ever removed: medians and
ranks are used because outliers hardly move them. SciPy is imported where it is used, since its import takes longer than
the window may take to appear.

Launches that follow each other resemble each other: temperature and power change slowly. Treating them as independent
would give intervals far too narrow. So a run is cut into BLOCKS consecutive blocks, and what is drawn anew, or
compared, are whole blocks: whatever lasts shorter than a block (a sixteenth of the run) is then accounted for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot, inf, isfinite, sqrt

import numpy as np

from workbench.model import FloatArray

# Few blocks are long, and so outlast what correlates launches; fewer still would widen every interval noticeably
# (Student's t for 15 degrees of freedom is 9% above the normal quantile).
BLOCKS = 16
RESAMPLES = 2000
CANDIDATES = 256
# Of sixteen independent blocks one in ten shows a greater correlation between neighbours.
CORRELATED = 0.3
MAX_CORRELATION = 0.95

# The half-width at which a run may end, relative to the median.
PRECISION = 0.01
# Fewer samples may look precise by luck.
MIN_SETTLED = 100

# What a run cannot see of itself, as a share of its median: ten repeats of one run differ by where their tensors lie in
# memory. On an H200 (six shapes and protocols, 2026-11-30) their medians then lay up to this far from their common one.
BETWEEN_RUNS = 0.003

# NVIDIA states about this for CUDA events; a grid of a few microseconds is no clock's.
EVENT_RESOLUTION_US = 0.5

DRIFT_CONFIDENCE = 0.99
MIN_DRIFT_BLOCKS = 8


@dataclass(frozen=True)
class Interval:
    """An interval of a median: `low` to `high`, 0 to infinity where there are too few samples for any."""

    low: float
    high: float

    @property
    def is_bounded(self) -> bool:
        """Whether the samples were enough for an interval."""
        return isfinite(self.high)

    def relative_half_width(self, centre: float) -> float:
        """Half the width over `centre`; infinite where the interval is unbounded or the centre is not positive."""
        return (self.high - self.low) / 2 / centre if centre > 0 else inf


@dataclass(frozen=True)
class Ratio:
    """How many times as long the baseline takes as the kernel: above 1 the kernel is the faster one.

    `low` and `high` bound it at the confidence asked for; 0 and infinity where there are too few rounds.
    """

    baseline_over_kernel: float
    low: float
    high: float

    @property
    def is_level(self) -> bool:
        """Whether the interval leaves open which one is faster."""
        return self.low <= 1 <= self.high

    @property
    def inverse(self) -> Ratio:
        """How many times as long the kernel takes as the baseline."""
        return Ratio(1 / self.baseline_over_kernel, 1 / self.high, 1 / self.low if self.low else inf)


@dataclass(frozen=True)
class Drift:
    """A steady change over a run, `relative` to its median: 0.02 is 2% slower at the end than at the beginning."""

    relative: float

    @property
    def text(self) -> str:
        """The label that a plot and a report carry."""
        return f"drifting by {self.relative:+.1%} from begin to end"


def median_interval(samples: FloatArray, confidence: float = 0.95, seed: int = 0, unseen: float = 0.0) -> Interval:
    """An interval of the median by a block bootstrap, with expanded percentiles.

    BLOCKS consecutive blocks are drawn with replacement RESAMPLES times, and the interval lies between the percentiles
    of the medians that result: those that Student's t with BLOCKS - 1 degrees of freedom would give (Hesterberg 2015,
    "expanded percentile"), since so few blocks alone would make it too narrow. Where even neighbouring blocks resemble
    each other (a drift, a slow change), it is widened by what a mean of blocks so correlated would need. Where the
    clock's grid shows, each end moves outward by half a step of it: a sample stands for anything within that. `unseen`
    is the relative half-width of what these samples cannot show (BETWEEN_RUNS, where the interval is to hold for
    repeats of the run); it is added as the square root of the sum of squares.

    Fewer than six samples have no 95% interval of the median that holds for every distribution: even their whole range
    covers it less often. It is then unbounded. Constant samples give an interval of no width. Takes about 6 ms for
    20,000 samples. Raises ValueError for no samples, and for samples that are not finite.
    """
    values = checked(samples)
    if 1 - 2 * 0.5 ** len(values) < confidence:
        return Interval(0.0, inf)
    medians = _resampled_medians(values, seed)
    tail = _expanded_tail(confidence, min(BLOCKS, len(values)))
    low, high = np.quantile(medians, [tail, 1 - tail], method="inverted_cdf")
    centre, widening, half_step = float(np.median(values)), _widening(values), grid_step(values) / 2
    below = max(0.0, centre - float(low)) * widening + half_step
    above = max(0.0, float(high) - centre) * widening + half_step
    return Interval(centre - hypot(below, unseen * centre), centre + hypot(above, unseen * centre))


def is_settled(samples: FloatArray, limit: float = PRECISION, confidence: float = 0.95) -> bool:
    """Whether the half-width of the median's interval is under `limit` of the median: a run may then end.

    Costs what `median_interval` does: ask when the samples have grown by a tenth or so, not after every launch. It can
    only judge what the samples have seen: a run must also have lasted longer than the changes it is to average over.
    """
    if len(samples) < MIN_SETTLED:
        return False
    return median_interval(samples, confidence).relative_half_width(float(np.median(samples))) < limit


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
    return Ratio(float(np.median(ratios)), interval.low, interval.high)


def find_drift(samples: FloatArray, limit: float = PRECISION) -> Drift | None:
    """A steady change from the first to the last launch, None where there is none or it is under `limit`.

    Theil and Sen's slope of the medians of consecutive blocks, which a bad block or a slow beginning hardly moves. It
    counts if its 99% interval excludes no change. Fewer than eight samples say nothing. Raises as `median_interval`.
    """
    from scipy.stats import theilslopes

    values = checked(samples)
    medians = _block_medians(values)
    if len(medians) < MIN_DRIFT_BLOCKS:
        return None
    slope, _, low, high = theilslopes(medians, alpha=DRIFT_CONFIDENCE)
    relative = float(slope) * len(medians) / float(np.median(values))
    if low <= 0 <= high or abs(relative) < limit:
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
    rounding = 1e-6 * float(np.abs(distinct).max())  # events give their milliseconds in 32 bits
    gaps = np.diff(distinct)
    gaps = gaps[gaps > rounding]
    if not len(gaps):
        return 0.0
    step = float(gaps.min())
    if np.abs(gaps / step - np.round(gaps / step)).max() > 0.05 + 4 * rounding / step:
        return 0.0
    return step if step <= max(EVENT_RESOLUTION_US, PRECISION * float(np.median(samples))) else 0.0


def checked(samples: FloatArray) -> FloatArray:
    """`samples` as float64 in one dimension; ValueError if there are none, or one is not finite."""
    values = np.asarray(samples, dtype=np.float64).ravel()
    if not len(values):
        raise ValueError("there are no samples; allowed are one and more")
    if not np.isfinite(values).all():
        raise ValueError("a sample is not finite; allowed are finite times")
    return values


def blocks(count: int) -> list[slice]:
    """BLOCKS consecutive blocks of `count` samples, as equal as possible; single samples where there are fewer."""
    edges = np.linspace(0, count, min(BLOCKS, count) + 1).round().astype(int)
    return [slice(int(start), int(end)) for start, end in pairwise(edges)]


def _block_medians(values: FloatArray) -> FloatArray:
    return np.array([np.median(values[block]) for block in blocks(len(values))])


def _resampled_medians(values: FloatArray, seed: int) -> FloatArray:
    """The medians of RESAMPLES draws of whole blocks, with replacement.

    No draw is ever sorted: a draw's median is the least value that half of its samples do not exceed, and how many of
    a block's samples do not exceed a value is counted once. Values are looked at where the medians can fall.
    """
    parts = [np.sort(values[block]) for block in blocks(len(values))]
    sizes = np.array([len(part) for part in parts], dtype=np.float64)
    centre = np.median(values)
    shares = np.array([np.searchsorted(part, centre, side="right") for part in parts]) / sizes
    reach = 6 * shares.std() / sqrt(len(parts)) + 2 / len(values)
    ranks = np.linspace(max(0.0, 0.5 - reach), min(1.0, 0.5 + reach), CANDIDATES) * (len(values) - 1)
    candidates = np.sort(values)[np.unique(ranks.round().astype(int))]
    counts = np.stack([np.searchsorted(part, candidates, side="right") for part in parts]).astype(np.float64)
    even = np.full(len(parts), 1 / len(parts))
    drawn = np.random.default_rng(seed).multinomial(len(parts), even, size=RESAMPLES).astype(np.float64)
    reached = drawn @ counts >= (drawn @ sizes / 2)[:, None]  # [RESAMPLES, candidates]
    reached[:, -1] = True
    return np.asarray(candidates[np.argmax(reached, axis=1)])


def _expanded_tail(confidence: float, count: int) -> float:
    """The percentile, as a share, at which the interval of `count` blocks must end."""
    from scipy.special import ndtr, stdtrit

    return float(ndtr(sqrt(count / (count - 1)) * stdtrit(count - 1, (1 - confidence) / 2)))


def _widening(values: FloatArray) -> float:
    """What to widen an interval by because neighbouring blocks resemble each other; 1 if they do not.

    The standard error of a mean of blocks whose correlation falls by the same factor from neighbour to neighbour.
    """
    medians = _block_medians(values)
    deviations = medians - medians.mean()
    spread = float(deviations @ deviations)
    if len(medians) < BLOCKS or spread == 0:
        return 1.0
    seen = float(deviations[1:] @ deviations[:-1]) / spread
    correlation = seen + (1 + seen) / len(medians)  # so few blocks show too little of it
    if correlation < CORRELATED:
        return 1.0
    correlation = min(correlation, MAX_CORRELATION)
    return sqrt((1 + correlation) / (1 - correlation))
