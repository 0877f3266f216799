"""Very many points as a picture: none is lost, none moves, and it costs no more than the pixels do."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from workbench.stats.arrays import FloatArray
from workbench.ui.files.pictures import take_picture
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.plots.point_cloud import PointCloud, cover
from workbench.ui.plots.themed import make_plot
from workbench.ui.theme import load_theme

DARK = load_theme("dark")


def covered(columns: FloatArray, rows: FloatArray, size: float = 5.0) -> FloatArray:
    left, top, part = cover(columns, rows, 60, 40, size)
    whole = np.zeros((40 + 40, 60 + 40))  # with room for discs that reach over the edge
    whole[top + 20 : top + 20 + part.shape[0], left + 20 : left + 20 + part.shape[1]] = part
    return whole[20:-20, 20:-20]


def test_one_point_is_a_round_disc_around_its_pixel() -> None:
    found = covered(np.array([30.4]), np.array([20.9]))
    assert found[20, 30] == found.max() == 255
    disc = found[17:24, 27:34]
    assert (disc == disc.T).all() and (disc == disc[::-1]).all()
    assert found.sum() == disc.sum()
    assert found.sum() / 255 == pytest.approx(np.pi * 2.5**2, rel=0.1)


def test_every_point_is_seen_however_many_there_are() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 60, 20_000), np.clip(rng.normal(20, 1, 20_000), 0, 39.9)
    x[7], y[7] = 3.5, 38.5  # one far from all others
    found = covered(x, y)
    assert (found[y.astype(int), x.astype(int)] == 255).all()


def test_points_outside_are_left_out_and_those_at_the_edge_are_not() -> None:
    assert not covered(np.array([-1.0, 61.0, 30.0]), np.array([5.0, 5.0, 45.0])).any()
    assert not covered(np.array([np.nan]), np.array([5.0])).any()
    assert covered(np.array([0.0, 59.9]), np.array([0.0, 39.9]))[[0, 39], [0, 59]].tolist() == [255, 255]


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_point_is_painted_where_the_plot_has_it(qtbot: QtBot, scale: float) -> None:
    widget, area = QWidget(), PlotArea()
    qtbot.addWidget(widget)
    area.setParent(widget)
    area.resize(300, 200)
    plot = make_plot(DARK, left="y", bottom="x")
    area.addItem(plot)
    cloud = PointCloud()
    cloud.set_color(QColor("#ff0000"))
    plot.addItem(cloud, ignoreBounds=True)
    plot.setXRange(0, 10, padding=0)
    plot.setYRange(0, 10, padding=0)
    with qtbot.waitExposed(widget):
        widget.show()
    cloud.set_points(np.array([2.5]), np.array([7.0]))
    place = area.mapFromScene(plot.vb.mapViewToScene(QPointF(2.5, 7.0)))
    image = take_picture(widget, scale)
    assert image.pixelColor(int((place.x() + 0.25) * scale), int((place.y() + 0.25) * scale)).red() == 255
    away = image.pixelColor(int((place.x() + 8) * scale), int(place.y() * scale))
    assert away.red() < 128
