"""Keys split over programs, for few query rows and many keys: a grid of query blocks alone leaves most of the GPU idle.

Each program absorbs its share of the key tiles and writes its partial m, l and acc; a second kernel combines them. With
a split dot precision (bf16x3, bf16x6, fp16x3) K and V are split into their parts once, by a kernel that runs before,
and not once for every query block that reads them.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels.common.checks import Shape, check_inputs, sm_count
from kernels.common.dependent import allow_next, await_previous, can_overlap, overlap
from kernels.common.online_softmax import LOG2E, log_sum_exp, mask_scores, normalized, store_states, weigh_tile
from kernels.common.precision import (
    SPLIT_PRECISIONS,
    TOP,
    TRITON_PRECISIONS,
    dot_parts,
    finite_size,
    parts_of,
    power_of_two,
    split,
    top_exponent,
    triton_precision,
)
from kernels.common.variant import KernelVariant, TileTrace, state_buffers
from kernels.plain.precisions import EXACT
from kernels.plain.spec import Grid, KernelSpec
from kernels.plain.split_rule import SPLIT_BEFORE_FROM, is_read_often
from kernels.plain.tiles import TileConfig, padded_d, resolved_splits, tiles_per_split
from kernels.plain.traffic import SplitKeys
from kernels.variants.split_kv.combine import combine
from kernels.variants.split_kv.parts import SplitKV, scaled_tile, split_keys_and_values


@triton.jit(do_not_specialize=["M", "N", "H", "GROUP", "heads", "n_splits", "per_split"])
def split_kv_kernel(
    q, k, v, k_exponents, v_exponents, out, part_acc, part_m, part_l, lse, m_tile_out, m_out, l_out,
    stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    stride_vb, stride_vh, stride_vn, stride_vd, stride_ob, stride_oh, stride_om, stride_od,
    M, N, H, GROUP, heads, n_splits, per_split, part_stride, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr, PART: tl.constexpr, THREE: tl.constexpr, SCALED: tl.constexpr,
    BEFORE: tl.constexpr, ONE_SPLIT: tl.constexpr, LSE: tl.constexpr, TRACE: tl.constexpr, DEPENDENT: tl.constexpr,
):  # fmt: skip
    """PART is the type of the parts, None without; BEFORE says that k and v already are parts, padded to whole tiles.

    With DEPENDENT the next kernel's programs may start before this one's end, and this one's before the split's end.
    """
    if DEPENDENT:
        allow_next()
    part_stride = tl.cast(part_stride, tl.int64)
    n_m = tl.cdiv(M, BLOCK_M)
    i_s = tl.program_id(0) % n_splits
    i_h = tl.program_id(0) // n_splits // n_m
    i_m = tl.program_id(0) // n_splits % n_m
    i_b = (i_h // H).to(tl.int64)
    i_q = (i_h % H).to(tl.int64)
    i_kv = i_q // GROUP
    start = i_m * BLOCK_M
    row = start + tl.arange(0, BLOCK_M)
    o_n = tl.arange(0, BLOCK_N)
    o_d = tl.arange(0, BLOCK_D)
    m_d = o_d < D
    m_row = row < M
    wide_row = row.to(tl.int64)
    m_q = m_row[:, None] & m_d[None, :]

    p_q = q + i_b * stride_qb + i_q * stride_qh + wide_row[:, None] * stride_qm + o_d[None, :] * stride_qd
    b_q = tl.load(p_q, mask=m_q, other=0.0)  # [BLOCK_M, BLOCK_D]
    row_scale = tl.full([BLOCK_M], scale, tl.float32)
    if PART is not None:
        if SCALED:
            q_exponent = top_exponent(tl.max(finite_size(b_q), axis=1))  # [BLOCK_M]: a row's own, it costs no more
            b_q = b_q * power_of_two(-q_exponent)[:, None]
        q0, q1, q2 = split(b_q, PART, THREE)
    p_k = k + i_b * stride_kb + i_kv * stride_kh + o_d[None, :] * stride_kd
    p_v = v + i_b * stride_vb + i_kv * stride_vh + o_d[None, :] * stride_vd

    if DEPENDENT and BEFORE:
        await_previous()  # until here nothing was read that the split writes

    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    unit = -1000  # with SCALED, acc counts in units of 2 to this power
    highest = -1000
    tiles = tl.cdiv(N, BLOCK_N)
    seen = tiles
    if CAUSAL:
        seen = tl.cdiv(tl.maximum(0, tl.minimum(N, start + BLOCK_M + N - M)), BLOCK_N)
    first = i_s * per_split
    for tile in range(first, tl.minimum(first + per_split, seen)):
        key = tile * BLOCK_N + o_n
        at_k = p_k + key.to(tl.int64)[:, None] * stride_kn
        at_v = p_v + key.to(tl.int64)[:, None] * stride_vn
        k_exponent = 0
        v_exponent = 0
        if BEFORE:
            k0 = tl.load(at_k)
            k1 = tl.load(at_k + part_stride)
            v0 = tl.load(at_v)
            v1 = tl.load(at_v + part_stride)
            k2 = k0
            v2 = v0
            if THREE:
                k2 = tl.load(at_k + 2 * part_stride)
                v2 = tl.load(at_v + 2 * part_stride)
            if SCALED:
                at_exponent = (i_b * (H // GROUP) + i_kv) * tiles + tile
                k_exponent = tl.load(k_exponents + at_exponent)
                v_exponent = tl.load(v_exponents + at_exponent)
        else:
            m_kv = (key < N)[:, None] & m_d[None, :]
            b_k = tl.load(at_k, mask=m_kv, other=0.0)
            b_v = tl.load(at_v, mask=m_kv, other=0.0)
            if PART is not None:
                b_k, k_exponent = scaled_tile(b_k, SCALED)
                b_v, v_exponent = scaled_tile(b_v, SCALED)
                k0, k1, k2 = split(b_k, PART, THREE)
                v0, v1, v2 = split(b_v, PART, THREE)

        if PART is not None:
            s = dot_parts(q0, q1, q2, tl.trans(k0), tl.trans(k1), tl.trans(k2), THREE)
        else:
            s = tl.dot(b_q, tl.trans(b_k), input_precision=PRECISION)  # [BLOCK_M, BLOCK_N]
        s = mask_scores(s, row, key, M, N, CAUSAL)
        tile_scale = row_scale
        if SCALED:
            # Never 0 nor infinite, which times -inf or 0 would be NaN. Beyond the clamps a score is 0 or overwhelming.
            exponent = tl.minimum(tl.maximum(q_exponent + k_exponent, -100), 100)
            tile_scale = row_scale * power_of_two(exponent)
        p, alpha, m_tile, m, l = weigh_tile(m, l, s, tile_scale)
        if SCALED:
            # The largest weight is 1 and becomes 2^TOP. In all, the unit falls no further than what acc survives.
            highest = tl.maximum(highest, v_exponent - TOP)
            new_unit = tl.maximum(v_exponent - TOP, highest - 80)
            p = p * power_of_two(tl.maximum(v_exponent - new_unit, -126))
            alpha = alpha * power_of_two(tl.maximum(unit - new_unit, -126))
            unit = new_unit
        acc = acc * alpha[:, None]
        if PART is not None:
            p0, p1, p2 = split(p, PART, THREE)
            acc += dot_parts(p0, p1, p2, v0, v1, v2, THREE)
        else:
            acc = tl.dot(p.to(b_v.dtype), b_v, acc, input_precision=PRECISION)
        if TRACE:
            at = (i_h.to(tl.int64) * tiles + tile) * M + row
            store_states(m_tile_out, m_out, l_out, at, m_row, m_tile, m, l)

    if SCALED:
        acc = acc * power_of_two(tl.maximum(unit, -126))
    if ONE_SPLIT:
        p_o = out + i_b * stride_ob + i_q * stride_oh + wide_row[:, None] * stride_om + o_d[None, :] * stride_od
        tl.store(p_o, normalized(acc, l).to(out.dtype.element_ty), mask=m_q)
        if LSE:
            tl.store(lse + i_h.to(tl.int64) * M + row, log_sum_exp(m, l), mask=m_row)
    else:
        at = (i_s.to(tl.int64) * heads + i_h) * M + row
        tl.store(part_acc + at[:, None] * D + o_d[None, :], acc, mask=m_q)
        tl.store(part_m + at, m, mask=m_row)
        tl.store(part_l + at, l, mask=m_row)


def launch_split_kv(
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
    """Write softmax(scale q k^T) v to `out`, the keys split over `tile.splits` programs (AUTO_SPLITS: by rule).

    `q` and `out` are [B, H, M, D], `k` and `v` [B, Hkv, N, D], H a multiple of Hkv, with any strides, all fp32, fp16 or
    bf16 on one device, D up to 256. The causal mask is aligned to the lower right; a row that sees no key gives 0.
    `lse`, [B, H, M] contiguous float32, receives the log-sum-exp of each row's scores. fp16x3, bf16x3 and bf16x6 need
    finite inputs. `trace` receives the states of all splits side by side; m and l begin anew with each.
    Source: the split keys of Flash-Decoding (Dao et al., 2023); split fp32 products after Ootomo and Yokota (2022).

    Raises ValueError for inputs outside these limits, and Triton's own errors if the tile cannot be compiled.
    """
    check_inputs(SPLIT_KV.spec, q, k, v, out, tile, precision, causal, lse, trace)
    batch, heads, m, d = q.shape
    n, kv_heads = k.shape[2], k.shape[1]
    n_m = triton.cdiv(m, tile.block_m)
    shape = Shape.of(q, k, causal)
    splits = resolved_splits(shape, tile, sm_count(q.device))
    block_d = padded_d(d)
    parts = parts_of(precision, q.dtype)
    dependent = can_overlap(q.device)
    keys = SplitKV(k, v, None, None, 0)
    per_split = tiles_per_split(n, tile.block_n, splits)
    before = parts is not None and is_read_often(shape, heads // kv_heads, tile, splits, SPLIT_BEFORE_FROM)
    if parts is not None and before:
        keys = split_keys_and_values(k, v, parts, tile.block_n, block_d, dependent)
    rows = batch * heads * m
    partial = (out, out, out)
    if splits > 1:
        acc = torch.empty((splits, rows, d), dtype=torch.float32, device=q.device)
        partial = (acc, acc.new_empty((splits, rows)), acc.new_empty((splits, rows)))
    states = state_buffers(trace, out)
    compiled = split_kv_kernel[(batch * heads * n_m * splits,)](
        q, keys.k, keys.v, keys.k_exponents, keys.v_exponents, out, *partial, out if lse is None else lse, *states,
        *q.stride(), *keys.k.stride()[-4:], *keys.v.stride()[-4:], *out.stride(),
        m, n, heads, heads // kv_heads, batch * heads, splits, per_split,
        keys.part_stride, (d**-0.5 if scale is None else scale) * LOG2E,
        D=d, BLOCK_M=tile.block_m, BLOCK_N=tile.block_n, BLOCK_D=block_d, CAUSAL=causal,
        PRECISION=triton_precision(precision, q.dtype), PART=None if parts is None else parts.triton_type,
        THREE=parts is not None and parts.count == 3, SCALED=parts is not None and parts.scaled, BEFORE=before,
        ONE_SPLIT=splits == 1, LSE=lse is not None, TRACE=trace is not None, DEPENDENT=dependent,
        **tile.options, **overlap(dependent and before),
    )  # fmt: skip
    if splits > 1:
        combine(*partial, out, lse, splits, dependent)
    return compiled


SPLIT_KV = KernelVariant(
    KernelSpec(
        name="split_kv",
        title="Split-KV kernel",
        description="keys split over programs and combined, for few query rows and many keys; "
        "fp32 from 16-bit products",
        dtypes=("fp32", "fp16", "bf16"),
        precisions=tuple(dict.fromkeys((*TRITON_PRECISIONS, *SPLIT_PRECISIONS))),
        movement=SplitKeys(),
        grids=(Grid((32, 64, 128), (32, 64), (4, 8), (1, 2, 3), (1, 2, 4, 8, 16, 32)),),
        heads=True,
        causal=True,
        splits=True,
    ),
    launch_split_kv,
)
