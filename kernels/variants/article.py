"""The kernel of the article "FlashAttention in Triton, tile by tile": one head, contiguous fp32, no mask.

One program owns BLOCK_M query rows, loads its Q tile once and streams the K and V tiles past it.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels.common.checks import check_inputs
from kernels.common.online_softmax import absorb_tile
from kernels.common.variant import KernelVariant, TileTrace, state_buffers
from kernels.plain.precisions import EXACT
from kernels.plain.spec import Grid, KernelSpec
from kernels.plain.tiles import TileConfig, padded_d
from kernels.plain.traffic import Streamed


@triton.jit
def article_kernel(
    q, k, v, out, m_tile_out, m_running_out, l_running_out, M, N, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, TRACE: tl.constexpr,
):  # fmt: skip
    i_m = tl.program_id(0)
    o_m = tl.arange(0, BLOCK_M)
    o_n = tl.arange(0, BLOCK_N)
    o_d = tl.arange(0, BLOCK_D)
    row = i_m * BLOCK_M + o_m
    m_row = row < M
    m_d = o_d < D

    # 64-bit only where a whole tensor is crossed; inside a tile 32 bits are enough.
    first = i_m.to(tl.int64) * BLOCK_M * D
    o_q = first + o_m[:, None] * D + o_d[None, :]  # [BLOCK_M, BLOCK_D]
    m_q = m_row[:, None] & m_d[None, :]
    p_k = k + o_n[:, None] * D + o_d[None, :]  # [BLOCK_N, BLOCK_D]
    p_v = v + o_n[:, None] * D + o_d[None, :]

    # Rows beyond M are loaded as zeros: their scores are 0, not -inf, so their softmax stays finite.
    b_q = tl.load(q + o_q, mask=m_q, other=0.0)

    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)

    o_state = row.to(tl.int64)  # [tiles, M] in memory

    for start in range(0, N, BLOCK_N):
        m_n = start + o_n < N
        m_kv = m_n[:, None] & m_d[None, :]
        b_k = tl.load(p_k, mask=m_kv, other=0.0)
        b_v = tl.load(p_v, mask=m_kv, other=0.0)
        s = tl.dot(b_q, tl.trans(b_k), input_precision="ieee") * scale  # [BLOCK_M, BLOCK_N]
        s = tl.where(m_n[None, :], s, float("-inf"))
        m_tile, m, l, acc = absorb_tile(m, l, acc, s, b_v, "ieee")
        if TRACE:
            tl.store(m_tile_out + o_state, m_tile, mask=m_row)
            tl.store(m_running_out + o_state, m, mask=m_row)
            tl.store(l_running_out + o_state, l, mask=m_row)
            o_state += M
        p_k += BLOCK_N * D
        p_v += BLOCK_N * D

    tl.store(out + o_q, acc / l[:, None], mask=m_q)


def launch_article(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    *,
    tile: TileConfig,
    precision: str = EXACT,
    causal: bool = False,
    trace: TileTrace | None = None,
) -> Any:
    """Write softmax(q k^T / sqrt(D)) v to `out`.

    `q` and `out` are [1, 1, M, D], `k` and `v` [1, 1, N, D], all contiguous float32 on one device, D up to 256. Block
    sizes are powers of two from 16 to 256. With `trace`, the same kernel also stores its per-tile state there.
    Source: the online softmax of Milakov and Gimelshein (2018), tiled as in FlashAttention (Dao et al., 2022).

    Raises ValueError for inputs outside these limits, and Triton's own errors if the tile cannot be compiled.
    """
    check_inputs(ARTICLE.spec, q, k, v, out, tile, precision, causal, None, trace)
    for name, tensor in (("q", q), ("k", k), ("v", v), ("out", out)):
        if not tensor.is_contiguous():
            raise ValueError(f"{name} has strides {tensor.stride()}; expected a contiguous tensor")
    (m, d), n = q.shape[2:], k.shape[2]
    states = state_buffers(trace, out)
    return article_kernel[(triton.cdiv(m, tile.block_m),)](
        q, k, v, out, *states, m, n, d**-0.5,
        D=d, BLOCK_M=tile.block_m, BLOCK_N=tile.block_n, BLOCK_D=padded_d(d), TRACE=trace is not None, **tile.options,
    )  # fmt: skip


ARTICLE = KernelVariant(
    KernelSpec(
        name="article",
        title="Article kernel",
        description="one program per BLOCK_M query rows, K and V tiles streamed, fp32 dots in full precision",
        dtypes=("fp32",),
        precisions=(EXACT,),
        movement=Streamed(),
        # Full-precision dots take a register for every score: larger tiles spill.
        grids=(Grid((16, 32, 64), (16, 32, 64), (4, 8), (1, 2, 3)),),
        keeps_tile=True,  # the presets' tiles are the article's
    ),
    launch_article,
)
