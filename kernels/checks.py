"""Input checks shared by the launchers: a wrong tensor gets a sentence, not a crash in the compiler."""

from __future__ import annotations

import os
from collections.abc import Sequence

import torch


def check_single_head(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor, max_d: int) -> None:
    """Raise ValueError unless `q`, `out` are [M, D] and `k`, `v` [N, D], contiguous float32 on one usable device."""
    named = {"q": q, "k": k, "v": v, "out": out}
    for name, tensor in named.items():
        if tensor.dim() != 2 or 0 in tensor.shape:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}; expected two dimensions of at least 1")
        if tensor.dtype != torch.float32:
            raise ValueError(f"{name} is {tensor.dtype}; expected torch.float32")
        if not tensor.is_contiguous():
            raise ValueError(f"{name} has strides {tensor.stride()}; expected a contiguous tensor")
        if tensor.device != q.device:
            raise ValueError(f"{name} is on {tensor.device}; expected {q.device}, where q is")
    d = q.shape[1]
    if d > max_d:
        raise ValueError(f"D is {d}; expected at most {max_d}")
    if k.shape != v.shape or k.shape[1] != d:
        raise ValueError(f"k is {tuple(k.shape)} and v {tuple(v.shape)}; expected both [N, {d}]")
    if out.shape != q.shape:
        raise ValueError(f"out is {tuple(out.shape)}; expected {tuple(q.shape)}, as q")
    if not q.is_cuda and os.environ.get("TRITON_INTERPRET") != "1":
        raise ValueError("q is on the CPU; set TRITON_INTERPRET=1 before Triton is imported, or move it to a GPU")


def check_tile(block_m: int, block_n: int, blocks: Sequence[int]) -> None:
    """Raise ValueError unless both block sizes are in `blocks`."""
    for name, value in (("block_m", block_m), ("block_n", block_n)):
        if value not in blocks:
            raise ValueError(f"{name} is {value}; expected one of {', '.join(map(str, blocks))}")
