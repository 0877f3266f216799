"""A floating dock comes back over the window, on a screen that there is."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QRect
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QApplication

from tests.ui.conftest import MakeWindow
from workbench.ui.window.layout.floating import on_screen

SCREEN, RIGHT = QRect(0, 0, 1920, 1080), QRect(1920, 0, 1280, 1024)


@pytest.mark.parametrize(
    "wanted",
    [QRect(100, 100, 400, 300), QRect(2000, 50, 500, 500)],
    ids=["on the first", "on the second"],
)
def test_what_is_on_a_screen_stays(wanted: QRect) -> None:
    assert on_screen(wanted, [SCREEN, RIGHT]) == wanted


@pytest.mark.parametrize(
    "wanted",
    [QRect(5000, 100, 400, 300), QRect(-900, -900, 400, 300), QRect(1700, 900, 400, 300), QRect(0, 0, 4000, 3000)],
    ids=["a screen that is gone", "over the corner", "half outside", "larger than any"],
)
def test_all_else_is_moved_onto_one(wanted: QRect) -> None:
    place = on_screen(wanted, [SCREEN])
    assert SCREEN.contains(place)
    assert place.size() == wanted.size().boundedTo(SCREEN.size())


@pytest.mark.parametrize("name", ["latency", "results"])
def test_a_floating_dock_comes_back_over_the_window(make_test_window: MakeWindow, name: str) -> None:
    window = make_test_window()
    dock = window.docks.dock(name)
    dock.setFloating(True)
    dock.move(9000, 9000)
    QApplication.processEvents()
    window.close()
    again = make_test_window("again.tilescope")
    for _ in range(4):
        QApplication.processEvents()
    dock = again.docks.dock(name)
    assert dock.isFloating() and dock.isVisible()
    own, handle = dock.windowHandle(), again.windowHandle()
    assert own is not None and own.transientParent() is handle  # what keeps it in front
    screens = QGuiApplication.screens()
    assert any(screen.availableGeometry().contains(dock.frameGeometry()) for screen in screens)
