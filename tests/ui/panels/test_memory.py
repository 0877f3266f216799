"""The memory panel: sizes against hand counts, the curve over BLOCK_M, and words for only what is known."""

from __future__ import annotations

from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPointF
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kernels import VARIANTS, KernelVariant, TileConfig
from kernels.plain.traffic import WrittenScores
from tests.samples import GPU, INTERPRETER, make_kernel, make_record
from tests.ui.growing import feed, grow
from tests.ui.panels.on_ceilings import CEILINGS, LARGE, open_panel, run_of
from workbench.analysis.numbers import format_time
from workbench.run.device_state import DeviceFacts, DeviceReadings
from workbench.run.environment import DeviceInfo, Provenance
from workbench.run.events import CeilingsMeasured, DeviceState, Failed, Measured, Ready
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.ui.panels.memory.panel import MemoryPanel
from workbench.ui.theme import load_theme

MIB = 2**20
SPECS = {variant.name: variant.spec for variant in VARIANTS} | {
    "few": make_kernel("few", block_ms=(16, 32, 64)).spec,
    "written": make_kernel("written", movement=WrittenScores(), block_ms=(32, 64)).spec,
}


@pytest.fixture
def panel(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MemoryPanel:
    return open_panel(MemoryPanel, (700, 360), qtbot, tmp_path, monkeypatch)


def of_problem(
    problem: Problem = LARGE,
    tile: TileConfig | None = None,
    kernel: str = "article",
    device: DeviceInfo = GPU,
    precision: str = "ieee",
) -> RunRecord:
    """A run of `problem`, without its large arrays, that keeps what was known of its kernel."""
    record = run_of(
        RunRequest(problem, tile or TileConfig(), kernel=kernel, precision=precision, protocol="block"), device
    )
    return replace(record, started=replace(record.started, kernel=SPECS.get(kernel)))


def test_the_article_s_picture_in_numbers(panel: MemoryPanel) -> None:
    feed(panel, of_problem())
    numbers = panel.numbers
    assert numbers is not None and numbers.requested is not None
    assert (numbers.whole.scores, numbers.whole.weights) == (16 * MIB, 16 * MIB)
    assert numbers.least == 5 * MIB
    assert numbers.requested.k_and_v == 64 * 4 * MIB  # 64 blocks of query rows read the 4 MiB of K and V
    text = panel.sentence.text().replace("\u00a0", " ")
    assert "S and P would be 32.0 MiB" in text
    assert "requests 257.0 MiB, 51.4× the 5.0 MiB that must move" in text
    assert "what of it the caches serve is not measured" in text
    sizes = panel.sizes.text().replace("\u00a0", " ")
    assert "S (fp32) 16.0 MiB" in sizes and "P (fp32) 16.0 MiB" in sizes and "together 32.0 MiB" in sizes


def test_the_curve_falls_with_block_m_and_marks_the_present_one(panel: MemoryPanel) -> None:
    feed(panel, of_problem(tile=TileConfig(32, 16), kernel="few"))
    x, y = panel.curve.getData()
    assert x.tolist() == [4, 5, 6]
    assert [2**v / MIB for v in y] == pytest.approx([257, 129, 65])
    sizes = [spot.size() for spot in panel.points.points()]
    assert sizes.index(max(sizes)) == 1
    assert panel.blocks.tickStrings([4.0, 5.0, 6.0], 1.0, 1.0) == ["16", "32", "64"]


def test_units_stand_at_the_axis_and_the_lines(panel: MemoryPanel) -> None:
    feed(panel, of_problem())
    axis = panel.plot.getAxis("left")
    assert axis.tickStrings([10.0, 22.0, 31.0], 1.0, 1.0) == ["1 KiB", "4 MiB", "2 GiB"]
    assert panel.labels.texts() == [
        "least that must move 5.0 MiB",
        "article requests",
        "S and P 32.0 MiB",
        "least with S and P 69.0 MiB",
    ]


def test_what_the_device_copies_in_that_time_needs_its_ceiling(panel: MemoryPanel) -> None:
    record = of_problem()
    grow(panel, Ready(GPU, (), ()))
    feed(panel, record)
    assert "Test GPU copies is not known: Run > Measure ceilings" in panel.sizes.text().replace("\u00a0", " ")
    assert not any("device copies" in text for text in panel.labels.texts())
    grow(panel, CeilingsMeasured(CEILINGS))
    panel.tick()
    assert panel.numbers is not None and panel.numbers.movable is not None
    figure = record.measured[0].measurement.latency.figure_us
    assert panel.numbers.movable == pytest.approx(figure * 1e-6 * 4.25e12)
    (text,) = (text for text in panel.labels.texts() if "device copies 3.0 GiB in" in text)
    assert text.endswith("µs (block)"), "a time says by which protocol it was measured"


def test_more_than_the_memory_could_move_was_served_by_caches(panel: MemoryPanel) -> None:
    grow(panel, CeilingsMeasured(CEILINGS))
    record = of_problem()
    kernel = record.measured[0].measurement
    figure = kernel.latency.figure_us / 25
    latency = replace(kernel.latency, samples=kernel.latency.samples / 30, block_average_us=figure)
    feed(panel, replace(record, measured=(Measured(replace(kernel, latency=latency)),)))
    sentence = panel.sentence.text().replace("\u00a0", " ")
    assert f"in {format_time(figure)} (block): about " in sentence, "the protocol's own figure, with its name"
    assert sentence.endswith(" came from the caches.")


def test_the_interpreter_has_sizes_and_no_device(panel: MemoryPanel) -> None:
    grow(panel, CeilingsMeasured(CEILINGS))
    feed(panel, of_problem(device=INTERPRETER))
    assert panel.stack.shows_plots
    assert panel.numbers is not None and panel.numbers.us is None
    assert "ceilings" not in panel.sizes.text().replace("\u00a0", " ").lower()


def test_a_kernel_that_writes_s_and_p_asks_for_them_again_and_again(panel: MemoryPanel) -> None:
    """Tiles of 32 x 64: S written and read twice is 48 MiB, P 32, Q 64 x 0.5, K and V 32 x 4, O 0.5."""
    feed(panel, of_problem(kernel="written", tile=TileConfig(32, 64)))
    sentence, sizes = (label.text().replace("\u00a0", " ") for label in (panel.sentence, panel.sizes))
    assert "writes S and P, 32.0 MiB, and reads them again: it requests 240.5 MiB, 48.1× the 5.0 MiB" in sentence
    assert "Q 32.0 MiB, K and V 128.0 MiB, O 512.0 KiB, S 48.0 MiB, P 32.0 MiB" in sizes
    assert [2**v / MIB for v in panel.curve.getData()[1]] == pytest.approx([240.5, 176.5])


def test_an_older_run_has_its_curve_once_the_engine_names_its_kernel(panel: MemoryPanel) -> None:
    feed(panel, of_problem(kernel="new"))
    assert panel.numbers is not None and panel.numbers.requested is None
    assert "What new requests of memory is not known" in panel.sentence.text().replace("\u00a0", " ")
    assert panel.curve.getData()[0] is None or len(panel.curve.getData()[0]) == 0
    grow(panel, Ready(GPU, (make_kernel("new", block_ms=(16, 64)),), ()))
    panel.tick()
    assert panel.curve.getData()[0].tolist() == [4, 6]
    assert "requests 257.0 MiB" in panel.sentence.text().replace("\u00a0", " ")


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_every_kernel_has_a_point_for_each_block_that_it_takes(panel: MemoryPanel, variant: KernelVariant) -> None:
    spec, d = variant.spec, variant.spec.d_step
    blocks = spec.allowed("block_m", d)
    problem = Problem(64, 128, d, dtype=spec.dtypes[0])
    feed(panel, of_problem(problem, TileConfig(blocks[0], spec.block_ns[0]), variant.name))
    assert panel.curve.getData()[0].tolist() == [log2(block) for block in blocks]


def test_a_split_precision_writes_and_reads_parts(panel: MemoryPanel) -> None:
    """bf16x6: K and V (4 MiB) read and 3 parts of 2 bytes written (6 MiB), which 8 blocks of query rows read."""
    feed(panel, of_problem(tile=TileConfig(128, 64), kernel="split_kv", precision="bf16x6"))
    sizes = panel.sizes.text().replace("\u00a0", " ")
    assert "K and V 48.0 MiB" in sizes and "K and V split into parts before 10.0 MiB" in sizes
    feed(panel, of_problem(tile=TileConfig(128, 64), kernel="split_kv", precision="bf16x6", device=INTERPRETER))
    assert "before" not in panel.sizes.text(), "there bf16 parts are not made"


def test_ceilings_of_another_power_limit_or_gpu_are_not_this_ones(panel: MemoryPanel) -> None:
    grow(panel, CeilingsMeasured(replace(CEILINGS, uuid="GPU-1", power_limit_w=700.0)))
    record = of_problem()
    limited = replace(record, started=replace(record.started, provenance=Provenance(power_limit_w=500.0)))
    feed(panel, limited)
    assert panel.numbers is not None and panel.numbers.movable is None
    feed(panel, replace(limited, started=record.started))
    assert panel.numbers.movable is not None, "a run that does not say"
    other = DeviceReadings.of_rows(np.zeros((0, 7)), facts=DeviceFacts(uuid="GPU-2"))
    feed(panel, replace(record, device_state=DeviceState(other)))
    assert panel.numbers.movable is None


def test_splits_and_grouped_16_bit_heads_are_counted(panel: MemoryPanel) -> None:
    problem = Problem(64, 256, 64, batch=2, heads=4, kv_heads=2, dtype="bf16", causal=True)
    feed(panel, of_problem(problem, TileConfig(64, 64, splits=2), "split_kv"))
    numbers = panel.numbers
    assert numbers is not None and numbers.requested is not None
    assert (numbers.whole.scores, numbers.whole.weights) == (8 * 64 * 256 * 4, 8 * 64 * 256 * 2)
    assert numbers.requested.partial > 0
    assert "split results" in panel.sizes.text().replace("\u00a0", " ")


def test_hover_names_the_block_under_the_mouse(panel: MemoryPanel) -> None:
    feed(panel, of_problem())
    QApplication.processEvents()
    lines = panel.hover_lines(panel.plot.vb.mapViewToScene(QPointF(6.1, log2(65 * MIB))))
    assert "BLOCK_M&nbsp;64&nbsp;requests&nbsp;65.0&nbsp;MiB" in lines[0]
    assert "13 times the least" in lines[1]
    assert panel.hover_lines(QPointF(-100, -100)) == []


def test_before_a_run_it_says_how_to_begin_and_a_failed_run_still_has_its_sizes(panel: MemoryPanel) -> None:
    panel.tick()
    assert "Press Run (F5)" in panel.stack.card.label.text()
    feed(panel, make_record(1, LARGE, failure=Failed("resources", "too much")))
    assert panel.stack.shows_plots and "32.0\u00a0MiB" in panel.sentence.text()


def test_theme_can_change_under_a_run(panel: MemoryPanel) -> None:
    feed(panel, of_problem())
    light = load_theme("light")
    panel.apply_theme(light)
    panel.tick()
    assert panel.curve.opts["pen"].color().name() == light.kernel


@pytest.mark.parametrize("here", [None, INTERPRETER, replace(GPU, name="Another GPU")], ids=["none", "cpu", "other"])
def test_what_cannot_be_measured_here_is_not_offered(panel: MemoryPanel, here: DeviceInfo | None) -> None:
    if here is not None:
        grow(panel, Ready(here, (), ()))
    feed(panel, of_problem())
    text = panel.sizes.text().replace("\u00a0", " ")
    assert "how fast Test GPU copies is not kept on this machine, it is measured where that GPU is" in text
    assert "Run >" not in text
