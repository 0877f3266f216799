"""How numbers are put on an axis: in which unit or power of ten, logarithmic or not, and how far it reaches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.numbers import LEAST_US, TimeUnit, time_unit
from workbench.stats.arrays import FloatArray


def scale_exponent(largest: float) -> int:
    """The power of ten to take out of an axis that goes up to `largest`; 0 where plain numbers read well."""
    if not math.isfinite(largest) or largest == 0 or 0.1 <= abs(largest) < 1e4:
        return 0
    return math.floor(math.log10(abs(largest)))


def times_ten(text: str, exponent: int) -> str:
    """An axis label that says which power of ten was taken out: "max, ×1e-7"."""
    return ", ".join(filter(None, (text, f"×1e{exponent}" if exponent else "")))


@dataclass(frozen=True)
class Scale:
    """How numbers are put on an axis: in `unit`, `size` of theirs each (of microseconds, for times), and whether it is
    logarithmic, from `least` on."""

    unit: str = "µs"
    size: float = 1.0
    log: bool = False
    least: float = LEAST_US

    def to_axis(self, numbers: Any) -> FloatArray:
        """Numbers as positions on the axis."""
        values = np.asarray(numbers, dtype=np.float64)
        return np.log10(np.maximum(values, self.least) / self.size) if self.log else values / self.size


def plain_scale(numbers: Sequence[float], unit: str, log: bool | None = None) -> Scale:
    """The scale of what is no time: log when all are above 0 and differ by more than 10x, unless `log` says which.

    On a linear axis a power of ten is taken out of numbers that would not read well.
    """
    finite = [number for number in numbers if math.isfinite(number)]
    least = min((number for number in finite if number > 0), default=1.0)
    differ = bool(finite) and min(finite) > 0 and max(finite) > 10 * least
    is_log = differ if log is None else log
    exponent = 0 if is_log else scale_exponent(max(map(abs, finite), default=0.0))
    return Scale(times_ten(unit, exponent), 10.0**exponent, is_log, least)


def time_scale(times: Sequence[float], log: bool | None = None, unit: TimeUnit | None = None) -> Scale:
    """The scale that shows `times` (us) well: one unit for all, log when they differ by more than 10x.

    `log` True or False overrides the choice of axis; plots beside each other are given their common `unit`.
    """
    positive = [max(us, LEAST_US) for us in times if math.isfinite(us)]
    unit = unit or time_unit(positive)
    if not positive:
        return Scale(unit.name, unit.us, log=bool(log))
    return Scale(unit.name, unit.us, max(positive) > 10 * min(positive) if log is None else log)


def reach(low: float, high: float, log: bool) -> tuple[float, float]:
    """The range of an axis that shows `low` to `high`; from zero when that costs no more than half of a linear one."""
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 0.1
    return (0.0 if not log and low <= 0.5 * high else low - margin), high + margin
