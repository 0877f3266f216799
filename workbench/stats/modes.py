"""Whether samples have two modes, and where they are. The label this gives is what keeps a median honest."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isfinite, sqrt

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.resampling import block_edges
from workbench.stats.summary import PRECISION, checked, grid_step

BoolArray = npt.NDArray[np.bool_]

# Modes closer than the precision of a run change no conclusion, and a smaller share is called outliers.
MODE_APART = PRECISION
MODE_SHARE = 0.05
# A gap counts if its chance is below this over n^1.5: the power makes up for the many places where n samples can show
# one. About one in 200 samples from one mode, of whatever shape and size, then seems to have two.
GAP_CHANCE = 0.05
LEVELS = 64
THINNED = 2000

# A gap is empty if no more than this share of all samples strays in it.
STRAYS = 0.005
# So wide a gap, in widths of the wider side, shows two modes by itself. Of some thousand draws from one mode (skewed,
# heavy-tailed, drifting, wandering) none had a gap over 0.7; normal modes 10 standard deviations apart have 1.8.
CLEAR_GAP = 1.0
# A side's width is that of its middle four fifths, which outliers do not move; fewer samples have no width to speak of.
MIDDLE = (0.1, 0.9)
MIN_SIDE = 10


@dataclass(frozen=True)
class Modes:
    """Two modes, the faster first: the median of each one's samples in us, and their shares, which sum to 1."""

    centres: tuple[float, float]
    shares: tuple[float, float]


def find_modes(samples: FloatArray) -> Modes | None:
    """The two modes of a bimodal distribution, None where one mode explains the samples.

    The label is of the samples, not of what further ones would be: a gap that is wider than either side and all but
    empty shows two modes, however long each of them lasted (a clock that fell once in mid-run gives two). A sample that
    drifts or wanders crosses its range step by step, and leaves no such gap.

    Where the gap is not so clear, its chance decides. For each of LEVELS densities the two intervals that rise most
    above it are found (excess mass, Müller and Sawitzki 1991). With a single mode, density falls from one of the two
    across the gap to the other: the samples of the gap and of the further one are then at best spread evenly over both,
    and the chance of so few in the gap is binomial. The least such chance of all levels decides. It asks nothing of the
    shape, so skewed, flat and heavy-tailed distributions pass as the single mode that they are. Samples that resemble
    their neighbours count as fewer here. Samples on the clock's grid are spread over its steps first.

    Modes less than MODE_APART apart, or with a share under MODE_SHARE, are not called modes. If launches are
    independent, two equal modes 3 standard deviations apart are found from about 3000 samples on, 6 apart from about
    50; one with a tenth of the samples, 10 standard deviations away, from about 150. If each mode lasts for many
    launches they must be about 8 standard deviations apart. Takes about 20 ms for 20,000 samples. Raises ValueError for
    no samples, and for samples that are not finite.
    """
    values = checked(samples)
    spread = np.sort(_spread_over_grid(values))
    split = _clear_gap(spread)
    if split is None:
        split = _unlikely_gap(values, spread)
    if split is None:
        return None
    below = values <= split
    low, high, share = float(np.median(values[below])), float(np.median(values[~below])), float(below.mean())
    return Modes((low, high), (share, 1 - share)) if high >= low * (1 + MODE_APART) else None


def _clear_gap(values: FloatArray) -> float | None:
    """The middle of the gap that is widest against both sides of it, None if it is narrower than either, or not empty.

    Takes sorted samples. Each side has MODE_SHARE of them and MIN_SIDE at least.
    """
    count, strays = len(values), int(STRAYS * len(values))
    side = max(MIN_SIDE, ceil(MODE_SHARE * count))
    left = np.arange(side - 1, count - side - strays)  # the last sample before the gap
    if not len(left):
        return None
    right = left + strays + 1
    widths = np.maximum(_middle_width(values, 0 * left, left), _middle_width(values, right, 0 * right + count - 1))
    gaps = values[right] - values[left]
    best = int(np.argmax(gaps - CLEAR_GAP * widths))
    if gaps[best] <= CLEAR_GAP * widths[best]:
        return None
    return float(values[left[best]] + values[right[best]]) / 2


def _middle_width(values: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
    """Between the MIDDLE quantiles of the sorted samples from each of the indices `first` to its `last`."""
    low, high = (values[np.round(first + share * (last - first)).astype(int)] for share in MIDDLE)
    return np.asarray(high - low)


def _unlikely_gap(values: FloatArray, spread: FloatArray) -> float | None:
    """The middle of the gap of least chance, None if one mode explains all. `spread` are the sorted samples."""
    step = -(-len(spread) // THINNED)
    thinned, edges = spread[::step], block_edges(len(values))
    least, split = GAP_CHANCE, None
    # Neighbouring levels often show the same gap.
    for gap in dict.fromkeys(_gap_above(thinned, float(level)) for level in np.unique(_density_levels(thinned))):
        if gap is None:
            continue
        below = values <= gap.middle
        if not MODE_SHARE <= below.mean() <= 1 - MODE_SHARE:
            continue
        weight = 1 / _variance_inflation(below, edges)
        chance = gap.chance(step, weight) * (len(values) * weight) ** 1.5
        if chance < least:
            least, split = chance, gap.middle
    return split


@dataclass(frozen=True)
class _Gap:
    """A gap between two intervals of sorted samples: the indices and the values of the intervals' ends."""

    indices: tuple[int, int, int, int]
    edges: tuple[float, float, float, float]

    @property
    def middle(self) -> float:
        """Halfway across the gap."""
        return (self.edges[1] + self.edges[2]) / 2

    def chance(self, step: int, weight: float) -> float:
        """The greater of the chances, for the interval on either side, of a gap so empty.

        Every index stands for `step` samples, and each of those counts `weight`. The sample at either edge of the gap
        says where the gap is, and nothing about how full it is: it is not counted.
        """
        from scipy.special import bdtrc

        left, inside, right = (float(count) for count in np.diff(self.indices) * step)
        left_length, gap_length, right_length = (float(length) for length in np.diff(self.edges))
        chances = []
        for count, length in ((left, left_length), (right, right_length)):
            successes, trials = int(count * weight), int((count + inside - 1) * weight)
            share = length / (length + gap_length)
            chances.append(float(bdtrc(successes - 1, trials, share)) if successes else 1.0)
        return max(chances)


def _gap_above(values: FloatArray, level: float) -> _Gap | None:
    """The gap between the two intervals of sorted `values` that rise most above the density `level`.

    None where one interval alone does as well. An interval's excess is its share of the samples less the level times
    its length, so that the best ones come from running maxima.
    """
    count = len(values)
    index = np.arange(count)
    close = (index + 1) / count - level * values  # what ending an interval at a sample gains
    begin = level * values - index / count
    single = close + np.maximum.accumulate(begin)
    upto = np.maximum.accumulate(single)
    second = begin[1:] + upto[:-1]
    double = close[1:] + np.maximum.accumulate(second)
    if double.max() <= upto[-1]:
        return None
    last = int(np.argmax(double)) + 1
    third = int(np.argmax(second[:last])) + 1
    other = int(np.argmax(single[:third]))
    first = int(np.argmax(begin[: other + 1]))
    at = (first, other, third, last)
    return _Gap(at, (float(values[first]), float(values[other]), float(values[third]), float(values[last])))


def _density_levels(values: FloatArray) -> FloatArray:
    """LEVELS densities between the least and the greatest that the sorted samples show, by spacings of neighbours.

    None where no two samples differ.
    """
    reach = max(1, round(sqrt(len(values)) / 2))
    widths = values[reach:] - values[:-reach]
    least = float(widths[widths > 0].min(initial=inf))
    if not isfinite(least):
        return np.zeros(0)
    return np.asarray(np.quantile(reach / len(values) / np.maximum(widths, least), np.linspace(0.0, 1.0, LEVELS)))


def _variance_inflation(below: BoolArray, edges: IntArray) -> float:
    """How many samples count as one, since neighbours resemble each other; at least 1.

    The variance of the shares below a value in the blocks between `edges`, over what it would be for independent
    samples.
    """
    shares = np.add.reduceat(below, edges[:-1], dtype=np.int64) / np.diff(edges)
    share = float(below.mean())
    independent = share * (1 - share) * len(shares) / len(below)
    return max(1.0, float(shares.var(ddof=1)) / independent) if independent > 0 else 1.0


def _spread_over_grid(values: FloatArray) -> FloatArray:
    """Samples on a clock's grid, each moved at random within its step; others as they are."""
    step = grid_step(values)
    if not step:
        return values
    return values + np.random.default_rng(0).uniform(-step / 2, step / 2, len(values))
