"""What a kernel variant is: its name, what it accepts, and how it is launched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
import triton


@dataclass(frozen=True)
class TileTrace:
    """Where a traced launch writes the online softmax's state, per query row and key tile.

    Each tensor is [M, tiles] float32, tiles = ceil(N / BLOCK_N): the maximum of the tile's own scaled scores, the
    running maximum m after the tile, and the running denominator l after it.
    """

    m_tile: torch.Tensor
    m_running: torch.Tensor
    l_running: torch.Tensor

    @classmethod
    def unwritten(cls, m: int, n: int, block_n: int, device: torch.device) -> TileTrace:
        """Buffers filled with NaN, so that a tile that no program wrote can be told from one that was."""
        shape = (m, triton.cdiv(n, block_n))
        return cls(*(torch.full(shape, float("nan"), dtype=torch.float32, device=device) for _ in range(3)))


class Launch(Protocol):
    """Runs a kernel once: reads `q` [M, D], `k` and `v` [N, D], writes `out` [M, D]; fills `trace` if given.

    Returns what Triton returns for the launch: the compiled kernel on a GPU, None on the interpreter.
    """

    def __call__(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        out: torch.Tensor,
        *,
        block_m: int,
        block_n: int,
        num_warps: int,
        num_stages: int,
        trace: TileTrace | None = None,
    ) -> Any: ...


@dataclass(frozen=True)
class KernelVariant:
    """One kernel: `launch` and the limits within which it is right.

    `blocks` are the values that BLOCK_M and BLOCK_N may take; `precisions` the input_precision of its dots.
    `heads`, `causal` and `splits` say whether it takes more than one head, a causal mask, more than one key split.
    """

    name: str
    title: str
    description: str
    launch: Launch
    dtypes: tuple[str, ...]
    precisions: tuple[str, ...]
    max_d: int
    blocks: tuple[int, ...]
    heads: bool = False
    causal: bool = False
    splits: bool = False
