"""Drawing a run anew in blocks: the medians that other runs might have had, and how far the blocks can be relied on.

Launches that follow each other resemble each other: temperature and power change slowly. Treating them as independent
would give intervals far too narrow. So a run is cut into BLOCKS consecutive blocks, and what is drawn anew, or
compared, are whole blocks: whatever lasts shorter than a block (a sixteenth of the run) is then accounted for. What
lasts longer shows in how neighbouring blocks, also finer ones, resemble each other, and widens the interval.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import sqrt

import numpy as np

from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.student import normal_below, student_quantile

# Few blocks are long, and so outlast what correlates launches; fewer still would widen every interval noticeably
# (Student's t for 15 degrees of freedom is 9% above the normal quantile).
BLOCKS = 16
RESAMPLES = 2000
CANDIDATES = 512

# Finer blocks tell more surely how the time of a launch wanders, coarser ones see slower changes.
SCALES = (16, 32, 64)
# Of independent blocks one in ten shows a correlation between neighbours greater than this over their count's root.
CORRELATED = 1.2
MAX_CORRELATION = 0.95
MAX_WIDENING = sqrt((1 + MAX_CORRELATION) / (1 - MAX_CORRELATION))
MIN_FREEDOM = 3


def blocks(count: int) -> list[slice]:
    """BLOCKS consecutive blocks of `count` samples, as equal as possible; single samples where there are fewer."""
    return [slice(int(start), int(end)) for start, end in pairwise(block_edges(count))]


def block_edges(count: int, most: int = BLOCKS) -> IntArray:
    """Where those blocks begin, and where the last one ends; `most` is how many there are at most."""
    return np.linspace(0, count, min(most, count) + 1).round().astype(np.int64)


def resampled_medians(values: FloatArray, ordered: FloatArray, seed: int) -> FloatArray:
    """The medians of RESAMPLES draws of whole blocks, with replacement; `ordered` are the values sorted.

    No draw is ever sorted: a draw's median is the least value that half of its samples do not exceed, and how many of
    a block's samples do not exceed a value is counted once. Values are looked at where the medians can fall, and each
    draw's own is found by bisection.
    """
    parts = [np.sort(values[block]) for block in blocks(len(values))]
    sizes = np.array([len(part) for part in parts], dtype=np.float64)
    centre = ordered[(len(ordered) - 1) // 2]
    shares = np.array([np.searchsorted(part, centre, side="right") for part in parts]) / sizes
    reach = 6 * shares.std() / sqrt(len(parts)) + 2 / len(values)
    ranks = np.linspace(max(0.0, 0.5 - reach), min(1.0, 0.5 + reach), CANDIDATES) * (len(values) - 1)
    candidates = ordered[np.unique(ranks.round().astype(int))]
    counts = np.stack([np.searchsorted(part, candidates, side="right") for part in parts], axis=1).astype(np.float64)
    counts[-1] = sizes  # the last one serves where no candidate does
    drawn = _draws(len(parts), seed)
    needed = drawn @ sizes / 2
    first, last = np.zeros(len(drawn), dtype=int), np.full(len(drawn), len(candidates) - 1)
    for _ in range(len(candidates).bit_length()):
        middle = (first + last) // 2
        is_reached = np.einsum("rb,rb->r", drawn, counts[middle]) >= needed
        first, last = np.where(is_reached, first, middle + 1), np.where(is_reached, middle, last)
    return np.asarray(candidates[last])


@lru_cache(maxsize=32)
def _draws(count: int, seed: int) -> FloatArray:
    """How often each of `count` blocks is in each of RESAMPLES draws; drawing costs more than all that follows."""
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    return drawn.astype(np.float64)


def expanded_tail(confidence: float, count: int, freedom: float) -> float:
    """The percentile, as a share, at which the interval of `count` blocks must end."""
    return normal_below(sqrt(count / (count - 1)) * student_quantile((1 - confidence) / 2, freedom))


def dependence(values: FloatArray) -> tuple[float, float]:
    """What to widen an interval by because neighbouring blocks resemble each other (1 if they do not), and its freedom.

    At each of SCALES the error of the mean follows from the blocks' spread and from a correlation that falls by the
    same factor from neighbour to neighbour. The greatest error counts: too narrow an interval would end a run, a wide
    one only lets it go on. So many blocks as would be independent, less one, are the degrees of freedom. Ranks stand
    for the values, so that outliers hide nothing; equal values share one.
    """
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(counts) - counts)[which]  # twice the mean of the ranks that equal values share
    seen = [_spread_of_mean(ranks, scale) for scale in dict.fromkeys(min(scale, len(values)) for scale in SCALES)]
    drawn = seen[0][0]  # what drawing the blocks anew shows
    if drawn == 0:
        return 1.0, float(min(BLOCKS, len(values)) - 1)
    widening = sqrt(max(variance * factor for variance, factor, _ in seen) / drawn)
    independent = min(count / max(1.0, factor) for _, factor, count in seen)
    return min(max(1.0, widening), MAX_WIDENING), max(MIN_FREEDOM, independent - 1)


def _spread_of_mean(ranks: IntArray, count: int) -> tuple[float, float, int]:
    """The variance of the mean of `count` blocks were they independent, the factor by which it is more, and `count`."""
    edges = block_edges(len(ranks), count)
    means = np.add.reduceat(ranks, edges[:-1]) / np.diff(edges)
    deviations = means - means.mean()
    total = float(deviations @ deviations)
    if total == 0 or count < BLOCKS:
        return total / max(1, count - 1) / count, 1.0, count
    seen = float(deviations[1:] @ deviations[:-1]) / total
    correlation = seen + (1 + 3 * seen) / count  # so few blocks show too little of it (Kendall 1954)
    if abs(correlation) < CORRELATED / sqrt(count):
        correlation = 0.0
    correlation = min(max(correlation, -MAX_CORRELATION), MAX_CORRELATION)
    return total / (count - 1) / count, (1 + correlation) / (1 - correlation), count
