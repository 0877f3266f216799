"""What the command line prints and writes of a run that is already there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.samples import make_record
from workbench.commands import _write_trace, kernel_lines, kernels_object, result_object, summary_lines
from workbench.model import BaselineInfo, Measured, Problem, Ready, RunRecord, Tensors, TileConfig, VariantInfo

PROBLEM = Problem(20, 40, 8, batch=2, heads=4, kv_heads=2, causal=True)
BLOCKS = (16, 32)


def record_with_rule() -> RunRecord:
    """A run whose request leaves the splits to the rule, which made three."""
    record = make_record(1, PROBLEM, TileConfig(16, 16, splits=0))
    kernel, baseline = record.measured
    made = replace(kernel.measurement, tile=TileConfig(16, 16, splits=3))
    return replace(record, measured=(Measured(made), baseline))


def test_the_splits_that_were_made_are_reported() -> None:
    record = record_with_rule()
    assert result_object(record)["results"][0]["tile"]["splits"] == 3
    lines = list(summary_lines(record))
    assert lines[0].startswith("2 x 4 heads (2 of keys), 20 × 40 × 8, fp32, causal")
    assert lines[1].startswith("article 16×16, 3 splits: passed")
    unmeasured = replace(record, measured=())
    assert result_object(unmeasured)["results"][0]["tile"]["splits"] == 0, "of a run that failed, what was asked for"


def test_a_trace_of_some_heads_says_which(tmp_path: Path) -> None:
    states = make_record(1, PROBLEM).states
    assert states is not None and states.m_tile is not None
    q = np.zeros((8, 20, 8), dtype=np.float32)
    k = np.zeros((4, 40, 8), dtype=np.float32)
    paths = tmp_path / "all.npz", tmp_path / "some.npz"
    _write_trace(paths[0], states, Tensors(q, k, k, q))
    few = {name: getattr(states, name)[[0, 5]] for name in ("m_tile", "m_running", "l_running")}
    _write_trace(paths[1], replace(states, heads=(0, 5), **few), Tensors(q, k, k, q))
    with np.load(paths[0]) as whole, np.load(paths[1]) as some:
        assert "heads" not in whole.files and whole["m_tile"].shape == (8, 20, 3)
        assert some["heads"].tolist() == [0, 5] and some["q"].shape == (8, 20, 8)
        np.testing.assert_array_equal(some["l_running"][1], whole["l_running"][5])


def test_what_kernels_and_baselines_take_is_listed_whole() -> None:
    wide = VariantInfo("wide", "", "takes all", ("fp32", "fp16"), ("ieee",), 128, BLOCKS, BLOCKS, 8, True, True, True)
    away = replace(wide, name="away", block_ns=(64,), unavailable="kernel away needs another GPU", warps=(4,))
    baselines = (BaselineInfo("auto", ("fp32",), "chosen by PyTorch"), BaselineInfo("flex", (), "flex", "no GPU"))
    ready = Ready(make_record().started.device, (wide, away), baselines)
    text = "\n".join(kernel_lines(ready))
    assert "D up to 128 in multiples of 8; heads and grouped heads; causal or not; splits of the keys" in text
    assert "BLOCK_M and BLOCK_N 16, 32" in text and "BLOCK_M 16, 32; BLOCK_N 64; num_warps 4" in text
    assert "cannot run here: kernel away needs another GPU" in text and "cannot run here: no GPU" in text
    listed = kernels_object(ready)
    assert [kernel["runs_here"] for kernel in listed["kernels"]] == [True, False]
    assert [baseline["runs_here"] for baseline in listed["baselines"]] == [True, False]
