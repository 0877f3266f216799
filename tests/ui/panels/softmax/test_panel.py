"""The softmax panel: the three maps, what has no number, the row under the mouse, the caption."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import make_record
from tests.ui.growing import feed, grow
from tests.ui.hands import press_key
from tests.ui.panels.softmax.traces import CAUSAL, states_of, traced_run
from tests.yardstick import cost_ms, slowness, thread_ms
from workbench.run.events import Failed, TileStates
from workbench.run.request import Problem, RunRequest
from workbench.ui.files.pictures import take_picture
from workbench.ui.panels.softmax.panel import SoftmaxPanel
from workbench.ui.panels.softmax.states import MASKED_TEXT, SPLITS_TEXTS, UNSEEN_TEXT
from workbench.ui.plots.map_cells import COLORS, MASKED, MINUS_INF, NAN
from workbench.ui.theme import load_theme

PROBLEM = Problem(32, 70, 16)  # the last tile of 16 keys is a short one


@pytest.fixture
def panel(qtbot: QtBot) -> SoftmaxPanel:
    panel = SoftmaxPanel(load_theme("dark"))
    qtbot.addWidget(panel)
    panel.resize(700, 500)
    panel.show()
    return panel


def test_readout_gives_all_three_values_and_the_keys(panel: SoftmaxPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, record)
    panel.view.hovered.emit((7, 4))
    panel.tick()
    states = states_of(record)
    assert states.m_running is not None
    assert panel.hover.isVisible()
    text = panel.hover.text()
    for words in ("row 7", "tile 4", "keys [64, 70)", "m <b>", "l <b>", "tile max <b>"):
        assert words in text
    assert f"{states.m_running[0, 7, 4]:.4f}" in text


def test_lines_follow_the_row_under_the_mouse_until_it_is_held(panel: SoftmaxPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, record)
    l_running = states_of(record).l_running
    assert l_running is not None
    panel.view.hovered.emit((3, 1))
    panel.tick()
    assert np.allclose(panel.lines.l_curve.getData()[1], l_running[0, 3])
    panel.view.clicked.emit(5, 1)
    panel.view.hovered.emit((9, 2))
    panel.tick()
    assert np.allclose(panel.lines.l_curve.getData()[1], l_running[0, 5])
    assert "row 5 (held)" in panel.readout.plain()
    panel.view.clicked.emit(9, 2)
    panel.view.hovered.emit((11, 2))
    panel.tick()
    assert np.allclose(panel.lines.l_curve.getData()[1], l_running[0, 11])


def test_a_real_click_holds_the_row(panel: SoftmaxPanel, qtbot: QtBot) -> None:
    feed(panel, make_record(problem=PROBLEM))
    QApplication.processEvents()
    position = panel.view.graphics.mapFromScene(panel.view.plot.vb.mapViewToScene(QPointF(2, 12)))
    qtbot.mouseClick(panel.view.graphics.viewport(), Qt.MouseButton.LeftButton, pos=position)  # type: ignore[no-untyped-call]
    panel.tick()
    assert panel.pinned
    assert "row 12 (held)" in panel.readout.plain()


def test_one_tile_is_a_line_that_can_be_seen(panel: SoftmaxPanel) -> None:
    feed(panel, make_record(problem=Problem(7, 13, 8)))
    x, y = panel.lines.m_curve.getData()
    assert x[0] < 0 < x[1]
    assert y[0] == y[1]


@pytest.mark.parametrize("field", ["running max m", "running denominator l", "tile max"])
def test_each_state_has_its_map(panel: SoftmaxPanel, field: str) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, record)
    panel.field_box.setCurrentText(field)
    panel.tick()
    states = states_of(record)
    arrays = {"running max m": states.m_running, "running denominator l": states.l_running, "tile max": states.m_tile}
    data = arrays[field]
    assert data is not None
    index = panel.view.image.image
    assert index.shape == (32, 5)
    assert np.unravel_index(index.argmax(), index.shape) == np.unravel_index(data[0].argmax(), data[0].shape)
    assert panel.view.bar.axis.labelText


def test_minus_inf_and_tiles_not_run_have_their_own_colours_and_words(panel: SoftmaxPanel) -> None:
    record = make_record(problem=PROBLEM)
    states = states_of(record)
    assert states.m_running is not None
    m_running = states.m_running.copy()
    m_running[0, 16:] = np.nan
    m_running[0, 2, 0] = -np.inf
    grow(panel, record.started)
    grow(panel, replace(states, m_running=m_running, complete=False, bit_equal=None, m_error=None, l_error=None))
    panel.tick()
    index = panel.view.image.image
    assert index[2, 0] == MINUS_INF
    assert (index[16:] == NAN).all()
    lut = panel.view.image.lut
    assert tuple(lut[NAN]) == panel.theme.color("no_data").getRgb()[:3]
    assert tuple(lut[MINUS_INF]) == panel.theme.color("minus_inf").getRgb()[:3]
    assert "not run yet" in panel.legend.plain()
    assert "−inf" in panel.legend.plain()
    panel.view.hovered.emit((20, 1))
    panel.tick()
    assert "m <b>not run yet</b>" in panel.hover.text()
    assert "still running" in panel.caption.plain()


def test_nan_in_a_finished_trace_is_a_fault(panel: SoftmaxPanel) -> None:
    record = make_record(problem=PROBLEM)
    states = states_of(record)
    assert states.m_running is not None
    m_running = states.m_running.copy()
    m_running[0, 4, 4] = np.nan
    feed(panel, replace(record, states=replace(states, m_running=m_running)))
    assert tuple(panel.view.image.lut[NAN]) == panel.theme.color("bad").getRgb()[:3]
    assert "NaN" in panel.legend.plain()


def test_caption_tells_bits_and_error(panel: SoftmaxPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, record)
    caption = panel.caption.plain()
    assert "instrumented kernel" in caption
    assert "; bit-equal to the timed output" in caption
    assert "m, l within 2.0e-7 of float64" in caption
    feed(panel, replace(record, states=replace(states_of(record), bit_equal=False)))
    assert "NOT bit-equal to the timed output" in panel.caption.plain()
    assert panel.theme.bad in panel.caption.colors().values()


@pytest.mark.parametrize("width", [700, 480, 420])
def test_caption_says_all_of_it_in_a_narrow_panel(panel: SoftmaxPanel, width: int) -> None:
    panel.resize(width, 400)
    feed(panel, make_record(problem=PROBLEM))
    for words in ("nstrumented", "bit-equal", "m, l within 2.0e-7 of float64"):
        assert words in panel.caption.shown()


def test_map_has_two_thirds_of_the_plots(panel: SoftmaxPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    QApplication.processEvents()
    upper, lower = panel.view.plot.vb, panel.lines.plot.vb
    assert upper.height() / (upper.height() + lower.height()) == pytest.approx(0.67, abs=0.04)
    assert upper.sceneBoundingRect().left() == pytest.approx(lower.sceneBoundingRect().left())
    assert upper.sceneBoundingRect().right() == pytest.approx(lower.sceneBoundingRect().right())


def test_skipped_trace_says_why(panel: SoftmaxPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, replace(record, states=TileStates(16, 16, 70, None, None, None, skipped="It would take 2 GiB.")))
    assert not panel.stack.shows_plots
    assert "It would take 2 GiB." in panel.stack.card.label.text()


def test_program_borders_are_drawn_where_there_is_room(panel: SoftmaxPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    assert panel.borders.getData()[1].tolist() == [15.5, 15.5]
    feed(panel, make_record(problem=replace(PROBLEM, m=2048)))
    assert len(panel.borders.getData()[1]) == 0


def test_heads_are_chosen_by_their_numbers(panel: SoftmaxPanel) -> None:
    record = traced_run(replace(CAUSAL, batch=1, heads=8, kv_heads=2), heads=(0, 3, 6))
    feed(panel, record)
    box, m_running = panel.head_box, states_of(record).m_running
    assert m_running is not None
    assert box.isVisible()
    assert [box.itemText(i) for i in range(box.count())] == ["head 1 of 8", "head 4 of 8", "head 7 of 8"]
    assert "Of 8 heads 3 were kept" in box.toolTip()
    assert "KV head 1 of 2" in box.toolTip()
    box.setFocus()
    press_key(box, Qt.Key.Key_Down)
    press_key(box, Qt.Key.Key_Down)
    assert "KV head 2 of 2" in box.toolTip()
    press_key(box, Qt.Key.Key_Up)
    panel.view.hovered.emit((63, 2))
    panel.tick()
    assert f"{m_running[1, 63, 2]:.4f}" in panel.hover.text()
    assert panel.hover.text().startswith("<nobr>head 4 · split 1 of 2")
    feed(panel, traced_run(replace(CAUSAL, batch=1, heads=8, kv_heads=2, seed=3)))
    assert box.currentText() == "head 4 of 8"  # the next run shows the same head
    feed(panel, make_record(problem=PROBLEM))
    assert not box.isVisible()


def test_heads_of_several_batches_say_which(panel: SoftmaxPanel) -> None:
    feed(panel, traced_run())
    box = panel.head_box
    assert (box.count(), box.itemText(0), box.itemText(7)) == (8, "batch 1, head 1 of 4", "batch 2, head 4 of 4")


def test_very_many_heads_are_no_wait(panel: SoftmaxPanel) -> None:
    problem = Problem(1, 16, 4, batch=16, heads=1024, kv_heads=1024)
    ones = np.ones((problem.total_heads, 1, 1), dtype=np.float32)
    grow(panel, replace(make_record(problem=PROBLEM).started, request=RunRequest(problem)))
    grow(panel, TileStates(16, 16, 16, ones, ones, ones))
    assert thread_ms(panel.draw) < 300 * slowness()  # the first draw makes them: about 40 ms
    assert panel.head_box.count() == problem.total_heads


def test_masked_tiles_and_rows_without_a_key_have_their_colours_and_words(panel: SoftmaxPanel) -> None:
    feed(panel, traced_run())
    index, lut = panel.view.image.image, panel.view.image.lut
    assert (index[:32, 4:] == MASKED).all() and (index[32:] < MASKED).sum() > 0
    assert index[0, 3] == MINUS_INF
    assert not (index == NAN).any()
    assert tuple(lut[MASKED]) == panel.theme.color("border").getRgb()[:3]
    assert panel.legend.plain() == f"■ {MASKED_TEXT}   ■ {UNSEEN_TEXT}"
    panel.resize(420, 400)
    assert panel.legend.shown() == "■ masked   ■ −inf"


@pytest.mark.parametrize("field", ["running max m", "running denominator l", "tile max"])
def test_a_map_of_more_rows_than_pixels_shows_its_largest_value_and_says_what_it_stands_for(
    panel: SoftmaxPanel, field: str
) -> None:
    panel.resize(1400, 500)
    record = make_record(problem=replace(PROBLEM, m=2048))
    states = states_of(record)
    arrays = {"m_running": states.m_running, "l_running": states.l_running, "m_tile": states.m_tile}
    for array in arrays.values():
        assert array is not None
        array[0, 1003, 2] = 1e3
    feed(panel, record)
    panel.field_box.setCurrentText(field)
    panel.tick()
    index, (rows, tiles) = panel.view.image.image, panel.view.steps
    assert rows > 1 and tiles == 1 and 1003 % rows
    assert index[1003 // rows, 2] == COLORS - 1
    name = {"running max m": "m", "running denominator l": "l", "tile max": "tile max"}[field]
    assert f"each row drawn: the largest {name} of {rows} query rows" in panel.readout.plain()
    panel.view.plot.vb.setRange(yRange=(1000, 1010), padding=0)
    panel.tick()
    assert "largest" not in panel.readout.plain()


def test_a_picture_s_words_are_of_its_own_map(panel: SoftmaxPanel) -> None:
    panel.resize(1400, 500)
    feed(panel, make_record(problem=replace(PROBLEM, m=2048)))
    on_screen = panel.readout.plain()
    said: list[str] = []
    panel.view.pooled.connect(lambda: said.append(panel.readout.plain()))
    rows = panel.view.steps[0]
    take_picture(panel, 2.0)
    assert f"largest m of {-(-rows // 2)} query rows" in said[0]
    assert f"largest m of {rows} query rows" in on_screen == said[1] == panel.readout.plain()


def test_what_a_cell_stands_for_is_said_whole_in_a_narrow_panel(panel: SoftmaxPanel) -> None:
    panel.resize(440, 460)
    problem = Problem(2048, 32 * 1024, 16)
    ones = np.ones((1, problem.m, problem.n // 16), dtype=np.float32)
    grow(panel, replace(make_record(problem=PROBLEM).started, request=RunRequest(problem)))
    grow(panel, TileStates(16, 16, problem.n, ones, ones, ones, split_tiles=512))
    panel.tick()
    rows, tiles = panel.view.steps
    assert rows > 1 and tiles > 1
    assert f"max of {rows} rows × {tiles} tiles" in panel.readout.shown()
    assert "…" not in panel.readout.shown()


def test_the_borders_of_masked_tiles_stay_right_where_rows_are_pooled(panel: SoftmaxPanel) -> None:
    record = traced_run(replace(CAUSAL, m=2048, n=2048, heads=1, kv_heads=1, batch=1), TileConfig(32, 256, splits=2))
    states = states_of(record)
    assert states.m_running is not None
    states.m_running[0, 255, 0] = 1e3  # the last row of the last block that sees one tile alone
    states.m_running[0, 500, 1] = np.nan  # a fault
    feed(panel, record)
    index, (rows, _) = panel.view.image.image, panel.view.steps
    assert rows > 1
    seen = (np.arange(2048) // 32 * 32 + 31) // 256  # the last tile that a row's block sees
    for i in range(len(index)):
        last = int(seen[i * rows : (i + 1) * rows].max())
        assert (index[i, last + 1 :] == MASKED).all() and (index[i, : last + 1] != MASKED).all()
    assert index[255 // rows, 0] == COLORS - 1
    assert index[500 // rows, 1] == NAN and (index == NAN).sum() == 1
    assert panel.split_borders.getData()[0].tolist() == [3.5, 3.5]


def test_tiles_narrower_than_a_pixel_keep_numbers_beside_masked_ones(panel: SoftmaxPanel) -> None:
    problem = replace(CAUSAL, m=64, n=64 * 1024, heads=1, kv_heads=1, batch=1)
    tiles = 4096
    ones = np.ones((1, 64, tiles), dtype=np.float32)
    ones[0, :, tiles - 1] = np.nan  # of rows that see all tiles but the last, which is left out for the first block
    grow(panel, replace(make_record(problem=PROBLEM).started, request=RunRequest(problem)))
    grow(panel, TileStates(16, 16, problem.n, ones, ones, ones, complete=True))
    panel.tick()
    index, (_, columns) = panel.view.image.image, panel.view.steps
    assert columns > 1
    assert index[0, -1] not in (MASKED, NAN), "other tiles of that pixel have numbers"
    assert index[63, -1] == NAN, "a tile that this block sees"


def test_key_splits_are_drawn_named_and_break_the_lines(panel: SoftmaxPanel) -> None:
    record = traced_run()
    feed(panel, record)
    panel.view.hovered.emit((63, 1))
    panel.tick()
    x, y = panel.split_borders.getData()
    assert (x.tolist(), y.tolist()) == ([2.5, 2.5], [-0.5, 63.5])
    assert panel.lines.borders.getData()[0].tolist() == [2.5, 2.5]
    assert SPLITS_TEXTS[0] in panel.readout.plain()
    m_running = states_of(record).m_running
    assert m_running is not None
    drawn = panel.lines.m_curve.getData()[1]
    assert np.isnan(drawn[3]) and np.allclose(np.delete(drawn, 3), m_running[panel.head_box.number(), 63])
    feed(panel, make_record(problem=PROBLEM))
    assert len(panel.split_borders.getData()[0]) == 0
    assert "split" not in panel.readout.plain()


def test_split_borders_that_would_hide_the_cells_are_left_out(panel: SoftmaxPanel) -> None:
    feed(panel, traced_run(replace(CAUSAL, m=4, n=8192, heads=1, batch=1, kv_heads=1), TileConfig(16, 16, splits=512)))
    assert len(panel.split_borders.getData()[0]) == 0


def test_started_forgets_and_failure_is_a_card(panel: SoftmaxPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    panel.view.clicked.emit(5, 1)
    feed(panel, make_record(2, PROBLEM, TileConfig(), failure=Failed("died", "gone", "run again")))
    assert not panel.pinned
    assert "run again" in panel.stack.card.label.text()


def test_large_maps_are_drawn_quickly(panel: SoftmaxPanel) -> None:
    data = np.random.default_rng(0).random((1, 16384, 1024), dtype=np.float32)
    grow(panel, make_record(problem=PROBLEM).started)

    def draw() -> None:
        grow(panel, TileStates(16, 16, 16384, data, data, data))
        panel.draw()

    assert cost_ms(draw) < 150  # about 15 ms
