"""The smallest window in which all can be read, and that names of axes never meet in it or in larger ones."""

from __future__ import annotations

import itertools
from pathlib import Path

import pyqtgraph as pg
import pytest
from PyQt6.QtCore import QRectF
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui.conftest import MakeWindow
from workbench.cli.entry import run_command_line
from workbench.ui.panels import PANELS
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.sizes import DEFAULT_SIZE, LEAST_SIZE
from workbench.ui.text.fit import text_height

RECORDING = Path(__file__).parents[2] / "assets" / "recordings" / "h200-article-shapes.tilescope"


@pytest.mark.parametrize("size", ["1023x640", "1024x639", "640x480", "7681x900"])
def test_a_window_in_which_something_would_be_cut_is_refused(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["screenshot", "out.png", "--size", size]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"'{size}' is not a size; allowed are 1024x640 to 7680x4320" in line


def names_of(area: PlotArea) -> dict[str, QRectF]:
    """The names of axes that can be seen, with the place of each in the area."""
    axes = [item for item in area.scene().items() if isinstance(item, pg.AxisItem) and item.isVisible()]
    named = [axis for axis in axes if axis.labelText and axis.label.isVisible()]
    return {f"{i}: {axis.labelText}": axis.label.sceneBoundingRect() for i, axis in enumerate(named)}


@pytest.mark.parametrize("size", [LEAST_SIZE, (1024, 700), (1280, 720), DEFAULT_SIZE, (2560, 1440)])
def test_names_of_axes_do_not_meet_and_are_not_cut(
    make_test_window: MakeWindow, qtbot: QtBot, size: tuple[int, int], styled: None
) -> None:
    window = make_test_window()
    window.open_recording(RECORDING)
    window.resize(*size)
    window.docks.arrange()
    for _ in range(4):
        QApplication.processEvents()
        window.flush()
    assert (window.width(), window.height()) == size
    for name in (panel.name for panel in PANELS if panel.shows_run):
        area = window.widget(name).findChild(PlotArea)
        assert area is not None
        inside = QRectF(area.rect()).adjusted(-4, -4, 4, 4)  # a text's own margin
        names = names_of(area)
        assert names
        for text, place in names.items():
            assert inside.contains(place), (name, text, place)
        for (text, place), (other, its) in itertools.combinations(names.items(), 2):
            shared = place.intersected(its)
            assert min(shared.width(), shared.height()) < text_height() / 2, (name, text, other)


def test_the_window_cannot_be_made_smaller(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    window.resize(300, 200)
    assert (window.width(), window.height()) == LEAST_SIZE
