"""Pictures of panels say below what they are of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PyQt6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, INTERPRETER, make_record
from tests.ui.conftest import MakeWindow
from workbench.run.environment import Provenance
from workbench.run.request import Problem
from workbench.ui.files.pictures import take_picture
from workbench.words.caption import caption_parts

PROBLEM = Problem(32, 64, 16, heads=4, kv_heads=2, dtype="bf16", causal=True)


def test_a_caption_says_all_that_a_reader_must_know_of_a_run() -> None:
    started = make_record(1, PROBLEM, TileConfig(64, 32, 8, 2), protocol="cold").started
    started = replace(started, provenance=Provenance(source_sha256="0123456789abcdef"))
    assert list(caption_parts(started)) == [
        "article, 64×32 tiles, 8 warps, 2 stages",
        "M × N × D 32 × 64 × 16, 4 / 2 KV heads, bf16, causal",
        "cold protocol",
        "Test GPU",
        "torch 2.13.0, triton 3.9.0, driver 580.0",
        "source 01234567",
        "2026-01-31",
    ]


def test_a_caption_says_inputs_and_seed_and_is_grammatical() -> None:
    problem = Problem(32, 64, 16, inputs="outliers", seed=7)
    launch, shape = caption_parts(make_record(1, problem, TileConfig(16, 16, 1, 1, splits=4)).started)[:2]
    assert launch == "article, 16×16 tiles, 4 splits, 1 warp, 1 stage"
    assert shape == "M × N × D 32 × 64 × 16, fp32, outliers inputs, seed 7"


def test_a_caption_says_that_the_interpreter_s_times_are_no_gpu_s_and_leaves_out_what_is_not_known() -> None:
    parts = caption_parts(make_record(1, Problem(32, 64, 16), device=INTERPRETER).started)
    assert "interpreter, not GPU time" in " · ".join(parts)
    assert all(parts) and not any("driver" in part or "source" in part for part in parts)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_caption_is_below_the_picture_in_lines_that_fit(qtbot: QtBot, scale: float) -> None:
    label = QLabel("a panel")
    qtbot.addWidget(label)
    label.resize(200, 80)
    plain = take_picture(label, scale)
    image = take_picture(label, scale, ["some words of it"] * 4)
    assert image.width() == plain.width()
    line = label.fontMetrics().lineSpacing() * scale
    assert 3 * line < image.height() - plain.height() < 6 * line
    assert image.copy(plain.rect()) == plain
    ground = image.pixelColor(0, image.height() - 1)
    right = [image.pixelColor(image.width() - 2, y) for y in range(plain.height(), image.height())]
    assert all(color == ground for color in right)
    left = (image.pixelColor(x, y) for x in range(image.width() // 2) for y in range(plain.height(), image.height()))
    assert any(color != ground for color in left)


def test_a_panel_s_picture_has_the_caption_of_the_run_shown_and_the_window_s_has_none(
    make_test_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_test_window()
    panel, log = window.widget("latency"), window.widget("log")
    assert window.picture_of(panel, 1.0).height() == panel.height()  # before any run
    record = make_record(1, Problem(32, 64, 16), device=GPU)
    window._stage.show_run(record)
    assert window._stage.caption("latency") == caption_parts(record.started)
    assert window.picture_of(panel, 1.0).height() > panel.height()
    assert window.picture_of(window, 1.0).height() == window.height()
    assert window.picture_of(log, 1.0).height() == log.height()
    table = window.widget("results")
    assert window.picture_of(table, 1.0).height() < 200, "the table's has its rows alone, here none"
