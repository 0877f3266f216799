"""What a single launch shows: how long it took, and what its compiled kernel takes."""

from __future__ import annotations

import time
from typing import Any

import torch

from workbench.engine.timing.clocks import Launch
from workbench.run.measurement import Resources


def timed_once(launch: Launch, mode: str) -> tuple[Any, float]:
    """What one launch returns, and how many seconds it took on the host's clock."""
    began = time.perf_counter()
    result = launch()
    if mode == "cuda":
        torch.cuda.synchronize()
    return result, time.perf_counter() - began


def resources_of(compiled: Any) -> Resources | None:
    """Registers, spills and shared memory of a compiled kernel; None where Triton did not compile."""
    registers = getattr(compiled, "n_regs", None)
    if registers is None:
        return None
    return Resources(int(registers), int(compiled.n_spills), int(compiled.metadata.shared))
