"""Plots are painted once, and again when something in them changes: at once, and never later."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
import pytest
from PyQt6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from workbench.ui.kept_picture import PlotArea
from workbench.ui.pictures import take_picture
from workbench.ui.plotting import make_plot
from workbench.ui.theme import load_theme


class Drawing(QWidget):
    """An area with one plot of one red line."""

    def __init__(self) -> None:
        super().__init__()
        self.resize(300, 200)
        self.area = PlotArea()
        self.area.setParent(self)
        self.area.resize(300, 200)
        self.plot = make_plot(load_theme("dark"), left="y", bottom="x")
        self.area.addItem(self.plot)
        self.curve = pg.PlotCurveItem(np.arange(10.0), np.arange(10.0), pen=pg.mkPen("#ff0000", width=5))
        self.plot.addItem(self.curve)
        self.plot.setXRange(0, 9, padding=0)
        self.plot.setYRange(0, 9, padding=0)


@pytest.fixture
def drawing(qtbot: QtBot) -> Drawing:
    drawing = Drawing()
    qtbot.addWidget(drawing)
    with qtbot.waitExposed(drawing):
        drawing.show()
    for _ in range(3):
        QApplication.processEvents()
        drawing.repaint()
    return drawing


def reds(drawing: Drawing) -> int:
    image = take_picture(drawing, 1.0)
    bits = image.constBits()
    assert bits is not None
    pixels = np.frombuffer(bits.asstring(image.sizeInBytes()), dtype=np.uint8).reshape(-1, 4)
    return int(((pixels[:, 2] > 200) & (pixels[:, 1] < 50)).sum())


def test_a_repaint_without_a_change_paints_no_plot_anew(drawing: Drawing) -> None:
    before = drawing.area.kept.paints
    for _ in range(5):
        drawing.repaint()
        QApplication.processEvents()
    assert drawing.area.kept.paints == before


def test_what_changes_is_in_the_very_next_paint(drawing: Drawing) -> None:
    assert reds(drawing) > 100
    drawing.curve.setData(np.array([0.0, 1.0]), np.array([20.0, 20.0]))
    assert reds(drawing) == 0
    drawing.plot.setYRange(15, 25, padding=0)
    assert reds(drawing) > 10
    drawing.curve.hide()
    assert reds(drawing) == 0
    drawing.area.setBackground("#ff0000")
    assert reds(drawing) > 1000


def test_a_picture_finer_than_the_screen_is_drawn_finer(drawing: Drawing) -> None:
    image = take_picture(drawing, 2.0)
    assert (image.width(), image.height()) == (600, 400)
    small = take_picture(drawing, 1.0).scaled(600, 400)
    assert image.convertToFormat(small.format()) != small


def test_another_size_is_painted_anew(drawing: Drawing) -> None:
    before = drawing.area.kept.paints
    drawing.area.resize(320, 200)
    QApplication.processEvents()
    drawing.repaint()
    assert drawing.area.kept.paints > before
