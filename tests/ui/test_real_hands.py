"""The main flows with real clicks and keys, in the program itself on a real X server, judged by the files it leaves.

A new flow is one more step of `test_an_hour_s_work_in_a_minute`: press, then wait for what it leads to. Where to click
is asked of a twin: a window of the same size in this process.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PyQt6.QtCore import QPoint
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QApplication, QToolBar, QWidget

from tests.patience import wait_until
from tests.ui.conftest import MakeWindow
from tests.ui.real_window import TITLE, Display, RealWindow, lacking
from workbench.run.events import Finished
from workbench.ui.files.pictures import DEFAULT_SCALE
from workbench.ui.sizes import DEFAULT_SIZE
from workbench.ui.window.layout.workspaces import WORKSPACES
from workbench.ui.window.main import MainWindow

pytestmark = pytest.mark.skipif(bool(lacking()), reason=f"no real window can be opened here: {lacking()} missing")


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealWindow]:
    """The program with a small problem, for which a run takes well under a second."""
    display = Display()
    size = "x".join(map(str, DEFAULT_SIZE))
    window = RealWindow(display, tmp_path, "--preset", "tiny", "--size", size)
    try:
        window.focus(TITLE)
        yield window
    finally:
        window.close()
        display.close()


@pytest.fixture
def twin(make_test_window: MakeWindow) -> MainWindow:
    """A window as the real one is, to ask where things stand."""
    window = make_test_window()
    window.resize(*DEFAULT_SIZE)
    for _ in range(4):
        QApplication.processEvents()
    return window


def middle(window: MainWindow, widget: QWidget) -> QPoint:
    """Where to click to hit `widget`."""
    return widget.mapTo(window, widget.rect().center())


def field(window: MainWindow, name: str) -> QPoint:
    """Where to click to hit the text of the form's field called `name`."""
    found = window.controls.findChild(QWidget, name)
    assert found is not None
    return found.mapTo(window, QPoint(20, found.height() // 2))


def tool(window: MainWindow, command: str) -> QPoint:
    """Where to click to hit the tool bar's button of a command."""
    bar = window.findChild(QToolBar)
    button = bar.widgetForAction(window.command(command)) if bar is not None else None
    assert button is not None
    return middle(window, button)


def picture(real: RealWindow, path: Path) -> QImage:
    """The picture of the window that the program saves to `path`, by keys alone."""
    real.keys("ctrl+shift+s")
    real.focus("Save picture")
    real.write(str(path))
    real.keys("Return")
    wait_until(lambda: not QImage(str(path)).isNull())
    wait_until(lambda: not real.is_shown("Save picture"))
    real.focus(TITLE)
    return QImage(str(path))


def test_an_hour_s_work_in_a_minute(real: RealWindow, twin: MainWindow, tmp_path: Path) -> None:
    first = real.run_number(1)
    assert isinstance(first.end, Finished)

    # A tile, by mouse and keys, and a run of it by key.
    real.click(field(twin, "block_m"), times=2)
    real.write("32")
    real.keys("Tab", "F5")
    second = real.run_number(2)
    assert isinstance(second.end, Finished)
    assert second.started.request.tile.block_m == 32 != first.started.request.tile.block_m

    # The change is taken back, and made again; this time the tool bar's button runs it.
    real.keys("ctrl+z", "F5")
    assert real.run_number(3).started.request.tile == first.started.request.tile
    real.keys("ctrl+shift+z")
    real.click(tool(twin, "run"))
    assert real.run_number(4).started.request.tile == second.started.request.tile

    # The first run is picked from the table by keys: the window shows it, and its settings are used again.
    latest = picture(real, tmp_path / "latest.png")
    assert latest.width() == round(DEFAULT_SIZE[0] * DEFAULT_SCALE)
    real.click(middle(twin, twin.results))
    real.keys("ctrl+Home", "ctrl+End")
    assert picture(real, tmp_path / "picked.png") != latest
    real.keys("Menu", "Down", "Return", "F5")
    assert real.run_number(5).started.request.tile == first.started.request.tile

    # Each workspace has its key, and is another sight.
    sights = []
    for number, workspace in enumerate(WORKSPACES, 1):
        real.keys(f"ctrl+{number}")
        sights.append(picture(real, tmp_path / f"{workspace.name}.png"))
    assert all(a != b for i, a in enumerate(sights) for b in sights[:i])

    # The theme, and the end.
    real.keys("ctrl+1", "ctrl+t")
    light = picture(real, tmp_path / "light.png")
    assert light.pixelColor(light.width() // 2, 4).lightness() > 180 > sights[0].pixelColor(10, 4).lightness()
    real.keys("ctrl+q")
    assert real.end() == 0
    assert len(real.runs()) == 5
