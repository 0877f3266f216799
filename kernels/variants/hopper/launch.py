"""The 16-bit forward for compute capability 9.0: tensor descriptors, warp specialisation, asynchronous products."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import triton

from kernels.common.checks import check_inputs, device_limits, sm_count
from kernels.common.online_softmax import LOG2E
from kernels.common.variant import KernelVariant, TileTrace, state_buffers
from kernels.plain.launch_options import AUTO
from kernels.plain.precisions import EXACT
from kernels.plain.spec import Grid, KernelSpec, Limit
from kernels.plain.tiles import TileConfig, padded_d
from kernels.plain.traffic import Streamed

NUM_WARPS = 4
ROWS = 64  # query rows of one consumer warpgroup
WIDE_D = 64  # up to here a third consumer has registers enough
# With a causal mask this many heads are sorted by length together: enough to balance, and about two programs read the
# K and V of one head at one time, from the L2 cache.
TOGETHER = 64


def launch_hopper(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    *,
    tile: TileConfig,
    precision: str = EXACT,
    causal: bool = False,
    scale: float | None = None,
    lse: torch.Tensor | None = None,
    trace: TileTrace | None = None,
) -> Any:
    """Write softmax(scale q k^T) v to `out` on a GPU of compute capability 9.0; scale is 1 / sqrt(D) unless given.

    `q` and `out` are [B, H, M, D], `k` and `v` [B, Hkv, N, D], H a multiple of Hkv, all fp16 or bf16 on one device, D a
    multiple of 8 up to 256. An input whose rows do not begin at multiples of 16 bytes, or whose last stride is not 1,
    is copied first: the hardware's tile loads need that. The causal mask is aligned to the lower right; a row that sees
    no key gives 0. `lse`, [B, H, M] contiguous float32, receives the log-sum-exp of each row's scores. `num_stages` is
    the number of key tiles in flight. Source: FlashAttention-3 (Shah et al., 2024).

    Raises ValueError for inputs outside these limits, on any other device, and where Triton has no Gluon.
    """
    if reason := HOPPER.refusal(device_limits(q.device)):
        raise ValueError(reason)
    check_inputs(HOPPER.spec, q, k, v, out, tile, precision, causal, lse, trace)
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    from kernels.variants.hopper.kernel import hopper_kernel

    batch, heads, m, d = q.shape
    n, kv_heads = k.shape[2], k.shape[1]
    block_d = padded_d(d)

    def describe(tensor: torch.Tensor, rows: int) -> Any:
        tensor = _aligned(tensor)
        layout = _shared_layout(rows, block_d, q.dtype)
        return TensorDescriptor(tensor, list(tensor.shape), _strides(tensor), [1, 1, rows, block_d], layout)

    n_m = triton.cdiv(m, tile.block_m)
    consumers = tile.block_m // ROWS
    states = state_buffers(trace, out)
    return hopper_kernel[(min(batch * heads * n_m, sm_count(q.device)),)](
        describe(q, ROWS), describe(k, tile.block_n), describe(v, tile.block_n),
        out, out if lse is None else lse, *states, *out.stride(),
        m, n, heads, heads // kv_heads, batch * heads, n_m, min(TOGETHER, batch * heads),
        (d**-0.5 if scale is None else scale) * LOG2E,
        CONSUMERS=consumers, D=d, BLOCK_N=tile.block_n, BLOCK_D=block_d, STAGES=tile.num_stages,
        CAUSAL=causal, TURNS=consumers > 2, LSE=lse is not None, TRACE=trace is not None, num_warps=NUM_WARPS,
    )  # fmt: skip


@cache  # making one takes the CPU longer than the rest of a launch
def _shared_layout(rows: int, block_d: int, dtype: torch.dtype) -> Any:
    """How a tile lies in shared memory."""
    from triton.experimental.gluon import language as gl

    gluon_type = gl.float16 if dtype == torch.float16 else gl.bfloat16
    return gl.NVMMASharedLayout.get_default_for([1, 1, rows, block_d], gluon_type)


def _aligned(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor`, or a contiguous copy where the hardware's tile loads cannot read it."""
    step = 16 // tensor.element_size()
    fits = all(s > 0 and s % step == 0 for s, size in zip(tensor.stride()[:-1], tensor.shape, strict=False) if size > 1)
    if fits and tensor.stride(-1) == 1 and tensor.data_ptr() % 16 == 0:
        return tensor
    return tensor.clone(memory_format=torch.contiguous_format)


def _strides(tensor: torch.Tensor) -> list[int]:
    """Its strides, with a fitting one for every axis of length 1: PyTorch gives those any, a descriptor does not."""
    step = 16 // tensor.element_size()
    outer = [s if size > 1 else step for s, size in zip(tensor.stride()[:-1], tensor.shape, strict=False)]
    return [*outer, 1]


HOPPER = KernelVariant(
    KernelSpec(
        name="hopper",
        title="Hopper kernel",
        description="16-bit, warp-specialised for compute capability 9.0: "
        "one warp loads, two or three warpgroups compute",
        dtypes=("fp16", "bf16"),
        precisions=(EXACT,),
        movement=Streamed(least_tiles=1),  # a block that sees no key reads a tile all the same
        grids=(
            Grid((128, 192), (64, 128), (NUM_WARPS,), (2, 3, 4), max_d=WIDE_D),
            Grid((128,), (64, 128), (NUM_WARPS,), (2, 3, 4)),
        ),
        block_ms=(128, 192),
        block_ns=(64, 128),
        d_step=8,
        heads=True,
        causal=True,
        limits=(
            Limit("num_warps", (NUM_WARPS,)),
            Limit(
                "maxnreg", (AUTO,), why="its warpgroups share out the registers of a program unevenly, by themselves"
            ),
            Limit("block_m", (128,), WIDE_D, f"a third consumer has registers where D is at most {WIDE_D}"),
        ),
        capability="9.0",
        triton=(3, 6),
    ),
    launch_hopper,
)
