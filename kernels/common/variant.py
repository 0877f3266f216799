"""What a kernel variant is: a plain spec and its launcher, and where a launch writes its trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
import triton

from kernels.plain.precisions import EXACT
from kernels.plain.spec import KernelSpec
from kernels.plain.tiles import Device, TileConfig


@dataclass(frozen=True)
class TileTrace:
    """Where a traced launch writes the online softmax's state, per head, query row and key tile.

    Each tensor is [heads, M, tiles] float32, heads counting batches too, tiles = ceil(N / BLOCK_N): the maximum of the
    tile's own scaled scores, the running maximum m after the tile, and the running denominator l after it. m is in
    natural-log units of the score q.k / sqrt(D). Where the keys are split, m and l begin anew with each split.
    A tile that the kernel skips because no row of its block sees a key of it stays as it was.
    """

    m_tile: torch.Tensor
    m_running: torch.Tensor
    l_running: torch.Tensor

    @classmethod
    def unwritten(cls, heads: int, m: int, n: int, block_n: int, device: torch.device) -> TileTrace:
        """Buffers filled with NaN, so that a tile that no program wrote can be told from one that was.

        In memory M is the last axis: a program writes one tile's states of all its rows at once.
        """
        shape = (heads, triton.cdiv(n, block_n), m)
        buffers = (torch.full(shape, float("nan"), dtype=torch.float32, device=device) for _ in range(3))
        return cls(*(buffer.transpose(1, 2) for buffer in buffers))


def state_buffers(trace: TileTrace | None, unused: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What a kernel takes for the three tensors of `trace`; without one `unused`, which it then does not touch."""
    return (unused, unused, unused) if trace is None else (trace.m_tile, trace.m_running, trace.l_running)


class Launch(Protocol):
    """Runs a kernel once: reads `q` [B, H, M, D], `k` and `v` [B, Hkv, N, D], writes `out` [B, H, M, D].

    Fills `trace` if given. Returns what Triton returns for the launch of the main kernel: the compiled kernel on a
    GPU, None on the interpreter. Raises ValueError for what the variant does not accept.
    """

    def __call__(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        out: torch.Tensor,
        *,
        tile: TileConfig,
        precision: str = EXACT,
        causal: bool = False,
        trace: TileTrace | None = None,
    ) -> Any: ...


@dataclass(frozen=True)
class KernelVariant:
    """One kernel: what is known of it, and what launches it within those limits."""

    spec: KernelSpec
    launch: Launch

    @property
    def name(self) -> str:
        """Its spec's."""
        return self.spec.name

    def refusal(self, device: Device) -> str:
        """Why it cannot run on `device`, in one line; "" if it can."""
        if self.spec.capability and device.capability != self.spec.capability:
            here = f"this one has {device.capability}" if device.capability else "Triton's interpreter has none"
            return f"kernel {self.name} needs a GPU of compute capability {self.spec.capability}; {here}"
        if _version(triton.__version__) < self.spec.triton:
            first = ".".join(map(str, self.spec.triton))
            return f"kernel {self.name} needs Triton {first} or newer; this is {triton.__version__}"
        return "" if device.capability else interpreter_refusal()


def interpreter_refusal() -> str:
    """Why this Triton's interpreter cannot work with this NumPy, in one line; "" if it can.

    NumPy 2.4 no longer takes an array with one number for that number, on which the interpreter relied before 3.7.
    """
    if _version(triton.__version__) >= (3, 7) or _version(np.__version__) < (2, 4):
        return ""
    return (
        f"the interpreter of Triton {triton.__version__} needs NumPy below 2.4, that of Triton 3.7 does not; "
        f"this is NumPy {np.__version__}"
    )


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")[:2]))
