"""The inputs of a run, the same values for the same seed on every device."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from workbench.model import Problem


@dataclass(frozen=True)
class Inputs:
    """`q` is [M, D], `k` and `v` are [N, D], contiguous float32 on the run's device."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


def make_inputs(problem: Problem, device: torch.device) -> Inputs:
    """Draw Q, K and V by the problem's seed and distribution, on the CPU so that the device does not matter."""
    generator = torch.Generator().manual_seed(problem.seed)
    q, k, v = (_draw(rows, problem, generator).to(device) for rows in (problem.m, problem.n, problem.n))
    return Inputs(q, k, v)


def _draw(rows: int, problem: Problem, generator: torch.Generator) -> torch.Tensor:
    shape = (rows, problem.d)
    match problem.inputs:
        case "normal":
            return torch.randn(shape, generator=generator)
        case "uniform":
            return torch.rand(shape, generator=generator) * 0.2 - 0.1
        case "outliers":
            values = torch.randn(shape, generator=generator)
            return torch.where(torch.rand(shape, generator=generator) < 1 / 256, values * 20, values)
        case "constant":
            return torch.full(shape, 0.5)
        case other:
            raise ValueError(f"inputs is {other!r}")
