"""What the trend draws with: marks by look, lines, bars, and SDPA's levels. Items are kept and used again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import QColor, QPainterPath, QPolygonF
from PyQt6.QtWidgets import QGraphicsPathItem

from workbench.stats.arrays import FloatArray

FEW = 300  # marks that are drawn as shapes, sharp also in a picture finer than the screen; more as ready pixels


@dataclass(frozen=True, eq=False)
class Marks:
    """Points of one look, in the plot's units."""

    x: FloatArray
    y: FloatArray
    symbol: str
    color: QColor
    filled: bool = True
    size: float = 8.0


@dataclass(frozen=True, eq=False)
class Band:
    """A line in `color` with what is around it, in the plot's units."""

    x: FloatArray
    low: FloatArray
    middle: FloatArray
    high: FloatArray
    color: QColor


class Dots(pg.ScatterPlotItem):  # type: ignore[misc]
    """Points that leave clicks to the plot, which knows which run is nearest."""

    def mouseClickEvent(self, ev: Any) -> None:
        """Let it pass."""
        ev.ignore()


class MarkItems:
    """One scatter plot for each look."""

    def __init__(self, plot: Any, z: float) -> None:
        self._plot, self._z = plot, z
        self.items: list[Any] = []

    def show(self, marks: Sequence[Marks]) -> None:
        """Show `marks`, and nothing else."""
        while len(self.items) < len(marks):
            item = Dots(useCache=False)
            item.setZValue(self._z)
            self._plot.addItem(item, ignoreBounds=True)
            self.items.append(item)
        for i, item in enumerate(self.items):
            item.setVisible(i < len(marks))
            if i < len(marks):
                one = marks[i]
                brush = pg.mkBrush(one.color) if one.filled else None
                pen = pg.mkPen(one.color, width=1.4)
                style = {"symbol": one.symbol, "size": one.size, "brush": brush, "pen": pen}
                item.setData(x=one.x, y=one.y, useCache=len(one.x) > FEW, **style)


class LineItems:
    """One curve for each line."""

    def __init__(self, plot: Any) -> None:
        self._plot = plot
        self.items: list[Any] = []

    def show(self, lines: Sequence[tuple[FloatArray, FloatArray, QColor]]) -> None:
        """Show `lines`, and nothing else."""
        while len(self.items) < len(lines):
            self.items.append(pg.PlotCurveItem())
            self._plot.addItem(self.items[-1], ignoreBounds=True)
        for i, item in enumerate(self.items):
            item.setVisible(i < len(lines))
            if i < len(lines):
                x, y, color = lines[i]
                item.setData(x, y, pen=pg.mkPen(color, width=1.4))


class BandItems:
    """A dashed line and a pale area for each level."""

    def __init__(self, plot: Any) -> None:
        self._plot = plot
        self.lines: list[Any] = []
        self.areas: list[QGraphicsPathItem] = []

    def show(self, bands: Sequence[Band]) -> None:
        """Show `bands`, and nothing else."""
        while len(self.lines) < len(bands):
            line, area = pg.PlotCurveItem(), QGraphicsPathItem()
            area.setPen(pg.mkPen(None))
            area.setZValue(-10)
            for item in (area, line):
                self._plot.addItem(item, ignoreBounds=True)
            self.lines.append(line)
            self.areas.append(area)
        for i, (line, area) in enumerate(zip(self.lines, self.areas, strict=True)):
            line.setVisible(i < len(bands))
            area.setVisible(i < len(bands))
            if i < len(bands):
                self._show(line, area, bands[i])

    @staticmethod
    def _show(line: Any, area: QGraphicsPathItem, band: Band) -> None:
        line.setData(band.x, band.middle, pen=pg.mkPen(band.color, width=1.4, style=Qt.PenStyle.DashLine))
        corners = zip(np.r_[band.x, band.x[::-1]].tolist(), np.r_[band.low, band.high[::-1]].tolist(), strict=True)
        path = QPainterPath()
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
        path.closeSubpath()
        pale = QColor(band.color)
        pale.setAlpha(55)
        area.setBrush(pg.mkBrush(pale))
        area.setPath(path)
