"""Dot precisions: how a product of two fp32 matrices is made on tensor cores that take fewer bits.

- ieee: fp32 multiply-adds, no tensor cores.
- tf32: each value rounded to 11 significant bits; one product.
- tf32x3: each value split into two tf32 parts, three products; the fourth is below fp32's own rounding.
- bf16x3: two bf16 parts (16 bits in all), three products. bf16x6: three parts (24 bits), six products.
- fp16x3: two fp16 parts (22 bits), three products, at half the cost of bf16x6. fp16 has a small range, so each tile
  is first multiplied by the power of two that brings its largest value near 2^13: that is exact, and is taken back
  where the products are used. A value keeps its 22 bits down to about 1e-5 of its tile's largest; below, the error is
  2^-38 of that largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from triton.backends.nvidia.compiler import CUDAOptions

from kernels.common.checks import interpreted
from kernels.plain.precisions import EXACT, PRECISIONS, parts_made

_KNOWN = CUDAOptions.__dataclass_fields__["allowed_dot_input_precisions"].default
_NAMES = tuple(name for name, one in PRECISIONS.items() if one.of_triton)
# Of Triton's own dot; NEWER_PRECISIONS are those that newer Tritons know beside them.
TRITON_PRECISIONS = tuple(name for name in _NAMES if name in _KNOWN)
NEWER_PRECISIONS = tuple(name for name in _NAMES if name not in _KNOWN)
TOP = tl.constexpr(13)  # the exponent that the largest scaled value gets: fp16 ends at 2^16


@dataclass(frozen=True)
class Parts:
    """How a precision splits a value: into `count` values of a 16-bit type, `scaled` by a power of two before."""

    count: int
    dtype: torch.dtype
    triton_type: tl.dtype
    scaled: bool


_TYPES = {"bf16": (torch.bfloat16, tl.bfloat16), "fp16": (torch.float16, tl.float16)}
_PARTS = {name: Parts(one.parts, *_TYPES[one.rate], one.scaled) for name, one in PRECISIONS.items() if one.parts}
SPLIT_PRECISIONS = tuple(_PARTS)  # made of 16-bit dots by the kernel itself, which every Triton has


def parts_of(precision: str, dtype: torch.dtype) -> Parts | None:
    """The parts that the dots of a kernel with `precision` take, None where inputs are multiplied as they are.

    The interpreter multiplies bf16 wrongly, so there bf16x3 and bf16x6 are full fp32 products.
    """
    name = "fp32" if dtype == torch.float32 else ""
    return _PARTS[precision] if parts_made(name, precision, interpreted()) else None


def triton_precision(precision: str, dtype: torch.dtype) -> str:
    """What Triton's own dot is told: the interpreter and 16-bit inputs know only one way to multiply."""
    return EXACT if interpreted() or dtype != torch.float32 else precision


@triton.jit
def power_of_two(exponent):
    """2 to the integer `exponent`, exactly; exponents from -126 to 127."""
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def top_exponent(largest):
    """The exponent e for which `largest` times 2^-e lies in [2^TOP, 2^(TOP+1)); 0 gets that of the smallest values."""
    e = ((largest.to(tl.int32, bitcast=True) >> 23) & 0xFF) - 127
    return tl.maximum(e, -100) - TOP


@triton.jit
def finite_size(x):
    """|x|, 0 where it is not finite: an infinity that no row sees must not scale everything beside it to 0."""
    size = tl.abs(x)
    return tl.where(size < float("inf"), size, 0.0)


@triton.jit
def split(x, DTYPE: tl.constexpr, THREE: tl.constexpr):
    """fp32 `x` as a sum of two values of DTYPE, or with THREE of three, the largest first; else the third is filler."""
    first = x.to(DTYPE)
    rest = x - first.to(tl.float32)
    second = rest.to(DTYPE)
    third = first
    if THREE:
        third = (rest - second.to(tl.float32)).to(DTYPE)
    return first, second, third


@triton.jit
def dot_parts(a0, a1, a2, b0, b1, b2, THREE: tl.constexpr):
    """The product of two split matrices, the smallest terms first; those below fp32's rounding are left out."""
    if THREE:
        c = tl.dot(a2, b0)
        c = tl.dot(a0, b2, c)
        c = tl.dot(a1, b1, c)
        c = tl.dot(a1, b0, c)
    else:
        c = tl.dot(a1, b0)
    c = tl.dot(a0, b1, c)
    return tl.dot(a0, b0, c)
