"""The softmax panel: the three maps, what has no number, the row under the mouse, the caption."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from tests.samples import make_record
from workbench.model import Failed, Problem, RunRecord, TileConfig, TileStates
from workbench.ui.heatmap import MINUS_INF, NAN
from workbench.ui.panels.softmax import SoftmaxPanel
from workbench.ui.theme import load_theme

PROBLEM = Problem(32, 70, 16)  # the last tile of 16 keys is a short one


@pytest.fixture
def panel(qtbot: QtBot) -> SoftmaxPanel:
    panel = SoftmaxPanel(load_theme("dark"))
    qtbot.addWidget(panel)
    panel.resize(700, 500)
    panel.show()
    return panel


def feed(panel: SoftmaxPanel, record: RunRecord) -> None:
    for event in record.events():
        panel.take(event)
    panel.tick()


def states_of(record: RunRecord) -> TileStates:
    assert record.states is not None
    return record.states


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
    qtbot.wait(20)
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
    panel.take(record.started)
    panel.take(replace(states, m_running=m_running, complete=False, bit_equal=None, m_error=None, l_error=None))
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


def test_map_has_two_thirds_of_the_plots(panel: SoftmaxPanel, qtbot: QtBot) -> None:
    feed(panel, make_record(problem=PROBLEM))
    qtbot.wait(20)
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


def test_heads_can_be_chosen(panel: SoftmaxPanel) -> None:
    record = make_record(problem=PROBLEM)
    states = states_of(record)
    assert states.m_tile is not None and states.m_running is not None and states.l_running is not None
    two = [np.concatenate([a, a + 1]) for a in (states.m_tile, states.m_running, states.l_running)]
    feed(panel, replace(record, states=replace(states, m_tile=two[0], m_running=two[1], l_running=two[2])))
    assert panel.head_box.isVisible()
    panel.head_box.setValue(1)
    panel.tick()
    assert np.allclose(panel.lines.m_curve.getData()[1], two[1][1, 0])
    feed(panel, record)
    assert not panel.head_box.isVisible()


def test_started_forgets_and_failure_is_a_card(panel: SoftmaxPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    panel.view.clicked.emit(5, 1)
    feed(panel, make_record(2, PROBLEM, TileConfig(), failure=Failed("died", "gone", "run again")))
    assert not panel.pinned
    assert "run again" in panel.stack.card.label.text()


def test_large_maps_are_drawn_quickly(panel: SoftmaxPanel) -> None:
    data = np.random.default_rng(0).random((1, 16384, 1024), dtype=np.float32)
    panel.take(make_record(problem=PROBLEM).started)
    times = []
    for _ in range(4):
        panel.take(TileStates(16, 16, 16384, data, data, data))
        start = time.perf_counter()
        panel.draw()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.15  # about 15 ms on two quiet cores
