"""The headline: wrong before fast, no ratio where there is none, and nothing that overflows."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QApplication, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.patience import LIMIT_MS
from tests.samples import GPU, INTERPRETER, from_recording, make_record, recorded_state
from tests.ui.growing import grow
from workbench.analysis.metrics import comparable_ratio
from workbench.analysis.numbers import error_text, format_time
from workbench.run.device_state import DeviceWarning
from workbench.run.environment import Provenance
from workbench.run.events import Comparison, DeviceState, Failed, Finished, Measured, Progress, Ready, Samples
from workbench.run.measurement import ROLES, Ending, Role
from workbench.run.protocols import PROTOCOLS, protocol_of
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.stats.modes import Modes
from workbench.stats.summary import Drift, Interval, Ratio
from workbench.ui.headline.strip import Headline
from workbench.ui.runs.time_cells import ratio_cell
from workbench.ui.text.elided import Badge, Block, ElidedLabel
from workbench.ui.theme import load_theme
from workbench.words.remarks import remarks_of

DARK = load_theme("dark")


@pytest.fixture
def headline(qtbot: QtBot) -> Headline:
    widget = Headline(DARK)
    qtbot.addWidget(widget)
    widget.resize(1000, widget.height())
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def shown(headline: Headline) -> dict[str, QColor]:
    """Visible texts from left to right, captions before their values, with their colours."""
    headline.tick()
    return {label.text(): label.color() for label in headline.findChildren(ElidedLabel) if label.isVisible()}


def replay(headline: Headline, record: RunRecord) -> None:
    headline.show_run(record)
    headline.tick()


def test_idle_names_the_device_once_it_is_known(headline: Headline) -> None:
    assert "starting the engine" in headline.text()
    grow(headline, Ready(INTERPRETER, (), ()))
    assert "Test CPU" in headline.text()
    assert "interpreter, not GPU time" in headline.text()


def test_running_says_the_phase_and_counts(qtbot: QtBot, headline: Headline) -> None:
    grow(headline, make_record().started)
    grow(headline, Progress("compiling"))
    assert "compiling" in headline.text()
    assert "article 16×16, 128 × 512 × 64" in headline.text()
    before = headline.text()
    qtbot.waitUntil(lambda: headline.text() != before, timeout=LIMIT_MS)  # the clock goes on without events
    grow(headline, Progress("timing", 20, 100))
    assert "timing 20 of 100" in headline.text()
    grow(headline, Finished(1.0))
    assert "timing" not in headline.text()


def test_timing_in_turns_counts_seconds_and_launches(headline: Headline) -> None:
    grow(headline, make_record(1, protocol="warm").started)
    grow(headline, Progress("timing kernel and baseline in turns: warm", 0, 20_000, "ms"))
    assert headline.text().startswith(
        "article 16×16, 128 × 512 × 64, seed 1 timing kernel and baseline in turns: warm, 0.0 of 20 s"
    )
    for role in ROLES:
        grow(headline, Samples(role, np.ones(4)))
    grow(headline, Progress("timing kernel and baseline in turns: warm", 7608, 20_000, "ms"))
    assert "in turns: warm, 7.6 of 20 s, 4 launches each" in headline.text()
    grow(headline, Samples("kernel", np.ones(1)))
    grow(headline, Progress("timing kernel and baseline in turns: warm", 7700, 20_000, "ms"))
    assert "5 launches of kernel and 4 launches of SDPA" in headline.text()


def test_a_recording_without_an_end_does_not_count(headline: Headline) -> None:
    headline.show_run(from_recording(RunRecord(1, make_record().started), "a"))
    assert not headline._clock.isActive()
    grow(headline, make_record().started)
    assert headline._clock.isActive()


@pytest.mark.parametrize(
    ("kernel_us", "baseline_us", "faster"),
    [(380.0, 190.0, "slower than SDPA"), (95.0, 190.0, "faster than SDPA"), (190.0, 190.0, "level with SDPA")],
)
def test_done_shows_times_ratio_and_error(
    headline: Headline, kernel_us: float, baseline_us: float, faster: str
) -> None:
    record = make_record(2, Problem(64, 128, 32), TileConfig(32, 16), kernel_us, baseline_us)
    replay(headline, record)
    texts = shown(headline)
    assert any(faster in text for text in texts)
    assert any("tolerance 0.002" in text for text in texts)
    assert any(text.endswith(", passed") for text in texts)
    error = error_text(record.checked[0].error.rel_fro)
    assert f"{error} of the output" in texts
    assert "article 32×16, 64 × 128 × 32" in texts
    assert "SDPA efficient" in texts
    kernel, baseline = (next(t for t, c in texts.items() if c == DARK.color(role)) for role in ("kernel", "baseline"))
    assert kernel.endswith("µs") and baseline.endswith("µs")


def test_the_problem_says_its_heads_dtype_and_mask(headline: Headline) -> None:
    problem = Problem(16, 32, 8, batch=2, heads=4, kv_heads=2, dtype="bf16", causal=True)
    record = make_record(1, problem)
    grow(headline, record.started)
    assert "16 × 32 × 8, 2 × 4 / 2 KV heads, bf16, causal" in headline.text()
    replay(headline, record)
    assert "article 16×16, 16 × 32 × 8, 2 × 4 / 2 KV heads, bf16, causal" in shown(headline)


def test_the_kernel_has_its_precision_and_the_splits_that_were_made(headline: Headline) -> None:
    record = make_record(1)
    made = replace(record.measured[0].measurement, precision="bf16x3", tile=TileConfig(64, 32, splits=4))
    replay(headline, replace(record, measured=(replace(record.measured[0], measurement=made), record.measured[1])))
    assert "article bf16x3 64×32, 4 splits, 128 × 512 × 64, seed 1" in shown(headline)


def test_another_attention_is_called_by_its_name(headline: Headline) -> None:
    record = make_record(1, kernel_us=380.0, baseline_us=190.0)
    flex = replace(record.measured[1].measurement, backend="flex")
    replay(headline, replace(record, measured=(record.measured[0], replace(record.measured[1], measurement=flex))))
    texts = shown(headline)
    assert "FlexAttention" in texts
    assert any(text.endswith("slower than FlexAttention") for text in texts)


def launching(record: RunRecord, *roles: Role) -> RunRecord:
    """`record` in which a launch of `roles` takes the GPU half of its time."""
    measured = []
    for event in record.measured:
        latency = event.measurement.latency
        share = 0.5 if event.measurement.role in roles else 0.95
        known = replace(latency, launched_us=latency.figure_us, kernel_us=share * latency.figure_us)
        measured.append(Measured(replace(event.measurement, latency=known)))
    return replace(record, measured=tuple(measured))


@pytest.mark.parametrize("roles", [("kernel",), ("baseline",), ROLES], ids="+".join)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_verdict_stands_beside_the_caveat_that_takes_it_back(
    headline: Headline, roles: tuple[Role, ...], protocol: str
) -> None:
    """Only an average holds launch cost; the medians of the others are of the kernels."""
    record = launching(make_record(1, protocol=protocol, kernel_us=70, baseline_us=55), *roles)
    replay(headline, record)
    text = headline.text()
    if protocol_of(protocol).figure == "average":
        assert "launch-bound: no verdict" in text and "slower" not in text and "faster" not in text
        assert "on the GPU alone: kernel " in text
        assert comparable_ratio(record) is None and ratio_cell(record).text == "n/a"
    else:
        assert "slower" in text and "no verdict" not in text


def test_without_rounds_the_factor_has_an_interval_that_is_not_paired(headline: Headline) -> None:
    replay(headline, make_record(3, kernel_us=380.0, baseline_us=190.0))
    kind = "95% interval, not paired "
    label = next(label for label in headline.findChildren(ElidedLabel) if label.text().startswith(kind))
    low, high = (float(x) for x in label.text().removeprefix(kind).removesuffix("×").split("–"))
    assert 1.8 < low < high < 2.2
    ratio = next(label for label in headline.findChildren(ElidedLabel) if label.text().endswith("slower than SDPA"))
    assert "not timed in turns, so that a drift between the two is not cancelled" in ratio.toolTip()
    assert "SDPA / kernel 0.5" in ratio.toolTip()


@pytest.mark.usefixtures("styled")
def test_two_intervals_that_overlap_are_level_under_block(headline: Headline) -> None:
    record = make_record(1, kernel_us=100.0, baseline_us=101.6)
    known = of_half(of_half(record, "kernel", 0.016, "fixed"), "baseline", 0.011, "fixed")
    replay(headline, known)
    texts = shown(headline)
    settle(headline, 700)
    seen = [label.shown_text() for label in headline.findChildren(ElidedLabel) if label.isVisible()]
    assert any(re.fullmatch(r"[\d.]+–[\d.]+× not paired", text) for text in seen), "its bounds are not cut"
    assert texts["level with SDPA"] == DARK.color("text") and "faster" not in headline.text()
    replay(headline, of_half(of_half(record, "kernel", 0.005, "fixed"), "baseline", 0.005, "fixed"))
    assert shown(headline)["1.6% faster than SDPA"] == DARK.color("good")


def test_without_an_interval_of_either_nothing_is_faster_nor_level(headline: Headline) -> None:
    replay(headline, of_half(make_record(1, kernel_us=100.0, baseline_us=200.0), "baseline", None, "fixed"))
    texts = shown(headline)
    assert texts["no interval"] == DARK.color("text") and "too few launches for an interval" in texts
    assert "faster" not in headline.text() and "level" not in headline.text()


def test_inputs_and_seed_are_said_where_they_are_not_the_plain_ones(headline: Headline) -> None:
    replay(headline, make_record(1, Problem(16, 32, 8, seed=7, inputs="zeros")))
    assert "article 16×16, 16 × 32 × 8, zeros inputs, seed 7" in shown(headline)
    replay(headline, make_record(1, Problem(16, 32, 8)))
    assert "article 16×16, 16 × 32 × 8" in shown(headline)


@pytest.mark.parametrize(("rtol", "tolerance"), [(2e-3, "over 2.0e-3"), (1e-2, "rtol 0.01, atol 0.002")])
@pytest.mark.usefixtures("styled")
def test_a_wrong_headline_says_its_tolerance_at_any_width(headline: Headline, rtol: float, tolerance: str) -> None:
    record = make_record(4, passed=False)
    error = replace(record.checked[0].error, rtol=rtol)
    record = replace(record, checked=(replace(record.checked[0], error=error), record.checked[1]))
    replay(headline, record)
    settle(headline, 620)
    seen = [label.shown_text() for label in headline.findChildren(ElidedLabel) if label.isVisible()]
    assert any("WRONG: " in text and "e-2" in text for text in seen)
    assert any(tolerance in text for text in seen), seen


def test_wrong_is_first_and_there_is_no_ratio(headline: Headline) -> None:
    record = make_record(4, kernel_us=50.0, passed=False)
    grow(headline, record.started)
    grow(headline, record.checked[0])  # before anything is timed
    assert "WRONG: max error" in headline.text()
    replay(headline, record)
    texts = shown(headline)
    values = [text for text in texts if "WRONG" in text or text.endswith("µs")]
    assert values[0].startswith("WRONG: max error") and values[0].endswith("over tolerance 0.002")
    assert texts[values[0]] == DARK.color("bad")
    assert "SDPA." not in headline.text() and "faster" not in headline.text()
    assert DARK.color("kernel") not in texts.values()


def test_not_finite_is_said_instead_of_a_number(headline: Headline) -> None:
    record = make_record(4, passed=False)
    error = replace(record.checked[0].error, non_finite=3, max_abs=float("nan"))
    grow(headline, record.started)
    grow(headline, replace(record.checked[0], error=error))
    assert "WRONG: 3 values are NaN or infinite" in headline.text()


def test_wrong_outlives_a_later_failure(headline: Headline) -> None:
    record = make_record(4, passed=False)
    grow(headline, record.started)
    grow(headline, record.checked[0])
    grow(headline, Failed("timeout", "silent"))
    assert "WRONG" in headline.text()
    assert "took too long" in headline.text()


def test_no_ratio_against_a_wrong_sdpa(headline: Headline) -> None:
    record = make_record(5)
    baseline = record.measured[1].measurement
    bad = replace(baseline, error=replace(baseline.error, passed=False))
    replay(headline, replace(record, measured=(record.measured[0], replace(record.measured[1], measurement=bad))))
    assert "SDPA efficient, WRONG" in headline.text()
    assert "than SDPA" not in headline.text()


def test_interpreter_shows_no_ratio_but_says_what_its_times_are(headline: Headline) -> None:
    replay(headline, make_record(6, device=INTERPRETER))
    assert shown(headline)["interpreter, not GPU time"] == DARK.color("warn")
    assert "than SDPA" not in headline.text()


def test_failure_says_kind_message_and_remedy(headline: Headline) -> None:
    failed = Failed("resources", "458752 B needed, 232448 B allowed", "fewer stages", resource="shared memory")
    replay(headline, make_record(7, failure=failed))
    texts = shown(headline)
    assert texts["out of shared memory"] == DARK.color("bad")
    assert failed.message in texts
    assert "Try: fewer stages" in texts
    replay(headline, make_record(7, failure=replace(failed, remedy="Try a smaller tile.")))
    assert "Try a smaller tile." in shown(headline)


def test_a_new_run_forgets_the_last(headline: Headline) -> None:
    replay(headline, make_record(8, passed=False))
    grow(headline, make_record(9).started)
    assert "WRONG" not in headline.text()
    assert "µs" not in headline.text()


def test_badge_names_the_recording_and_goes(headline: Headline) -> None:
    badge = headline.findChild(Badge)
    assert badge is not None and not badge.isVisible()
    replay(headline, from_recording(make_record(), "h200"))
    assert badge.isVisible()
    assert badge.toolTip() == "recording: h200, Test GPU, 2026-01-31"
    replay(headline, make_record())
    assert not badge.isVisible()


WIDE = Problem(1024, 16, 2048)  # nearly as long in words as common shapes, and quick to make
LONG = Failed("died", "the engine ended with signal 6\n" + "LLVM ERROR: Cannot select " * 30, "run again " * 40)


@pytest.mark.parametrize(
    "record",
    [
        make_record(1, WIDE, kernel_us=762.6),
        make_record(2, WIDE, passed=False),
        make_record(3, failure=LONG),
    ],
    ids=["done", "wrong", "failed"],
)
def test_nothing_overflows_a_window_of_1000_px(qtbot: QtBot, record: RunRecord) -> None:
    tabs = QTabWidget()  # any parent that does not give way
    qtbot.addWidget(tabs)
    host = QWidget(tabs)
    headline = Headline(DARK, host)
    replay(headline, from_recording(record, "a-long-name-of-a-recording-made-on-an-NVIDIA-H200"))
    headline.setGeometry(0, 0, 1000, headline.height())
    tabs.show()
    host.show()
    assert headline.minimumSizeHint().width() <= 1000
    labels = [label for label in headline.findChildren(ElidedLabel) if not label.isHidden()]
    for label in labels:
        right = label.mapTo(headline, label.rect().topRight()).x()
        assert right <= 1000
        assert label.fontMetrics().horizontalAdvance(label.shown_text()) <= label.width()
        assert "\n" not in label.text()
    assert next(label for label in labels if label.text().startswith(("762", "77", "WRONG", "engine died")))


def test_theme_recolours_what_is_shown(headline: Headline) -> None:
    replay(headline, make_record(1))
    light = load_theme("light")
    headline.apply_theme(light)
    assert light.color("kernel") in shown(headline).values()
    assert DARK.color("kernel") not in shown(headline).values()


def test_gpu_ready_after_a_run_leaves_the_result(headline: Headline) -> None:
    replay(headline, make_record(1))
    before = headline.text()
    grow(headline, Ready(GPU, (), ()))
    assert headline.text() == before


def whole(record: RunRecord) -> RunRecord:
    """`record` with where its kernel's source came from, as runs have it today."""
    provenance = Provenance("kernels/article.py", "0123abcd", "f" * 64, 700.0)
    return replace(record, started=replace(record.started, provenance=provenance))


def findings(headline: Headline) -> list[str]:
    """The chips, less the one for what a made-up run does not keep."""
    return [text for text in headline.chips.texts() if not text.startswith("not recorded")]


def of_latency(record: RunRecord, role: Role = "kernel", **changes: object) -> RunRecord:
    """`record` with other findings about the times of `role`."""
    measured = [
        Measured(replace(m.measurement, latency=replace(m.measurement.latency, **changes)))  # type: ignore[arg-type]
        if m.measurement.role == role
        else m
        for m in record.measured
    ]
    return replace(record, measured=tuple(measured))


def test_the_protocol_and_the_interval_of_the_median_are_on_the_headline(headline: Headline) -> None:
    record = of_latency(make_record(1, kernel_us=380.0, protocol="cold"), interval=Interval(379.0, 391.0))
    replay(headline, record)
    texts = shown(headline)
    assert "cold: median" in texts
    assert "379–391 µs" in texts
    interval = next(text for text in texts if text.startswith("95% interval "))
    low, high = (float(x) for x in interval.removeprefix("95% interval ").removesuffix("×").split("–"))
    assert 1.9 < low < high < 2.1  # of paired rounds, in the sense of "slower"


def test_live_the_protocol_is_said_from_the_start(headline: Headline) -> None:
    grow(headline, make_record(1, protocol="warm").started)
    assert "warm protocol" in headline.text()


def test_under_block_the_time_is_the_average_and_says_so(headline: Headline) -> None:
    record = of_latency(make_record(1, kernel_us=380.0), block_average_us=371.25)
    replay(headline, record)
    texts = shown(headline)
    assert "371.2 µs" in texts and texts["371.2 µs"] == DARK.color("kernel")
    assert headline.protocol.text() == "block: average of 50 launches"
    time = next(label for label in headline.findChildren(ElidedLabel) if label.text() == "371.2 µs")
    assert "block: average of 50 launches in one unbroken block" in time.toolTip()
    assert f"single launches: median {format_time(record.measured[0].measurement.latency.median)}" in time.toolTip()


def test_averages_of_other_numbers_of_launches_are_told_apart(headline: Headline) -> None:
    replay(headline, of_latency(make_record(1), "baseline", launches=20))
    assert headline.protocol.text() == "block: average of 50 launches, SDPA average of 20 launches"


def test_by_the_hosts_clock_there_is_no_block_and_there_are_no_events(headline: Headline) -> None:
    for protocol in ("block", "warm"):
        replay(headline, make_record(1, device=INTERPRETER, protocol=protocol))
        tips = [label.toolTip() for label in headline.findChildren(ElidedLabel) if label.isVisible()]
        assert any("host's clock" in tip for tip in tips)
        assert not any("unbroken block" in tip or "CUDA events" in tip for tip in tips)


def of_half(record: RunRecord, role: Role, half: float | None, ended_by: Ending) -> RunRecord:
    """`record` in which the median of `role` is known to `half`, None for not at all."""
    latency = next(m.measurement.latency for m in record.measured if m.measurement.role == role)
    if half is None:
        return of_latency(record, role, samples=latency.samples[:3], interval=None, ended_by=ended_by)
    interval = Interval(latency.median * (1 - half), latency.median * (1 + half))
    return of_latency(record, role, interval=interval, ended_by=ended_by)


@pytest.mark.parametrize(
    ("ended_by", "half", "words"),
    [
        ("precision", 0.006, "kernel ±0.6%, SDPA ±0.2% after 0.3 s"),
        ("time", 0.023, "limit of 5 s: kernel ±2.3%, SDPA ±0.2%"),
        ("samples", None, "limit of 20,000 samples: kernel without an interval, SDPA ±0.2%"),
        ("fixed", 0.0003, "kernel ±0.03%, SDPA ±0.2%"),
    ],
)
def test_how_the_timing_ended_is_said(headline: Headline, ended_by: Ending, half: float | None, words: str) -> None:
    record = make_record(1, protocol="cold", device_state=recorded_state("steady"))
    replay(headline, of_half(of_half(record, "kernel", half, ended_by), "baseline", 0.002, ended_by))
    assert headline.ending.text() == words
    assert "kernel: median; " in headline.ending.toolTip() and "SDPA: median; " in headline.ending.toolTip()


@pytest.mark.parametrize(
    ("kernel", "baseline", "least"), [(0.001, 1.58, "SDPA ±158%"), (None, 1.58, "kernel without an interval")]
)
def test_where_there_is_room_for_one_the_least_known_is_said_with_whose_it_is(
    headline: Headline, kernel: float | None, baseline: float, least: str
) -> None:
    record = make_record(1, protocol="warm")
    replay(headline, of_half(of_half(record, "kernel", kernel, "time"), "baseline", baseline, "time"))
    assert headline.ending.shown_text() == headline.ending.text()
    whole = headline.ending.fontMetrics().horizontalAdvance(headline.ending.text())
    headline.ending.resize(whole - 5, headline.ending.height())
    assert headline.ending.shown_text() == f"limit of 5 s: {least}"


def test_an_old_recording_has_the_intervals_of_its_samples_and_says_what_it_lacks(headline: Headline) -> None:
    record = make_record(1, launches=20)
    replay(headline, of_latency(of_latency(record, interval=None), "baseline", interval=None))
    assert "too few" not in headline.text()
    halves = re.findall(r"(?<=[±+−])[\d.]+(?=%)", headline.ending.text())
    assert len(halves) >= 2 and all(0 < float(half) < 5 for half in halves)
    missing = "not recorded: device state, source, recheck"
    assert headline.chips.texts() == (missing,)
    assert "not recorded: clocks, power" in headline.chips.shown()[0].toolTip()


def test_a_run_that_kept_everything_lacks_nothing(headline: Headline) -> None:
    record = whole(make_record(1, protocol="cold", device_state=recorded_state("steady")))
    replay(headline, record)
    assert headline.chips.texts() == ()


def test_level_is_said_where_the_interval_contains_1(headline: Headline) -> None:
    record = make_record(1, kernel_us=100.0, baseline_us=101.0, protocol="cold")
    replay(headline, replace(record, comparison=Comparison(Ratio(1.01, 0.99, 1.03))))
    assert "level with SDPA" in shown(headline)
    replay(headline, replace(record, comparison=Comparison(Ratio(1.01, 1.005, 1.015))))
    assert "1% faster than SDPA" in shown(headline)
    replay(headline, replace(record, comparison=Comparison(Ratio(1.5, 0.0, float("inf")))))
    assert "no interval" in shown(headline) and "level" not in headline.text()
    assert "inf" not in headline.text()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("throttled", ["clocks not steady", "throttled by power"]),
        ("unsteady", ["clocks not steady"]),
        ("shared", ["another process uses this GPU"]),
        ("steady", []),
    ],
)
def test_what_the_device_did_is_a_chip_with_its_sentence(headline: Headline, name: str, words: list[str]) -> None:
    state = recorded_state(name)
    grow(headline, make_record(1, protocol="cold").started)
    grow(headline, state)  # live, before anything is measured
    headline.tick()
    assert list(headline.chips.texts()) == words
    assert [chip.toolTip() for chip in headline.chips.shown()] == [warning.text for warning in state.warnings]
    assert all(chip.color() == DARK.color("warn") for chip in headline.chips.shown())


def test_zeros_flatter_once(headline: Headline) -> None:
    replay(headline, make_record(1, Problem(16, 32, 8, inputs="zeros")))
    assert findings(headline) == ["zeros flatter"]
    zeros = DeviceWarning("inputs", "inputs are zeros: they flatter", "zeros flatter")
    warned = DeviceState(recorded_state("steady").readings, (zeros,))
    replay(headline, make_record(1, Problem(16, 32, 8, inputs="zeros"), device_state=warned))
    assert findings(headline) == ["zeros flatter"]


def test_constant_inputs_flatter_as_zeros_do(headline: Headline) -> None:
    replay(headline, make_record(1, Problem(16, 32, 8, inputs="constant")))
    assert findings(headline) == ["constant inputs flatter"]


def test_what_may_hold_launch_cost_is_a_chip_with_whose_it_is(headline: Headline) -> None:
    record = of_latency(make_record(1, protocol="warm"), "baseline", late_samples=12)
    replay(headline, of_latency(record, lost_sessions=2))
    assert findings(headline) == [
        "2 of the profiler's sessions lost records and were repeated",
        "SDPA 12 of 50 samples may hold launch cost",
    ]
    headline.resize(1800, headline.height())
    assert "SDPA: 12 of 50 samples may hold launch cost: the GPU reached them" in headline.chips.shown()[1].toolTip()


def test_launch_bound_modes_and_drift_are_chips(headline: Headline) -> None:
    record = make_record(1, kernel_us=14.7, protocol="warm")
    record = of_latency(record, kernel_us=5.1, launched_us=14.9, kernel_names=("attention_kernel",), drift=Drift(0.02))
    record = of_latency(record, "baseline", modes=Modes((383.6, 389.6), (0.82, 0.18)))
    headline.resize(1600, headline.height())
    replay(headline, record)
    bound = "launch-bound when launched one by one: 5.1 µs of 14.9 µs is the kernel"
    modes = "SDPA two modes: 383.6 µs (82%) and 389.6 µs (18%)"
    assert findings(headline) == [bound, "drifting by +2.0%", modes]
    assert "attention_kernel" in headline.chips.shown()[0].toolTip()


def test_changed_while_timing_is_first_and_there_is_no_ratio(headline: Headline) -> None:
    record = make_record(1, kernel_us=50.0, protocol="cold")
    text = "changed while timing: suspect a race"
    changed = replace(record.rechecked[0], failed=True, max_abs_after=0.02, bits_equal=False, text=text)
    replay(headline, replace(record, rechecked=(changed, record.rechecked[1])))
    texts = shown(headline)
    first = next(label for label in texts if label == "CHANGED while timing: suspect a race")
    assert texts[first] == DARK.color("bad")
    values = [text for text in texts if text == first or text.endswith("µs")]
    assert values[0] == first
    assert "than SDPA" not in headline.text()
    assert "2.0e-2 after timing" in texts and "passed" not in headline.text()
    assert DARK.color("kernel") not in texts.values()


def test_changes_of_the_baseline_are_named_and_not_deterministic_is_no_failure(headline: Headline) -> None:
    record = make_record(1, protocol="cold")
    ours, theirs = record.rechecked
    replay(headline, replace(record, rechecked=(ours, replace(theirs, failed=True, text="it changed"))))
    assert "SDPA CHANGED while timing: suspect a race" in headline.text()
    replay(
        headline, replace(record, rechecked=(replace(ours, deterministic=False, text="two launches differ"), theirs))
    )
    assert findings(headline) == ["not deterministic"]
    assert "CHANGED" not in headline.text() and "passed" in headline.text()


@pytest.mark.parametrize(
    ("changes", "chips"),
    [
        ({}, []),
        ({"bits_equal": False, "deterministic": False}, ["not deterministic"]),
        ({"deterministic": False}, ["not deterministic"]),
        ({"bits_equal": False, "deterministic": None}, ["other bits after timing", "determinism not known"]),
        ({"deterministic": None}, ["determinism not known"]),
        ({"bits_equal": False, "failed": True}, []),
    ],
)
def test_whether_bits_stayed_the_same_is_a_chip_and_other_bits_are_no_failure(
    headline: Headline, changes: dict[str, Any], chips: list[str]
) -> None:
    record = make_record(1, protocol="cold")
    ours, theirs = record.rechecked
    failed = bool(changes.get("failed"))
    replay(headline, replace(record, rechecked=(replace(ours, text="what was found", **changes), theirs)))
    assert findings(headline) == chips
    assert ("CHANGED" in headline.text()) is failed and ("passed" in headline.text()) is not failed
    assert "what was found" in headline.protocol.toolTip()
    replay(headline, replace(record, rechecked=(ours, replace(theirs, **changes))))
    assert findings(headline) == [f"SDPA {chip}" for chip in chips]


def test_what_nobody_tried_is_a_quiet_chip_with_its_sentences(headline: Headline) -> None:
    record = make_record(1, protocol="cold")
    untried = tuple(replace(again, deterministic=None) for again in record.rechecked)
    both = remarks_of(replace(record, rechecked=untried))
    (chip,) = (c for c in both if c.text == "kernel and SDPA: determinism not known")
    sentence = "not launched again: whether two launches on equal inputs give the same bits is not known"
    assert (chip.tone, chip.tooltip) == ("muted", f"kernel: {sentence}\nSDPA: {sentence}")
    stopped = replace(record, rechecked=(), end=Failed("cancelled", "Stopped."))
    (chip,) = (c for c in remarks_of(stopped) if c.text == "kernel and SDPA: not checked again")
    assert chip.tone == "muted" and chip.tooltip.count("not checked again after timing") == 2
    for measured, text in zip(record.measured, ("not checked again", "SDPA not checked again"), strict=True):
        assert [c.text for c in remarks_of(replace(stopped, measured=(measured,))) if "again" in c.text] == [text]


def test_a_note_is_whole_or_short_but_never_cut(qtbot: QtBot, headline: Headline) -> None:
    record = make_record(1, WIDE, kernel_us=762.6, protocol="cold", device_state=recorded_state("throttled"))
    replay(headline, record)
    for width in (1400, 1000, 900):
        headline.resize(width, headline.height())
        for note in (headline.ending, *(block.note for block in headline.findChildren(Block))):
            if note.isVisible():
                assert note.shown_text() in (note.text(), "") or note.shown_text().startswith("±")


def settle(headline: Headline, width: int) -> None:
    """Give the headline its width, and its layouts the turns of the event loop that they take."""
    headline.resize(width, headline.height())
    for _ in range(3):
        QApplication.processEvents()


def cut(headline: Headline) -> list[str]:
    """What of the headline ends in an ellipsis."""
    labels = (label for label in headline.findChildren(ElidedLabel) if label.isVisible())
    return [label.text() for label in labels if label.shown_text().endswith("…")]


NAME = "h200-article-shapes"
SOURCE = f"recording: {NAME}, Test GPU, 2026-01-31"


@pytest.mark.parametrize("protocol", ["block", "cold"])
@pytest.mark.parametrize("width", [1216, 1000, 760])
@pytest.mark.usefixtures("styled")
def test_the_headline_becomes_shorter_instead_of_being_cut(headline: Headline, protocol: str, width: int) -> None:
    state = recorded_state("throttled") if protocol == "cold" else None
    record = make_record(1, WIDE, kernel_us=762.6, protocol=protocol, device_state=state)
    ended_by: Ending = "fixed" if protocol == "block" else "precision"
    known = of_half(of_half(record, "kernel", 0.006, ended_by), "baseline", 0.004, ended_by)
    replay(headline, from_recording(known, NAME))
    settle(headline, width)
    assert set(cut(headline)) <= {SOURCE}
    assert headline.protocol.shown_text() == headline.protocol.text()
    assert headline.ending.isVisible() and "±" in headline.ending.shown_text()
    assert headline.chips.shown()
    if width == 1216:  # as in a window of 1440
        assert not cut(headline) and headline.ending.shown_text() == headline.ending.text()
        assert [chip.text() for chip in headline.chips.shown()] == list(headline.chips.texts())


@pytest.mark.usefixtures("styled")
def test_parts_of_the_second_line_never_meet(headline: Headline) -> None:
    record = make_record(1, WIDE, protocol="cold", device_state=recorded_state("throttled"))
    replay(headline, from_recording(of_latency(whole(record), drift=Drift(0.02)), NAME))
    badge = headline.findChild(Badge)
    assert badge is not None
    counts = set()
    for width in range(400, 1300, 25):
        settle(headline, width)
        counts |= {headline.chips.shown()[-1].text()}
        parts = [p for p in (headline.protocol, headline.ending, headline.chips, badge) if p.isVisible()]
        assert parts[0] is headline.protocol
        assert all(a.geometry().right() < b.geometry().left() for a, b in pairwise(parts))
        assert parts[-1].geometry().right() < max(width, headline.minimumWidth())
    # One after the other they give way, and are counted then.
    assert "+2" in counts


def test_errors_have_two_digits_and_none_is_nought() -> None:
    assert [error_text(value) for value in (3.14e-7, 0.05, 0.0)] == ["3.1e-7", "5.0e-2", "0"]


@pytest.mark.usefixtures("styled")
def test_what_is_wrong_is_never_half_a_number_nor_left_out(headline: Headline) -> None:
    record = make_record(4, WIDE, passed=False)
    baseline = record.measured[1].measurement
    bad = replace(baseline, error=replace(baseline.error, passed=False))
    replay(headline, replace(record, measured=(record.measured[0], Measured(bad))))
    settle(headline, 700)
    seen = [label.shown_text() for label in headline.findChildren(ElidedLabel) if label.isVisible()]
    assert any(text.startswith("WRONG: ") and text.endswith(" over 2.0e-3") for text in seen)
    assert any(text in ("SDPA efficient, WRONG", "WRONG") for text in seen)
