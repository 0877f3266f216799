"""Numbers, units, bins and pooling; the map's special colours; ticks that stand apart."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, QRectF
from PyQt6.QtGui import QImage
from pytestqt.qtbot import QtBot

from tests.yardstick import cost_ms, slowness, thread_ms
from workbench.ui.files.pictures import take_picture
from workbench.ui.plots.axes import CountAxis, IndexAxis, ValueAxis, log_ticks
from workbench.ui.plots.heatmap import HeatmapView
from workbench.ui.plots.histogram import bin_counts, histogram_edges, step_outline
from workbench.ui.plots.map_cells import (
    COLORS,
    MASKED,
    MAX_CELLS,
    MINUS_INF,
    NAN,
    Palette,
    Part,
    pool,
    pool_present,
    quantise,
)
from workbench.ui.plots.scale import scale_exponent, time_scale, times_ten
from workbench.ui.text.fit import text_width
from workbench.ui.theme import load_theme

THEME = load_theme("dark")


@pytest.mark.parametrize(
    ("medians", "unit"),
    [([380.0, 190.0], "µs"), ([4000.0, 1900.0], "ms"), ([8.4e6, 2e6], "s"), ([8.4e6, 310.0], "ms"), ([], "µs")],
)
def test_one_unit_for_all_medians(medians: list[float], unit: str) -> None:
    assert time_scale(medians).unit == unit


def test_auto_scale_is_logarithmic_from_a_factor_of_ten() -> None:
    assert not time_scale([100.0, 999.0]).log
    assert time_scale([100.0, 1001.0]).log
    assert time_scale([100.0, 101.0], log=True).log
    assert not time_scale([1.0, 1e6], log=False).log


def test_log_scale_survives_a_zero_from_a_coarse_clock() -> None:
    assert np.isfinite(time_scale([1.0], log=True).to_axis(np.array([0.0, 1.0]))).all()


def test_exponent_is_taken_out_of_small_errors_only() -> None:
    assert scale_exponent(3.1e-7) == -7
    assert scale_exponent(0.5) == 0
    assert scale_exponent(0.0) == 0
    assert scale_exponent(np.inf) == 0


def test_exponent_stands_alone_where_there_is_no_room_for_a_name() -> None:
    assert times_ten("max", -7) == "max, ×1e-7"
    assert times_ten("", -7) == "×1e-7"
    assert times_ten("max", 0) == "max"


@pytest.mark.parametrize(("low", "high"), [(24.0, 4000.0), (180.0, 400.0), (0.3, 9000.0), (5.0, 5.0)])
def test_log_ticks_are_round_few_and_inside(low: float, high: float) -> None:
    ticks = log_ticks(low, high, 6)
    assert 1 <= len(ticks) <= 8
    assert all(low <= t <= high for t in ticks)


def test_value_axis_labels_a_log_axis_with_plain_numbers(qapp: object) -> None:
    axis = ValueAxis("left")
    axis.log = True
    (_, ticks) = axis.tickValues(1.0, 4.0, 300)[0]
    assert axis.tickStrings(ticks, 1.0, 1.0)[-1] == "10,000"


@pytest.mark.parametrize(("width", "name"), [(400, "a long name of an axis"), (90, "a name"), (4, "x")])
def test_axis_takes_the_longest_name_that_fits(qapp: object, width: int, name: str) -> None:
    axis = IndexAxis("bottom")
    axis.resize(width, 40)
    axis.set_names("a long name of an axis", "a name", "x")
    assert axis.labelText == name
    axis.resize(400, 40)
    assert axis.labelText == "a long name of an axis"


def test_bins_hold_every_value_and_are_common() -> None:
    rng = np.random.default_rng(0)
    groups = [np.sort(rng.normal(380, 5, 50)), np.sort(rng.normal(190, 3, 40))]
    edges = histogram_edges(groups)
    assert len(edges) <= 81
    for group in groups:
        assert bin_counts(group, edges).tolist() == np.histogram(group, edges)[0].tolist()
        assert bin_counts(group, edges).sum() == len(group)


def test_bins_of_equal_values_have_a_width() -> None:
    edges = histogram_edges([np.full(5, 2.0)])
    assert edges[0] < 2.0 < edges[1]


def test_outline_closes_on_the_axis() -> None:
    path = step_outline(np.array([3, 1]), np.array([0.0, 1.0, 2.0]))
    assert path.elementAt(0).x == 0
    assert path.elementAt(path.elementCount() - 1).x == 0
    assert path.boundingRect().width() == 3


def test_outline_has_nothing_where_bins_are_empty() -> None:
    path = step_outline(np.array([3, 0, 0, 2]), np.arange(5.0))
    assert not path.intersects(QRectF(-1, 1.1, 5, 1.8))
    assert path.contains(QPointF(1, 0.5)) and path.contains(QPointF(1, 3.5))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 3), (7, 5), (1000, 2)])
def test_pooling_keeps_the_largest_of_every_block(rows: int, columns: int) -> None:
    data = np.random.default_rng(0).random((101, 53)).astype(np.float32)
    pooled = pool(data, rows, columns)
    for i in range(pooled.shape[0]):
        for j in range(pooled.shape[1]):
            block = data[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
            assert pooled[i, j] == block.max()


def test_pooling_keeps_nan() -> None:
    data = np.zeros((8, 8), dtype=np.float32)
    data[3, 5] = np.nan
    assert np.isnan(pool(data, 4, 4)[0, 1])


def test_pooling_loses_no_number_beside_what_was_left_out() -> None:
    data = np.array([[1.0, 2.0, np.nan], [5.0, np.nan, np.nan], [3.0, 4.0, np.nan], [np.nan, 6.0, np.nan]])
    left_out = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1]], dtype=bool)
    assert np.array_equal(
        pool_present(data, 2, 1, left_out), [[5.0, 2.0, np.nan], [np.nan, 6.0, np.nan]], equal_nan=True
    )
    assert np.array_equal(pool_present(data, 2, 2, left_out), [[5.0, np.nan], [np.nan, np.nan]], equal_nan=True)
    assert np.isnan(data[1, 1]), "the data stay as they are"


def test_palette_keeps_what_has_no_number_apart() -> None:
    values = np.array([[0.0, 1.0, 5.0], [np.nan, -np.inf, np.inf]])
    index = quantise(values, 0.0, 1.0)
    assert index.tolist() == [[0, COLORS - 1, COLORS - 1], [NAN, MINUS_INF, NAN]]
    index = quantise(values, 0.0, 1.0, np.ones_like(values, dtype=bool))  # only a NaN can have been left out
    assert index.tolist() == [[0, COLORS - 1, COLORS - 1], [MASKED, MINUS_INF, NAN]]
    assert len({COLORS - 1, MASKED, MINUS_INF, NAN}) == 4


@pytest.fixture
def view(qtbot: QtBot) -> HeatmapView:
    view = HeatmapView(THEME, "query row", "column")
    view.insert_bar(view.plot)
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.show()
    return view


def test_map_paints_nan_in_its_colour(view: HeatmapView) -> None:
    data = np.zeros((20, 20), dtype=np.float32)
    data[:, :10] = np.nan
    view.set_data(data, (0.0, 1.0), ("error",))
    view.refresh()
    box = view.plot.vb
    scene = box.mapViewToScene(QPointF(3, 10))
    pixel = take_picture(view, 1.0).pixelColor(view.graphics.mapTo(view, view.graphics.mapFromScene(scene)))
    assert pixel.name() == THEME.bad


def test_map_is_drawn_no_finer_than_the_screen_and_read_exactly(view: HeatmapView) -> None:
    data = np.random.default_rng(0).random((4096, 512)).astype(np.float32)
    data[4001, 317] = 9.0
    view.set_data(data, (0.0, 9.0), ("error",))
    view.refresh()
    assert view.image.image.shape[0] <= 400
    assert view.image.image.max() == COLORS - 1  # the one large value is still seen
    assert view.value(4001, 317) == "9.000"
    scene = view.plot.vb.mapViewToScene(QPointF(317, 4001))
    row, column = view.cell_at(scene) or (0, 0)
    assert abs(row - 4001) <= 1
    assert column == 317


def test_zooming_in_draws_single_cells(view: HeatmapView) -> None:
    data = np.random.default_rng(0).random((4096, 512)).astype(np.float32)
    view.set_data(data, (0.0, 1.0), ("error",))
    view.refresh()
    view.plot.vb.setRange(xRange=(100, 120), yRange=(2000, 2030), padding=0)
    view.refresh()
    top, end, left, right = view.visible()
    assert view.image.image.shape == (end - top, right - left)
    view.plot.vb.reset_asked.emit()
    assert view.visible() == (0, 4096, 0, 512)


def changes_down(view: HeatmapView, image: QImage) -> int:
    """How often the colour changes from pixel to pixel down the middle of the map in a picture of `view`."""
    box, ratio = view.plot.vb.sceneBoundingRect(), image.devicePixelRatio()
    x = round(box.center().x() * ratio)
    inside = range(round((box.top() + 2) * ratio), round((box.bottom() - 2) * ratio))
    colors = [image.pixel(x, y) for y in inside]
    return sum(one != other for one, other in pairwise(colors))


def test_a_picture_has_the_map_at_its_own_scale_and_the_screen_keeps_its_own(view: HeatmapView) -> None:
    rows = 1024
    data = np.repeat([[0.0], [1.0]] * (rows // 2), 8, axis=1)  # every second row, which pooling leaves alone of two
    view.set_data(data, (0.0, 1.0), ("error",))
    view.refresh()
    before, steps, coarse = view.image.image, view.steps, take_picture(view, 1.0)
    assert steps[0] > 1 and changes_down(view, coarse) == 0
    said: list[tuple[int, int]] = []
    view.pooled.connect(lambda: said.append(view.steps))
    fine = take_picture(view, 4.0)
    assert changes_down(view, fine) > 0.95 * rows, "a picture with more pixels than rows shows each of them"
    assert said == [(1, 1), steps]
    assert np.array_equal(view.image.image, before) and view.steps == steps and take_picture(view, 1.0) == coarse
    take_picture(view, 0.5)
    assert said[2][0] > steps[0], "one with fewer pixels than the screen shows the largest of more rows"


def test_a_map_that_was_never_drawn_for_the_screen_is_after_its_picture(view: HeatmapView) -> None:
    view.set_data(np.repeat([[0.0], [1.0]] * 512, 8, axis=1), (0.0, 1.0), ("error",))
    assert changes_down(view, take_picture(view, 4.0)) > 900
    assert view.steps[0] > 1 and len(view.image.image) < 512


def test_a_picture_has_no_limit_of_cells_but_its_pixels(view: HeatmapView) -> None:
    view.resize(1100, 900)
    rows, columns = 1600, 2000
    assert rows * columns > MAX_CELLS
    view.set_data(np.zeros((rows, columns), dtype=np.float32), (0.0, 1.0), ("error",))
    view.refresh()
    assert view.image.image.size <= MAX_CELLS
    with view.drawn_at(2.0):
        assert view.image.image.size > MAX_CELLS and view.steps[0] == 1


def test_the_screen_has_its_map_back_within_a_frame(view: HeatmapView, monkeypatch: pytest.MonkeyPatch) -> None:
    pooled: list[Part] = []

    def count(part: Part, *given: Any) -> Palette:
        pooled.append(part)
        return cells(part, *given)

    cells = Part.cells
    monkeypatch.setattr(Part, "cells", count)
    data = np.random.default_rng(0).random((16384, 1024), dtype=np.float32)
    view.set_data(data, (0.0, 1.0), ("error",))
    view.refresh()
    view.repaint()
    shown = view.image.image
    with view.drawn_at(4.0):
        assert len(pooled) == 2, "once for the screen, once for the picture"

    def show() -> None:
        view.graphics.settle()
        view.repaint()

    assert thread_ms(show) < 50 * slowness()
    assert len(pooled) == 2, "the screen's cells are put back, not made anew"
    assert np.array_equal(view.image.image, shown)


def test_row_zero_is_at_the_top(view: HeatmapView) -> None:
    view.set_data(np.zeros((10, 10)), (0.0, 1.0), ("error",))
    box = view.plot.vb
    assert box.mapViewToScene(QPointF(0, 0)).y() < box.mapViewToScene(QPointF(0, 9)).y()


def test_a_very_large_map_is_pooled_quickly(view: HeatmapView) -> None:
    data = np.random.default_rng(0).random((16384, 1024), dtype=np.float32)

    def pool() -> None:
        view.set_data(data, (0.0, 1.0), ("error",))
        view.refresh()

    assert cost_ms(pool) < 150  # about 10 ms


def labels(axis: IndexAxis, low: float, high: float, size: float) -> list[tuple[float, str]]:
    """Where on an axis `size` pixels long there are numbers, in pixels, and what they say."""
    found = []
    for spacing, ticks in axis.tickValues(low, high, size):
        texts = axis.tickStrings(ticks, 1.0, spacing)
        found += [((t - low) / (high - low) * size, text) for t, text in zip(ticks, texts, strict=True) if text]
    return sorted(found)


@pytest.mark.parametrize("count", [3, 20, 150, 4096, 20_000, 131_072])
@pytest.mark.parametrize("size", [60.0, 180.0, 500.0])
@pytest.mark.parametrize("kind", [IndexAxis, CountAxis])
def test_numbers_of_an_axis_stand_apart_and_one_at_least_is_there(
    qtbot: QtBot, kind: type[IndexAxis], count: int, size: float
) -> None:
    found = labels(kind("bottom"), 0.0, count * 1.02, size)
    ends = [(at - text_width(text) / 2, at + text_width(text) / 2) for at, text in found]
    assert all(after - before >= 4 for (_, before), (after, _) in pairwise(ends))
    if kind is CountAxis:
        assert any(text != "0" and end <= size + 1 for (_, text), (_, end) in zip(found, ends, strict=True))
