"""K and V split into their 16-bit parts once, for kernels that multiply fp32 on 16-bit tensor cores."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from kernels.common.dependent import allow_next
from kernels.common.precision import Parts, finite_size, power_of_two, split, top_exponent


@dataclass(frozen=True)
class SplitKV:
    """K and V as a kernel reads them: as they came, or as parts [parts, B, Hkv, N', D'] of whole tiles, zeros beyond.

    The exponents, [B * Hkv, tiles] int32, say by which power of two each tile is to be multiplied again; None where the
    parts are not scaled. `part_stride` is the distance from one part to the next, in elements.
    """

    k: torch.Tensor
    v: torch.Tensor
    k_exponents: torch.Tensor | None
    v_exponents: torch.Tensor | None
    part_stride: int


@triton.jit
def scaled_tile(x, SCALED: tl.constexpr):
    """With SCALED, a tile times the power of two that suits fp16, and the exponent that takes it back; else x and 0."""
    exponent = 0
    if SCALED:
        exponent = top_exponent(tl.max(tl.max(finite_size(x), axis=1), axis=0))
        x = x * power_of_two(-exponent)
    return x, exponent


@triton.jit(do_not_specialize=["N", "H", "heads", "tiles"])
def split_kernel(
    k, v, parts, exponents,
    stride_kb, stride_kh, stride_kn, stride_kd, stride_vb, stride_vh, stride_vn, stride_vd,
    N, H, heads, tiles, part_stride,
    D: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, PART: tl.constexpr, COUNT: tl.constexpr,
    SCALED: tl.constexpr, DEPENDENT: tl.constexpr,
):  # fmt: skip
    """One tile of K, or of V, a program."""
    if DEPENDENT:
        allow_next()
    part_stride = tl.cast(part_stride, tl.int64)
    tile = tl.program_id(0) % tiles
    i_h = tl.program_id(0) // tiles % heads
    i_t = (tl.program_id(0) // tiles // heads).to(tl.int64)  # 0 for K, 1 for V
    i_b = (i_h // H).to(tl.int64)
    i_kv = (i_h % H).to(tl.int64)
    o_d = tl.arange(0, BLOCK_D)
    key = tile * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (key < N)[:, None] & (o_d < D)[None, :]
    wide = key.to(tl.int64)[:, None]
    if i_t == 0:
        x = tl.load(k + i_b * stride_kb + i_kv * stride_kh + wide * stride_kn + o_d[None, :] * stride_kd, inside, 0.0)
    else:
        x = tl.load(v + i_b * stride_vb + i_kv * stride_vh + wide * stride_vn + o_d[None, :] * stride_vd, inside, 0.0)
    x, exponent = scaled_tile(x, SCALED)
    if SCALED:
        tl.store(exponents + (i_t * heads + i_h) * tiles + tile, exponent)
    first, second, third = split(x, PART, COUNT == 3)
    at = i_t * COUNT * part_stride + (i_h.to(tl.int64) * tiles * BLOCK_N + wide) * BLOCK_D + o_d[None, :]
    tl.store(parts + at, first)
    tl.store(parts + part_stride + at, second)
    if COUNT == 3:
        tl.store(parts + 2 * part_stride + at, third)


def split_keys_and_values(
    k: torch.Tensor, v: torch.Tensor, parts: Parts, block_n: int, block_d: int, dependent: bool
) -> SplitKV:
    """Split fp32 `k` and `v`, [B, Hkv, N, D] with any strides, into parts padded to tiles of block_n x block_d."""
    batch, heads, n, d = k.shape
    tiles = triton.cdiv(n, block_n)
    shape = (2, parts.count, batch, heads, tiles * block_n, block_d)
    split_parts = torch.empty(shape, dtype=parts.dtype, device=k.device)
    exponents = torch.empty((2, batch * heads, tiles), dtype=torch.int32, device=k.device)
    part_stride = split_parts[0, 0].numel()
    split_kernel[(2 * batch * heads * tiles,)](
        k, v, split_parts, exponents, *k.stride(), *v.stride(), n, heads, batch * heads, tiles, part_stride,
        D=d, BLOCK_N=block_n, BLOCK_D=block_d, PART=parts.triton_type, COUNT=parts.count, SCALED=parts.scaled,
        DEPENDENT=dependent,
    )  # fmt: skip
    return SplitKV(split_parts[0], split_parts[1], exponents[0], exponents[1], part_stride)
