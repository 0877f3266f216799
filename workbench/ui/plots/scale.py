"""How numbers are put on an axis: in which unit or power of ten, logarithmic or not, and how far it reaches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.stats.arrays import FloatArray

LEAST_US = 1e-3  # below any clock's resolution; keeps a zero from a coarse clock on a log axis


def scale_exponent(largest: float) -> int:
    """The power of ten to take out of an axis that goes up to `largest`; 0 where plain numbers read well."""
    if not math.isfinite(largest) or largest == 0 or 0.1 <= abs(largest) < 1e4:
        return 0
    return math.floor(math.log10(abs(largest)))


def times_ten(text: str, exponent: int) -> str:
    """An axis label that says which power of ten was taken out: "max, ×1e-7"."""
    return ", ".join(filter(None, (text, f"×1e{exponent}" if exponent else "")))


@dataclass(frozen=True)
class TimeScale:
    """How times are put on an axis: the unit (`us` microseconds each) and whether the axis is logarithmic."""

    unit: str = "µs"
    us: float = 1.0
    log: bool = False

    def to_axis(self, microseconds: Any) -> FloatArray:
        """Microseconds as positions on the axis."""
        values = np.asarray(microseconds, dtype=np.float64)
        return np.log10(np.maximum(values, LEAST_US) / self.us) if self.log else values / self.us


def time_scale(medians: Sequence[float], log: bool | None = None) -> TimeScale:
    """The scale that shows `medians` (us) well: one unit for all, log when they differ by more than 10x.

    `log` True or False overrides the choice of axis.
    """
    positive = [max(m, LEAST_US) for m in medians if math.isfinite(m)]
    if not positive:
        return TimeScale(log=bool(log))
    middle = math.exp(sum(map(math.log, positive)) / len(positive))
    unit, us = next(((u, s) for u, s, end in (("µs", 1.0, 1e3), ("ms", 1e3, 1e6)) if middle < end), ("s", 1e6))
    return TimeScale(unit, us, max(positive) > 10 * min(positive) if log is None else log)


def reach(low: float, high: float, log: bool) -> tuple[float, float]:
    """The range of an axis that shows `low` to `high`; from zero when that costs no more than half of a linear one."""
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 0.1
    return (0.0 if not log and low <= 0.5 * high else low - margin), high + margin
