"""PointCloud: very many points of one colour, drawn as a picture of the pixels that they cover."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, QRectF
from PyQt6.QtGui import QColor, QImage, QPainter

from workbench.stats.arrays import FloatArray

Pixels = npt.NDArray[np.uint8]


def dot_offsets(size: float) -> list[tuple[int, int, int]]:
    """The pixels (dy, dx, coverage up to 255) of a disc `size` pixels wide around the middle of a pixel."""
    reach = math.ceil(size / 2)
    steps = range(-reach, reach + 1)
    covered = ((dy, dx, round(255 * min(1.0, size / 2 + 0.5 - math.hypot(dx, dy)))) for dy in steps for dx in steps)
    return [dot for dot in covered if dot[2] > 0]


def cover(columns: FloatArray, rows: FloatArray, width: int, height: int, size: float) -> tuple[int, int, Pixels]:
    """How much discs around points cover of each pixel of an area of `width` x `height`.

    Points are in pixels from the area's upper left corner; those outside are left out. However many there are, each
    pixel is painted once for each pixel of a disc, and only around the points. Returns the upper left corner of the
    part that is covered, and its coverage, [rows, columns], empty where no point lies inside.
    """
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    if not inside.any():
        return 0, 0, np.zeros((0, 0), dtype=np.uint8)
    x, y = columns[inside].astype(np.intp), rows[inside].astype(np.intp)
    reach = math.ceil(size / 2)
    left, top = int(x.min()) - reach, int(y.min()) - reach
    across, down = int(x.max()) - left + reach + 1, int(y.max()) - top + reach + 1
    # One more of `reach` on each side, so that a shifted view of all pixels stays inside.
    hit = np.zeros((down + 2 * reach, across + 2 * reach), dtype=np.uint8)
    hit[y - top + reach, x - left + reach] = 255
    covered = np.zeros((down, across), dtype=np.uint8)
    for dy, dx, coverage in dot_offsets(size):
        shifted = hit[reach - dy : reach - dy + down, reach - dx : reach - dx + across]
        np.maximum(covered, np.minimum(shifted, coverage), out=covered)
    return left, top, covered


class PointCloud(pg.GraphicsObject):  # type: ignore[misc]
    """Points as discs `size` pixels wide. Every point is drawn; where several meet, they look like one."""

    def __init__(self, size: float = 5.0) -> None:
        super().__init__()
        self._size = size
        self._x: FloatArray = np.empty(0)
        self._y: FloatArray = np.empty(0)
        self.color = QColor("white")

    def set_points(self, x: FloatArray, y: FloatArray) -> None:
        """Show points at `x` and `y`, in the plot's units; points that are not finite are left out."""
        if len(x) or len(self._x):
            self._x, self._y = x, y
            self.update()

    def points(self) -> tuple[FloatArray, FloatArray]:
        """What is shown."""
        return self._x, self._y

    def set_color(self, color: QColor) -> None:
        """Take another colour."""
        if color != self.color:
            self.color = color
            self.update()

    def boundingRect(self) -> QRectF:
        """All that the plot shows."""
        return QRectF(self.viewRect())

    def viewTransformChanged(self) -> None:
        """Another part of the plot is shown."""
        super().viewTransformChanged()
        self.prepareGeometryChange()

    def paint(self, p: QPainter, *_: object) -> None:
        """Draw the points' picture, at the resolution of the painter's device."""
        to_device = p.deviceTransform()
        area = to_device.mapRect(self.boundingRect())
        left, top = math.floor(area.left()), math.floor(area.top())
        columns = self._x * to_device.m11() + (to_device.dx() - left)
        rows = self._y * to_device.m22() + (to_device.dy() - top)
        width, height = math.ceil(area.right()) - left, math.ceil(area.bottom()) - top
        p.resetTransform()
        base = p.deviceTransform()  # the device's pixels, and where the widget stands on it
        x, y, covered = cover(columns, rows, width, height, self._size * base.m11())
        if not covered.size:
            return
        argb = _palette(self.color)[covered].tobytes()  # a name, as the image does not hold its pixels
        down, across = covered.shape
        image = QImage(argb, across, down, 4 * across, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(base.m11())
        corner, _ok = base.inverted()
        p.drawImage(corner.map(QPointF(left + x, top + y)), image)


def _palette(color: QColor) -> npt.NDArray[np.uint32]:
    """`color` at each coverage from 0 to 255, as premultiplied ARGB."""
    alpha = np.arange(256) * color.alpha() // 255
    red, green, blue = (alpha * part // 255 for part in (color.red(), color.green(), color.blue()))
    return ((alpha << 24) | (red << 16) | (green << 8) | blue).astype(np.uint32)
