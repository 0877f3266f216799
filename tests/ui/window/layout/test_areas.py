"""The keyboard reaches every area and every widget of it, and where it is can be seen."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.conftest import MakeWindow
from tests.ui.hands import press_key
from tests.ui.window.test_themes import RECORDING, settle
from workbench.ui.panels.bases.plots import PicturePanel
from workbench.ui.theme import THEME_NAMES, load_theme
from workbench.ui.window.layout.areas import takes_focus
from workbench.ui.window.layout.workspaces import WORKSPACES, Workspace
from workbench.ui.window.main import MainWindow


def shown(qtbot: QtBot, window: MainWindow) -> MainWindow:
    """`window` with a run in every panel, as the active one."""
    window.resize(1440, 900)
    window.open_recording(RECORDING)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    settle(window)
    return window


@pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda workspace: workspace.name)
def test_f6_goes_round_all_that_is_in_sight_and_back(
    qtbot: QtBot, make_test_window: MakeWindow, workspace: Workspace
) -> None:
    window = shown(qtbot, make_test_window())
    window.docks.enter(workspace)
    settle(window)
    names = [n for n, dock in window.docks.named().items() if dock.isVisible() and dock.geometry().right() >= 0]
    expected = [window.docks.dock(name).widget() for name in names] + [window.headline]

    def round_trip(modifier: Qt.KeyboardModifier) -> list[QWidget]:
        visited = []
        for _ in expected:
            press_key(window, Qt.Key.Key_F6, modifier)
            focused = QApplication.focusWidget()
            visited.append(next(area for area in expected if area and (area is focused or area.isAncestorOf(focused))))
        return visited

    forth = round_trip(Qt.KeyboardModifier.NoModifier)
    assert set(forth) == set(expected)
    back = round_trip(Qt.KeyboardModifier.ShiftModifier)
    assert back == [*forth[-2::-1], forth[-1]]
    before_headline = forth[forth.index(window.headline) - 1]
    assert not workspace.has_form or before_headline is window.controls


def test_an_area_takes_the_keyboard_where_it_had_it(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = shown(qtbot, make_test_window())
    field = window.controls.findChild(QWidget, "block_m")
    assert field is not None
    field.setFocus(Qt.FocusReason.TabFocusReason)
    press_key(window, Qt.Key.Key_F6)
    assert not window.controls.isAncestorOf(QApplication.focusWidget())
    press_key(window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert QApplication.focusWidget() is field


@pytest.mark.parametrize("theme", THEME_NAMES)
def test_whatever_has_the_focus_shows_it(qtbot: QtBot, make_test_window: MakeWindow, theme: str) -> None:
    window = shown(qtbot, make_test_window())
    window.set_theme(load_theme(theme))
    looked_at: set[QWidget] = set()
    for name in window.widget_names():
        window.widget(name)
        settle(window)
        for widget in window.findChildren(QWidget):
            if widget in looked_at or not takes_focus(widget) or widget.visibleRegion().isEmpty():
                continue
            looked_at.add(widget)
            differing = _with_focus(window, widget)
            # A blinking cursor is no sign: a ring, or a ground, is as long as the widget at least.
            assert differing > min(widget.width(), widget.height()), f"{widget} {widget.objectName()} in {name}"
    assert len(looked_at) > len(window.widget_names())


def test_a_picture_has_no_ring_of_a_plot(qtbot: QtBot, make_test_window: MakeWindow) -> None:
    window = shown(qtbot, make_test_window())
    panel = window.widget("roofline")
    plain = window.picture_of(panel, 1.0)
    assert isinstance(panel, PicturePanel)
    plots = panel.graphics
    plots.setFocus(Qt.FocusReason.TabFocusReason)
    assert plots.hasFocus()
    assert window.picture_of(panel, 1.0) == plain


def _with_focus(window: MainWindow, widget: QWidget) -> int:
    """How many pixels of `widget` differ where it has the focus."""
    if (focused := QApplication.focusWidget()) is not None:
        focused.clearFocus()
    settle(window)
    before = _pixels(widget)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    settle(window)
    assert widget.hasFocus()
    return int((before != _pixels(widget)).sum())


def _pixels(widget: QWidget) -> npt.NDArray[np.uint32]:
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    bits = image.constBits()
    assert bits is not None
    return np.frombuffer(bits.asstring(image.sizeInBytes()), np.uint32)
