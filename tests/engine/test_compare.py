"""The error statistics, against answers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from workbench.engine.compare import compare


def test_known_errors_give_known_statistics() -> None:
    expected = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    out = torch.tensor([[1.0, 2.5], [3.0, 3.0]])
    stats, error_map = compare(out, expected, rtol=0.0, atol=0.5)
    assert stats.max_abs == 1.0 and stats.worst == (0, 1, 1)
    assert (stats.worst_got, stats.worst_expected) == (3.0, 4.0)
    assert stats.mean_abs == pytest.approx(1.5 / 4)
    assert stats.rms == pytest.approx(math.sqrt(1.25 / 4))
    assert stats.rel_fro == pytest.approx(math.sqrt(1.25 / 30))
    assert not stats.passed
    np.testing.assert_array_equal(error_map, [[[0.0, 0.5], [0.0, 1.0]]])
    assert error_map.dtype == np.float32


@pytest.mark.parametrize(
    ("rtol", "atol", "passed"), [(0.25, 0.0, True), (0.24, 0.0, False), (0.0, 1.0, True), (0.0, 0.9, False)]
)
def test_allclose_uses_both_tolerances(rtol: float, atol: float, passed: bool) -> None:
    expected = torch.tensor([[4.0]], dtype=torch.float64)
    assert compare(torch.tensor([[3.0]]), expected, rtol, atol)[0].passed is passed


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_passes_and_is_marked(bad: float) -> None:
    expected = torch.ones(2, 3, dtype=torch.float64)
    out = torch.ones(2, 3)
    out[1, 2] = bad
    stats, error_map = compare(out, expected, rtol=1e9, atol=1e9)
    assert not stats.passed and stats.non_finite == 1
    assert stats.worst == (0, 1, 2) and math.isinf(stats.max_abs)
    assert np.isnan(error_map[0, 1, 2]) and np.isnan(error_map).sum() == 1
