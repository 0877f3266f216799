"""Names of files tell what is in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernels.plain.tiles import TileConfig
from tests.samples import make_record
from workbench.run.request import Problem
from workbench.ui.files.names import picture_name


def test_a_picture_s_name_tells_the_run_and_the_panel() -> None:
    record = make_record(1, Problem(1024, 4096, 128), TileConfig(128, 64))
    request = replace(record.started.request, kernel="split_kv")
    record = replace(record, started=replace(record.started, request=request))
    assert picture_name(record) == "split_kv-128x64-1024x4096x128.png"
    assert picture_name(record, "softmax") == "split_kv-128x64-1024x4096x128-softmax.png"
    assert picture_name(None) == "tilescope.png"


PLAIN = Problem(32, 64, 16)


@pytest.mark.parametrize(
    "problem", [replace(PLAIN, heads=4, kv_heads=4), replace(PLAIN, dtype="bf16"), replace(PLAIN, causal=True)], ids=str
)
def test_two_problems_have_two_names(problem: Problem) -> None:
    assert picture_name(make_record(1, problem)) != picture_name(make_record(1, PLAIN))
