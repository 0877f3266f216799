"""Tooltips are wrapped: Qt itself shows a plain one in a single line, as wide as the screen if need be."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QObject, QRect, Qt
from PyQt6.QtGui import QCursor
from PyQt6.QtWidgets import QApplication, QLabel

MOST_CHARACTERS = 64  # of a line
BESIDE = 2  # px from the mouse to a tip right of it
_CHANGES = (QEvent.Type.Show, QEvent.Type.Resize)


class WrappedTips(QObject):
    """Wraps every tooltip of the application, whoever shows it: a widget, a table's cell, a menu's entry."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._wrapping = False  # which resizes the tip again
        app.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Look at each label that Qt is about to show as a tooltip; every event passes."""
        if event is None or event.type() not in _CHANGES or not isinstance(watched, QLabel) or self._wrapping:
            return False
        is_rich = Qt.mightBeRichText(watched.text())  # type: ignore[attr-defined]  # of QtGui, which stubs do not say
        if watched.windowType() == Qt.WindowType.ToolTip and not is_rich:
            self._wrapping = True
            wrap(watched)
            self._wrapping = False
        return False


def most_width(tip: QLabel) -> int:
    """How wide the text of `tip` may be, in px."""
    return MOST_CHARACTERS * tip.fontMetrics().averageCharWidth()


def wrap(tip: QLabel) -> None:
    """Make `tip` narrower if its plain text is too wide for one line, and keep it beside the mouse."""
    lines = Qt.TextFlag.TextExpandTabs.value
    wrapped = lines | Qt.TextFlag.TextWordWrap.value
    if _width(tip, 1 << 20, lines) <= most_width(tip):
        return
    tip.setWordWrap(True)
    around = tip.width() - tip.contentsRect().width() + 2 * (tip.margin() + 1)
    width = _width(tip, most_width(tip), wrapped) + around
    tip.resize(width, tip.heightForWidth(width))
    screen = tip.screen()
    if screen is None:
        return
    # Qt has placed it as wide as it was, and so perhaps far left of the mouse, or over what is below it now.
    room, mouse = screen.geometry(), QCursor.pos()
    x, y = max(tip.x(), min(mouse.x() + BESIDE, room.right() - tip.width())), tip.y()
    if y + tip.height() > room.bottom():
        y = mouse.y() - tip.height() - BESIDE
    tip.move(max(room.left(), min(x, room.right() - tip.width())), max(room.top(), y))


def _width(tip: QLabel, room: int, flags: int) -> int:
    return tip.fontMetrics().boundingRect(QRect(0, 0, room, 1 << 20), flags, tip.text()).width()
