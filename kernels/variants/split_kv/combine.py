"""Joins the partial results of key splits: each has its own running maximum, denominator and weighted sum."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels.common.dependent import await_previous, overlap
from kernels.common.online_softmax import log_sum_exp, normalized
from kernels.plain.split_rule import UNROLLED
from kernels.plain.tiles import padded_d

ELEMENTS = 1024  # of the output, for one program


@triton.jit
def load_max(part_m, i_s, row, rows, n_splits):
    """The running maxima of split `i_s`, [ROWS], -inf beyond the last split."""
    split = tl.zeros_like(row) + i_s
    here = (row < rows) & (split < n_splits)
    return tl.load(part_m + split.to(tl.int64) * rows + row, mask=here, other=float("-inf"))


@triton.jit
def add_split(l_all, acc, part_acc, part_m, part_l, i_s, row, rows, n_splits, m_safe, o_d, D: tl.constexpr):
    """`l_all` [ROWS] and `acc` [ROWS, BLOCK_D] with split `i_s` added, scaled to the common maximum `m_safe`."""
    split = tl.zeros_like(row) + i_s
    here = (row < rows) & (split < n_splits)
    at = split.to(tl.int64) * rows + row
    weight = tl.exp2(load_max(part_m, i_s, row, rows, n_splits) - m_safe)
    b_acc = tl.load(part_acc + at[:, None] * D + o_d[None, :], mask=here[:, None] & (o_d < D)[None, :], other=0.0)
    return l_all + weight * tl.load(part_l + at, mask=here, other=0.0), acc + weight[:, None] * b_acc


@triton.jit(do_not_specialize=["M", "H", "rows", "n_splits"])
def combine_kernel(
    part_acc, part_m, part_l, out, lse, stride_ob, stride_oh, stride_om, stride_od, M, H, rows, n_splits,
    D: tl.constexpr, ROWS: tl.constexpr, UNROLL: tl.constexpr, BLOCK_D: tl.constexpr, LSE: tl.constexpr,
    DEPENDENT: tl.constexpr,
):  # fmt: skip
    """ROWS rows of all heads a program.

    UNROLL, not below n_splits, has all loads under way at one time; 0 is a loop, whose every turn waits for its loads.
    """
    if DEPENDENT:
        await_previous()
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    o_d = tl.arange(0, BLOCK_D)
    m_row = row < rows
    m_d = o_d < D
    m_all = tl.full([ROWS], float("-inf"), tl.float32)
    if UNROLL:
        for i_s in tl.static_range(UNROLL):
            m_all = tl.maximum(m_all, load_max(part_m, i_s, row, rows, n_splits))
    else:
        for i_s in range(n_splits):
            m_all = tl.maximum(m_all, load_max(part_m, i_s, row, rows, n_splits))
    m_safe = tl.where(m_all == float("-inf"), 0.0, m_all)
    l_all = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, BLOCK_D], tl.float32)
    if UNROLL:
        for i_s in tl.static_range(UNROLL):
            l_all, acc = add_split(l_all, acc, part_acc, part_m, part_l, i_s, row, rows, n_splits, m_safe, o_d, D)
    else:
        for i_s in range(n_splits):
            l_all, acc = add_split(l_all, acc, part_acc, part_m, part_l, i_s, row, rows, n_splits, m_safe, o_d, D)
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
        D=d, ROWS=block, UNROLL=triton.next_power_of_2(splits) if splits <= UNROLLED else 0, BLOCK_D=block_d,
        LSE=lse is not None, DEPENDENT=dependent, **overlap(dependent),
    )  # fmt: skip
