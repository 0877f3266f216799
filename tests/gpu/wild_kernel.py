"""A kernel that writes far outside its tensor."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _write_far_away(out, offset):
    tl.store(out + offset + tl.arange(0, 16), 1.0)


def write_far_away(out: torch.Tensor) -> None:
    """Store 16 floats about 4 TB behind `out`."""
    _write_far_away[(1,)](out, 2**40)
