"""What the panels' plots share: units, colours, pooling of large maps, histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QPainterPath

from workbench.run.measurement import ROLES, Role
from workbench.stats.arrays import FloatArray
from workbench.ui.plots.axes import NamedAxis
from workbench.ui.theme import Theme

DRAWN: tuple[Role, ...] = tuple(reversed(ROLES))  # in drawing order: the kernel lies over SDPA
LEAST_US = 1e-3  # below any clock's resolution; keeps a zero from a coarse clock on a log axis


def configure_pyqtgraph() -> None:
    """Set the options of pyqtgraph that every plot here relies on; may be called again."""
    pg.setConfigOptions(imageAxisOrder="row-major", antialias=True)


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


def histogram_edges(groups: Sequence[FloatArray], most: int = 80) -> FloatArray:
    """Bin edges common to all `groups`, as wide as the Freedman-Diaconis rule asks for the narrowest of them.

    Each group ascends. Works in axis positions, so that bins are even on a log axis too.
    """
    filled = [g for g in groups if g.size]
    if not filled:
        return np.array([0.0, 1.0])
    low, high = min(float(g[0]) for g in filled), max(float(g[-1]) for g in filled)
    if high - low <= 1e-12 * max(abs(high), 1e-9):
        half = max(abs(high) * 0.01, 1e-9)
        return np.array([low - half, high + half])
    spreads = [float(g[3 * g.size // 4] - g[g.size // 4]) * 2 / g.size ** (1 / 3) for g in filled]
    width = min((s for s in spreads if s > 0), default=(high - low) / 20)
    return np.linspace(low, high, int(np.clip(math.ceil((high - low) / width), 8, most)) + 1)


def bin_counts(ascending: FloatArray, edges: FloatArray) -> FloatArray:
    """How many of the `ascending` values lie in each bin; the last one holds its upper edge too."""
    below = np.searchsorted(ascending, edges)
    below[-1] = np.searchsorted(ascending, edges[-1], side="right")
    return np.diff(below)


def step_outline(counts: FloatArray, edges: FloatArray) -> QPainterPath:
    """The outline of a histogram lying on its side: counts along x, bins along y; nothing where a bin is empty."""
    path = QPainterPath()
    filled = np.flatnonzero(np.diff(np.concatenate([[0], counts > 0, [0]]))).reshape(-1, 2)
    for first, end in filled.tolist():
        path.moveTo(0, float(edges[first]))
        for i in range(first, end):
            path.lineTo(float(counts[i]), float(edges[i]))
            path.lineTo(float(counts[i]), float(edges[i + 1]))
        path.lineTo(0, float(edges[end]))
    return path


def pool(data: npt.NDArray[Any], rows: int, columns: int) -> npt.NDArray[Any]:
    """`data` with every `rows` x `columns` block made one cell: its largest value; NaN wins."""
    return _largest(_largest(data, rows).T, columns).T


def pool_present(data: FloatArray, rows: int, columns: int, left_out: npt.NDArray[np.bool_]) -> FloatArray:
    """`pool` of the cells that are there: a NaN where `left_out` is true wins only in blocks of nothing else."""
    absent = left_out & np.isnan(data)
    cells = pool(np.where(absent, -np.inf, data), rows, columns).copy()
    cells[~pool(~absent, rows, columns)] = np.nan
    return cells


def _largest(data: npt.NDArray[Any], step: int) -> npt.NDArray[Any]:
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


def make_plot(theme: Theme, axes: dict[str, Any] | None = None, **labels: str) -> Any:
    """A PlotItem in `theme`'s colours with `labels` for its axes (left="query row"); no menu, no buttons."""
    configure_pyqtgraph()
    axes = {side: NamedAxis(side) for side in labels} | (axes or {})
    plot = pg.PlotItem(viewBox=ZoomBox(), axisItems=axes, enableMenu=False)
    plot.hideButtons()
    plot.vb.disableAutoRange()
    for side in ("left", "right", "top", "bottom"):
        plot.getAxis(side).enableAutoSIPrefix(False)
    for side, text in labels.items():
        plot.showAxis(side)
        plot.getAxis(side).set_names(text)
    style_plot(plot, theme)
    return plot


def style_plot(plot: Any, theme: Theme, grid: bool = False) -> None:
    """Colour the axes, labels and frame of a PlotItem."""
    for side in ("left", "right", "top", "bottom"):
        axis = plot.getAxis(side)
        if not axis.isVisibleTo(plot):
            continue  # each colour lays its label out anew, which at the start of the window counts
        axis.setPen(theme.border)
        axis.setTickPen(theme.color("grid", 110 if grid and side == "left" else 255))
        axis.setTextPen(theme.text)
        axis.labelStyle["color"] = theme.text
        if axis.labelText:
            axis.setLabel(axis.labelText, color=theme.text)
        axis.setGrid(90 if grid and side == "left" else False)
    plot.vb.setBorder(theme.border)
