"""The error of an output against float64 attention, and of traced states against the float64 states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from workbench.engine.checking.keeping import ERROR_MAP_LIMIT_BYTES, kept_heads
from workbench.run.measurement import ErrorStats
from workbench.stats.arrays import FloatArray

MAP_ITEM_BYTES = 4


@dataclass(frozen=True)
class Comparison:
    """The statistics over all heads, and the map [heads kept, M, D] float32 of `heads` (empty: all, in order)."""

    stats: ErrorStats
    error_map: FloatArray
    heads: tuple[int, ...]


def compare(
    out: torch.Tensor,
    expected: torch.Tensor,
    rtol: float,
    atol: float,
    *,
    rows_left_out: int = 0,
    map_limit: int = ERROR_MAP_LIMIT_BYTES,
) -> Comparison:
    """Statistics of |out - expected|, and the map of it for as many heads as fit into `map_limit` bytes.

    `out` is [B, H, M, D] in any dtype, `expected` [B, H, M, D] float64. A value that is not finite counts as an
    infinite error in the statistics and is NaN in the map, so that it can be seen where it is. The first
    `rows_left_out` rows of each head are not compared. Works through the heads one by one, which bounds the memory.
    """
    out, expected = out.flatten(0, 1), expected.flatten(0, 1)  # [heads, M, D]
    stats = _statistics(out, expected, rtol, atol, rows_left_out)
    worst = stats.worst[0]
    heads = kept_heads(out.shape[0], MAP_ITEM_BYTES * out.shape[1] * out.shape[2], map_limit, worst)
    return Comparison(stats, _error_map(out, expected, heads or range(out.shape[0]), rows_left_out), heads)


def state_difference(got: torch.Tensor, expected: torch.Tensor, unseen: torch.Tensor) -> float:
    """Largest |got - expected| over max(1, |expected|): a maximum near 0 has no meaningful relative error.

    All are [heads, M, tiles]. `unseen` says where a row sees no key of a tile: a kernel may leave such a tile out, and
    NaN stays there. NaN anywhere else, and -inf on one side alone, count as infinite.
    """
    wide = got.double()
    difference = (wide - expected).abs() / expected.abs().clamp_min(1.0)
    # -inf equals -inf, which the subtraction does not know.
    right = (wide == expected) | (unseen & wide.isnan())
    known = torch.where(difference.isnan(), float("inf"), difference)
    return float(torch.where(right, 0.0, known).max())


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors of one floating dtype agree bit for bit, NaN included."""
    integer = {2: torch.int16, 4: torch.int32, 8: torch.int64}[one.element_size()]
    return torch.equal(one.view(integer), other.view(integer))


def _statistics(out: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float, left_out: int) -> ErrorStats:
    """Over all heads of `out` and `expected`, [heads, M, D], without the first `left_out` rows of each."""
    compared = slice(left_out, None)
    sums = [_head_sums(o[compared], e[compared], rtol, atol) for o, e in zip(out, expected, strict=True)]
    table = torch.stack(sums).cpu()  # [heads, 8], so that a GPU is waited for once
    largest, total, squares, expected_squares, failed, bad, _, sizes = table.unbind(1)
    head = int(largest.argmax())
    row, column = divmod(int(table[head, 6]), out.shape[2])
    row += left_out
    count = out[:, compared].numel()
    tiny = torch.finfo(torch.float64).tiny
    return ErrorStats(
        max_abs=float(largest[head]),
        mean_abs=float(total.sum()) / count,
        rms=float((squares.sum() / count).sqrt()),
        rel_fro=float(squares.sum().sqrt() / expected_squares.sum().sqrt().clamp_min(tiny)),
        worst=(head, row, column),
        worst_got=float(out[head, row, column]),
        worst_expected=float(expected[head, row, column]),
        rtol=rtol,
        atol=atol,
        passed=not failed.any(),
        non_finite=int(bad.sum()),
        rows_left_out=left_out,
        largest=float(sizes.max()),
    )


def _head_sums(out: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> torch.Tensor:
    """Of one head's errors: largest, sum, sum of squares, the expected's squares, failed, not finite, place of largest.

    And the largest value that was expected.
    """
    finite = torch.isfinite(out)
    counted = torch.where(finite, (out.double() - expected).abs(), float("inf"))
    sums = (
        counted.max(),
        counted.sum(),
        counted.square().sum(),
        expected.square().sum(),
        (counted > atol + rtol * expected.abs()).any(),
        (~finite).sum(),
        counted.argmax(),
        expected.abs().max(),
    )
    return torch.stack([value.double() for value in sums])


def _error_map(out: torch.Tensor, expected: torch.Tensor, heads: tuple[int, ...] | range, left_out: int) -> FloatArray:
    maps = np.zeros((len(heads), *out.shape[1:]), dtype=np.float32)
    for index, head in enumerate(heads):
        values, wanted = out[head, left_out:], expected[head, left_out:]
        difference = torch.where(torch.isfinite(values), (values.double() - wanted).abs(), float("nan"))
        maps[index, left_out:] = difference.float().cpu().numpy()
    return maps
