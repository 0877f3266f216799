"""What the panels' plots share: numbers and units, axes, colours, pooling of large maps, histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QFont, QFontMetricsF, QPainterPath
from PyQt6.QtWidgets import QApplication

from workbench.model import FloatArray
from workbench.ui.theme import Theme

Pooling = Literal["max", "first"]
LEAST_US = 1e-3  # below any clock's resolution; keeps a zero from a coarse clock on a log axis


def configure_pyqtgraph() -> None:
    """Set the options of pyqtgraph that every plot here relies on; may be called again."""
    pg.setConfigOptions(imageAxisOrder="row-major", antialias=True)


def number(value: float, digits: int = 4) -> str:
    """`value` with `digits` significant digits: 1,234 or 0.3812 or 3.13e-7, and NaN or −inf in words."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("inf" if value > 0 else "−inf")
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if -3 <= size < 6:
        return f"{value:,.{max(0, digits - 1 - size)}f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def scale_exponent(largest: float) -> int:
    """The power of ten to take out of an axis that goes up to `largest`; 0 where plain numbers read well."""
    if not math.isfinite(largest) or largest == 0 or 1e-2 <= abs(largest) < 1e4:
        return 0
    return math.floor(math.log10(abs(largest)))


def times_ten(text: str, exponent: int) -> str:
    """An axis label that says which power of ten was taken out: "max, ×1e-7"."""
    return f"{text}, ×1e{exponent}" if exponent else text


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

    def text(self, microseconds: float) -> str:
        """A time with its unit."""
        return f"{number(microseconds / self.us)} {self.unit}"


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


def histogram_edges(groups: Sequence[FloatArray], most: int = 80) -> FloatArray:
    """Bin edges common to all `groups`, as wide as the Freedman-Diaconis rule asks for the narrowest of them.

    Works in axis positions, so that bins are even on a log axis too.
    """
    filled = [g for g in groups if g.size]
    if not filled:
        return np.array([0.0, 1.0])
    low, high = min(float(g.min()) for g in filled), max(float(g.max()) for g in filled)
    if high - low <= 1e-12 * max(abs(high), 1e-9):
        half = max(abs(high) * 0.01, 1e-9)
        return np.array([low - half, high + half])
    spreads = [float(np.subtract(*np.percentile(g, [75, 25]))) * 2 / g.size ** (1 / 3) for g in filled]
    width = min((s for s in spreads if s > 0), default=(high - low) / 20)
    return np.linspace(low, high, int(np.clip(math.ceil((high - low) / width), 8, most)) + 1)


def step_outline(counts: FloatArray, edges: FloatArray) -> QPainterPath:
    """The outline of a histogram lying on its side: counts along x, bins along y."""
    path = QPainterPath()
    path.moveTo(0, float(edges[0]))
    for i, count in enumerate(counts.tolist()):
        path.lineTo(count, float(edges[i]))
        path.lineTo(count, float(edges[i + 1]))
    path.lineTo(0, float(edges[-1]))
    return path


def pool(data: FloatArray, rows: int, columns: int, how: Pooling) -> FloatArray:
    """`data` with every `rows` x `columns` block made one cell: its largest value (NaN wins), or its first."""
    if how == "first":
        return data[::rows, ::columns]
    return _largest(_largest(data, rows).T, columns).T


def _largest(data: FloatArray, step: int) -> FloatArray:
    """Largest of every `step` rows. Whole-row maxima of strided slices: far faster than a reduction over blocks."""
    if step == 1:
        return data
    starts = np.arange(0, data.shape[0], step)
    whole = data.shape[0] // step
    result = data[starts].copy()
    for offset in range(1, step):
        np.maximum(result[:whole], data[offset : whole * step : step], out=result[:whole])
    if whole < len(starts):
        result[whole] = np.maximum.reduce(data[whole * step :])
    return result


class ZoomBox(pg.ViewBox):  # type: ignore[misc]
    """A view that pans and zooms with the mouse, and says when it is clicked or double-clicked."""

    clicked = pyqtSignal(object)
    reset_asked = pyqtSignal()

    def __init__(self) -> None:
        super().__init__(enableMenu=False)

    def mouseClickEvent(self, ev: Any) -> None:
        """Left clicks only: this view has no menu."""
        if ev.button() != Qt.MouseButton.LeftButton:
            return
        ev.accept()
        self.clicked.emit(self.mapSceneToView(ev.scenePos()))
        if ev.double():
            self.reset_asked.emit()


class IndexAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis of rows, columns, tiles or launches: whole numbers only, the label right under them."""

    def resizeEvent(self, ev: Any = None) -> None:
        """Keep the label near the numbers where a neighbour's taller axis makes room below."""
        super().resizeEvent(ev)
        if self.orientation == "bottom":
            near = text_height() + 6
            self.label.setY(min(self.label.y(), near))

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:  # noqa: N803
        """pyqtgraph's spacings, without fractions."""
        return [s for s in super().tickSpacing(minVal, maxVal, size) if s[0] >= 1] or [(1, 0)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Whole numbers."""
        return [f"{round(v):,}" for v in values]


class ValueAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis of plain numbers whose positions may be their log10."""

    log = False

    def tickValues(
        self,
        minVal: float,  # noqa: N803
        maxVal: float,  # noqa: N803
        size: float,
    ) -> list[tuple[float, list[float]]]:
        """Round values, or round values at their logarithms; no minor ticks, which would crowd the grid."""
        if self.log:
            return [(1.0, [math.log10(v) for v in log_ticks(10**minVal, 10**maxVal, max(2, int(size / 40)))])]
        for most in range(max(2, int(size / 40)) + 2, 1, -1):
            ticks = even_ticks(minVal, maxVal, most)
            step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
            if step * size >= self._least_pixels(ticks, step) * (maxVal - minVal):
                break
        return [(step, ticks)]

    def _least_pixels(self, ticks: list[float], step: float) -> float:
        """How far apart these ticks must be for their labels to read well."""
        if self.orientation in ("left", "right"):
            return 2.2 * text_height()
        return max(map(text_width, self.tickStrings(ticks, 1.0, step)), default=0.0) + 8

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Plain numbers with thousands separators."""
        if self.log:
            return [f"{10**v:,.10g}" if v > -4 else number(10**v, 1) for v in values]
        places = max(0, -math.floor(math.log10(spacing) + 1e-9))
        return [f"{v:,.{places}f}" for v in values]


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


def make_plot(theme: Theme, axes: dict[str, Any] | None = None, **labels: str) -> Any:
    """A PlotItem in `theme`'s colours with `labels` for its axes (left="query row"); no menu, no buttons."""
    configure_pyqtgraph()
    plot = pg.PlotItem(viewBox=ZoomBox(), axisItems=axes, enableMenu=False)
    plot.hideButtons()
    plot.vb.disableAutoRange()
    for side in ("left", "right", "top", "bottom"):
        plot.getAxis(side).enableAutoSIPrefix(False)
    for side, text in labels.items():
        plot.showAxis(side)
        plot.getAxis(side).setLabel(text)
    style_plot(plot, theme)
    return plot


def label_axis(axis: Any, text: str) -> None:
    """Name an axis, and put the name in its middle: pyqtgraph centres it only when the axis changes its size."""
    if axis.labelText != text:
        axis.setLabel(text)
        axis.resizeEvent(None)


def style_plot(plot: Any, theme: Theme, grid: bool = False) -> None:
    """Colour the axes, labels and frame of a PlotItem."""
    for side in ("left", "right", "top", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(theme.border)
        axis.setTickPen(theme.color("grid", 110 if grid and side == "left" else 255))
        axis.setTextPen(theme.text)
        axis.labelStyle["color"] = theme.text
        if axis.labelText:
            axis.setLabel(axis.labelText, color=theme.text)
        axis.setGrid(90 if grid and side == "left" else False)
    plot.vb.setBorder(theme.border)


def text_width(text: str, font: QFont | None = None) -> float:
    """Width of `text` in pixels in the application's font, that of axis ticks."""
    return QFontMetricsF(font or QApplication.font()).horizontalAdvance(text)


def text_height() -> float:
    """Height of a line of text in pixels in the application's font."""
    return QFontMetricsF(QApplication.font()).height()
