"""Joins the partial results of key splits: each has its own running maximum, denominator and weighted sum."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels.dependent import await_previous, overlap
from kernels.online_softmax import log_sum_exp, normalized
from kernels.tiles import padded_d

ELEMENTS = 1024  # of the output, for one program
UNROLLED = 16


@triton.jit(do_not_specialize=["M", "H", "rows", "n_splits"])
def combine_kernel(
    part_acc, part_m, part_l, out, lse, stride_ob, stride_oh, stride_om, stride_od, M, H, rows, n_splits,
    D: tl.constexpr, ROWS: tl.constexpr, UNROLL: tl.constexpr, BLOCK_D: tl.constexpr, LSE: tl.constexpr,
    DEPENDENT: tl.constexpr,
):  # fmt: skip
    """ROWS rows of all heads a program. UNROLL splits at once, so that their loads are under way at one time."""
    if DEPENDENT:
        await_previous()
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    o_d = tl.arange(0, BLOCK_D)
    m_row = row < rows
    m_d = o_d < D
    m_all = tl.full([ROWS], float("-inf"), tl.float32)
    for first in range(0, n_splits, UNROLL):
        for i in tl.static_range(UNROLL):
            i_s = tl.zeros_like(row) + first + i
            at = i_s.to(tl.int64) * rows + row
            m_all = tl.maximum(m_all, tl.load(part_m + at, mask=m_row & (i_s < n_splits), other=float("-inf")))
    m_safe = tl.where(m_all == float("-inf"), 0.0, m_all)
    l_all = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, BLOCK_D], tl.float32)
    for first in range(0, n_splits, UNROLL):
        for i in tl.static_range(UNROLL):
            i_s = tl.zeros_like(row) + first + i
            here = m_row & (i_s < n_splits)
            at = i_s.to(tl.int64) * rows + row
            weight = tl.exp2(tl.load(part_m + at, mask=here, other=float("-inf")) - m_safe)
            l_all += weight * tl.load(part_l + at, mask=here, other=0.0)
            p_acc = part_acc + at[:, None] * D + o_d[None, :]
            acc += weight[:, None] * tl.load(p_acc, mask=here[:, None] & m_d[None, :], other=0.0)
    i_b = (row // M // H).to(tl.int64)
    i_q = (row // M % H).to(tl.int64)
    i_row = (row % M).to(tl.int64)
    p_o = out + (i_b * stride_ob + i_q * stride_oh + i_row * stride_om)[:, None] + o_d[None, :] * stride_od
    tl.store(p_o, normalized(acc, l_all).to(out.dtype.element_ty), mask=m_row[:, None] & m_d[None, :])
    if LSE:
        tl.store(lse + row, log_sum_exp(m_all, l_all), mask=m_row)


def combine(
    part_acc: torch.Tensor,
    part_m: torch.Tensor,
    part_l: torch.Tensor,
    out: torch.Tensor,
    lse: torch.Tensor | None,
    splits: int,
    dependent: bool,
) -> None:
    """Write to `out` [B, H, M, D] what `splits` partial results make: acc [splits, B * H * M, D], m (in base 2) and l
    [splits, B * H * M], all float32. `lse`, [B, H, M], gets the log-sum-exp."""
    batch, heads, m, d = out.shape
    rows = batch * heads * m
    block_d = padded_d(d)
    block = max(1, ELEMENTS // block_d)
    combine_kernel[(triton.cdiv(rows, block),)](
        part_acc, part_m, part_l, out, out if lse is None else lse, *out.stride(), m, heads, rows, splits,
        D=d, ROWS=block, UNROLL=min(UNROLLED, triton.next_power_of_2(splits)), BLOCK_D=block_d, LSE=lse is not None,
        DEPENDENT=dependent, **overlap(dependent),
    )  # fmt: skip
