"""The plots' axes: ticks that read well, and names that shorten where there is no room for the whole."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg

from workbench.analysis.numbers import number, with_minus
from workbench.stats.arrays import IntArray
from workbench.ui.text.fit import longest, text_height, text_width

BREAK = "<br>"  # between the lines of an axis's name


def side_width(ticks: str, name_lines: int = 1) -> float:
    """Width of an axis at a plot's side that has room for `ticks`, its longest number, and for its name."""
    return text_width(ticks) + name_lines * text_height() + 10


def name_height() -> float:
    """Height of an axis below a plot that has room for its numbers and its name.

    Left to itself an axis learns the height of its numbers as it is first painted, too late for that picture.
    """
    return 2 * text_height() + 8


class NamedAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis that takes the longest of its names that fits, and keeps it in its middle.

    `overhang` is how many pixels the name may be longer than the axis.
    """

    overhang = 0.0
    names: tuple[str, ...] = ()

    def set_names(self, *names: str) -> None:
        """Name the axis; the names are given from the longest to the shortest."""
        if names != self.names:
            self.names = names
            self.resizeEvent(None)

    def resizeEvent(self, ev: Any = None) -> None:
        """Choose the name again; pyqtgraph centres it only when the axis changes its size."""
        room = self.size().height() if self.stands else self.size().width()
        if self.names:
            name = longest(self.names, room + self.overhang, _name_width) if room > 0 else self.names[0]
            if name != self.labelText:
                self.setLabel(name)
        super().resizeEvent(ev)

    @property
    def stands(self) -> bool:
        """Whether it is at a side of the plot."""
        return self.orientation in ("left", "right")

    def apart(self, ticks: Sequence[str], space: float) -> float:
        """How many pixels from one tick to the next let their texts be read, with `space` between them in a line."""
        return 1.6 * text_height() if self.stands else max(map(text_width, ticks), default=0.0) + space


def _name_width(name: str) -> float:
    lines = (re.sub("<[^>]*>", "", line) for line in name.split(BREAK))
    return max(map(text_width, lines)) + 4


class IndexAxis(NamedAxis):
    """An axis of rows, columns, tiles or launches: whole numbers only, the name right under them.

    `numbers` are what its positions 0, 1, 2 … stand for, where that is not themselves.
    """

    _step = 1.0
    numbers: IntArray | None = None

    def resizeEvent(self, ev: Any = None) -> None:
        """Keep the name near the numbers where a neighbour's taller axis makes room below."""
        super().resizeEvent(ev)
        if self.orientation == "bottom" and self.label is not None:
            near = text_height() + 4
            self.label.setY(min(self.label.y(), near))

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:  # noqa: N803
        """Round whole numbers as far apart as their texts need, and finer ticks without a text."""
        least = self.apart([f"{round(max(abs(minVal), abs(maxVal))):,}"], 14)
        rough = max(1.0, (maxVal - minVal) * least / max(1.0, size))
        power = 10.0 ** math.floor(math.log10(rough) + 1e-9)
        self._step = next((power * s for s in (1, 2, 5) if power * s >= rough * (1 - 1e-9)), power * 10)
        finer = self._step / (4 if str(self._step).startswith("2") else 5)
        return [(self._step, 0), (finer, 0)] if finer >= 1 else [(self._step, 0)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Whole numbers."""
        return [self._text(round(v)) if spacing >= self._step else "" for v in values]

    def _text(self, position: int) -> str:
        if self.numbers is None:
            return f"{position:,}"
        return f"{self.numbers[position]:,}" if 0 <= position < len(self.numbers) else ""


class CountAxis(IndexAxis):
    """An axis of counts where there is little room: only as many numbers as stand beside each other."""

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
        """Round whole numbers; one at least that says how many there are, if only one has room."""
        widest = text_width(f"{round(maxVal):,}") + 8
        ticks = even_ticks(minVal, maxVal, max(1, int(size / widest)))
        if maxVal > 1 and not any(0 < tick <= self._last_whole(minVal, maxVal, size) for tick in ticks):
            finer = [tick for most in (2, 4, 8) for tick in even_ticks(minVal, maxVal, most)]
            ticks = [max((t for t in finer if 0 < t <= self._last_whole(minVal, maxVal, size)), default=0.0)]
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
        self._step = max(1.0, step)
        return [(self._step, [tick for tick in ticks if tick == round(tick)])]

    @staticmethod
    def _last_whole(low: float, high: float, size: float) -> float:
        """The greatest number whose text does not reach over the end of the axis, `size` pixels long."""
        return high - (high - low) * 0.5 * text_width(f"{round(high):,}") / max(1.0, size)


class ValueAxis(NamedAxis):
    """An axis of plain numbers whose positions may be their log10."""

    log = False
    tick_pixels = 40  # about how far apart ticks are

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
        """Round values, or round values at their logarithms; no minor ticks, which would crowd the grid."""
        room = max(2, int(size / self.tick_pixels))
        if self.log:
            return [(1.0, [math.log10(v) for v in log_ticks(10**minVal, 10**maxVal, room)])]
        for most in range(room + 2, 1, -1):
            ticks = even_ticks(minVal, maxVal, most)
            step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
            if step * size >= self.apart(self.tickStrings(ticks, 1.0, step), 8) * (maxVal - minVal):
                break
        return [(step, ticks)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Plain numbers with thousands separators."""
        if self.log:
            return [f"{10**v:,.10g}" if v > -4 else number(10**v, 1) for v in values]
        places = max(0, -math.floor(math.log10(spacing) + 1e-9))
        return [with_minus(f"{v:,.{places}f}") for v in values]


def even_ticks(low: float, high: float, most: int) -> list[float]:
    """Round values from `low` to `high`, at most about `most` of them, in steps of 1, 2 or 5."""
    rough = (high - low) / most
    if rough <= 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((power * s for s in (1, 2, 5) if power * s >= rough), power * 10)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Round values from `low` to `high` for a log axis that has room for about `most` labels."""
    if high <= 4 * low:  # much less than a decade: even steps, as on a linear axis
        return even_ticks(low, high, most)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    best: list[float] = []
    for digits in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5, 7)):
        ticks = [d * 10.0**e for e in decades for d in digits if low <= d * 10.0**e <= high]
        if best and len(ticks) > most:
            break
        best = ticks
    return best
