"""Where runs stand on the trend's x axis, and what is written there. Without Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from typing import Any

import numpy as np

from workbench.analysis.numbers import number
from workbench.stats.arrays import FloatArray
from workbench.ui.panels.latency.trend.along import Along
from workbench.ui.panels.latency.trend.looks import Series
from workbench.ui.panels.latency.trend.runs import TrendRun

WIDE = 0.7  # of the way from one value to the next that runs of one value take
FAN = 0.7  # of a series' part of that, over which its runs are fanned out
LOG_FROM = 4  # values that differ by as much stand at their logarithms


@dataclass(frozen=True, eq=False)
class Places:
    """`x` of each run; `middles` are those of its value and series, which lines go through, `at` those of its value.

    `ticks` are the values with their texts, ascending; `ordered` says that they are numbers, or an order. `is_log`
    that they stand at their logarithms. `gap` is the least way between two values.
    """

    x: FloatArray
    middles: FloatArray
    at: FloatArray
    ticks: tuple[tuple[float, str], ...] = ()
    ordered: bool = True
    is_log: bool = False
    gap: float = 1.0

    @property
    def ends(self) -> tuple[float, float]:
        """The range that shows all of them."""
        seen = [*(x for x, _ in self.ticks), *self.x.tolist()] or [0.0]
        return min(seen) - 0.6 * self.gap, max(seen) + 0.6 * self.gap


def places_of(runs: Sequence[TrendRun], along: Along) -> Places:
    """Where `runs`, which are in their order, stand on `along`."""
    if along.of is None:
        x = np.arange(float(len(runs)))
        return Places(x, x, x, tuple((float(i), _number_of(run)) for i, run in enumerate(runs)))
    values = [run.value for run in runs]
    at, is_log, ordered = _positions(set(values), along)
    seen = sorted(at.values())
    gap = min((b - a for a, b in pairwise(seen)), default=1.0)
    middles, x = _fanned(runs, values, at, gap, ordered)
    ticks = tuple(sorted((at[value], _text(value, along)) for value in at))
    return Places(x, middles, np.array([at[value] for value in values], dtype=np.float64), ticks, ordered, is_log, gap)


def _number_of(run: TrendRun) -> str:
    return str(run.record.run_id) if run.record.run_id > 0 else "now"


def _text(value: Any, along: Along) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return "auto" if value == along.auto else f"{value:,}" if isinstance(value, int) else number(value, 2)
    return str(value)


def _positions(values: set[Any], along: Along) -> tuple[dict[Any, float], bool, bool]:
    """Where each value stands, whether at its logarithm, and whether values are in an order at all."""
    if any(isinstance(value, bool | str) for value in values):
        return {value: float(i) for i, value in enumerate(sorted(values, key=str))}, False, False
    numbers = sorted(value for value in values if value != along.auto)
    is_log = bool(numbers) and numbers[0] > 0 and numbers[-1] >= LOG_FROM * numbers[0]
    at = {value: log2(value) if is_log else float(value) for value in numbers}
    if along.auto in values:  # left of them all, apart as the nearest two are
        gap = min((b - a for a, b in pairwise(at.values())), default=1.0)
        at[along.auto] = min(at.values(), default=gap) - gap
    return at, is_log, True


def _fanned(
    runs: Sequence[TrendRun], values: Sequence[Any], at: dict[Any, float], gap: float, ordered: bool
) -> tuple[FloatArray, FloatArray]:
    """The middle of each run's series at its value, and its own place beside the others that would hide it.

    Where a line goes from value to value a series is always the same way from the middle.
    """
    beside: dict[Any, dict[Series, int]] = {}
    for value, alike in {(value if not ordered else None, run.alike) for run, value in zip(runs, values, strict=True)}:
        beside.setdefault(value, {})[alike.series] = 0
    for lanes in beside.values():
        lanes.update({one: i for i, one in enumerate(sorted(lanes))})
    together: dict[tuple[Any, Series], list[int]] = {}
    for i, (run, value) in enumerate(zip(runs, values, strict=True)):
        together.setdefault((value, run.alike.series), []).append(i)
    middles = np.zeros(len(runs))
    x = np.zeros(len(runs))
    for (value, series), members in together.items():
        lanes = beside[value if not ordered else None]
        width = WIDE * gap / len(lanes)
        middles[members] = at[value] + (lanes[series] - (len(lanes) - 1) / 2) * width
        fan = np.linspace(-0.5, 0.5, len(members)) if len(members) > 1 else np.zeros(1)
        x[members] = middles[members] + fan * FAN * width
    return middles, x
