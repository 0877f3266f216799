"""A pointer over plots that the arrow keys move: what the mouse can read and click, the keyboard can too."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PyQt6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PyQt6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

STEP, LEAP = 8, 40  # px of an arrow, and of one with Shift
ARM = 7  # px of the pointer's cross
_KEY, _NONE, _LEFT = Qt.Key, Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton
ARROWS = {_KEY.Key_Left: (-1, 0), _KEY.Key_Right: (1, 0), _KEY.Key_Up: (0, -1), _KEY.Key_Down: (0, 1)}
ENTERS = (_KEY.Key_Return, _KEY.Key_Enter, _KEY.Key_Space)


class KeyPointer(QObject):
    """Stands for the mouse in `area`, which gives it its keys and draws it; in its middle at first."""

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self._area = area
        self.place: QPoint | None = None

    def take(self, event: QKeyEvent) -> bool:
        """Move by an arrow, or click by Enter or the space bar; False for every other key."""
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        step = LEAP if modifiers == Qt.KeyboardModifier.ShiftModifier else STEP
        if modifiers not in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
            return False
        if key in ARROWS:
            x, y = ARROWS[_KEY(key)]
            self._move(QPoint(x * step, y * step))
        elif key in ENTERS and self.place is not None:
            for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):
                self._send(kind, _LEFT)
        else:
            return False
        return True

    def leave(self) -> None:
        """Be nowhere, as a mouse that has left."""
        if self.place is not None:
            self.place = None
            QApplication.sendEvent(self._viewport(), QEvent(QEvent.Type.Leave))

    def draw(self, painter: QPainter) -> None:
        """Draw a cross with the pen of `painter`."""
        if self.place is not None:
            across, down = QPoint(ARM, 0), QPoint(0, ARM)
            painter.drawLine(self.place - across, self.place + across)
            painter.drawLine(self.place - down, self.place + down)

    def _move(self, by: QPoint) -> None:
        room = self._viewport().rect().adjusted(1, 1, -1, -1)
        wanted = (self.place or room.center()) + by
        x = min(max(wanted.x(), room.left()), room.right())
        self.place = QPoint(x, min(max(wanted.y(), room.top()), room.bottom()))
        self._send(QEvent.Type.MouseMove, _NONE)
        self._viewport().update()

    def _send(self, kind: QEvent.Type, button: Qt.MouseButton) -> None:
        viewport = self._viewport()
        assert self.place is not None
        place, none = QPointF(self.place), Qt.KeyboardModifier.NoModifier
        held = button if kind == QEvent.Type.MouseButtonPress else _NONE
        QApplication.sendEvent(viewport, QMouseEvent(kind, place, viewport.mapToGlobal(place), button, held, none))

    def _viewport(self) -> QWidget:
        viewport = self._area.viewport()
        assert viewport is not None
        return viewport
