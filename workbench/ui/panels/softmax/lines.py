"""The softmax panel's lower plot: m and l of one query row across the key tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt

from workbench.stats.arrays import FloatArray
from workbench.ui.plots.axes import IndexAxis, ValueAxis
from workbench.ui.plots.map_cells import IntArray
from workbench.ui.plots.point_cloud import PointCloud
from workbench.ui.plots.themed import make_plot, style_plot
from workbench.ui.theme import Theme

LONE_HALF = 0.4  # of a tile: half of the level line that stands for a single value


class StateLines:
    """m and the tiles' own maxima on the left axis, l on the right one; tiles lie under those of the map."""

    def __init__(self, theme: Theme) -> None:
        axes = {"left": ValueAxis("left"), "right": ValueAxis("right"), "bottom": IndexAxis("bottom")}
        self.plot = make_plot(theme, axes, left="max m", right="sum l", bottom="key tile")
        self.l_box = pg.ViewBox(enableMenu=False)
        self.l_box.setMouseEnabled(x=False, y=False)
        self.plot.setMouseEnabled(x=True, y=False)
        self.m_curve, self.l_curve = pg.PlotCurveItem(connect="finite"), pg.PlotCurveItem(connect="finite")
        self.tile_points = PointCloud(size=4)
        self.cursor = pg.InfiniteLine(angle=90, movable=False)
        self.borders = pg.PlotCurveItem(connect="pairs", antialias=False)
        for item in (self.borders, self.tile_points, self.m_curve, self.cursor):
            self.plot.addItem(item, ignoreBounds=True)
        self.cursor.hide()
        self.l_box.addItem(self.l_curve, ignoreBounds=True)
        self.l_box.disableAutoRange()
        self.apply_theme(theme)

    def attach(self) -> None:
        """Join the right axis's view to the plot; to be called once the plot is in a scene."""
        self.plot.scene().addItem(self.l_box)
        self.plot.getAxis("right").linkToView(self.l_box)
        self.l_box.setXLink(self.plot.vb)
        self.plot.vb.sigResized.connect(self._follow)
        self.plot.geometryChanged.connect(self._follow)  # it may be moved and keep its size
        self._follow()

    def _follow(self, *_: Any) -> None:
        self.l_box.setGeometry(self.plot.vb.sceneBoundingRect())
        self.l_box.linkedViewChanged(self.plot.vb, self.l_box.XAxis)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        style_plot(self.plot, theme, grid=True)
        self.plot.getAxis("right").setTextPen(theme.accent)
        self.plot.getAxis("right").setLabel("sum l", color=theme.accent)
        self._theme = theme
        self.m_curve.setPen(pg.mkPen(theme.text, width=1.6))
        self.l_curve.setPen(pg.mkPen(theme.accent, width=1.6))
        self.tile_points.set_color(theme.color("muted", 190))
        self.borders.setPen(pg.mkPen(theme.color("text", 150), width=1))
        self.cursor.setPen(pg.mkPen(theme.color("text", 120), width=1, style=Qt.PenStyle.DashLine))

    def legend(self) -> tuple[tuple[str, str, str], ...]:
        """Name, colour and mark of what is drawn."""
        theme = self._theme
        return ("m", theme.text, "━"), ("l", theme.accent, "━"), ("tile max", theme.muted, "•")

    def show(self, m_tile: FloatArray, m_running: FloatArray, l_running: FloatArray, borders: IntArray) -> None:
        """Draw one row's states ([tiles] each); they break before the tiles in `borders` and at gaps."""
        finite = np.isfinite(m_tile)
        self.tile_points.set_points(np.flatnonzero(finite).astype(np.float64), m_tile[finite])
        for curve, states in ((self.m_curve, m_running), (self.l_curve, l_running)):
            curve.setData(*broken_line(states, borders))
        self.plot.setYRange(*_span(np.concatenate([m_tile[finite], m_running[np.isfinite(m_running)]])), padding=0.08)
        seen = l_running[np.isfinite(l_running)]
        self.l_box.setYRange(0, float(seen.max()) if seen.size else 1.0, padding=0.08)

    def show_borders(self, positions: FloatArray) -> None:
        """Draw upright lines at `positions`, over the whole height."""
        low, high = self.plot.vb.viewRange()[1]
        self.borders.setData(np.repeat(positions, 2), np.tile([low, high], len(positions)))

    def point(self, tile: int | None) -> None:
        """Mark `tile`, or nothing."""
        self.cursor.setVisible(tile is not None)
        if tile is not None:
            self.cursor.setPos(tile)


def broken_line(values: FloatArray, borders: IntArray) -> tuple[FloatArray, FloatArray]:
    """The points of a line through `values` at 0, 1, 2, ... that breaks before `borders` and where nothing is finite.

    A value that has no neighbour to be joined with becomes a short level line: a single point would not be seen.
    """
    finite = np.isfinite(values)
    joined = finite[1:] & finite[:-1]  # of every two neighbours
    joined[borders - 1] = False
    lone = finite & ~np.append(joined, False) & ~np.append(False, joined)
    copies = 1 + lone
    x = np.repeat(np.arange(len(values), dtype=np.float64), copies)
    starts = (np.cumsum(copies) - copies)[lone]
    x[starts] -= LONE_HALF
    x[starts + 1] += LONE_HALF
    y = np.repeat(np.where(finite, values, np.nan), copies)
    cuts = (np.cumsum(copies) - copies)[borders]
    return np.insert(x, cuts, borders - 0.5), np.insert(y, cuts, np.nan)


def _span(values: FloatArray) -> tuple[float, float]:
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)
