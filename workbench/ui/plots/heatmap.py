"""HeatmapView: a map of numbers with a colour bar, of any size, drawn as finely as the screen or a picture shows it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QGraphicsScene, QVBoxLayout, QWidget

from workbench.analysis.numbers import number
from workbench.stats.arrays import FloatArray
from workbench.ui.plots.axes import IndexAxis, ValueAxis, side_width
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.plots.map_cells import COLORS, MAX_CELLS, IntArray, Palette, Part
from workbench.ui.plots.scale import scale_exponent, times_ten
from workbench.ui.plots.themed import make_plot, style_plot
from workbench.ui.theme import Theme

BAR_WIDTH = 12
BAR_GAP = 8  # px between the map and the bar
GAP = 6  # px between the map and the plots around it
COLOR_MAP = "viridis"  # holds neither the red of NaN nor the magenta of −inf


class HeatmapView(QWidget):
    """Rows down (row 0 at the top), columns across, whole numbers at the middle of cells.

    `hovered` carries (row, column) or None, `clicked` (row, column). `moved` says that another part is
    visible: call `refresh`; `resized` that the widget has another size; `pooled` that `steps` are others now. Further
    plots can be added to `graphics`; the map is at row 1, column 0.
    """

    hovered = pyqtSignal(object)
    clicked = pyqtSignal(int, int)
    moved = pyqtSignal()
    resized = pyqtSignal()
    pooled = pyqtSignal()

    def __init__(self, theme: Theme, rows: str, columns: str) -> None:
        super().__init__()
        self._data: FloatArray | None = None
        self._ends: IntArray | None = None
        self._levels = (0.0, 1.0)
        self._drawn: Part | None = None
        self._dirty = False
        self.graphics = PlotArea()
        self.graphics.ci.layout.setContentsMargins(0, 6, 0, 0)
        self.graphics.ci.layout.setSpacing(GAP)
        axes = {"left": IndexAxis("left"), "bottom": IndexAxis("bottom")}
        self.plot = make_plot(theme, axes, left=rows, bottom=columns)
        self.plot.vb.invertY(True)
        self.image = pg.ImageItem(axisOrder="row-major", autoLevels=False)
        self.plot.addItem(self.image)
        self.lines = [pg.InfiniteLine(angle=angle, movable=False) for angle in (0, 90)]
        for line in self.lines:
            line.setZValue(20)
            line.hide()
            self.plot.addItem(line, ignoreBounds=True)
        self.graphics.addItem(self.plot, 1, 0)
        self.bar = _make_bar()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.graphics)
        self._connect()
        self.set_colors(theme, theme.bad)

    def _connect(self) -> None:
        box = self.plot.vb
        box.sigRangeChanged.connect(self._view_changed)
        box.sigResized.connect(self._view_changed)
        box.reset_asked.connect(self.reset_view)
        box.clicked.connect(self._on_click)
        self.graphics.scene().sigMouseMoved.connect(self._on_mouse)
        self.graphics.viewport().installEventFilter(self)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Say so, as what stands beside the map may be given another size."""
        super().resizeEvent(a0)
        self.resized.emit()

    def insert_bar(self, plot: Any) -> float:
        """Put the colour bar at the right of `plot`, a PlotItem of the map's layout row; its width in pixels."""
        axis_width = side_width("0,000")
        self.bar.axis.setWidth(axis_width)
        plot.layout.addItem(self.bar, 2, 5)
        plot.layout.setColumnFixedWidth(4, BAR_GAP)
        width = BAR_WIDTH + axis_width + 4
        plot.layout.setColumnFixedWidth(5, width)
        return float(width + BAR_GAP)

    def set_colors(self, theme: Theme, nan: str) -> None:
        """Take the colours of `theme`, its `border` for what was left out, and `nan` for other NaN and +inf."""
        self.graphics.setBackground(theme.surface)
        style_plot(self.plot, theme)
        style_plot(self.bar, theme)
        colors = pg.colormap.get(COLOR_MAP)
        special = [pg.mkColor(color).getRgb()[:3] for color in (theme.border, theme.minus_inf, nan)]
        self.image.setLookupTable(np.vstack([colors.getLookupTable(nPts=COLORS), special]).astype(np.uint8))
        self.bar.setColorMap(colors)
        for line in self.lines:
            line.setPen(pg.mkPen((255, 255, 255, 190), width=1, style=Qt.PenStyle.DashLine))

    def set_data(
        self,
        data: FloatArray | None,
        levels: tuple[float, float],
        labels: tuple[str, ...],
        ends: IntArray | None = None,
    ) -> None:
        """Show `data` ([rows, columns]) with colours from `levels[0]` to `levels[1]`.

        `labels` name the bar, from the longest to the shortest: the longest that fits is shown. `ends` ([rows]) says
        from which column on a NaN was left out on purpose. The view returns to the whole map when the shape changes.
        Call `refresh` to draw.
        """
        new_shape = data is not None and (self._data is None or self._data.shape != data.shape)
        self._data, self._ends = data, ends
        low, high = levels
        self._levels = (low, high if high > low else low + 1.0)
        self._drawn, self._dirty = None, True
        if data is None:
            self.image.clear()
            return
        exponent = scale_exponent(max(map(abs, self._levels)))
        power = 10.0**exponent
        self.bar.setLevels((self._levels[0] / power, self._levels[1] / power))
        self.bar.axis.set_names(*(times_ten(label, exponent) for label in labels))
        if new_shape:
            rows, columns = data.shape
            ends_of_view = {"xMin": -0.5, "xMax": columns - 0.5, "yMin": -0.5, "yMax": rows - 0.5}
            self.plot.vb.setLimits(**ends_of_view, minXRange=min(columns, 3), minYRange=min(rows, 3))
            self.reset_view()

    def reset_view(self) -> None:
        """Show the whole map."""
        if self._data is not None:
            rows, columns = self._data.shape
            self.plot.vb.setRange(xRange=(-0.5, columns - 0.5), yRange=(-0.5, rows - 0.5), padding=0)

    def visible(self) -> tuple[int, int, int, int]:
        """First row, end row, first column, end column of what can be seen."""
        if self._data is None:
            return (0, 0, 0, 0)
        (x0, x1), (y0, y1) = self.plot.vb.viewRange()
        rows, columns = self._data.shape
        top, left = max(0, math.floor(y0 + 0.5)), max(0, math.floor(x0 + 0.5))
        return top, min(rows, math.ceil(y1 + 0.5)), left, min(columns, math.ceil(x1 + 0.5))

    @property
    def steps(self) -> tuple[int, int]:
        """Rows and columns of the data in a drawn cell."""
        return self._drawn.steps if self._drawn is not None else (1, 1)

    def refresh(self) -> None:
        """Draw what can be seen, one cell to a pixel of the screen at most, the largest of those it stands for.

        Does nothing when that is on the screen already.
        """
        if self._data is not None and self._dirty:
            self._dirty = False
            self._draw(self.devicePixelRatioF(), MAX_CELLS)

    @contextmanager
    def drawn_at(self, ratio: float) -> Iterator[None]:
        """Within the block, draw what can be seen as a picture of `ratio` pixels per unit shows it.

        After it there is again what was drawn for the screen: to make that once more would cost it a frame.
        """
        if self._data is None:
            yield
            return
        part, cells = self._drawn, self.image.image
        self._draw(ratio, math.inf)
        try:
            yield
        finally:
            if part is None:
                self._dirty = True
                self.refresh()
            elif part != self._drawn:
                self._set_cells(part, cells)

    def _draw(self, ratio: float, most: float) -> None:
        """Draw what can be seen in at most `most` cells, none smaller than a pixel, of which `ratio` make a unit."""
        assert self._data is not None
        rows, columns = self._data.shape
        pixels = (self.plot.vb.height() * ratio, self.plot.vb.width() * ratio)
        part = Part(*self.visible()).fitted((rows, columns), pixels, most)
        if part != self._drawn and not part.is_empty:
            self._set_cells(part, part.cells(self._data, self._levels, self._ends))

    def _set_cells(self, part: Part, cells: Palette) -> None:
        before, (down, across) = self.steps, part.steps
        self._drawn = part
        self.image.setImage(cells, autoLevels=False)
        self.image.setRect(part.left - 0.5, part.top - 0.5, cells.shape[1] * across, cells.shape[0] * down)
        if part.steps != before:
            self.pooled.emit()

    def point(self, cell: tuple[int, int] | None) -> None:
        """Put the crosshair on `cell` (row, column), or take it away."""
        for line, position in zip(self.lines, cell or (0, 0), strict=True):
            line.setPos(position)
            line.setVisible(cell is not None)

    def value(self, row: int, column: int) -> str:
        """The exact value of a cell, in words."""
        assert self._data is not None
        return number(float(self._data[row, column]))

    def place_of(self, cell: tuple[int, int]) -> QPoint:
        """Where the middle of `cell` (row, column) is in `graphics`, in pixels."""
        row, column = cell
        place: QPoint = self.graphics.mapFromScene(self.plot.vb.mapViewToScene(QPointF(column, row)))
        return place

    def cell_at(self, scene_position: QPointF) -> tuple[int, int] | None:
        """The cell (row, column) at a position in the scene."""
        if not self.plot.vb.sceneBoundingRect().contains(scene_position):
            return None
        return self._cell(self.plot.vb.mapSceneToView(scene_position))

    def _cell(self, position: Any) -> tuple[int, int] | None:
        if self._data is None:
            return None
        row, column = math.floor(position.y() + 0.5), math.floor(position.x() + 0.5)
        inside = 0 <= row < self._data.shape[0] and 0 <= column < self._data.shape[1]
        return (row, column) if inside else None

    def _view_changed(self, *_: Any) -> None:
        self._dirty = True
        self.moved.emit()

    def _on_mouse(self, scene_position: QPointF) -> None:
        self.hovered.emit(self.cell_at(scene_position))

    def _on_click(self, position: Any) -> None:
        cell = self._cell(position)
        if cell is not None:
            self.clicked.emit(*cell)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """pyqtgraph does not say when the mouse leaves the plot."""
        if event is not None and event.type() == QEvent.Type.Leave:
            self.hovered.emit(None)
        return super().eventFilter(watched, event)


def _make_bar() -> Any:
    """A colour bar whose axis has the ticks of all axes here."""
    bar = pg.ColorBarItem(values=(0, 1), width=BAR_WIDTH, interactive=False, colorMapMenu=False)
    scene = QGraphicsScene()  # pyqtgraph 0.13 can change the axes only of a plot that is in a scene
    scene.addItem(bar)
    bar.setAxisItems({"right": ValueAxis("right")})
    scene.removeItem(bar)
    bar.axis = bar.getAxis("right")
    bar.axis.enableAutoSIPrefix(False)
    bar.axis.unlinkFromView()
    bar.axis.setZValue(0.5)
    bar.axis.tick_pixels = 48
    return bar
