"""The latency panel: samples as they arrive, scale and unit, history, words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, INTERPRETER, events_of, make_record, recorded_state
from tests.ui.growing import feed, grow
from workbench.analysis.numbers import format_time
from workbench.run.device_state import DeviceReadings
from workbench.run.environment import INTERPRETER_LABEL
from workbench.run.events import DeviceState, Failed, Finished, Measured, Samples
from workbench.run.library import Library
from workbench.run.measurement import ROLES, Role
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.run.session import Session
from workbench.stats.modes import Modes
from workbench.stats.summary import Interval
from workbench.ui.panels.latency.panel import LatencyPanel
from workbench.ui.panels.latency.run import run_lines
from workbench.ui.panels.latency.trend import MOST_LABEL, MOST_SYMBOL
from workbench.ui.text.fit import text_height
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


def test_header_gives_each_its_own_unit(panel: LatencyPanel) -> None:
    panel.resize(1400, 500)
    feed(panel, make_record(problem=PROBLEM, kernel_us=357200, baseline_us=132.6, device=INTERPRETER))
    lines = panel.header.plain().splitlines()
    assert len(lines) == 3
    assert " ms (▬ 95% " in lines[0] and " ms, p20–p80" in lines[0]
    assert " µs (▬ 95% " in lines[1] and " µs, p20–p80" in lines[1]
    assert lines[2].startswith(f"{INTERPRETER_LABEL} block protocol · 50 launches each")


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


def test_history_holds_only_comparable_runs(panel: LatencyPanel) -> None:
    shown = make_record(5, PROBLEM, TileConfig(32, 32))
    records = [
        make_record(1, PROBLEM, TileConfig(16, 16)),
        make_record(2, replace(PROBLEM, n=128)),
        make_record(3, replace(PROBLEM, seed=9), TileConfig(16, 32)),  # another seed is the same work
        make_record(4, PROBLEM, device=replace(GPU, name="Another GPU")),
        make_record(4, PROBLEM, device=INTERPRETER),
        make_record(6, PROBLEM, failure=Failed("compile", "no")),
        shown,
    ]
    panel.set_history(records)
    feed(panel, shown)
    assert panel.history_plot.axis._labels == ["16×16", "16×32", "32×32"]
    assert panel.history_plot.axis._shown == 2


@pytest.mark.parametrize(
    "other",
    [
        replace(PROBLEM, dtype="fp16"),
        replace(PROBLEM, causal=True),
        replace(PROBLEM, heads=2, kv_heads=2),
        replace(PROBLEM, batch=2),
        replace(PROBLEM, inputs="outliers"),
    ],
    ids=["dtype", "causal", "heads", "batch", "inputs"],
)
def test_history_mixes_no_problems(panel: LatencyPanel, other: Problem) -> None:
    shown = make_record(1, PROBLEM)
    panel.set_history([make_record(2, other), shown])
    feed(panel, shown)
    assert panel.history_plot.axis._labels == ["16×16"]


def of_kernel(run_id: int, kernel: str, precision: str = "ieee", tile: TileConfig | None = None) -> RunRecord:
    record = make_record(run_id, PROBLEM, tile)
    request = replace(record.started.request, kernel=kernel, precision=precision)
    return replace(record, started=replace(record.started, request=request))


def test_kernels_and_precisions_of_one_problem_stand_beside_each_other(panel: LatencyPanel) -> None:
    big = TileConfig(128, 64)
    records = [
        of_kernel(1, "flash", tile=big),
        of_kernel(2, "flash", "bf16x3", big),
        of_kernel(3, "flash", "bf16x3", TileConfig(64, 64)),
        of_kernel(4, "article"),
    ]
    panel.set_history(records)
    feed(panel, records[-1])
    plot = panel.history_plot
    assert plot.axis._labels == ["128×64\nflash", "128×64\nflash bf16x3", "64×64\nflash bf16x3", "16×16\narticle"]
    assert plot.axis.labelText == "runs of this problem, block protocol"
    symbols = [spot.symbol() for spot in plot.points["kernel"].points()]
    assert symbols[1] == symbols[2] and len(set(symbols)) == 3
    assert {spot.symbol() for spot in plot.points["baseline"].points()} == {"o"}
    # The trend joins the two runs of one kernel and precision, and no others.
    assert list(plot.trend.opts["connect"]) == [False, True, False, False]


def test_run_labels_take_two_lines_side_by_side_or_one_upright_and_never_the_whole_plot(panel: LatencyPanel) -> None:
    axis = panel.history_plot.axis
    axis.set_runs(["64×64\nflash"], 0)
    one_line = axis.needed_height(1000)
    axis.set_runs(["64×64"], 0)
    assert one_line == pytest.approx(axis.needed_height(1000) + text_height())
    axis.set_runs(["128×128\nmaterialized bf16x6 of a long name"] * 30, 0)
    assert one_line < axis.needed_height(300) <= MOST_LABEL + 2 * text_height() + 10


def test_header_says_dtype_mask_and_heads_where_they_are_not_the_plain_ones(panel: LatencyPanel) -> None:
    panel.resize(1400, 500)
    feed(panel, make_record(problem=replace(PROBLEM, heads=4, kv_heads=2, dtype="bf16", causal=True)))
    assert "block protocol · 50 launches each · 10 warm-ups · bf16, causal · 4 / 2 KV heads" in panel.header.plain()
    feed(panel, of_kernel(2, "flash", "bf16x3"))
    assert "flash bf16x3 kernel" in panel.header.plain()
    assert "fp32" not in panel.header.plain()


def test_unfinished_run_is_the_end_of_its_history(panel: LatencyPanel) -> None:
    panel.set_history([make_record(1, PROBLEM)])
    grow(panel, make_record(2, PROBLEM, TileConfig(64, 16)).started)
    grow(panel, Samples("kernel", np.array([5.0, 6.0])))
    panel.tick()
    assert panel.history_plot.axis._labels == ["16×16", "64×16"]


def test_trend_is_long_but_bounded_and_keeps_the_run_shown(panel: LatencyPanel) -> None:
    records = [make_record(i, PROBLEM, TileConfig(16, 16 + i)) for i in range(60)]
    panel.set_history(records)
    feed(panel, records[0])
    assert len(panel.history_plot.axis._labels) == 40
    assert panel.history_plot.axis._shown == 0


def test_two_equal_runs_of_one_second_are_told_apart(panel: LatencyPanel) -> None:
    first, second = make_record(1, PROBLEM, kernel_us=380), make_record(2, PROBLEM, kernel_us=390)
    assert first.started == second.started
    panel.set_history([first, second])
    for i, record in enumerate((first, second)):
        feed(panel, replace(record, started=replace(record.started)))  # as it comes from the file
        assert panel.history_plot.axis._shown == i


def stopped(record: RunRecord, launches: int = 20) -> RunRecord:
    """`record` as of a run that was stopped after some `launches` of each."""
    parts = (Samples(m.measurement.role, m.measurement.latency.samples[:launches]) for m in record.measured)
    end = Failed("cancelled", "Stopped.")
    return replace(record, measured=(), comparison=None, rechecked=(), states=None, partial=tuple(parts), end=end)


def test_a_second_run_of_one_second_is_added_from_its_first_launch_on(panel: LatencyPanel) -> None:
    first = make_record(1, PROBLEM, kernel_us=380, protocol="cold")
    second = make_record(2, PROBLEM, kernel_us=500, protocol="cold")
    assert first.started == second.started
    panel.set_history([first])
    for event in events_of(second):
        grow(panel, event, number=2)
        panel.tick()
        if panel.shown is not None:
            assert len(panel.history_plot._runs) == 2 and panel.history_plot.axis._shown == 1
    assert heights(panel, "kernel") == [r.measured[0].measurement.latency.figure_us for r in (first, second)]
    panel.set_history([first, second])
    panel.tick()
    assert len(panel.history_plot._runs) == 2 and panel.history_plot.axis._shown == 1


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_stopped_run_is_not_taken_for_one_that_began_with_it(panel: LatencyPanel, is_kept: bool) -> None:
    """One that was stopped before its check is never kept."""
    finished, early = make_record(1, PROBLEM, protocol="cold"), stopped(make_record(2, PROBLEM, protocol="cold"), 3)
    assert finished.started == early.started
    panel.set_history([finished, early] if is_kept else [finished])
    feed(panel, early)
    assert len(panel.history_plot._runs) == 2 and panel.history_plot.axis._shown == 1
    feed(panel, finished)
    assert len(panel.history_plot._runs) == 1 and panel.history_plot.axis._shown == 0


def test_a_run_that_did_not_finish_is_in_the_trend_only_while_shown_hollow_and_off_the_line(
    panel: LatencyPanel,
) -> None:
    records = [make_record(i, PROBLEM, TileConfig(16, 16 * i), protocol="cold") for i in (1, 2, 3, 4)]
    records[1] = stopped(records[1])
    kernel_only = replace(records[3], measured=records[3].measured[:1], end=Failed("memory", "no room for SDPA"))
    records[3] = kernel_only
    panel.set_history(records)
    plot = panel.history_plot
    feed(panel, records[0])
    assert plot.axis._labels == ["16×16", "16×48"] and not any("hollow" in name for name in plot.axis.names)
    assert plot.trend.getData()[0].size == 2 and not any(hollow(panel, "kernel"))

    feed(panel, records[1])
    assert plot.axis._labels == ["16×16", "16×32", "16×48"] and plot.axis._shown == 1
    assert hollow(panel, "kernel") == hollow(panel, "baseline") == [False, True, False]
    assert len({spot.size() for spot in plot.points["kernel"].points()}) == 1
    assert plot.axis.names[0].endswith("; hollow: unfinished")
    x, _ = plot.trend.getData()
    assert len(x) == 2 and round(x[0]) == 0 and round(x[1]) == 2
    lines = run_lines(plot._runs[1], panel.theme)
    assert any("unfinished: stopped" in line for line in lines)
    assert any("partial, 20 launches: median" in line for line in lines)

    feed(panel, kernel_only)
    assert plot.axis._labels == ["16×16", "16×48", "16×64"] and hollow(panel, "kernel") == [False, False, True]
    assert plot.trend.getData()[0].size == 2, "its kernel was measured, but its headline has no time"
    assert any("unfinished: out of memory" in line for line in run_lines(plot._runs[2], panel.theme))


def test_a_run_is_hollow_until_it_has_finished(panel: LatencyPanel) -> None:
    earlier = make_record(1, PROBLEM, protocol="cold")
    record = make_record(2, PROBLEM, TileConfig(64, 16), protocol="cold")
    panel.set_history([earlier])
    for event in events_of(record):
        grow(panel, event)
        panel.tick()
        if panel.shown is not None:
            assert hollow(panel, "kernel") == [False, event is not record.end]
    spots = panel.history_plot.points["kernel"].points()
    assert spots[1].size() == MOST_SYMBOL > spots[0].size()


def test_a_session_opened_again_as_its_recording_doubles_nothing(panel: LatencyPanel, tmp_path: Path) -> None:
    library = Library(Session(tmp_path / "own.tilescope"))
    for i in (1, 2, 3):
        record = make_record(i, PROBLEM, TileConfig(16, 16 * i), protocol="cold")
        record = stopped(record) if i == 2 else record
        library.add(library.session.add(record), saved=True)
    library.save_copy(tmp_path / "copy.tilescope", sealed=True)
    library.open_recording(tmp_path / "copy.tilescope")
    others = Session(tmp_path / "other.tilescope")
    others.add(make_record(4, PROBLEM, TileConfig(16, 64), protocol="cold"))
    library.open_recording(others.path)
    panel.set_history(library.records())
    for record in library.records():
        feed(panel, library.load(record))
        axis = panel.history_plot.axis
        is_stopped = not isinstance(record.end, Finished)
        assert axis._labels == ["16×16", *["16×32"] * is_stopped, "16×48", "16×64"]
        assert axis._labels[axis._shown] == record.started.request.tile.label


def test_the_highest_point_of_a_trend_is_whole(panel: LatencyPanel) -> None:
    for log in ("Auto scale", "Log"):
        panel.scale_box.setCurrentText(log)
        feed(panel, make_record(1, PROBLEM, kernel_us=380, baseline_us=100))
        box = panel.history_plot.plot.vb
        top, height = box.viewRange()[1][1], box.height()
        highest = max(panel.history_plot.points["kernel"].getData()[1])
        low = box.viewRange()[1][0]
        assert (top - highest) / (top - low) * height >= MOST_SYMBOL / 2


def test_hover_tells_sample_bin_and_run(panel: LatencyPanel) -> None:
    record = make_record(1, PROBLEM, TileConfig(32, 16, num_warps=8, num_stages=2))
    panel.set_history([record])
    feed(panel, record)
    QApplication.processEvents()
    value = float(record.measured[0].measurement.latency.samples[6])
    box = panel.samples_plot.plot.vb
    lines = panel.hover_lines(box.mapViewToScene(QPointF(7, value)))
    assert "article&nbsp;kernel" in lines[0]
    assert "launch 7" in lines[1]
    assert format_time(value) in lines[1]
    assert lines[2] == "block protocol"
    run = panel.hover_lines(panel.history_plot.plot.vb.mapViewToScene(QPointF(0, value)))
    assert "32×16" in run[0]
    assert "8 warps, 2 stages" in run[0]
    assert run[1] == "block protocol"
    assert run[2:4] == ["torch 2.13.0, triton 3.9.0", "driver 580.0"]
    assert "block average of 50 launches" in run[4] and "single launches: median" in run[5]
    counted = panel.hover_lines(panel.distribution_plot.plot.vb.mapViewToScene(QPointF(1, value)))
    assert "µs" in counted[0]
    assert "launch" in counted[1]
    assert panel.hover_lines(QPointF(-100, -100)) == []


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


def test_runs_of_different_protocols_never_share_a_trend(panel: LatencyPanel) -> None:
    cold = [make_record(i, PROBLEM, TileConfig(16, 16 * i), protocol="cold") for i in (1, 2)]
    panel.set_history([*cold, make_record(3, PROBLEM), make_record(4, PROBLEM, protocol="warm")])
    feed(panel, cold[1])
    assert panel.history_plot.axis._labels == ["16×16", "16×32"]
    assert panel.history_plot.axis.labelText == "runs of this problem, cold protocol"
    panel.resize(1400, 500)
    panel.tick()
    assert "cold protocol · 50 launches each · 10 warm-ups · clock: cuda events · 10 rounds" in panel.header.plain()


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


def test_an_output_that_changed_is_said_before_its_speed(panel: LatencyPanel) -> None:
    record = make_record(problem=PROBLEM, protocol="cold")
    changed = replace(record.rechecked[0], failed=True, text="changed while timing: suspect a race")
    record = replace(record, rechecked=(changed, record.rechecked[1]))
    panel.set_history([record])
    feed(panel, record)
    text = panel.header.plain()
    assert text.index("FAIL") < text.index("median")
    assert "suspect a race" in panel.header.kernel.toolTip()
    assert [spot.symbol() for spot in panel.history_plot.points["kernel"].points()] == ["x"]


def test_launches_have_a_range_of_their_own_beside_a_trend_of_slow_runs(panel: LatencyPanel) -> None:
    shown = make_record(2, PROBLEM, kernel_us=380, baseline_us=360)
    panel.set_history([make_record(1, PROBLEM, TileConfig(64, 32), kernel_us=3000, baseline_us=360), shown])
    feed(panel, shown)
    low, high = panel.samples_plot.plot.vb.viewRange()[1]
    assert low > 300 and high < 450
    assert panel.distribution_plot.plot.vb.viewRange()[1] == [low, high]
    trend = panel.history_plot
    assert trend.plot.vb.viewRange()[1][1] * trend.scale.size > 3000
    assert trend.plot.getAxis("left").names[0] == "block average, µs"


def test_the_trend_has_kernel_and_sdpa_side_by_side_with_the_intervals_as_bars(panel: LatencyPanel) -> None:
    record = make_record(1, PROBLEM, protocol="cold")
    panel.set_history([record])
    feed(panel, record)
    plot = panel.history_plot
    at = {role: plot.points[role].getData()[0].tolist() for role in ("kernel", "baseline")}
    assert at["kernel"][0] < 0 < at["baseline"][0]
    for measured in record.measured:
        latency = measured.measurement.latency
        bars = plot.bars[measured.measurement.role, True].opts
        assert bars["x"] == at[measured.measurement.role]
        assert latency.interval is not None
        assert bars["y"] + bars["top"] == pytest.approx(latency.interval.high)
        assert bars["y"] - bars["bottom"] == pytest.approx(latency.interval.low)


def heights(panel: LatencyPanel, role: Role) -> list[float]:
    """Where the trend's points of `role` are, us."""
    plot = panel.history_plot
    return [float(y) * plot.scale.size for y in plot.points[role].getData()[1]]


def test_the_trend_draws_the_figures_of_the_headline_and_names_them(panel: LatencyPanel) -> None:
    """Launch-bound, a block's average is far from the median of the single launches beside it."""
    records = [
        of_latency(make_record(i, PROBLEM, TileConfig(16, 16 * i), kernel_us=57), block_average_us=us)
        for i, us in ((1, 110.0), (2, 78.4))
    ]
    panel.set_history(records)
    feed(panel, records[-1])
    plot = panel.history_plot
    for role in ROLES:
        figures = [m.latency.figure_us for record in records if (m := record.measurement(role))]
        assert heights(panel, role) == pytest.approx(figures)
        assert len(plot.bars[role, True].opts["x"]) == len(plot.bars[role, False].opts["x"]) == 0, "it has no interval"
    assert plot.plot.vb.viewRange()[1][1] > 110
    assert plot.plot.getAxis("left").labelText == "block average, µs"
    hover = run_lines(plot._runs[1], panel.theme)
    assert hover[-4].endswith("block average of 50 launches 78.4 µs") and "single launches: median 57" in hover[-3]

    warm = make_record(3, PROBLEM, protocol="warm")
    panel.set_history([*records, warm])
    feed(panel, warm)
    kernel = warm.measured[0].measurement.latency
    assert heights(panel, "kernel") == [kernel.figure_us] == [kernel.median]
    assert plot.plot.getAxis("left").names[0] == "median, bar: 95% interval, µs"
    hover = run_lines(plot._runs[0], panel.theme)
    assert f"median {format_time(kernel.median)}, 95% " in hover[-4] and "p20–p80" in hover[-3]


def test_figures_of_two_kinds_are_not_joined_and_both_are_named(panel: LatencyPanel) -> None:
    """As of a recording that is older than the block."""
    records = [make_record(i, PROBLEM, TileConfig(16, 16 * i)) for i in (1, 2, 3)]
    records[0] = of_latency(records[0], block_average_us=None)
    panel.set_history(records)
    feed(panel, records[-1])
    plot = panel.history_plot
    assert list(plot.trend.opts["connect"]) == [False, True, False]
    assert plot.plot.getAxis("left").names[0] == "block average or median, bar: 95% interval, µs"
    assert len(plot.bars["kernel", False].opts["x"]) == 1 and len(plot.bars["baseline", False].opts["x"]) == 0


def test_a_run_has_no_point_on_a_trend_of_averages_before_it_has_its_own(panel: LatencyPanel) -> None:
    earlier, record = make_record(1, PROBLEM), make_record(2, PROBLEM, TileConfig(64, 16))
    panel.set_history([earlier])
    grow(panel, record.started)
    grow(panel, Samples("kernel", np.array([5.0, 6.0])))
    panel.tick()
    assert len(heights(panel, "kernel")) == len(heights(panel, "baseline")) == 1
    figure, launches = run_lines(panel.history_plot._runs[1], panel.theme)[-2:]
    assert figure.endswith("median so far 5.5 µs") and "no block average; p20–p80" in launches
    grow(panel, record.measured[0])
    panel.tick()
    assert heights(panel, "kernel")[1:] == [record.measured[0].measurement.latency.figure_us]
    feed(panel, make_record(3, PROBLEM, protocol="warm"))
    grow(panel, make_record(4, PROBLEM, protocol="warm").started)
    grow(panel, Samples("kernel", np.array([5.0, 6.0])))
    panel.tick()
    assert heights(panel, "kernel") == [5.5], "where the figure is a median, that of what there is"


@pytest.mark.parametrize("is_stopped", [False, True], ids=["finished", "stopped"])
@pytest.mark.parametrize("protocol", ["block", "cold"])
def test_what_is_said_of_a_run_under_the_mouse_fits_a_narrow_panel(
    panel: LatencyPanel, protocol: str, is_stopped: bool
) -> None:
    panel.resize(426, 392)  # as in a window of 1440 x 900 with a wide table
    record = make_record(1, PROBLEM, TileConfig(128, 128, splits=4), 1234.5, 987.6, protocol=protocol)
    device = replace(GPU, torch="2.11.0+cu130", triton="3.6.0", driver="580.159.04")
    record = made_from(replace(record, started=replace(record.started, device=device)), "aba5d19c" * 8)
    record = stopped(record) if is_stopped else record
    panel.set_history([record])
    feed(panel, record)
    QApplication.processEvents()
    panel._on_mouse(panel.history_plot.plot.vb.sceneBoundingRect().center())
    assert panel.hover.isVisible() and panel.graphics.rect().contains(panel.hover.geometry())
    assert panel.hover.width() >= panel.hover.sizeHint().width()


def test_the_protocol_of_a_trend_is_named_however_little_room_there_is(panel: LatencyPanel) -> None:
    record = make_record(1, PROBLEM, protocol="graph-cold")
    panel.set_history([record])
    feed(panel, record)
    assert all("graph-cold" in name for name in panel.history_plot.axis.names)


def test_runs_of_other_versions_are_hollow_and_off_the_trend_s_line(panel: LatencyPanel) -> None:
    records = [make_record(i, PROBLEM, TileConfig(16, 16 * i)) for i in (1, 2, 3)]
    older = replace(records[0].started, device=replace(GPU, torch="2.11.0"))
    records[0] = replace(records[0], started=older)
    panel.set_history(records)
    feed(panel, records[-1])
    spots = panel.history_plot.points["kernel"].points()
    assert [spot.brush().style() == Qt.BrushStyle.NoBrush for spot in spots] == [True, False, False]
    assert list(panel.history_plot.trend.opts["connect"]) == [False, True, False]
    assert any("hollow: other versions" in name for name in panel.history_plot.axis.names)
    panel.set_history(records[1:])
    panel.tick()
    assert not any("hollow" in name for name in panel.history_plot.axis.names)


def made_from(record: RunRecord, source: str) -> RunRecord:
    """`record` with a kernel from another `source`."""
    provenance = replace(record.started.provenance, source_sha256=source)
    return replace(record, started=replace(record.started, provenance=provenance))


def hollow(panel: LatencyPanel, role: Role) -> list[bool]:
    spots = panel.history_plot.points[role].points()
    return [spot.brush().style() == Qt.BrushStyle.NoBrush for spot in spots]


def test_sources_are_compared_within_one_kernel_only_and_never_for_sdpa(panel: LatencyPanel) -> None:
    records = [
        made_from(of_kernel(1, "article"), "a" * 64),
        made_from(of_kernel(2, "flash"), "b" * 64),
        made_from(of_kernel(3, "flash", "bf16x3"), "b" * 64),
    ]
    panel.set_history(records)
    feed(panel, records[-1])
    assert not any(hollow(panel, "kernel")) and not any(hollow(panel, "baseline"))
    assert not any("hollow" in name for name in panel.history_plot.axis.names)
    records[1] = made_from(records[1], "c" * 64)
    panel.set_history(records)
    panel.tick()
    assert hollow(panel, "kernel") == [False, True, False]
    assert not any(hollow(panel, "baseline"))
    assert panel.history_plot.axis.names[0].endswith("; hollow: other versions")


def test_runs_of_one_tile_are_told_apart_by_the_options_in_which_they_differ(panel: LatencyPanel) -> None:
    def labels(*tiles: TileConfig) -> list[str]:
        records = [make_record(i, PROBLEM, tile) for i, tile in enumerate(tiles, 1)]
        panel.set_history(records)
        feed(panel, records[-1])
        return panel.history_plot.axis._labels

    assert labels(TileConfig(16, 16, 4), TileConfig(16, 16, 8)) == ["16×16 w4", "16×16 w8"]
    assert labels(TileConfig(16, 16, 4, 3), TileConfig(16, 16, 4, 1)) == ["16×16 s3", "16×16 s1"]
    several = labels(TileConfig(16, 16), TileConfig(16, 16, splits=4), TileConfig(16, 32, 8, splits=4))
    assert several == ["16×16 w4", "16×16 w4 4 splits", "16×32 w8 4 splits"]
    assert labels(TileConfig(16, 16, 8, 1, 4), TileConfig(32, 16, 8, 1, 4)) == ["16×16", "32×16"]


def test_a_wrong_sdpa_gets_a_cross_and_words_as_a_wrong_kernel_does(panel: LatencyPanel) -> None:
    record = make_record(1, PROBLEM, protocol="cold")
    wrong = replace(record, rechecked=(record.rechecked[0], replace(record.rechecked[1], failed=True, text="changed")))
    right = make_record(2, PROBLEM, protocol="cold")
    panel.set_history([wrong, right])
    for shown in (right, wrong):
        feed(panel, shown)
        symbols = {role: [s.symbol() for s in panel.history_plot.points[role].points()] for role in ROLES}
        assert symbols == {"kernel": ["o", "o"], "baseline": ["x", "o"]}
    assert panel.history_plot.points["baseline"].points()[0].brush().color().name() == panel.theme.bad
    lines = run_lines(panel.history_plot._runs[0], panel.theme)
    assert any("FAIL:" in line and "SDPA" in line for line in lines)


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
