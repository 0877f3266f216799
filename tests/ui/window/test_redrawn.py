"""A window that is redrawn all the while, in which the GPU's protocols are proved: here on the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtWidgets import QApplication

from kernels.plain.tiles import TileConfig
from tests.gpu.cases import TILE_FIELDS
from tests.patience import LIMIT_MS
from tests.ui.window.redrawn import RedrawnWindow, RefusedError
from workbench.run.events import Finished
from workbench.run.request import Problem, RunRequest

FIRST = RunRequest(Problem(20, 40, 8), TileConfig(16, 16), device="interpreter", trace=False)
OPEN_TILE = RunRequest(
    Problem(20, 40, 8),
    kernel="split_kv",
    precision="fp16x3",
    device="interpreter",
    protocol="warm",
    trace=False,
    auto_tile=TILE_FIELDS,
    max_seconds=0.5,
)


def test_a_window_that_is_redrawn_all_the_while_runs_what_it_is_given(qapp: QApplication, tmp_path: Path) -> None:
    redrawn = RedrawnWindow(tmp_path, "interpreter", LIMIT_MS)
    try:
        runs = [redrawn.run(FIRST), redrawn.run(OPEN_TILE)]
        with pytest.raises(RefusedError, match="protocol is graph, which needs CUDA graphs"):
            redrawn.run(RunRequest(FIRST.problem, device="interpreter", protocol="graph"))
    finally:
        redrawn.close()
    assert all(isinstance(run.record.end, Finished) for run in runs)
    measured = [run.record.measurement("kernel") for run in runs]
    assert [m.latency.protocol for m in measured if m is not None] == ["block", "warm"]
    asked = runs[1].record.started.request
    assert asked.tile != TileConfig() and asked.precision == "fp16x3" and not asked.trace
    # A busy machine asks and paints more seldom, and some of what was asked for in one frame.
    assert all(run.repaints > run.frames / 2 > 0 for run in runs)
