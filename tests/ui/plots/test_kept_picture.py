"""Plots are painted once, and again when something in them changes: at once, and never later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyqtgraph as pg
import pytest
from numpy.typing import NDArray
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QApplication, QGraphicsRectItem, QWidget
from pytestqt.qtbot import QtBot

from tests.patience import LIMIT_MS
from workbench.cli.entry import run_command_line
from workbench.ui.files.pictures import take_picture
from workbench.ui.panels import PANELS
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.plots.themed import make_plot
from workbench.ui.text.fit import text_height
from workbench.ui.theme import load_theme
from workbench.ui.window.main import MainWindow

RECORDING = Path(__file__).parents[3] / "assets" / "recordings" / "h200-article-shapes.tilescope"


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


def reds(drawing: Drawing, scale: float = 1.0) -> int:
    image = take_picture(drawing, scale)
    bits = image.constBits()
    assert bits is not None
    pixels = np.frombuffer(bits.asstring(image.sizeInBytes()), dtype=np.uint8).reshape(-1, 4)
    return int(((pixels[:, 2] > 200) & (pixels[:, 1] < 50)).sum())


def test_a_repaint_without_a_change_paints_no_plot_anew(drawing: Drawing) -> None:
    before = drawing.area.kept.paints
    for _ in range(5):
        drawing.area.viewport().repaint()
        QApplication.processEvents()
    assert drawing.area.kept.paints == before


def test_what_changes_is_in_the_very_next_picture(drawing: Drawing) -> None:
    assert reds(drawing) > 100
    drawing.curve.setData(np.array([0.0, 1.0]), np.array([20.0, 20.0]))
    assert reds(drawing) == 0
    drawing.plot.setYRange(15, 25, padding=0)
    assert reds(drawing) > 10
    drawing.curve.hide()
    assert reds(drawing) == 0
    drawing.area.setBackground("#ff0000")
    assert reds(drawing) > 1000


def test_a_paint_delivers_no_news_and_the_right_picture_follows_it(drawing: Drawing, qtbot: QtBot) -> None:
    news: list[object] = []
    drawing.area.scene().changed.connect(news.append)
    before = drawing.area.kept.paints
    drawing.curve.setData(np.array([0.0, 1.0]), np.array([20.0, 20.0]))
    drawing.area.viewport().repaint()
    assert not news, "what Qt has queued is not for a paint to deliver"
    qtbot.waitUntil(lambda: drawing.area.kept.paints > before, timeout=LIMIT_MS)
    assert news


def test_a_picture_finer_than_the_screen_is_drawn_finer(drawing: Drawing) -> None:
    image = take_picture(drawing, 2.0)
    assert (image.width(), image.height()) == (600, 400)
    small = take_picture(drawing, 1.0).scaled(600, 400)
    assert image.convertToFormat(small.format()) != small


@pytest.mark.parametrize("scale", [0.5, 2.0, 4.0])
def test_lines_are_as_wide_in_a_picture_as_on_the_screen_beside_the_text(drawing: Drawing, scale: float) -> None:
    assert reds(drawing, scale) == pytest.approx(scale**2 * reds(drawing), rel=0.2)


def share(image: QImage, color: str) -> NDArray[np.float64]:
    """How much more "red", "green" or "blue" than of the other two is in each pixel, from 0 to 1 ([height, width])."""
    bits = image.convertToFormat(QImage.Format.Format_RGB32).constBits()
    assert bits is not None
    pixels = np.frombuffer(bits.asstring(image.sizeInBytes()), dtype=np.uint8).reshape(image.height(), image.width(), 4)
    channels = pixels[..., 2::-1].astype(np.float64) / 255
    i = ("red", "green", "blue").index(color)
    more: NDArray[np.float64] = channels[..., i] - np.delete(channels, i, axis=2).max(axis=2)
    return more.clip(0, 1)


def thickness(image: QImage, color: str, across: bool) -> float:
    """Pixels of `color` in the middle one of all the cuts through a line, which lies from side to side if `across`."""
    cuts = share(image, color).sum(axis=0 if across else 1)
    return float(np.median(cuts[cuts > 0.3]))


SCALES = pytest.mark.parametrize(("scale", "pixels"), [(0.5, 1), (1.0, 1), (2.0, 2), (4.0, 4)])


@SCALES
def test_axes_and_grids_and_thin_lines_grow_alike_and_none_is_below_a_pixel(
    drawing: Drawing, scale: float, pixels: int
) -> None:
    plot, axis = drawing.plot, drawing.plot.getAxis("left")
    plot.vb.setBorder(None)
    plot.getAxis("bottom").setPen(None)
    axis.setTickPen(pg.mkPen(None))
    axis.setTextPen(pg.mkPen(None))
    axis.setPen(pg.mkPen("#00ff00"))
    drawing.curve.setData(np.array([0.0, 9.0]), np.array([4.5, 4.5]))
    drawing.curve.setPen(pg.mkPen("#ff0000", width=1))
    image = take_picture(drawing, scale)
    assert thickness(image, "green", across=False) == pixels
    assert thickness(image, "red", across=True) == pytest.approx(pixels, rel=0.1)
    axis.setPen(pg.mkPen(None))
    axis.setTicks([[(6.0, "")]])
    axis.setTickPen(pg.mkPen("#00ff00"))
    axis.setGrid(255)
    assert thickness(take_picture(drawing, scale), "green", across=True) == pixels, "the grid"
    axis.setGrid(False)
    axis.setStyle(tickLength=-40)
    assert thickness(take_picture(drawing, scale), "green", across=True) == pixels, "a tick"


@SCALES
def test_shapes_that_qt_paints_itself_grow_too_and_get_their_pens_back(
    drawing: Drawing, scale: float, pixels: int
) -> None:
    drawing.curve.hide()
    shape = QGraphicsRectItem(2, 2, 5, 20)  # reaches above the plot
    shape.setPen(pg.mkPen("#00ff00", width=1))
    drawing.plot.addItem(shape)
    image = take_picture(drawing, scale)
    row = share(image, "green")[image.height() // 3]
    assert row.sum() == pytest.approx(2 * pixels, rel=0.1)
    assert shape.pen() == pg.mkPen("#00ff00", width=1)


@pytest.mark.parametrize("scale", [0.5, 2.0, 4.0])
def test_symbols_are_as_large_in_a_picture_as_on_the_screen_beside_the_text(drawing: Drawing, scale: float) -> None:
    drawing.curve.hide()
    drawing.plot.addItem(pg.ScatterPlotItem([4.5], [4.5], size=24, brush="#ff0000", pen=None, useCache=False))
    assert reds(drawing, scale) == pytest.approx(scale**2 * reds(drawing), rel=0.2)


def test_a_picture_leaves_no_line_of_its_own_width_on_the_screen(drawing: Drawing) -> None:
    drawing.plot.addItem(QGraphicsRectItem(2, 2, 5, 20))
    on_screen = take_picture(drawing, 1.0)
    take_picture(drawing, 4.0)
    assert take_picture(drawing, 1.0) == on_screen


def test_another_size_is_painted_anew(drawing: Drawing) -> None:
    before = drawing.area.kept.paints
    drawing.area.resize(320, 200)
    QApplication.processEvents()
    drawing.repaint()
    assert drawing.area.kept.paints > before


@pytest.mark.parametrize("name", [panel.name for panel in PANELS if panel.shows_run])
@pytest.mark.parametrize("size", ["1440x900", "2560x1440"])
def test_a_saved_picture_has_the_names_of_axes_below_their_numbers(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: str
) -> None:
    """As of a panel that lay behind another tab, and was never painted before its picture."""
    names: list[tuple[str, float]] = []

    def keep(window: MainWindow, widget: QWidget, scale: float) -> QImage:
        image = picture_of(window, widget, scale)
        area = widget.findChild(PlotArea)
        assert area is not None
        axes = [item for item in area.scene().items() if isinstance(item, pg.AxisItem) and item.isVisible()]
        below = [axis for axis in axes if axis.orientation == "bottom" and axis.height() > 1 and axis.labelText]
        names.extend((axis.labelText, axis.label.y() + axis.label.document().documentMargin()) for axis in below)
        return image

    picture_of = MainWindow.picture_of
    monkeypatch.setattr(MainWindow, "picture_of", keep)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = tmp_path / "a.png"
    assert (
        run_command_line(["screenshot", str(path), "--session", str(RECORDING), "--panel", name, "--size", size]) == 0
    )
    assert path.exists() and names
    for text, y in names:
        assert y >= text_height(), text
