"""The latency panel: samples as they arrive, scale and unit, history, words."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import INTERPRETER, make_record, recorded_state
from tests.ui.growing import feed, grow
from workbench.analysis.numbers import format_time
from workbench.run.device_state import DeviceReadings
from workbench.run.environment import INTERPRETER_LABEL
from workbench.run.events import DeviceState, Failed, Measured, Samples
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.stats.modes import Modes
from workbench.stats.summary import Interval
from workbench.ui.panels.latency.panel import LatencyPanel
from workbench.ui.theme import load_theme

PROBLEM = Problem(32, 64, 16)


@pytest.fixture
def panel(qtbot: QtBot) -> LatencyPanel:
    panel = LatencyPanel(load_theme("dark"))
    qtbot.addWidget(panel)
    panel.resize(900, 500)
    panel.show()
    return panel


def test_empty_panel_says_how_to_begin(panel: LatencyPanel) -> None:
    panel.tick()
    assert not panel.stack.shows_plots
    assert "Press Run (F5)" in panel.stack.card.label.text()


def test_samples_are_drawn_as_they_arrive(panel: LatencyPanel) -> None:
    record = make_record(problem=PROBLEM)
    grow(panel, record.started)
    grow(panel, Samples("kernel", np.array([10.0, 11.0])))
    panel.tick()
    grow(panel, Samples("kernel", np.array([12.0])))
    panel.tick()
    x, y = panel.samples_plot.points["kernel"].points()
    assert x.tolist() == [1, 2, 3]
    assert y.tolist() == [10.0, 11.0, 12.0]
    assert "3 launches so far, ╌ median 11 µs" in panel.header.plain()


def test_measurement_replaces_the_samples_it_summarises(panel: LatencyPanel) -> None:
    record = make_record(problem=PROBLEM)
    feed(panel, record)
    for role in ("kernel", "baseline"):
        assert len(panel.samples_plot.points[role].points()[0]) == 50
    text = panel.header.plain()
    for words in (
        "article kernel",
        f"median {format_time(record.measured[0].measurement.latency.median)}",
        "SDPA (efficient)",
        "clock: cuda events",
        "50 launches each",
        "10 warm-ups",
        "p20–p80",
    ):
        assert words in text


@pytest.mark.parametrize(("kernel_us", "unit"), [(357200, "ms"), (900, "µs"), (1200, "ms"), (5e7, "s")])
def test_times_beside_each_other_have_one_unit(panel: LatencyPanel, kernel_us: float, unit: str) -> None:
    panel.resize(1400, 500)
    record = make_record(1, PROBLEM, kernel_us=kernel_us, baseline_us=kernel_us / 1.3, device=INTERPRETER)
    slower = make_record(2, PROBLEM, kernel_us=1.1 * kernel_us, device=INTERPRETER)
    panel.set_history([record, slower])
    feed(panel, record)
    plots = panel.samples_plot, panel.trend_plot
    hover = panel.hover_lines(panel.trend_plot.plot.vb.mapViewToScene(QPointF(0, panel.trend_plot.y[0])))
    texts = [panel.header.plain(), panel.legend.plain(), *panel.trend_plot.best_texts, *hover]
    texts += [plot.plot.getAxis("left").names[0] for plot in plots]
    assert set(re.findall(r"\b(?:µs|ms|s)\b", "\n".join(texts))) == {unit}
    assert panel.header.plain().splitlines()[2].startswith(f"{INTERPRETER_LABEL} block protocol · 50 launches each")


def test_started_forgets_the_last_run(panel: LatencyPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    grow(panel, make_record(2, PROBLEM).started)
    panel.tick()
    assert panel.shown is None
    assert not panel.stack.shows_plots


def test_stopped_run_s_times_are_called_partial_before_they_are_said(panel: LatencyPanel) -> None:
    record = make_record(problem=PROBLEM)
    partial = (Samples("kernel", np.arange(1.0, 6.0)), Samples("baseline", np.array([7.0])))
    feed(panel, replace(record, measured=(), partial=partial, end=Failed("cancelled", "Stopped.")))
    assert panel.stack.shows_plots
    for width in (1400, 416):  # the latter in the smallest window
        panel.resize(width, 500)
        kernel, baseline = panel.header.kernel.shown(), panel.header.baseline.shown()
        assert "partial, 5 launches: ╌ median 3 µs" in kernel
        assert "partial, 1 launch: ╌ median 7 µs" in baseline
    assert panel.header.colors()["partial, 5 launches"] == panel.theme.warn


def test_a_block_s_average_and_the_median_of_single_launches_are_both_drawn_and_named(panel: LatencyPanel) -> None:
    panel.resize(1400, 500)
    record = of_latency(make_record(problem=PROBLEM), block_average_us=371.5)
    feed(panel, record)
    median = format_time(record.measured[0].measurement.latency.median)
    assert f"─ block average 371.5 µs, ╌ median {median} (▬ 95% " in panel.header.plain()
    assert panel.samples_plot.marks.blocks["kernel"].getData()[1].tolist() == [371.5, 371.5]
    feed(panel, make_record(problem=PROBLEM, protocol="cold"))
    assert "block average" not in panel.header.plain()
    assert not panel.samples_plot.marks.blocks["kernel"].isVisible()


def test_kernel_and_sdpa_are_shortened_alike_and_never_to_a_number_without_a_name(panel: LatencyPanel) -> None:
    record = of_latency(make_record(problem=PROBLEM), block_average_us=371.5)
    feed(panel, record)
    for width in range(900, 280, -40):
        panel.resize(width, 500)
        for shown in (panel.header.kernel.shown(), panel.header.baseline.shown()):
            assert "block average" in shown
        kernel, baseline = panel.header.kernel.shown(), panel.header.baseline.shown()
        for words in (
            ("kernel" in kernel, "SDPA" in baseline),
            *(((w in kernel), (w in baseline)) for w in ("p20", "95%")),
        ):
            assert words[0] == words[1]


def test_how_launches_were_taken_is_said_in_the_panel_of_the_usual_window(panel: LatencyPanel) -> None:
    panel.resize(680, 420)
    feed(panel, make_record(problem=PROBLEM, protocol="cold"))
    assert "cold protocol · 50 launches each · 10 warm-ups" in panel.header.protocol.shown()
    feed(panel, of_latency(make_record(problem=PROBLEM, protocol="graph"), launches_per_sample=25, launches=1250))
    assert "50 replays × 25 launches" in panel.header.protocol.plain()
    assert panel.samples_plot.plot.getAxis("bottom").labelText == "replay"


def test_failure_without_samples_is_a_card(panel: LatencyPanel) -> None:
    feed(panel, make_record(problem=PROBLEM, failure=Failed("resources", "too much", "smaller tiles")))
    assert not panel.stack.shows_plots
    assert "Try: smaller tiles" in panel.stack.card.label.text()


def test_auto_scale_follows_the_medians_and_can_be_overridden(panel: LatencyPanel) -> None:
    feed(panel, make_record(problem=PROBLEM, kernel_us=4000, baseline_us=24))
    assert panel.scale.log
    assert "log" in panel.samples_plot.plot.getAxis("left").labelText
    y = panel.samples_plot.points["kernel"].points()[1]
    assert 3.5 < y.mean() < 3.7
    panel.scale_box.setCurrentText("Linear")
    panel.tick()
    assert not panel.scale.log
    assert panel.samples_plot.points["kernel"].points()[1].mean() > 3000


@pytest.mark.parametrize(("us", "unit"), [(300.0, "µs"), (3e4, "ms"), (3e6, "s")])
def test_axis_names_the_unit(panel: LatencyPanel, us: float, unit: str) -> None:
    feed(panel, make_record(problem=PROBLEM, kernel_us=us, baseline_us=us))
    assert panel.samples_plot.plot.getAxis("left").labelText == f"time per launch, {unit}, block protocol"


def test_interpreter_is_named_in_the_warning_colour(panel: LatencyPanel) -> None:
    feed(panel, make_record(problem=PROBLEM, device=INTERPRETER))
    assert panel.header.colors()[INTERPRETER_LABEL] == panel.theme.warn
    panel.resize(420, 300)
    assert panel.header.clock.shown() == INTERPRETER_LABEL


def test_wrong_output_is_said_before_its_speed(panel: LatencyPanel) -> None:
    feed(panel, make_record(problem=PROBLEM, passed=False))
    text = panel.header.plain()
    assert text.index("FAIL") < text.index("median")


def of_kernel(run_id: int, kernel: str, precision: str = "ieee", tile: TileConfig | None = None) -> RunRecord:
    record = make_record(run_id, PROBLEM, tile)
    request = replace(record.started.request, kernel=kernel, precision=precision)
    return replace(record, started=replace(record.started, request=request))


def test_header_says_dtype_mask_and_heads_where_they_are_not_the_plain_ones(panel: LatencyPanel) -> None:
    panel.resize(1400, 500)
    feed(panel, make_record(problem=replace(PROBLEM, heads=4, kv_heads=2, dtype="bf16", causal=True)))
    assert "block protocol · 50 launches each · 10 warm-ups · bf16, causal · 4 / 2 KV heads" in panel.header.plain()
    feed(panel, of_kernel(2, "flash", "bf16x3"))
    assert "flash bf16x3 kernel" in panel.header.plain()
    assert "fp32" not in panel.header.plain()


def stopped(record: RunRecord, launches: int = 20) -> RunRecord:
    """`record` as of a run that was stopped after some `launches` of each."""
    parts = (Samples(m.measurement.role, m.measurement.latency.samples[:launches]) for m in record.measured)
    end = Failed("cancelled", "Stopped.")
    return replace(record, measured=(), comparison=None, rechecked=(), states=None, partial=tuple(parts), end=end)


def test_zoom_is_kept_while_samples_arrive_and_reset_by_a_double_click(panel: LatencyPanel, qtbot: QtBot) -> None:
    feed(panel, make_record(problem=PROBLEM))
    box = panel.samples_plot.plot.vb
    whole = box.viewRange()[1]
    box.setYRange(100, 110, padding=0)
    box.sigRangeChangedManually.emit([True, True])
    grow(panel, Samples("kernel", np.array([1.0])))
    panel.tick()
    assert box.viewRange()[1] == pytest.approx([100, 110])
    position = panel.graphics.mapFromScene(box.sceneBoundingRect().center())
    qtbot.mouseDClick(panel.graphics.viewport(), Qt.MouseButton.LeftButton, pos=position)  # type: ignore[no-untyped-call]
    qtbot.mouseRelease(panel.graphics.viewport(), Qt.MouseButton.LeftButton, pos=position)  # type: ignore[no-untyped-call]
    panel.tick()
    assert box.viewRange()[1] == pytest.approx(whole)


def test_theme_can_change_under_a_run(panel: LatencyPanel) -> None:
    feed(panel, make_record(problem=PROBLEM))
    light = load_theme("light")
    panel.apply_theme(light)
    panel.tick()
    assert light.kernel in panel.header.kernel.text()
    assert panel.samples_plot.points["kernel"].color.name() == light.kernel


def of_latency(record: RunRecord, **changes: object) -> RunRecord:
    """`record` with other findings about its kernel's times."""
    kernel = record.measured[0].measurement
    latency = replace(kernel.latency, **changes)  # type: ignore[arg-type]
    return replace(record, measured=(Measured(replace(kernel, latency=latency)), record.measured[1]))


def test_the_interval_is_a_band_and_two_modes_are_two_lines_with_a_label(panel: LatencyPanel) -> None:
    modes = Modes((380.0, 395.0), (0.8, 0.2))
    record = of_latency(make_record(problem=PROBLEM, protocol="cold"), modes=modes)
    feed(panel, record)
    marks = panel.samples_plot.marks
    interval = record.measured[0].measurement.latency.interval
    assert interval is not None
    band = marks.bands["kernel"].rect()
    assert (band.top(), band.bottom()) == pytest.approx((interval.low, interval.high))
    assert sorted(set(marks.modes["kernel"].getData()[1])) == [380.0, 395.0]
    assert marks.labels["kernel"].isVisible() and not marks.labels["baseline"].isVisible()
    assert marks.labels["kernel"].toPlainText().startswith("two modes")
    assert not marks.modes["baseline"].isVisible()
    unbounded = Interval(-np.inf, np.inf, 0.95)
    feed(panel, of_latency(record, modes=None, interval=unbounded))
    assert not marks.bands["kernel"].isVisible() and not marks.modes["kernel"].isVisible()


def test_the_strip_is_shown_live_and_hidden_with_a_reason_where_nothing_can_be_read(panel: LatencyPanel) -> None:
    record = make_record(problem=PROBLEM, protocol="cold")
    grow(panel, record.started)
    grow(panel, Samples("kernel", np.array([10.0, 11.0])))
    panel.tick()
    assert panel.strip.isHidden()
    grow(panel, recorded_state("throttled"))
    panel.tick()
    assert not panel.strip.isHidden()
    feed(panel, replace(record, device_state=DeviceState(DeviceReadings.without("on the interpreter there is no GPU"))))
    assert panel.strip.isHidden()
    assert "no device state: on the interpreter there is no GPU" in panel.header.clock.toolTip()


def test_the_headline_and_its_interval_are_on_the_plot_though_no_launch_is_near(panel: LatencyPanel) -> None:
    record = make_record(problem=PROBLEM, kernel_us=380, baseline_us=360)
    for changes, within in (
        ({"block_average_us": 250.0}, 250.0),
        ({"interval": Interval(300.0, 600.0, 0.95)}, 600.0),
        ({"interval": Interval(200.0, 390.0, 0.95)}, 200.0),
    ):
        feed(panel, of_latency(record, **changes))
        low, high = panel.samples_plot.plot.vb.viewRange()[1]
        assert low < within < high


def test_what_the_engine_notes_about_samples_is_in_the_tooltip(panel: LatencyPanel) -> None:
    feed(panel, of_latency(make_record(problem=PROBLEM, protocol="warm"), late_samples=3))
    assert "3 samples may hold launch cost" in panel.header.protocol.plain()
    assert "3 of 50 samples may hold launch cost" in panel.header.protocol.toolTip()


def test_the_median_s_line_is_seen_over_a_crowd_of_points(panel: LatencyPanel) -> None:
    few, many = make_record(problem=PROBLEM), make_record(problem=PROBLEM, protocol="warm", launches=2000)
    plot = panel.samples_plot
    for record, is_pale in ((few, False), (many, True), (few, False)):
        feed(panel, record)
        assert (plot.points["kernel"].color.alpha() < 255) == is_pale
    assert plot.medians.lines["kernel"].zValue() > plot.points["kernel"].zValue()


def test_an_output_that_changed_is_said_before_its_speed(panel: LatencyPanel) -> None:
    record = make_record(problem=PROBLEM, protocol="cold")
    changed = replace(record.rechecked[0], failed=True, text="changed while timing: suspect a race")
    feed(panel, replace(record, rechecked=(changed, record.rechecked[1])))
    text = panel.header.plain()
    assert text.index("FAIL") < text.index("median")
    assert "suspect a race" in panel.header.kernel.toolTip()


def test_launches_have_a_range_of_their_own_beside_a_trend_of_slow_runs(panel: LatencyPanel) -> None:
    shown = make_record(2, PROBLEM, kernel_us=380, baseline_us=360)
    panel.set_history([make_record(1, PROBLEM, TileConfig(64, 32), kernel_us=3000, baseline_us=360), shown])
    feed(panel, shown)
    low, high = (end * panel.scale.size for end in panel.samples_plot.plot.vb.viewRange()[1])
    assert low > 300 and high < 450
    trend = panel.trend_plot
    assert trend.plot.vb.viewRange()[1][1] * trend.scale.size > 3000
    assert trend.scale.unit == panel.scale.unit
