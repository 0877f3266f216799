"""A line through equally spaced values that outliers hardly move. Written here because SciPy's comes with all of
`scipy.stats`, whose import takes about a second of the first run."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from workbench.stats.arrays import FloatArray


@dataclass(frozen=True)
class Line:
    """A line over 0, 1, 2 …: `slope` per step, between `low` and `high` at the confidence asked for."""

    slope: float
    intercept: float
    low: float
    high: float


def median_line(values: FloatArray, confidence: float = 0.95) -> Line:
    """Theil and Sen's line: its slope is the median of those between all pairs, and goes through the medians.

    The interval is Sen's, from the normal approximation of Kendall's statistic, with his correction for equal values
    (Sen 1968, "Estimates of the regression coefficient based on Kendall's tau"). Raises ValueError for fewer than two
    values.
    """
    count = len(values)
    if count < 2:
        raise ValueError(f"there are {count} values; allowed are two and more")
    first, second = np.triu_indices(count, k=1)
    slopes = np.sort((values[second] - values[first]) / (second - first))
    slope = float(np.median(slopes))
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * sqrt(_variance(values))
    last = len(slopes) - 1
    # Ranks from 0 of the slopes at both ends, kept within what there are.
    low, high = round((len(slopes) - reach) / 2) - 1, round((len(slopes) + reach) / 2)
    ends = slopes[[min(max(low, 0), last), min(max(high, 0), last)]]
    return Line(slope, float(np.median(values) - slope * (count - 1) / 2), float(ends[0]), float(ends[1]))


def _variance(values: FloatArray) -> float:
    """Of Kendall's statistic where nothing rises or falls: of as many values, some of which may be equal."""

    def of(count: int) -> int:
        return count * (count - 1) * (2 * count + 5)

    _, ties = np.unique(values, return_counts=True)
    return (of(len(values)) - sum(of(int(tie)) for tie in ties)) / 18
