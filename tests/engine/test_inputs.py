"""The values of a run's inputs: the same for the same seed, and for one fp32 head those of earlier versions."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from workbench.engine.inputs import make_inputs
from workbench.run.request import INPUT_DISTRIBUTIONS, Problem

CPU = torch.device("cpu")


def test_one_head_has_the_values_that_recordings_were_made_with() -> None:
    """Drawn here as the first version drew them: three matrices, one after the other, from one generator."""
    generator = torch.Generator().manual_seed(7)
    drawn = [torch.randn(rows, 5, generator=generator) for rows in (3, 4, 4)]
    inputs = make_inputs(Problem(3, 4, 5, seed=7), CPU)
    for got, want in zip((inputs.q, inputs.k, inputs.v), drawn, strict=True):
        assert torch.equal(got, want[None, None])

    generator = torch.Generator().manual_seed(7)
    values = torch.randn(30, 50, generator=generator)
    values = torch.where(torch.rand(30, 50, generator=generator) < 1 / 256, values * 20, values)
    assert torch.equal(make_inputs(Problem(30, 4, 50, seed=7, inputs="outliers"), CPU).q[0, 0], values)


@pytest.mark.parametrize("inputs", INPUT_DISTRIBUTIONS)
def test_shapes_and_dtypes(inputs: str) -> None:
    problem = Problem(6, 10, 8, batch=2, heads=6, kv_heads=3, dtype="bf16", seed=3, inputs=inputs)
    made = make_inputs(problem, CPU)
    assert made.q.shape == (2, 6, 6, 8) and made.k.shape == made.v.shape == (2, 3, 10, 8)
    assert all(t.dtype == torch.bfloat16 and t.is_contiguous() for t in (made.q, made.k, made.v))
    wide = make_inputs(replace(problem, dtype="fp32"), CPU)
    assert torch.equal(made.v, wide.v.bfloat16()), "dtypes differ by their rounding alone"
    if inputs == "zeros":
        assert not made.q.any() and not made.v.any()
    elif inputs != "constant":
        assert not torch.equal(made.q[0, 0], made.q[1, 3]) and not torch.equal(made.k, made.v)
