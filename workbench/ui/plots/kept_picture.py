"""Pictures that are painted once and shown until something in them changes: a repaint of the window costs a copy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pyqtgraph as pg
from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QFocusEvent, QKeyEvent, QPaintDevice, QPainter, QPaintEvent, QPen, QPicture, QPixmap
from PyQt6.QtWidgets import QAbstractGraphicsShapeItem, QGraphicsScene

from workbench.ui.plots.key_pointer import KeyPointer

RING = 2  # px of the ring around what has the focus
_REASON = Qt.FocusReason
BY_KEY = (_REASON.TabFocusReason, _REASON.BacktabFocusReason, _REASON.ShortcutFocusReason)


def as_wide(pen: QPen, finer: float) -> QPen:
    """`pen` for a picture of `finer` pixels to one of the screen: cosmetic ones as much wider, and at least one."""
    if not pen.isCosmetic():
        return pen
    pen = QPen(pen)
    pen.setWidthF(max(1.0, finer * max(1.0, pen.widthF())))
    return pen


class FinePainter(QPainter):
    """Draws the lines of plots as wide as on the screen where there are `finer` pixels to one of the screen's.

    pyqtgraph's pens are cosmetic: their width is in pixels of whatever is painted on, while text and symbols grow.
    """

    def __init__(self, device: QPaintDevice, finer: float) -> None:
        super().__init__(device)
        self.finer = finer

    def setPen(self, pen: Any) -> None:
        """Take `pen`, wider where it is a cosmetic one; what pyqtgraph's items call."""
        super().setPen(as_wide(pen, self.finer) if isinstance(pen, QPen) else pen)


@contextmanager
def fine_axis(axis: Any, finer: float) -> Iterator[None]:
    """Within the block, `axis` (an AxisItem) plays a picture recorded with lines for `finer` pixels to the screen's.

    The one that it plays on the screen holds pens of one width, which Qt plays without asking the painter's `setPen`.
    """
    picture = QPicture()
    painter = FinePainter(picture, finer)
    try:
        specs = axis.generateDrawSpecs(painter)
        if specs is not None:
            axis.drawPicture(painter, *specs)
    finally:
        painter.end()
    axis.picture = picture
    try:
        yield
    finally:
        axis.picture = None  # the screen records its own again


@contextmanager
def fine_shape(shape: QAbstractGraphicsShapeItem, finer: float) -> Iterator[None]:
    """Within the block, `shape`, which Qt itself paints, has the pen for `finer` pixels to one of the screen."""
    before = shape.pen()
    shape.setPen(as_wide(before, finer))
    try:
        yield
    finally:
        shape.setPen(before)


@contextmanager
def fine_lines(scene: QGraphicsScene, finer: float) -> Iterator[None]:
    """Within the block, what does not ask a FinePainter for the width of its lines has the right one."""
    with ExitStack() as fine:
        for item in scene.items():
            if not item.isVisible():
                continue
            if isinstance(item, pg.AxisItem):
                fine.enter_context(fine_axis(item, finer))
            elif isinstance(item, QAbstractGraphicsShapeItem) and item.pen().style() != Qt.PenStyle.NoPen:
                fine.enter_context(fine_shape(item, finer))
        yield


class KeptPicture:
    """What was painted last, for one size and resolution."""

    def __init__(self) -> None:
        self._pixmap: QPixmap | None = None
        self._key: tuple[QSize, float] | None = None
        self.paints = 0  # how often it was really painted

    def forget(self) -> None:
        """Paint it anew the next time."""
        self._pixmap = None

    def draw(self, painter: QPainter, size: QSize, paint: Callable[[QPainter], None], ratio: float) -> None:
        """Draw it with `painter`, whose device may be finer than the screen, as that of a picture for a report is.

        The screen has `ratio` pixels per unit.
        """
        key = (size, painter.deviceTransform().m11())
        if self._pixmap is None or self._key != key:
            self._key = key
            self._pixmap = QPixmap(size * key[1])
            self._pixmap.setDevicePixelRatio(key[1])
            self._pixmap.fill(Qt.GlobalColor.transparent)
            on_screen = math.isclose(key[1], ratio, rel_tol=1e-3)  # Qt rounds a ratio that is no whole number
            inner = QPainter(self._pixmap) if on_screen else FinePainter(self._pixmap, key[1] / ratio)
            paint(inner)
            inner.end()
            self.paints += 1
        painter.drawPixmap(0, 0, self._pixmap)


class PlotArea(pg.GraphicsLayoutWidget):  # type: ignore[misc]
    """A scene of plots that keeps its picture while no item of it changes.

    Qt queues the news of a change, and asks for a paint after them. A paint that comes before them shows what was, and
    is followed by the right one at once; what takes a picture of the widget calls `settle` first.
    """

    def __init__(self) -> None:
        self.kept = KeptPicture()
        self._rings = False  # whether the keyboard has come here, which a click into the plot does not say
        super().__init__()
        self.scene().changed.connect(self._on_change)
        self.pointer = KeyPointer(self)

    def _on_change(self, *_: Any) -> None:
        self.kept.forget()
        self.viewport().update()

    def settle(self) -> None:
        """Have the next paint show everything as it is now."""
        self._fill()
        self.kept.forget()

    def _fill(self) -> None:
        """Lay the plots out in the whole of the view.

        In a view that shrinks they stay as large as their layout had to be at that moment, though it may do with less
        once its rows are shared anew: what is below would be cut.
        """
        self.ci.layout.activate()
        if self.ci.geometry() != self.range:
            self.ci.setGeometry(self.range)

    @contextmanager
    def pictured(self) -> Iterator[None]:
        """Within the block, paints are for a picture: of everything as it is now, but for the ring of the focus."""
        rings, self._rings = self._rings, False
        self.settle()
        try:
            yield
        finally:
            self._rings = rings

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show a ring where the keyboard has come here by a key."""
        super().focusInEvent(event)
        self._rings = event.reason() in BY_KEY
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        self._rings = False
        self.pointer.leave()
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move a pointer over the plots, and Enter clicks there."""
        if not self.pointer.take(event):
            super().keyPressEvent(event)

    def setBackground(self, background: Any) -> None:
        """Take a colour; the scene does not count that as a change of its own."""
        super().setBackground(background)
        self.kept.forget()

    def paintEvent(self, ev: QPaintEvent) -> None:
        """Show the picture, made anew where something has changed."""
        self._fill()
        self.scene().prepareForPaint()
        painter = QPainter(self.viewport())
        self.kept.draw(painter, self.viewport().size(), self._paint_scene, self.devicePixelRatioF())
        if self._rings:
            painter.setPen(QPen(self.palette().highlight().color(), RING))
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))
            self.pointer.draw(painter)
        painter.end()

    def _paint_scene(self, painter: QPainter) -> None:
        painter.setRenderHints(self.renderHints())
        area = self.viewport().rect()
        with ExitStack() as fine:
            if isinstance(painter, FinePainter):
                fine.enter_context(fine_lines(self.scene(), painter.finer))
            self.render(painter, QRectF(area), area)
