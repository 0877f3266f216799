"""Docks that float: they stand over the window, on a screen that there is."""

from __future__ import annotations

from collections.abc import Mapping

from PyQt6.QtCore import QEvent, QObject, QRect, QTimer
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QDockWidget, QMainWindow


class Floating(QObject):
    """Brings the floating ones of `docks` before `window`, whenever that is shown."""

    def __init__(self, window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self.bring_back)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """The window is shown: what floated before it did is behind it."""
        if watched is self.parent() and event is not None and event.type() == QEvent.Type.Show:
            self._later.start(0)
        return False

    def bring_back(self) -> None:
        """Put every floating dock onto a screen and over the window."""
        if not self._window.isVisible():
            return
        handle = self._window.windowHandle()
        for dock in self._docks.values():
            if not dock.isFloating() or dock.isHidden():
                continue
            own = dock.windowHandle()
            if own is not None and handle is not None and own.transientParent() is not handle:
                own.setTransientParent(handle)  # it had none: it was shown before the window
                dock.hide()
                dock.show()
            place = on_screen(
                dock.frameGeometry(), [screen.availableGeometry() for screen in QGuiApplication.screens()]
            )
            dock.move(place.topLeft())
            dock.resize(dock.size().boundedTo(place.size()))
            dock.raise_()


def on_screen(wanted: QRect, screens: list[QRect]) -> QRect:
    """`wanted`, moved and if need be made smaller to lie in the one of `screens` that holds the most of it."""

    def shared(screen: QRect) -> int:
        common = screen.intersected(wanted)
        return common.width() * common.height()

    screen = max(screens, key=shared, default=wanted)
    place = QRect(wanted.topLeft(), wanted.size().boundedTo(screen.size()))
    place.moveLeft(min(max(place.left(), screen.left()), screen.right() + 1 - place.width()))
    place.moveTop(min(max(place.top(), screen.top()), screen.bottom() + 1 - place.height()))
    return place
