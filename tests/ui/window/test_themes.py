"""A theme reaches everything: what is seen, and what is hidden in any way and shown later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QApplication

from tests.ui.conftest import MakeWindow
from workbench.run.events import Failed
from workbench.ui.theme import ASSETS, load_theme
from workbench.ui.window.main import MainWindow

RECORDING = ASSETS / "recordings" / "h200-watched.tilescope"
SIZE, SMALL = (1440, 900), (1024, 640)


def settle(window: MainWindow) -> None:
    """Have everything drawn that is new; a draw may change a layout, and that what fits."""
    for _ in range(6):
        QApplication.processEvents()
        window.flush()


def pictures(window: MainWindow) -> dict[str, QImage]:
    """What every panel, the form and the table look like, brought to the front in turn where all docks have a place."""
    window.docks.arrange()
    settle(window)
    found = {}
    for name in window.widget_names():
        widget = window.widget(name)
        settle(window)
        if (focused := QApplication.focusWidget()) is not None:
            focused.clearFocus()  # its ring is not the theme's doing
        found[name] = widget.grab().toImage()
    return found


def dark_colors(picture: QImage) -> set[str]:
    """The tokens of the dark theme whose very colours are in `picture`."""
    theme = load_theme("dark")
    pixels = picture.convertToFormat(QImage.Format.Format_RGB32)
    bits = pixels.constBits()
    assert bits is not None
    seen = set(np.frombuffer(bits.asstring(pixels.sizeInBytes()), np.uint32).tolist())
    return {f.name for f in fields(theme) if f.name != "name" and theme.color(f.name).rgb() in seen}


def behind_tabs(window: MainWindow) -> Callable[[], None]:
    """As it is: of docks in one place all but one."""
    return lambda: None


def closed(window: MainWindow) -> Callable[[], None]:
    """Every dock."""
    for dock in window.docks.all():
        dock.hide()
    settle(window)
    return lambda: None


def floating_and_closed(window: MainWindow) -> Callable[[], None]:
    """Every dock, out of the window."""
    for dock in window.docks.all():
        dock.setFloating(True)
        settle(window)
        dock.hide()
    return lambda: None


def too_small(window: MainWindow) -> Callable[[], None]:
    """What gives way in a small window."""
    window.resize(*SMALL)
    pictures(window)
    return lambda: window.resize(*SIZE)


def behind_a_failure(window: MainWindow) -> Callable[[], None]:
    """Every picture, behind the reason why there is none."""
    record = window._stage.run
    assert record is not None
    window._stage.show_run(record.without_result(Failed("damaged", "for a test")))
    pictures(window)
    return lambda: window.show_record(record)


@pytest.mark.parametrize("hide", [behind_tabs, closed, floating_and_closed, too_small, behind_a_failure])
def test_what_was_hidden_while_the_theme_changed_is_in_the_new_one(
    make_test_window: MakeWindow, hide: Callable[[MainWindow], Callable[[], None]]
) -> None:
    window = make_test_window()
    window.resize(*SIZE)
    window.open_recording(RECORDING)
    window.set_theme(load_theme("light"))
    fresh = pictures(window)
    window.set_theme(load_theme("dark"))
    dark = pictures(window)
    show_again = hide(window)
    window.set_theme(load_theme("light"))
    settle(window)
    show_again()
    for name, picture in pictures(window).items():
        assert dark_colors(dark[name]), name
        assert dark_colors(picture) <= dark_colors(fresh[name]), name
