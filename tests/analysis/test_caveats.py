"""What is said beside a result because of what was asked, and of what the host was busy with."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from kernels.plain.tiles import TileConfig
from tests.samples import make_record
from workbench.analysis.caveats import (
    FLATTERING,
    caveats_of,
    computed_precision,
    of_cpu,
    of_precision,
    of_splits,
    of_tolerance,
)
from workbench.engine.inputs import make_inputs
from workbench.run.device_state import DeviceWarning
from workbench.run.environment import Mode, Provenance
from workbench.run.request import INPUT_DISTRIBUTIONS, Problem, RunRequest

ERROR = make_record(1).checked[0].error
REQUEST = RunRequest(Problem(16, 64, 16), TileConfig(16, 16), kernel="split_kv")
BUSY = Provenance(load_average=(5.1, 1.0, 1.0), cpu_cores=2)


@pytest.mark.parametrize(
    ("largest", "rtol", "atol", "warned"),
    [
        (9.6e-4, 2e-3, 2e-3, True),
        (2.003e-3, 2e-3, 2e-3, True),
        (2.01e-3, 2e-3, 2e-3, False),
        (3.0, 2e-3, 2e-3, False),
        (3.0, 1.0, 0.0, True),
        (0.0, 2e-3, 2e-3, False),  # zeros are right
        (None, 2e-3, 2e-3, False),
        (float("inf"), 2e-3, 2e-3, False),
        (float("nan"), 2e-3, 2e-3, False),
    ],
)
def test_a_tolerance_that_zeros_would_pass_is_said(
    largest: float | None, rtol: float, atol: float, warned: bool
) -> None:
    """Zeros pass where every |value| is at most atol + rtol * |value|, as allclose has it."""
    found = of_tolerance(replace(ERROR, largest=largest, rtol=rtol, atol=atol))
    assert (found is not None) is warned
    if found is not None and largest == 9.6e-4:
        sizes = "the tolerance, 0.002, is not below the largest value of the output, 9.6e-4"
        assert found == DeviceWarning.of("tolerance", "zeros would pass", sizes)


@pytest.mark.parametrize(
    ("precision", "dtype", "mode", "computed"),
    [
        ("tf32", "fp32", "interpreter", "ieee"),
        ("bf16x6", "fp32", "interpreter", "ieee"),
        ("tf32", "fp32", "cuda", "tf32"),
        ("fp16x3", "fp32", "interpreter", "fp16x3"),  # the kernel itself splits the values
        ("ieee", "fp16", "interpreter", "ieee"),
    ],
)
def test_a_precision_that_is_not_taken_is_said(precision: str, dtype: str, mode: Mode, computed: str) -> None:
    request = replace(REQUEST, precision=precision, problem=replace(REQUEST.problem, dtype=dtype))
    assert computed_precision(request, mode) == computed
    assert (of_precision(request, mode) is not None) is (computed != precision)


@pytest.mark.parametrize(("asked", "made", "said"), [(3, 2, True), (9, 4, True), (2, 2, False), (0, 4, False)])
def test_splits_that_are_not_made_are_said_with_the_reason(asked: int, made: int, said: bool) -> None:
    request = replace(REQUEST, tile=replace(REQUEST.tile, splits=asked))
    found = of_splits(request, replace(request.tile, splits=made))
    assert (found is not None) is said
    if found is not None and asked == 3:
        assert found.text == "3 splits asked, 2 made: of 4 key tiles each split has 2, the last what is left"


def test_a_busy_cpu_is_said_where_its_clock_is_the_one_that_times() -> None:
    assert of_cpu(BUSY) == DeviceWarning.of("cpu", "the CPU is busy", "load 5.1 on 2 cores")
    assert of_cpu(replace(BUSY, load_average=(2.0, 9.0, 9.0))) is None is of_cpu(Provenance())
    assert [w.kind for w in caveats_of(REQUEST, "interpreter", BUSY, REQUEST.tile, ERROR)] == ["cpu"]
    assert caveats_of(REQUEST, "cuda", BUSY, REQUEST.tile, ERROR) == ()


@pytest.mark.parametrize("inputs", INPUT_DISTRIBUTIONS)
def test_inputs_that_flatter_are_those_of_which_every_value_is_the_same(inputs: str) -> None:
    drawn = make_inputs(Problem(4, 8, 16, inputs=inputs), torch.device("cpu"))
    same = all(bool((tensor == tensor.flatten()[0]).all()) for tensor in (drawn.q, drawn.k, drawn.v))
    assert (inputs in FLATTERING) is same
