"""The error of an output against float64 attention."""

from __future__ import annotations

import numpy as np
import torch

from workbench.model import ErrorStats, FloatArray


def compare(out: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> tuple[ErrorStats, FloatArray]:
    """Statistics of |out - expected| and the map of it, [1, M, D] float32.

    `out` is [M, D] in any dtype, `expected` [M, D] float64. A value that is not finite counts as an infinite
    error in the statistics and is NaN in the map, so that it can be seen where it is.
    """
    difference = (out.double() - expected).abs()
    finite = torch.isfinite(out)
    bad = int((~finite).sum())
    counted = torch.where(finite, difference, float("inf"))
    flat = int(counted.argmax())
    row, column = divmod(flat, out.shape[1])
    allowed = atol + rtol * expected.abs()
    stats = ErrorStats(
        max_abs=float(counted.max()),
        mean_abs=float(counted.mean()),
        rms=float(counted.square().mean().sqrt()),
        rel_fro=float(counted.norm() / expected.norm().clamp_min(torch.finfo(torch.float64).tiny)),
        worst=(0, row, column),
        worst_got=float(out[row, column]),
        worst_expected=float(expected[row, column]),
        rtol=rtol,
        atol=atol,
        passed=bool((counted <= allowed).all()),
        non_finite=bad,
    )
    error_map = torch.where(finite, difference, float("nan")).float().cpu().numpy()
    return stats, np.ascontiguousarray(error_map[None])
