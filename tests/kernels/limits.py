"""What the kernels' results are held to: float64, and limits that say where each error comes from.

An output may be off by twice what PyTorch's SDPA is off on the same inputs, or by the rounding that the dtype and the
precision of the products imply, whichever is more. The traced states are held to the latter alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch.nn.functional import scaled_dot_product_attention

from kernels import TileTrace
from kernels.reference import attention, softmax_states
from tests.kernels.cases import Inputs

NEVER = float("-inf")

EXACT = 2.0**-21
"""8 roundings of fp32, 2^-24 each: of the sum over D, of the scale, of the exponent, of the sum over the keys. bf16x6
keeps 24 bits of each value, tf32x3 21 or 22: both within it for the D that they are tested with, over which the errors
of the products average out. 16-bit inputs have exact products in fp32."""

UNITS = {
    "ieee": EXACT,
    # Two fp16 parts are within 2^-22 of each factor, and the product of the second parts, which is left out, is up to
    # 2^-22 too. D = 1 has it all, with 4 roundings of fp32 for the sum, the scale, its constant and the natural log.
    "fp16x3": 3 * 2.0**-22 + 4 * 2.0**-24,
    "bf16x6": EXACT,
    "tf32x3": EXACT,
    # Two bf16 parts keep 16 bits of each value, and a product leaves out the two second parts': 3 times 2^-18 for a
    # score, and once more with V.
    "bf16x3": 2.0**-15,
    # 11 bits, cut off and not rounded: 2^-10 of each of two factors.
    "tf32": 2.0**-9,
}
"""The error of a product of two vectors a, b, relative to |a| |b|."""

HALF_ULP = {torch.float32: 0.0, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
"""The rounding of the weights before the product with V, and that of the output: none where they are fp32."""

FP16_STEP = 2.0**-25
"""The rounding of an fp16 weight below 2^-14, which is absolute."""

AVERAGED_D = 64
"""The D up to which the errors of a score's products average out; beyond, the sum's own roundings grow as fast."""

EXP_ERROR = 2.0**-20
"""Relative, of a sum of powers of two: the hardware's are within 2^-22."""


@dataclass(frozen=True)
class Expected:
    """Float64 results of a problem and how exact a kernel can be.

    `out` is [B, H, M, D]; `lse`, the log-sum-exp of each row's scores, and `size`, at least 1 and at least the largest
    score the row could have by the lengths of its vectors, |q| |k| / sqrt(D), are [B, H, M]: a score is a sum, and its
    rounding goes with its terms. `limit` is the largest error that `out` may have.
    """

    out: torch.Tensor
    lse: torch.Tensor
    size: torch.Tensor
    limit: float


def expect(x: Inputs, causal: bool, precision: str, scale: float | None = None) -> Expected:
    """What a kernel must give for `x`. A row that sees no key is 0, with a log-sum-exp of -inf."""
    group = x.q.shape[1] // x.k.shape[1]
    wide_k = x.k.double().repeat_interleave(group, dim=1)
    factor = x.q.shape[3] ** -0.5 if scale is None else scale
    scores = x.q.double() @ wide_k.mT * factor
    if causal:
        scores = scores.masked_fill(~_seen(x), NEVER)
    out = attention(x.q, x.k, x.v, causal=causal, scale=scale)
    size = factor * x.q.double().norm(dim=3) * wide_k.norm(dim=3).amax(dim=2, keepdim=True)
    limit = max(2 * sdpa_error(x, causal, out, scale), _rounding(x, causal, precision, out, size, scale))
    return Expected(out, torch.logsumexp(scores, dim=3), size.clamp_min(1.0), limit)


def sdpa_error(x: Inputs, causal: bool, expected: torch.Tensor, scale: float | None = None) -> float:
    """The largest error of PyTorch's SDPA where it defines a result: rows that see no key are left out."""
    group = x.q.shape[1] // x.k.shape[1]
    wide_k, wide_v = (t.repeat_interleave(group, dim=1) for t in (x.k, x.v))
    square = x.q.shape[2] == x.k.shape[2]
    out = scaled_dot_product_attention(
        x.q,
        wide_k,
        wide_v,
        attn_mask=_seen(x) if causal and not square else None,
        is_causal=causal and square,
        scale=scale,
    )
    first = max(0, x.q.shape[2] - x.k.shape[2]) if causal else 0
    error = float((out.double() - expected)[:, :, first:].abs().max())
    return error if error < float("inf") else 0.0  # where SDPA itself fails it allows nothing


def _seen(x: Inputs) -> torch.Tensor:
    """Which keys a query row sees under the causal mask, [M, N]: it is aligned to the lower right."""
    m, n = x.q.shape[2], x.k.shape[2]
    return torch.ones(m, n, dtype=torch.bool, device=x.q.device).tril(n - m)


def _rounding(
    x: Inputs, causal: bool, precision: str, out: torch.Tensor, size: torch.Tensor, scale: float | None
) -> float:
    """The error that dtype and precision imply: a unit of the largest value, times a score's error where that is more.

    A score is off by a unit of its size, less by the square root of D where that many products err each in its own way.
    An error of the score moves a weight, and with it the output, by as much of the values that the row weighs.
    """
    largest = float(x.v.abs().max())
    products = UNITS[precision] * largest * max(1.0, float(size.max()) / math.sqrt(min(x.q.shape[3], AVERAGED_D)))
    half = HALF_ULP[x.q.dtype]
    if not half:
        return products
    weighed = float(attention(x.q, x.k, x.v.abs(), causal=causal, scale=scale).max())
    steps = x.k.shape[2] * FP16_STEP * largest if x.q.dtype == torch.float16 else 0.0
    return products + half * (weighed + float(out.abs().max())) + steps


def check_output(out: torch.Tensor, expected: Expected, about: str) -> None:
    """Fail unless `out` is finite, within its limit, and exactly 0 for rows that see no key."""
    assert torch.isfinite(out).all(), f"{int((~torch.isfinite(out)).sum())} values are not finite; {about}"
    unseen = expected.lse == NEVER
    assert (out[unseen] == 0).all(), f"a row that sees no key is not 0; {about}"
    error = float((out.double() - expected.out).abs().max())
    assert error <= expected.limit, f"error {error:.3e}, allowed {expected.limit:.3e}; {about}"


def check_lse(lse: torch.Tensor, expected: Expected, precision: str, about: str) -> None:
    """Fail unless `lse` is float64's to the rounding of a score; -inf only where float64's is."""
    allowed = EXP_ERROR + 2 * UNITS[precision] * expected.size
    _check_close(lse.double(), expected.lse, allowed, f"log-sum-exp; {about}")


def check_states(
    trace: TileTrace, x: Inputs, block_n: int, causal: bool, splits: int, expected: Expected, precision: str, about: str
) -> None:
    """Fail unless the traced states are float64's.

    A tile of which a row sees no key may have been skipped: then all three states of the row are as they were, NaN.
    """
    want = softmax_states(x.q, x.k, block_n, causal=causal, splits=splits)
    skipped = trace.m_tile.isnan()
    assert (want.m_tile[skipped] == NEVER).all(), f"a tile with a visible key was left out; {about}"
    size = expected.size.flatten(0, 1)[..., None]
    unit = UNITS[precision] * size
    for field in fields(TileTrace):
        got, right = getattr(trace, field.name).double(), getattr(want, field.name)
        assert got.shape == right.shape, f"{field.name} is {tuple(got.shape)}, expected {tuple(right.shape)}; {about}"
        assert torch.equal(got.isnan(), skipped), (
            f"{field.name} is NaN where m_tile is not, or not where it is; {about}"
        )
        allowed = (EXP_ERROR + 2 * unit) * right if field.name == "l_running" else unit.expand_as(right)
        _check_close(got[~skipped], right[~skipped], allowed[~skipped], f"{field.name}; {about}")


def _check_close(got: torch.Tensor, want: torch.Tensor, allowed: torch.Tensor, about: str) -> None:
    excess = torch.where(got == want, NEVER, (got - want).abs() - allowed)
    assert not excess.isnan().any(), f"NaN in {about}"
    if excess.numel() and float(excess.max()) > 0:
        at = int(excess.argmax())
        got, want, allowed = (t.expand_as(excess).flatten()[at] for t in (got, want, allowed))
        raise AssertionError(f"{float(got):.9g}, expected {float(want):.9g} within {float(allowed):.1e}: {about}")
