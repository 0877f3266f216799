"""The inputs of a run, the same values for the same seed on every device."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from workbench.run.request import Problem

_DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


@dataclass(frozen=True)
class Inputs:
    """`q` is [B, H, M, D], `k` and `v` are [B, Hkv, N, D], contiguous, in the problem's dtype, on the run's device."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


def make_inputs(problem: Problem, device: torch.device) -> Inputs:
    """Draw Q, K and V by the problem's seed and distribution, on the CPU so that the device does not matter.

    They are drawn in float32 and then rounded, so that dtypes differ by their rounding alone.
    """
    generator = torch.Generator().manual_seed(problem.seed)
    of_queries = (problem.batch, problem.heads, problem.m)
    of_keys = (problem.batch, problem.kv_heads, problem.n)
    return Inputs(*(_draw(shape, problem, generator).to(device) for shape in (of_queries, of_keys, of_keys)))


def _draw(shape: tuple[int, int, int], problem: Problem, generator: torch.Generator) -> torch.Tensor:
    batch, heads, rows = shape
    # Drawn as one matrix, which a single head has always been: its values, and with them old recordings, stay.
    values = _values((batch * heads * rows, problem.d), problem.inputs, generator)
    return values.to(_DTYPES[problem.dtype]).view(batch, heads, rows, problem.d)


def _values(shape: tuple[int, int], distribution: str, generator: torch.Generator) -> torch.Tensor:
    match distribution:
        case "normal":
            return torch.randn(shape, generator=generator)
        case "uniform":
            return torch.rand(shape, generator=generator) * 0.2 - 0.1
        case "outliers":
            values = torch.randn(shape, generator=generator)
            return torch.where(torch.rand(shape, generator=generator) < 1 / 256, values * 20, values)
        case "constant":
            return torch.full(shape, 0.5)
        case "zeros":
            return torch.zeros(shape)
        case other:
            raise ValueError(f"inputs is {other!r}")
