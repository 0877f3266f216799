"""The general forward kernel: any heads, grouped heads, strides, causal mask, three dtypes, all dot precisions.

One program owns BLOCK_M query rows of one head and streams the key tiles that they see: first those that need no mask,
then the one or two at the mask's edge.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels.common.checks import check_inputs
from kernels.common.online_softmax import (
    LOG2E,
    key_range,
    log_sum_exp,
    mask_scores,
    normalized,
    store_states,
    weigh_tile,
)
from kernels.common.precision import NEWER_PRECISIONS, TRITON_PRECISIONS, triton_precision
from kernels.common.variant import KernelVariant, TileTrace, state_buffers
from kernels.plain.precisions import EXACT
from kernels.plain.spec import Grid, KernelSpec
from kernels.plain.tiles import TileConfig, padded_d
from kernels.plain.traffic import Streamed


@triton.jit
def _absorb(
    b_q, m, l, acc, p_k, p_v, stride_kn, stride_vn, first, last, row, i_h, scale, M, N, m_d, states,
    BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, EVEN_D: tl.constexpr, PRECISION: tl.constexpr,
    TRACE: tl.constexpr,
):  # fmt: skip
    """Absorb the key tiles from `first` up to `last`; p_k and p_v point at the head's first tile."""
    o_n = tl.arange(0, BLOCK_N)
    for tile in range(first, last):
        key = tile * BLOCK_N + o_n
        at_k = p_k + key.to(tl.int64)[:, None] * stride_kn
        at_v = p_v + key.to(tl.int64)[:, None] * stride_vn
        if MASKED:
            m_kv = (key < N)[:, None] & m_d[None, :]
            b_k = tl.load(at_k, mask=m_kv, other=0.0)
            b_v = tl.load(at_v, mask=m_kv, other=0.0)
        elif EVEN_D:
            b_k = tl.load(at_k)
            b_v = tl.load(at_v)
        else:
            b_k = tl.load(at_k, mask=m_d[None, :], other=0.0)
            b_v = tl.load(at_v, mask=m_d[None, :], other=0.0)
        s = tl.dot(b_q, tl.trans(b_k), input_precision=PRECISION)  # [BLOCK_M, BLOCK_N]
        if MASKED:
            s = mask_scores(s, row, key, M, N, CAUSAL)
        p, alpha, m_tile, m, l = weigh_tile(m, l, s, scale)
        acc = tl.dot(p.to(b_v.dtype), b_v, acc * alpha[:, None], input_precision=PRECISION)
        if TRACE:
            m_tile_out, m_out, l_out = states
            at = (i_h.to(tl.int64) * tl.cdiv(N, BLOCK_N) + tile) * M + row
            store_states(m_tile_out, m_out, l_out, at, row < M, m_tile, m, l)
    return m, l, acc


@triton.jit(do_not_specialize=["M", "N", "H", "GROUP"])
def flash_kernel(
    q, k, v, out, lse, m_tile_out, m_out, l_out,
    stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    stride_vb, stride_vh, stride_vn, stride_vd, stride_ob, stride_oh, stride_om, stride_od,
    M, N, H, GROUP, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr, LSE: tl.constexpr, TRACE: tl.constexpr,
):  # fmt: skip
    n_m = tl.cdiv(M, BLOCK_M)
    i_h = tl.program_id(0) // n_m
    i_m = tl.program_id(0) % n_m
    if CAUSAL:
        i_m = n_m - 1 - i_m  # the longest rows first, so that none is left for the end
    i_b = (i_h // H).to(tl.int64)
    i_q = (i_h % H).to(tl.int64)
    i_kv = i_q // GROUP
    start = i_m * BLOCK_M
    row = start + tl.arange(0, BLOCK_M)
    o_d = tl.arange(0, BLOCK_D)
    m_d = o_d < D
    m_row = row < M
    EVEN_D: tl.constexpr = D == BLOCK_D

    wide_row = row.to(tl.int64)
    p_q = q + i_b * stride_qb + i_q * stride_qh + wide_row[:, None] * stride_qm + o_d[None, :] * stride_qd
    b_q = tl.load(p_q, mask=m_row[:, None] & m_d[None, :], other=0.0)  # [BLOCK_M, BLOCK_D]
    p_k = k + i_b * stride_kb + i_kv * stride_kh + o_d[None, :] * stride_kd
    p_v = v + i_b * stride_vb + i_kv * stride_vh + o_d[None, :] * stride_vd

    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    states = (m_tile_out, m_out, l_out)
    scale = tl.full([BLOCK_M], scale, tl.float32)
    tiles, whole = key_range(start, M, N, BLOCK_M, BLOCK_N, CAUSAL)
    m, l, acc = _absorb(
        b_q, m, l, acc, p_k, p_v, stride_kn, stride_vn, 0, whole, row, i_h, scale, M, N, m_d, states,
        BLOCK_N, CAUSAL, False, EVEN_D, PRECISION, TRACE,
    )  # fmt: skip
    m, l, acc = _absorb(
        b_q, m, l, acc, p_k, p_v, stride_kn, stride_vn, whole, tiles, row, i_h, scale, M, N, m_d, states,
        BLOCK_N, CAUSAL, True, EVEN_D, PRECISION, TRACE,
    )  # fmt: skip

    p_o = out + i_b * stride_ob + i_q * stride_oh + wide_row[:, None] * stride_om + o_d[None, :] * stride_od
    tl.store(p_o, normalized(acc, l).to(out.dtype.element_ty), mask=m_row[:, None] & m_d[None, :])
    if LSE:
        tl.store(lse + i_h.to(tl.int64) * M + row, log_sum_exp(m, l), mask=m_row)


def launch_flash(
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
    """Write softmax(scale q k^T) v to `out`; scale is 1 / sqrt(D) unless given.

    `q` and `out` are [B, H, M, D], `k` and `v` [B, Hkv, N, D], H a multiple of Hkv, with any strides, all fp32, fp16 or
    bf16 on one device, D up to 256. The causal mask is aligned to the lower right; a row that sees no key gives 0.
    `lse`, [B, H, M] contiguous float32, receives the log-sum-exp of each row's scores (-inf where it sees no key).
    Source: FlashAttention-2 (Dao, 2023).

    Raises ValueError for inputs outside these limits, and Triton's own errors if the tile cannot be compiled.
    """
    check_inputs(FLASH.spec, q, k, v, out, tile, precision, causal, lse, trace)
    batch, heads, m, d = q.shape
    n = k.shape[2]
    states = state_buffers(trace, out)
    return flash_kernel[(batch * heads * triton.cdiv(m, tile.block_m),)](
        q, k, v, out, out if lse is None else lse, *states,
        *q.stride(), *k.stride(), *v.stride(), *out.stride(),
        m, n, heads, heads // k.shape[1], (d**-0.5 if scale is None else scale) * LOG2E,
        D=d, BLOCK_M=tile.block_m, BLOCK_N=tile.block_n, BLOCK_D=padded_d(d),
        CAUSAL=causal, PRECISION=triton_precision(precision, q.dtype), LSE=lse is not None, TRACE=trace is not None,
        **tile.options,
    )  # fmt: skip


FLASH = KernelVariant(
    KernelSpec(
        name="flash",
        title="Flash kernel",
        description="the general forward: heads, grouped heads, causal, three dtypes, every dot precision",
        dtypes=("fp32", "fp16", "bf16"),
        precisions=TRITON_PRECISIONS,
        newer_precisions=NEWER_PRECISIONS,
        movement=Streamed(),
        grids=(
            Grid((32, 64), (32, 64), (4, 8), (1, 2), dtypes=("fp32",)),
            Grid((64, 128), (32, 64, 128), (4, 8), (2, 3)),
        ),
        heads=True,
        causal=True,
    ),
    launch_flash,
)
