"""The roofline panel: where points and ceilings stand, the floor in words, and what it says without ceilings."""

from __future__ import annotations

from dataclasses import replace
from math import log10
from pathlib import Path

import pytest
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.samples import GPU, INTERPRETER, make_record
from tests.ui.growing import feed, grow
from tests.ui.panels.on_ceilings import CEILINGS, LARGE, open_panel, run_of
from workbench.run.ceilings import save_ceilings
from workbench.run.environment import DeviceInfo, Provenance
from workbench.run.events import CeilingsMeasured, Failed, Measured, Progress, Ready
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.ui.panels.roofline.numbers import EarlierPoints, notes_texts
from workbench.ui.panels.roofline.panel import MEASURE, RooflinePanel
from workbench.ui.theme import load_theme

FLOPS = 4 * 1024 * 4096 * 128
BYTES = 2 * (1024 + 4096) * 128 * 4


@pytest.fixture
def panel(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RooflinePanel:
    return open_panel(RooflinePanel, (900, 420), qtbot, tmp_path, monkeypatch)


def of_problem(
    run_id: int = 1,
    kernel_us: float = 753.6,
    precision: str = "ieee",
    problem: Problem = LARGE,
    device: DeviceInfo = GPU,
    passed: bool = True,
) -> RunRecord:
    """A run under `cold`, one second later for each `run_id`."""
    request = RunRequest(problem, kernel="split_kv", precision=precision, protocol="cold")
    record = run_of(request, device, run_id, kernel_us, passed)
    return replace(record, started=replace(record.started, started_at=f"2026-01-31T12:00:0{run_id}"))


def known(panel: RooflinePanel, device: DeviceInfo = GPU) -> None:
    grow(panel, Ready(device, (), (), CEILINGS))


def lines(panel: RooflinePanel) -> str:
    return "\n".join(line.plain() for line in (panel.kernel, panel.baseline, panel.about) if not line.isHidden())


def test_points_stand_where_the_run_is(panel: RooflinePanel) -> None:
    known(panel)
    record = of_problem()
    feed(panel, record)
    x, y = panel.view.now.getData()
    kernel = record.measured[0].measurement.latency.figure_us
    assert x.tolist() == pytest.approx([log10(FLOPS / BYTES)] * 2)
    assert y[1] == pytest.approx(log10(FLOPS / kernel / 1e6))  # the kernel is drawn last, on top
    assert [point.role for point in panel.view.points] == ["baseline", "kernel"]


def test_ceilings_are_lines_with_their_values_and_date(panel: RooflinePanel) -> None:
    known(panel)
    feed(panel, of_problem())
    assert panel.view.labels.texts() == ["fp32 51 TFLOP/s", "tf32 360 TFLOP/s", "fp16 655 TFLOP/s", "bf16 680 TFLOP/s"]
    x, y = panel.view.slope.getData()
    assert y - x == pytest.approx([log10(4.25)] * 2)
    ridge, level = panel.view.roofs[0].getData()
    assert ridge[0] == pytest.approx(log10(51 / 4.25)) and level[0] == pytest.approx(log10(51))
    assert panel.view.slope_label.toPlainText() == "copy 4.25 TB/s"
    assert "measured 2026-11-30" in lines(panel)


def test_a_split_precision_has_its_effective_ceiling_and_says_why(panel: RooflinePanel) -> None:
    known(panel)
    feed(panel, of_problem(kernel_us=26.1, precision="fp16x3"))
    assert "fp16x3: fp16 / 3 = 218 TFLOP/s" in panel.view.labels.texts()
    dashed = panel.view.roofs[4]
    assert dashed.isVisible() and dashed.getData()[1][0] == pytest.approx(log10(655 / 3))
    assert dashed.opts["pen"].style() == Qt.PenStyle.DashLine
    assert "makes 3 fp16 products" in panel.kernel.toolTip()
    assert "fp16 arithmetic, 3 products each" in lines(panel)
    feed(panel, of_problem(kernel_us=26.1, precision="bf16x6"))
    assert "bf16x6: bf16 / 6 = 113 TFLOP/s" in panel.view.labels.texts()


def test_the_floor_is_said_in_words(panel: RooflinePanel) -> None:
    known(panel)
    record = of_problem()
    feed(panel, record)
    floor = FLOPS / 51e12 * 1e6
    factor = record.measured[0].measurement.latency.median / floor
    text = lines(panel)
    assert f"{factor:.3g}× its floor of 42.11 µs (fp32 arithmetic)" in text
    assert "(cold)" in text  # the protocol is on this figure too
    small = Problem(16, 8192, 16)
    feed(panel, of_problem(problem=small))
    assert "least bytes at the copy rate" in lines(panel)


def test_the_floor_is_called_no_bound_and_warm_caches_are_said(panel: RooflinePanel) -> None:
    """Q, K, V and O of 5 MiB fit an L2 of 60 MiB: a launch that finds them there need not read memory."""
    grow(panel, Ready(GPU, (), (), replace(CEILINGS, l2_bytes=60 * 2**20)))
    cold = of_problem()
    feed(panel, cold)
    tip = panel.kernel.toolTip()
    assert "At the rates that this GPU reached it takes 42.11 µs: fp32 arithmetic." in tip
    assert "not a bound" in tip and "No kernel" not in tip
    assert "does not flush" not in tip, "cold flushes"
    feed(panel, unflushed(cold))
    assert (
        "warm does not flush the caches, and Q, K, V and O, 5.0 MiB, fit the L2 of 60.0 MiB" in panel.kernel.toolTip()
    )
    large = of_problem(problem=Problem(65536, 65536, 128))
    feed(panel, unflushed(large))
    assert "does not flush" not in panel.kernel.toolTip(), "128 MiB do not fit"
    known(panel)
    feed(panel, unflushed(large))
    assert "may fit the L2" in panel.kernel.toolTip(), "its size is not known"


def test_the_block_protocol_s_figure_is_the_average_of_its_block(panel: RooflinePanel) -> None:
    known(panel)
    record = of_problem()
    measured = []
    for m in record.measured:
        latency = replace(m.measurement.latency, protocol="block", block_average_us=500.0, flush_bytes=0)
        measured.append(Measured(replace(m.measurement, latency=latency)))
    feed(panel, replace(record, measured=tuple(measured)))
    assert f"in 500 µs (block) · {500 / (FLOPS / 51e12 * 1e6):.3g}× its floor" in lines(panel)
    assert panel.view.now.getData()[1][1] == pytest.approx(log10(FLOPS / 500.0 / 1e6))


def test_what_kept_the_device_from_its_best_stands_beside_the_ceilings(panel: RooflinePanel) -> None:
    power = "bf16: throttled by power: SwPowerCap in 93% of the timed readings, up to 700 W of 700 W"
    watched = replace(CEILINGS, power_limit_w=700.0, warnings=(power,), labels=("bf16: throttled by power",))
    grow(panel, CeilingsMeasured(watched))
    feed(panel, of_problem())
    assert power in lines(panel) and power in panel.about.toolTip()
    assert notes_texts(watched) == (power, "bf16: throttled by power", "1 warning"), "in ever fewer words"
    assert "ceilings of Test GPU at 700 W" in lines(panel)
    grow(panel, CeilingsMeasured(replace(watched, warnings=())))
    panel.tick()
    assert "warning" not in lines(panel) and "throttled" not in lines(panel)


def test_ceilings_that_nobody_watched_say_so(panel: RooflinePanel) -> None:
    known(panel)
    feed(panel, of_problem())
    assert "whether the device was throttled or shared while they were measured is not known" in lines(panel)


def test_ceilings_at_another_power_limit_are_measured_anew(panel: RooflinePanel) -> None:
    grow(panel, Ready(GPU, (), (), replace(CEILINGS, power_limit_w=700.0)))
    record = of_problem()
    feed(panel, replace(record, started=replace(record.started, provenance=Provenance(power_limit_w=500.0))))
    assert not panel.stack.shows_plots and panel.stack.card.button.text() == MEASURE
    feed(panel, replace(record, started=replace(record.started, provenance=Provenance(power_limit_w=700.0))))
    assert panel.stack.shows_plots


def unflushed(record: RunRecord) -> RunRecord:
    """The same run under `warm`."""
    measured = (
        replace(m.measurement, latency=replace(m.measurement.latency, protocol="warm", flush_bytes=0))
        for m in record.measured
    )
    return replace(record, measured=tuple(map(Measured, measured)))


def test_earlier_runs_of_the_device_are_muted_and_wrong_ones_have_no_speed(panel: RooflinePanel) -> None:
    known(panel)
    shown = of_problem(4)
    records = [
        of_problem(1, 600),
        of_problem(2, 100, passed=False),
        of_problem(3, 500, device=replace(GPU, name="Another GPU")),
        shown,
    ]
    panel.set_history(records)
    feed(panel, shown)
    assert [point.run for point in panel.view.points] == ["run 1", "", ""]
    brushes = [spot.brush().color().alpha() for spot in panel.view.earlier.points()]
    assert brushes and all(alpha < 200 for alpha in brushes)
    feed(panel, of_problem(5, 100, passed=False))
    assert "FAIL: a wrong output has no speed" in lines(panel)
    assert [point.role for point in panel.view.points if not point.run] == ["baseline"]


def test_an_output_that_changed_has_no_speed(panel: RooflinePanel) -> None:
    known(panel)
    record = of_problem()
    changed = replace(record.rechecked[0], failed=True, text="changed while timing: suspect a race")
    feed(panel, replace(record, rechecked=(changed,)))
    assert "FAIL" in lines(panel)
    assert [point.role for point in panel.view.points] == ["baseline"]


def test_without_ceilings_a_button_asks_for_them(panel: RooflinePanel, qtbot: QtBot) -> None:
    grow(panel, Ready(GPU, (), ()))
    feed(panel, of_problem())
    button = panel.stack.card.button
    assert not panel.stack.shows_plots and button.isVisible() and button.text() == MEASURE
    with qtbot.waitSignal(panel.commandRequested, check_params_cb=lambda name: name == "ceilings"):
        button.click()
    panel.show_measuring(True, Progress("measuring the device's ceilings: fp16", 3, 5))
    panel.tick()
    assert "ceilings: fp16 (3 of 5 done)" in panel.stack.card.label.text()
    assert not button.isVisible()
    grow(panel, CeilingsMeasured(CEILINGS))
    panel.show_measuring(False)
    panel.tick()
    assert panel.stack.shows_plots and panel.again.isVisible()


def test_the_interpreter_says_why_there_is_none(panel: RooflinePanel) -> None:
    grow(panel, Ready(INTERPRETER, (), ()))
    feed(panel, of_problem(device=INTERPRETER))
    assert "the interpreter has no GPU" in panel.stack.card.label.text()
    assert not panel.stack.card.button.isVisible()


def test_a_recording_of_another_gpu_has_its_points_and_its_kept_ceilings(panel: RooflinePanel) -> None:
    grow(panel, Ready(INTERPRETER, (), ()))
    elsewhere = replace(GPU, name="Far GPU")
    feed(panel, of_problem(device=elsewhere))
    assert panel.stack.shows_plots and len(panel.view.points) == 2
    assert "The ceilings of Far GPU are not kept on this machine" in lines(panel)
    assert not panel.again.isVisible() and not panel.view.slope.isVisible()
    save_ceilings(CEILINGS)
    feed(panel, of_problem())
    assert panel.view.slope.isVisible()
    assert "ceilings of Test GPU" in lines(panel)


def test_a_recording_brings_its_ceilings_with_it(panel: RooflinePanel) -> None:
    grow(panel, Ready(INTERPRETER, (), ()))
    record = of_problem()
    feed(panel, replace(record, started=replace(record.started, ceilings=CEILINGS)))
    assert panel.view.slope.isVisible() and "ceilings of Test GPU" in lines(panel)
    feed(panel, of_problem(2))
    assert not panel.view.slope.isVisible(), "they are those of that run"


def test_a_failed_run_and_none_at_all_leave_the_ceilings(panel: RooflinePanel) -> None:
    panel.tick()
    assert "Press Run (F5)" in panel.stack.card.label.text()
    known(panel)
    panel.tick()
    assert panel.stack.shows_plots and panel.view.slope.isVisible() and panel.view.points == []
    feed(panel, make_record(1, failure=Failed("compile", "no")))
    assert "not timed" in lines(panel)


def test_hover_names_the_run(panel: RooflinePanel) -> None:
    known(panel)
    feed(panel, of_problem())
    QApplication.processEvents()
    point = panel.view.points[-1]
    place = panel.view.plot.vb.mapViewToScene(QPointF(log10(point.intensity), log10(point.tflops)))
    text = " ".join(panel.hover_lines(place))
    assert "split_kv" in text and "TFLOP/s" in text and "cold protocol" in text and "flop per byte" in text
    assert panel.hover_lines(QPointF(-100, -100)) == []


def test_theme_can_change_under_a_run(panel: RooflinePanel) -> None:
    known(panel)
    feed(panel, of_problem())
    light = load_theme("light")
    panel.apply_theme(light)
    panel.tick()
    assert panel.view.now.points()[1].brush().color().name() == light.kernel


def test_earlier_runs_are_read_some_at_a_time_until_all_are_there() -> None:
    records = [replace(make_record(number, launches=5), run_id=number) for number in range(1, 8)]
    earlier, counts = EarlierPoints(), list[int]()
    while not counts or earlier.waits:
        counts.append(len(earlier.of(records, None, "Test GPU", seconds=-1.0)))
    assert counts == list(range(1, 8)) or counts == [*range(1, 8), 7]
    assert [point.run for point in earlier.of(records, None, "Test GPU")] == [f"run {number}" for number in range(1, 8)]
