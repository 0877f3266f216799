"""What the mouse reads and clicks in a plot, the arrow keys and Enter do too, in every panel of plots."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui.conftest import MakeWindow
from tests.ui.hands import press_key
from tests.ui.window.test_themes import RECORDING, settle
from workbench.ui.panels import PANELS
from workbench.ui.panels.bases.maps import MapPanel
from workbench.ui.panels.bases.plots import PicturePanel
from workbench.ui.window.main import MainWindow

PICTURES = [panel for panel in PANELS if issubclass(panel, PicturePanel)]
MAPS = [panel for panel in PICTURES if issubclass(panel, MapPanel)]
SHIFT = Qt.KeyboardModifier.ShiftModifier


def with_focus(qtbot: QtBot, window: MainWindow, name: str) -> PicturePanel:
    """The panel called `name` of a run, whose plots have the keyboard."""
    window.resize(1440, 900)
    window.open_recording(RECORDING)
    panel = window.widget(name)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    settle(window)
    assert isinstance(panel, PicturePanel)
    panel.graphics.setFocus(Qt.FocusReason.TabFocusReason)
    return panel


@pytest.mark.parametrize("kind", PICTURES, ids=lambda panel: panel.name)
def test_arrows_go_everywhere_and_stay_inside(
    qtbot: QtBot, make_test_window: MakeWindow, kind: type[PicturePanel]
) -> None:
    window = make_test_window()
    panel = with_focus(qtbot, window, kind.name)
    graphics = panel.graphics
    before = graphics.grab().toImage()
    for key, edge in ((Qt.Key.Key_Left, "x"), (Qt.Key.Key_Up, "y")):
        for _ in range(100):
            press_key(graphics, key, SHIFT)
        assert getattr(graphics.pointer.place, edge)() <= 1
    press_key(graphics, Qt.Key.Key_Right)
    assert graphics.pointer.place == QPoint(9, 1)
    assert graphics.grab().toImage() != before  # it is seen
    graphics.clearFocus()
    assert graphics.pointer.place is None and panel.hover.isHidden()


@pytest.mark.parametrize("kind", MAPS, ids=lambda panel: panel.name)
def test_a_map_is_read_by_keys(qtbot: QtBot, make_test_window: MakeWindow, kind: type[MapPanel]) -> None:
    window = make_test_window()
    panel = with_focus(qtbot, window, kind.name)
    assert isinstance(panel, MapPanel)
    panel.graphics.pointer.place = panel.view.place_of((2, 3))
    with qtbot.waitSignal(panel.view.hovered) as hovered:
        press_key(panel.graphics, Qt.Key.Key_Down)
    row, column = hovered.args[0]
    assert row >= 2 and abs(column - 3) <= 1  # a row may be lower than a pixel
    settle(window)
    assert not panel.hover.isHidden()
    with qtbot.waitSignal(panel.view.clicked) as clicked:
        press_key(panel.graphics, Qt.Key.Key_Return)
    assert clicked.args == [row, column]
    QApplication.processEvents()
