"""Another kernel, or the same with another tile, in the baseline's place: what two runs are measured again with."""

from __future__ import annotations

from typing import Any

import torch

from kernels import VARIANTS
from workbench.analysis.tile import launched_tile
from workbench.engine.inputs import Inputs
from workbench.run.environment import DeviceInfo
from workbench.run.request import Problem, Rival


class RivalKernel:
    """Launches the rival on a run's inputs, into an output of its own, as the kernel is launched into the run's.

    `tile` is the one that is launched, and `compiled` what Triton returned for the last launch.
    """

    backend = ""
    note = ""

    def __init__(self, rival: Rival, problem: Problem, inputs: Inputs, info: DeviceInfo) -> None:
        variant = next(v for v in VARIANTS if v.name == rival.kernel)
        self.name = variant.name
        self._launch = variant.launch
        self._inputs = inputs
        self._causal = problem.causal
        self.precision = rival.precision
        self.tile = launched_tile(problem, rival.tile, variant.spec, info)
        self.compiled: Any = None
        self._out = torch.full_like(inputs.q, float("nan"))

    def __call__(self) -> torch.Tensor:
        """Attend once, into the output that every launch writes."""
        inputs = self._inputs
        self.compiled = self._launch(
            inputs.q,
            inputs.k,
            inputs.v,
            self._out,
            tile=self.tile,
            precision=self.precision,
            causal=self._causal,
        )
        return self._out

    def ordered(self, out: torch.Tensor) -> torch.Tensor:
        """A copy of it; what the next launch does not write is NaN then, and is found."""
        copy = out.clone()
        out.fill_(float("nan"))
        return copy
