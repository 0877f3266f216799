"""The areas of the window that the keyboard goes round: form, headline, panels and table, those that are in sight."""

from __future__ import annotations

from collections.abc import Mapping

from PyQt6.QtCore import QObject, Qt, QTimer
from PyQt6.QtWidgets import QApplication, QDockWidget, QMainWindow, QTabBar, QWidget

TAB = Qt.FocusReason.TabFocusReason  # what shows that something has the focus


class Areas(QObject):
    """Goes from one area to the next or back; each takes the keyboard where it had it last."""

    def __init__(self, window: QMainWindow, docks: Mapping[str, QDockWidget], headline: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._headline = headline
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._free_hidden_tabs)
        for dock in docks.values():
            dock.visibilityChanged.connect(lambda *_: self._later.start(0))

    def next(self) -> None:
        """Give the keyboard to the area after the one that has it."""
        self._go(1)

    def previous(self) -> None:
        """Give the keyboard to the area before the one that has it."""
        self._go(-1)

    def in_sight(self) -> list[QWidget]:
        """The areas that can be seen and take the keyboard, in order: the form and the headline first, then by place.

        Panels come in rows from the top, each from the left; those that float last.
        """
        docks = [dock for dock in self._docks.values() if dock.isVisible() and dock.widget() is not None]
        seen = [dock for dock in docks if dock.isFloating() or dock.geometry().right() >= 0]  # not behind a tab
        seen.sort(key=lambda dock: (dock.isFloating(), dock.y(), dock.x()))
        form = [dock for dock in seen if self._window.dockWidgetArea(dock) == Qt.DockWidgetArea.LeftDockWidgetArea]
        others = [dock for dock in seen if dock not in form]
        contents = [dock.widget() for dock in form], [dock.widget() for dock in others]
        areas = [*contents[0], self._headline, *contents[1]]
        return [area for area in areas if area is not None and self._entrance(area) is not None]

    def _go(self, step: int) -> None:
        areas = self.in_sight()
        if not areas:
            return
        focused = QApplication.focusWidget()
        here = next((i for i, area in enumerate(areas) if _holds(area, focused)), None)
        at = (here + step) % len(areas) if here is not None else 0 if step > 0 else -1
        target = self._entrance(areas[at])
        assert target is not None
        areas[at].activateWindow()
        target.setFocus(TAB)

    def _free_hidden_tabs(self) -> None:
        """Qt keeps the tab bars of docks that stand alone now, out of the window's bounds: Tab must not stop there."""
        for bar in self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            in_sight = bar.geometry().right() >= 0
            bar.setFocusPolicy(Qt.FocusPolicy.TabFocus if in_sight else Qt.FocusPolicy.NoFocus)

    def _entrance(self, area: QWidget) -> QWidget | None:
        """What of `area` takes the keyboard: what had it last, else the first that can; None if nothing can."""
        last = area.focusWidget()
        if last is not None and takes_focus(last) and _holds(area, last):
            return last
        if takes_focus(area):
            return area
        # In the order in which Tab goes on, which begins anywhere.
        found = area.nextInFocusChain()
        while found is not None and found is not area:
            if _holds(area, found) and takes_focus(found):
                return found
            found = found.nextInFocusChain()
        return None


def _holds(area: QWidget, widget: QWidget | None) -> bool:
    return widget is not None and (area is widget or area.isAncestorOf(widget))


def takes_focus(widget: QWidget) -> bool:
    """Whether Tab stops at `widget`."""
    by_tab = bool(widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value)
    return by_tab and widget.isEnabled() and widget.isVisible() and widget.focusProxy() is None
