"""A kernel and PyTorch's SDPA on inputs of their own, ready to be launched, without the workbench.

From a command line's words: KERNEL PRECISION M N D BATCH HEADS DTYPE CAUSAL BLOCK_M BLOCK_N WARPS STAGES SPLITS
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import torch
from torch.nn.functional import scaled_dot_product_attention

from kernels import VARIANTS, TileConfig

Launch = Callable[[], object]
WORDS = 14


def launches_from(words: list[str]) -> tuple[Launch, Launch]:
    """The kernel and SDPA, each launched once, so that both are compiled. CAUSAL is 0 or 1, and 1 only where M = N."""
    kernel, precision, dtype = words[0], words[1], words[7]
    m, n, d, batch, heads = map(int, words[2:7])
    causal, *tile = map(int, words[8:14])
    of_type = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
    q, k, v = (torch.randn(batch, heads, rows, d, device="cuda").to(of_type) for rows in (m, n, n))
    launch = next(variant.launch for variant in VARIANTS if variant.name == kernel)
    options = {"tile": TileConfig(*tile), "precision": precision, "causal": bool(causal)}
    found: tuple[Launch, Launch] = (
        partial(launch, q, k, v, torch.empty_like(q), **options),  # type: ignore[arg-type]
        partial(scaled_dot_product_attention, q, k, v, is_causal=bool(causal)),
    )
    for one in found:
        one()
    torch.cuda.synchronize()
    return found


def launch_for(launch: Launch, seconds: float) -> None:
    """Launch again and again, so that clocks and power are as in a run that goes on."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(10):
            launch()
        torch.cuda.synchronize()
