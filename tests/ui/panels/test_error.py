"""The error panel: judgement first, the map, its special colour, heads, hover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.samples import error_stats, make_record
from tests.ui.growing import feed, grow
from tests.yardstick import cost_ms
from workbench.run.events import Checked, Failed
from workbench.run.request import Problem
from workbench.stats.arrays import FloatArray
from workbench.ui.panels.error.panel import ErrorPanel
from workbench.ui.panels.error.words import worst_text
from workbench.ui.plots.map_cells import MASKED, NAN
from workbench.ui.theme import load_theme

PROBLEM = Problem(32, 64, 16)


@pytest.fixture
def panel(qtbot: QtBot) -> ErrorPanel:
    panel = ErrorPanel(load_theme("dark"))
    qtbot.addWidget(panel)
    panel.resize(700, 500)
    panel.show()
    return panel


def checked(error_map: FloatArray, **changes: object) -> Checked:
    stats = replace(error_stats(np.nan_to_num(error_map, posinf=0.0)), **changes)  # type: ignore[arg-type]
    return Checked("article", "kernel", stats, error_map)


def test_pass_is_said_in_words_with_the_tolerance(panel: ErrorPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, record)
    assert panel.judgement.colors()["PASS"] == panel.theme.good
    assert "within rtol = atol = 0.002" in panel.judgement.plain()
    for words in ("max abs", "SDPA ", "RMS", "relative to the output", "at row"):
        assert words in panel.stats.plain()
    for words in ("max abs", "(SDPA ", "mean abs", "RMS", "relative to the output", "worst at row", "got", "expected"):
        assert words in panel.stats.toolTip()


def test_fail_is_said_in_words(panel: ErrorPanel) -> None:
    feed(panel, make_record(problem=PROBLEM, passed=False))
    assert panel.judgement.colors()["FAIL"] == panel.theme.bad
    assert "exceeds" in panel.judgement.plain()
    assert "got" in panel.stats.plain() and "expected" in panel.stats.plain()


def test_nan_is_counted_named_and_coloured(panel: ErrorPanel) -> None:
    record = make_record(problem=PROBLEM)
    errors = np.full((1, 32, 16), 1e-7, dtype=np.float32)
    errors[0, 3, 5] = np.nan
    errors[0, 9, 5] = np.inf
    grow(panel, record.started)
    grow(panel, checked(errors, passed=False, non_finite=2))
    panel.tick()
    assert "FAIL" in panel.judgement.plain()
    assert "2 values are NaN or infinite" in panel.judgement.plain()
    assert panel.legend.isVisible()
    assert panel.view.image.image[3, 5] == NAN
    assert panel.view.image.image[9, 5] == NAN
    panel.view.hovered.emit((3, 5))
    assert panel.hover.isVisible()
    for words in ("row 3 · column 5", "|error| <b>NaN</b>"):
        assert words in panel.hover.text()
    panel.view.hovered.emit(None)
    assert not panel.hover.isVisible()


def test_output_of_nothing_but_nan_is_drawn(panel: ErrorPanel) -> None:
    grow(panel, make_record(problem=PROBLEM).started)
    grow(panel, checked(np.full((1, 32, 16), np.nan, dtype=np.float32), passed=False, non_finite=512))
    panel.tick()
    assert (panel.view.image.image == NAN).all()


def test_sdpa_at_a_click(panel: ErrorPanel) -> None:
    record = make_record(problem=PROBLEM, passed=False)
    feed(panel, record)
    panel.baseline_button.click()
    panel.tick()
    assert "SDPA (efficient)" in panel.judgement.plain()
    assert "PASS" in panel.judgement.plain()
    assert "kernel " in panel.stats.plain()
    assert "(kernel " in panel.stats.toolTip()


def test_another_attention_is_called_by_its_name(panel: ErrorPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, replace(record, checked=(record.checked[0], replace(record.checked[1], backend="flex"))))
    assert panel.baseline_button.text() == "flex"
    assert "FlexAttention " in panel.stats.plain() and "SDPA" not in panel.stats.plain()
    feed(panel, record)
    assert panel.baseline_button.text() == "SDPA"


def test_sdpa_cannot_be_chosen_without_it(panel: ErrorPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, replace(record, checked=record.checked[:1]))
    assert not panel.baseline_button.isEnabled()


def test_worst_element_is_marked_and_profiles_peak_there(panel: ErrorPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, record)
    _, row, column = record.checked[0].error.worst
    x, y = panel.ring.getData()
    assert (x.tolist(), y.tolist()) == ([column], [row])
    values, rows = panel.profiles.rows_curve.getData()
    assert rows[int(np.argmax(values))] == row
    columns, values = panel.profiles.columns_curve.getData()
    assert columns[int(np.argmax(values))] == column


def test_small_errors_have_their_exponent_on_every_axis(panel: ErrorPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    for axis in (
        panel.view.bar.axis,
        panel.profiles.rows_plot.getAxis("bottom"),
        panel.profiles.columns_plot.getAxis("left"),
    ):
        assert axis.labelText.endswith("×1e-7")


def test_map_has_most_of_the_height_and_the_profiles_its_axes(panel: ErrorPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    QApplication.processEvents()
    here, rows, columns = (
        p.vb.sceneBoundingRect() for p in (panel.view.plot, panel.profiles.rows_plot, panel.profiles.columns_plot)
    )
    assert here.height() >= 0.6 * panel.view.height()
    assert (columns.left(), columns.right()) == pytest.approx((here.left(), here.right()))
    assert (rows.top(), rows.bottom()) == pytest.approx((here.top(), here.bottom()))
    assert columns.bottom() < here.top()


def test_low_panel_leaves_the_column_profile_out(panel: ErrorPanel) -> None:
    panel.resize(400, 230)
    feed(panel, make_record(problem=PROBLEM))
    QApplication.processEvents()
    assert not panel.profiles.columns_plot.isVisible()
    assert panel.view.plot.vb.height() > 90
    panel.resize(400, 400)
    assert panel.profiles.columns_plot.isVisible()


HEADS = Problem(8, 64, 4, batch=2, heads=3, kv_heads=3)


def test_heads_begin_with_the_worst(panel: ErrorPanel) -> None:
    errors = np.zeros((6, 8, 4), dtype=np.float32)
    errors[4, 5, 1] = 1e-3
    grow(panel, make_record(problem=HEADS).started)
    grow(panel, checked(errors))
    panel.tick()
    assert panel.head_box.isVisible()
    assert panel.head_box.currentText() == "batch 2, head 2 of 3"
    assert "batch 2, head 2, row 5" in panel.stats.plain()
    panel.head_box.setCurrentIndex(0)
    panel.tick()
    assert len(panel.ring.getData()[0]) == 0
    assert panel.view.value(5, 1) == "0"


def test_of_the_heads_that_were_kept_the_worst_is_found_by_its_number(panel: ErrorPanel) -> None:
    errors = np.zeros((2, 8, 4), dtype=np.float32)
    errors[1, 5, 1] = 1e-3
    event = checked(errors)
    event = replace(event, heads=(0, 4), error=replace(event.error, worst=(4, 5, 1)))
    grow(panel, make_record(problem=HEADS).started)
    grow(panel, event)
    panel.tick()
    assert [panel.head_box.itemText(i) for i in range(2)] == ["batch 1, head 1 of 3", "batch 2, head 2 of 3"]
    assert panel.head_box.currentIndex() == 1
    assert panel.ring.getData()[0].tolist() == [1]
    panel.view.hovered.emit((5, 1))
    assert "batch 2, head 2" in panel.hover.text()


def test_a_chosen_head_stays_for_the_other_output_and_the_next_run(panel: ErrorPanel) -> None:
    feed(panel, make_record(problem=HEADS))
    panel.head_box.setCurrentIndex(2)
    panel.baseline_button.click()
    panel.tick()
    assert panel.head_box.number() == 2
    feed(panel, make_record(2, HEADS))
    assert panel.head_box.number() == 2
    fewer = make_record(3, replace(HEADS, batch=1, heads=2, kv_heads=2))
    feed(panel, fewer)  # which has no such head: the worst
    assert panel.head_box.number() == fewer.checked[1].error.worst[0]


def test_rows_that_were_left_out_are_no_errors_of_zero(panel: ErrorPanel) -> None:
    errors = np.full((1, 32, 16), 1e-7, dtype=np.float32)
    errors[0, :5] = 0
    grow(panel, make_record(problem=PROBLEM).started)
    grow(panel, checked(errors, rows_left_out=5))
    panel.tick()
    assert (panel.view.image.image[:5] == MASKED).all()
    assert not (panel.view.image.image[5:] >= MASKED).any()
    assert "not compared" in panel.legend.plain()
    panel.view.hovered.emit((4, 3))
    assert "not compared: the row sees no key" in panel.hover.text()
    assert "first 5 rows of each head not compared" in panel.stats.toolTip()
    assert np.isfinite(panel.profiles.columns_curve.getData()[1]).all()


def test_one_head_needs_no_selector(panel: ErrorPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    assert not panel.head_box.isVisible()


def test_numbers_stay_when_the_map_was_not_kept(panel: ErrorPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, replace(record, checked=tuple(replace(c, error_map=None) for c in record.checked)))
    assert "PASS" in panel.judgement.plain()
    assert panel.stack.shows_plots
    assert not panel.map_stack.shows_plots


def test_started_forgets_and_failure_is_a_card(panel: ErrorPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    feed(panel, make_record(2, PROBLEM, failure=Failed("compile", "no", "power of two")))
    assert not panel.stack.shows_plots
    assert "power of two" in panel.stack.card.label.text()


def test_failure_after_the_check_keeps_the_map(panel: ErrorPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, replace(record, measured=(), end=Failed("cancelled", "Stopped.")))
    assert panel.stack.shows_plots


def test_large_maps_are_drawn_quickly(panel: ErrorPanel) -> None:
    errors = np.random.default_rng(0).random((1, 16384, 1024), dtype=np.float32)
    grow(panel, make_record(problem=PROBLEM).started)
    event = checked(errors)

    def draw() -> None:
        grow(panel, event)
        panel.draw()

    assert cost_ms(draw) < 200  # about 22 ms


@pytest.mark.parametrize("apart", [1e-2, 3e-7, 2e-10, 4e-15])
def test_what_was_got_and_what_was_expected_are_told_apart(apart: float) -> None:
    error = replace(make_record(1).checked[0].error, worst_got=0.1234567 + apart, worst_expected=0.1234567)
    got, expected = worst_text(error).removeprefix("got ").split(", expected ")
    assert abs(float(got) - float(expected)) == pytest.approx(apart, rel=0.1)
