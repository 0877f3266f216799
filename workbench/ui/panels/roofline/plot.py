"""The roofline panel's plot: the copy rate as a slope, matrix rates as levels, runs as points, all on log axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, Qt

from workbench.run.ceilings import Ceilings
from workbench.ui.panels.roofline.numbers import TERA, Point, Roof, copy_text, extent
from workbench.ui.plots.axes import ValueAxis, name_height, side_width
from workbench.ui.plots.line_labels import LineLabel, LineLabels
from workbench.ui.plots.themed import make_plot, style_plot
from workbench.ui.theme import Theme

X_NAMES = (
    "arithmetic intensity, flop per byte that must move (log)",
    "flop per byte that must move (log)",
    "flop/byte",
)
Y_NAMES = ("TFLOP/s of visible pairs (log)", "TFLOP/s (log)", "TFLOP/s")
MOST_ROOFS = 6
HOVER_PIXELS = 14.0
FADED = 120


class IntensityAxis(ValueAxis):
    """The x axis; it has no numbers below the names of the ceilings, where nothing is drawn."""

    log = True
    tick_pixels = 64
    end = 0.0  # log10 of where the names begin

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
        """Ticks up to `end`."""
        end = min(maxVal, self.end)
        if end <= minVal:
            return []
        return super().tickValues(minVal, end, size * (end - minVal) / (maxVal - minVal))


class RooflinePlot:
    """Draws ceilings and points, and finds the point under the mouse."""

    def __init__(self, theme: Theme) -> None:
        self.bottom, left = IntensityAxis("bottom"), ValueAxis("left")
        left.log = True
        self.plot = make_plot(theme, {"left": left, "bottom": self.bottom}, left="", bottom="")
        self.plot.setMouseEnabled(x=False, y=False)
        left.set_names(*Y_NAMES)
        left.setWidth(side_width("1,000"))
        self.bottom.set_names(*X_NAMES)
        self.bottom.setHeight(name_height())
        self.slope = pg.PlotCurveItem()
        self.roofs = [pg.PlotCurveItem() for _ in range(MOST_ROOFS)]
        # Drawn as shapes, not as ready pixels: few as they are, they stay sharp in a picture finer than the screen.
        self.earlier, self.now = pg.ScatterPlotItem(useCache=False), pg.ScatterPlotItem(useCache=False)
        self.slope_label = pg.TextItem(anchor=(0.0, 0.0))
        for item in (self.slope, *self.roofs, self.earlier, self.now, self.slope_label):
            self.plot.addItem(item, ignoreBounds=True)
        self.labels = LineLabels(self.plot)
        self.points: list[Point] = []
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        style_plot(self.plot, theme, grid=True)
        self.slope.setPen(pg.mkPen(theme.color("text"), width=1.6))
        self.slope_label.setColor(theme.color("text"))

    def show(self, ceilings: Ceilings | None, roofs: Sequence[Roof], points: Sequence[Point]) -> None:
        """Draw `ceilings` with their `roofs`, and `points`, those of the shown run last."""
        self.points = list(points)
        least_x, most_x, least_y, most_y = extent(points, ceilings)
        low, high = log10(least_x), log10(most_x)
        bottom, top = log10(least_y), log10(most_y)
        self._show_names(roofs)
        names = self.labels.units(high - low)
        self.bottom.end = high
        self.plot.setXRange(low, high + names, padding=0)
        self.plot.setYRange(bottom, top, padding=0)
        self._show_roofs(ceilings, roofs, high)
        self._show_slope(ceilings, roofs, low, bottom)
        self._show_points()
        self.labels.place(high)

    def _show_names(self, roofs: Sequence[Roof]) -> None:
        theme = self._theme
        text, muted = theme.color("text"), theme.color("muted")
        names = [(log10(roof.tflops), f"{roof.text} TFLOP/s", text if roof.binding else muted) for roof in roofs]
        self.labels.show([LineLabel(*name) for name in names], theme.color("surface"))

    def _show_roofs(self, ceilings: Ceilings | None, roofs: Sequence[Roof], high: float) -> None:
        """Each level begins at the slope: left of it the copy rate is the lower ceiling."""
        for i, line in enumerate(self.roofs):
            line.setVisible(i < len(roofs) and ceilings is not None)
            if i >= len(roofs) or ceilings is None:
                continue
            roof = roofs[i]
            ridge = log10(roof.tflops * TERA / ceilings.copy_bytes_per_s)
            style = Qt.PenStyle.DashLine if roof.effective else Qt.PenStyle.SolidLine
            color = self._theme.color("text" if roof.binding else "muted")
            line.setPen(pg.mkPen(color, width=1.8 if roof.binding else 1.0, style=style))
            line.setData([ridge, high], [log10(roof.tflops)] * 2)

    def _show_slope(self, ceilings: Ceilings | None, roofs: Sequence[Roof], low: float, bottom: float) -> None:
        """The copy rate, from the corner to the highest level."""
        shown = ceilings is not None and bool(roofs)
        self.slope.setVisible(shown)
        self.slope_label.setVisible(shown)
        if ceilings is None or not roofs:
            return
        rate = log10(ceilings.copy_bytes_per_s / TERA)
        top = log10(max(roof.tflops for roof in roofs))
        self.slope.setData([low - 1, top - rate], [low - 1 + rate, top])
        self.slope_label.setText(copy_text(ceilings))
        start = max(bottom, low + rate)
        y = start + 0.35 * (log10(min(roof.tflops for roof in roofs)) - start)
        self.slope_label.setPos(y - rate, y)

    def _show_points(self) -> None:
        theme = self._theme
        earlier = [point for point in self.points if point.run]
        now = [point for point in self.points if not point.run]
        for item, points, size, alpha in ((self.earlier, earlier, 6, FADED), (self.now, now, 11, 255)):
            item.setData(
                [log10(point.intensity) for point in points],
                [log10(point.tflops) for point in points],
                size=size,
                symbol=["o" if point.role == "kernel" else "s" for point in points],
                brush=[pg.mkBrush(theme.color(point.role, alpha)) for point in points],
                pen=[pg.mkPen(theme.text, width=1.2) if alpha == 255 else pg.mkPen(None) for _ in points],
            )

    def hit(self, scene_position: QPointF) -> Point | None:
        """The point nearest to the mouse, the shown run's before others; None over nothing."""
        box: Any = self.plot.vb
        if not self.points or not box.sceneBoundingRect().contains(scene_position):
            return None
        position = box.mapSceneToView(scene_position)
        width, height = box.viewPixelSize()
        dx = (np.log10([point.intensity for point in self.points]) - position.x()) / width
        dy = (np.log10([point.tflops for point in self.points]) - position.y()) / height
        distance = np.hypot(dx, dy) - np.array([0.0 if point.run else 2.0 for point in self.points])
        nearest = int(np.argmin(distance))
        return self.points[nearest] if distance[nearest] < HOVER_PIXELS else None
