"""Attention the long way, as the article draws it: S and P written to memory, so that the cost of the middle shows."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels.common.checks import check_inputs
from kernels.common.online_softmax import LOG2E, mask_scores, store_states, weigh_tile
from kernels.common.precision import NEWER_PRECISIONS, TRITON_PRECISIONS, triton_precision
from kernels.common.variant import KernelVariant, TileTrace, state_buffers
from kernels.plain.precisions import EXACT
from kernels.plain.spec import Grid, KernelSpec
from kernels.plain.tiles import TileConfig, padded_d
from kernels.plain.traffic import WrittenScores


@triton.jit(do_not_specialize=["M", "H", "GROUP"])
def scores_kernel(
    q, k, s_out, stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    M, N, H, GROUP, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """S = Q K^T, unscaled, [heads, M, N] fp32, -inf where masked: one tile a program."""
    n_m = tl.cdiv(M, BLOCK_M)
    n_n = tl.cdiv(N, BLOCK_N)
    i_h = tl.program_id(0) // (n_m * n_n)
    row = tl.program_id(0) // n_n % n_m * BLOCK_M + tl.arange(0, BLOCK_M)
    key = tl.program_id(0) % n_n * BLOCK_N + tl.arange(0, BLOCK_N)
    o_d = tl.arange(0, BLOCK_D)
    i_b = (i_h // H).to(tl.int64)
    i_q = (i_h % H).to(tl.int64)
    p_q = q + i_b * stride_qb + i_q * stride_qh + row.to(tl.int64)[:, None] * stride_qm + o_d[None, :] * stride_qd
    p_k = k + i_b * stride_kb + i_q // GROUP * stride_kh + key.to(tl.int64)[:, None] * stride_kn
    b_q = tl.load(p_q, mask=(row < M)[:, None] & (o_d < D)[None, :], other=0.0)
    b_k = tl.load(p_k + o_d[None, :] * stride_kd, mask=(key < N)[:, None] & (o_d < D)[None, :], other=0.0)
    s = mask_scores(tl.dot(b_q, tl.trans(b_k), input_precision=PRECISION), row, key, M, N, CAUSAL)
    at = (i_h.to(tl.int64) * M + row)[:, None] * N + key[None, :]
    tl.store(s_out + at, s, mask=(row < M)[:, None] & (key < N)[None, :])


@triton.jit(do_not_specialize=["M"])
def softmax_kernel(
    s_in, p_out, m_tile_out, m_out, l_out, M, N, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, TRACE: tl.constexpr,
):  # fmt: skip
    """P = softmax(scale S) by rows: once over the row's tiles for m and l, once more for the weights."""
    n_m = tl.cdiv(M, BLOCK_M)
    i_h = (tl.program_id(0) // n_m).to(tl.int64)
    row = tl.program_id(0) % n_m * BLOCK_M + tl.arange(0, BLOCK_M)
    o_n = tl.arange(0, BLOCK_N)
    m_row = row < M
    at = (i_h * M + row)[:, None] * N
    scale = tl.full([BLOCK_M], scale, tl.float32)
    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK_M], tl.float32)
    tiles = tl.cdiv(N, BLOCK_N)
    for tile in range(tiles):
        key = tile * BLOCK_N + o_n
        s = tl.load(s_in + at + key[None, :], mask=m_row[:, None] & (key < N)[None, :], other=float("-inf"))
        p, alpha, m_tile, m, l = weigh_tile(m, l, s, scale)
        if TRACE:
            o_state = (i_h * tiles + tile) * M + row
            store_states(m_tile_out, m_out, l_out, o_state, m_row, m_tile, m, l)
    m_safe = tl.where(m == float("-inf"), 0.0, m)
    norm = 1.0 / tl.where(l == 0.0, 1.0, l)
    for tile in range(tiles):
        key = tile * BLOCK_N + o_n
        inside = m_row[:, None] & (key < N)[None, :]
        s = tl.load(s_in + at + key[None, :], mask=inside, other=float("-inf"))
        p = tl.exp2(s * scale[:, None] - m_safe[:, None]) * norm[:, None]
        tl.store(p_out + at + key[None, :], p.to(p_out.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["M", "H", "GROUP"])
def output_kernel(
    p_in, v, out, stride_vb, stride_vh, stride_vn, stride_vd, stride_ob, stride_oh, stride_om, stride_od,
    M, N, H, GROUP, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """O = P V."""
    n_m = tl.cdiv(M, BLOCK_M)
    i_h = tl.program_id(0) // n_m
    row = tl.program_id(0) % n_m * BLOCK_M + tl.arange(0, BLOCK_M)
    o_n = tl.arange(0, BLOCK_N)
    o_d = tl.arange(0, BLOCK_D)
    i_b = (i_h // H).to(tl.int64)
    i_q = (i_h % H).to(tl.int64)
    m_row = row < M
    m_d = o_d < D
    wide_row = row.to(tl.int64)
    p_p = p_in + (i_h.to(tl.int64) * M + wide_row)[:, None] * N
    p_v = v + i_b * stride_vb + i_q // GROUP * stride_vh + o_d[None, :] * stride_vd
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    for tile in range(tl.cdiv(N, BLOCK_N)):
        key = tile * BLOCK_N + o_n
        b_p = tl.load(p_p + key[None, :], mask=m_row[:, None] & (key < N)[None, :], other=0.0)
        at_v = p_v + key.to(tl.int64)[:, None] * stride_vn
        b_v = tl.load(at_v, mask=(key < N)[:, None] & m_d[None, :], other=0.0)
        acc = tl.dot(b_p, b_v, acc, input_precision=PRECISION)
    p_o = out + i_b * stride_ob + i_q * stride_oh + wide_row[:, None] * stride_om + o_d[None, :] * stride_od
    tl.store(p_o, acc.to(out.dtype.element_ty), mask=m_row[:, None] & m_d[None, :])


def launch_materialized(
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
    """Write softmax(q k^T / sqrt(D)) v to `out` by three kernels, with S and P in memory between them.

    `q` and `out` are [B, H, M, D], `k` and `v` [B, Hkv, N, D], H a multiple of Hkv, with any strides, all fp32, fp16 or
    bf16 on one device, D up to 256. S takes 4 B H M N bytes and P as many in fp32, half of it in 16 bits. The causal
    mask is aligned to the lower right; a row that sees no key gives 0. Returns the compiled kernel of P V.

    Raises ValueError for inputs outside these limits, torch.cuda.OutOfMemoryError where S and P do not fit, and
    Triton's own errors if the tile cannot be compiled.
    """
    check_inputs(MATERIALIZED.spec, q, k, v, out, tile, precision, causal, None, trace)
    batch, heads, m, d = q.shape
    n, group = k.shape[2], heads // k.shape[1]
    n_m = triton.cdiv(m, tile.block_m)
    block_d = padded_d(d)
    dot = triton_precision(precision, q.dtype)
    scores = torch.empty((batch * heads, m, n), dtype=torch.float32, device=q.device)
    weights = torch.empty_like(scores, dtype=q.dtype)
    scores_kernel[(batch * heads * n_m * triton.cdiv(n, tile.block_n),)](
        q, k, scores, *q.stride(), *k.stride(), m, n, heads, group,
        D=d, BLOCK_M=tile.block_m, BLOCK_N=tile.block_n, BLOCK_D=block_d, CAUSAL=causal, PRECISION=dot, **tile.options,
    )  # fmt: skip
    states = state_buffers(trace, out)
    softmax_kernel[(batch * heads * n_m,)](
        scores, weights, *states, m, n, d**-0.5 * LOG2E,
        BLOCK_M=tile.block_m, BLOCK_N=tile.block_n, TRACE=trace is not None, **tile.options,
    )  # fmt: skip
    return output_kernel[(batch * heads * n_m,)](
        weights, v, out, *v.stride(), *out.stride(), m, n, heads, group,
        D=d, BLOCK_M=tile.block_m, BLOCK_N=tile.block_n, BLOCK_D=block_d, PRECISION=dot, **tile.options,
    )  # fmt: skip


MATERIALIZED = KernelVariant(
    KernelSpec(
        name="materialized",
        title="Materialized S and P",
        description="three kernels with S and P written to memory between them: what tiling saves",
        dtypes=("fp32", "fp16", "bf16"),
        precisions=TRITON_PRECISIONS,
        newer_precisions=NEWER_PRECISIONS,
        movement=WrittenScores(),
        grids=(Grid((32, 64), (32, 64, 128), (4, 8), (2,)),),
        heads=True,
        causal=True,
    ),
    launch_materialized,
)
