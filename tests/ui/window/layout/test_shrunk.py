"""A window that was large shows everything as one that never was: nothing stays laid out for the room there was."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, QRect
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QApplication

from tests.ui.conftest import MakeWindow
from tests.ui.window.test_themes import RECORDING, settle
from workbench.ui.sizes import LEAST_SIZE
from workbench.ui.window.layout.workspaces import WORKSPACES, Workspace
from workbench.ui.window.main import MainWindow

LARGE = (2560, 1440)


def docks_and_headline(window: MainWindow) -> dict[str, QImage]:
    """What each dock looks like with its title, in front in turn, and the headline."""
    found = {}
    for name, dock in window.docks.named().items():
        window.widget(name)
        settle(window)
        if (focused := QApplication.focusWidget()) is not None:
            focused.clearFocus()
        found[name] = dock.grab().toImage()
    return found | {"headline": window.headline.grab().toImage()}


@pytest.mark.parametrize("size", [(1280, 720), LEAST_SIZE, (1440, 900)], ids=["1280", "least", "1440"])
def test_a_shrunk_window_is_as_one_that_never_was_large(make_test_window: MakeWindow, size: tuple[int, int]) -> None:
    window = make_test_window()
    window.resize(*size)
    window.open_recording(RECORDING)
    settle(window)
    at_once = docks_and_headline(window)
    window.close()
    window = make_test_window("other.tilescope")
    window.resize(*LARGE)
    window.open_recording(RECORDING)
    settle(window)
    docks_and_headline(window)
    window.resize(*size)
    settle(window)
    shrunk = docks_and_headline(window)
    assert [name for name in at_once if shrunk[name] != at_once[name]] == []


@pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda workspace: workspace.name)
def test_a_picture_taken_at_once_is_as_one_taken_later(make_test_window: MakeWindow, workspace: Workspace) -> None:
    """What a draw changes in a layout, which changes what fits, is drawn before the picture is taken."""
    window = make_test_window()
    window.resize(*LARGE)
    window.open_recording(RECORDING)
    settle(window)
    window.docks.enter(workspace)
    window.resize(1280, 720)
    at_once = window.picture_of(window, 1.0)
    settle(window)
    later = window.picture_of(window, 1.0)
    for name in ("headline", *window.docks.shares.noted):
        # The form's scroll bar comes and goes by Qt's own leisure.
        widget = window.headline if name == "headline" else window.docks.dock(name)
        place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
        assert name == "controls" or later.copy(place) == at_once.copy(place), name
