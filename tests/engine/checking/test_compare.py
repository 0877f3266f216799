"""The error statistics and the differences of states, against answers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from workbench.engine.checking.compare import compare, same_bits, state_difference
from workbench.engine.checking.keeping import kept_heads, kept_text

NAN, INF = math.nan, math.inf


def one_head(rows: list[list[float]], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """[1, 1, M, D]."""
    return torch.tensor(rows, dtype=dtype)[None, None]


def test_known_errors_give_known_statistics() -> None:
    expected = one_head([[1.0, 2.0], [3.0, 4.0]], torch.float64)
    out = one_head([[1.0, 2.5], [3.0, 3.0]])
    found = compare(out, expected, rtol=0.0, atol=0.5)
    stats = found.stats
    assert stats.max_abs == 1.0 and stats.worst == (0, 1, 1)
    assert (stats.worst_got, stats.worst_expected) == (3.0, 4.0)
    assert stats.mean_abs == pytest.approx(1.5 / 4)
    assert stats.rms == pytest.approx(math.sqrt(1.25 / 4))
    assert stats.rel_fro == pytest.approx(math.sqrt(1.25 / 30))
    assert not stats.passed and stats.rows_left_out == 0 and stats.largest == 4.0
    np.testing.assert_array_equal(found.error_map, [[[0.0, 0.5], [0.0, 1.0]]])
    assert found.error_map.dtype == np.float32 and found.heads == ()


@pytest.mark.parametrize(
    ("rtol", "atol", "passed"), [(0.25, 0.0, True), (0.24, 0.0, False), (0.0, 1.0, True), (0.0, 0.9, False)]
)
def test_allclose_uses_both_tolerances(rtol: float, atol: float, passed: bool) -> None:
    expected = one_head([[4.0]], torch.float64)
    assert compare(one_head([[3.0]]), expected, rtol, atol).stats.passed is passed


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_what_is_not_finite_never_passes_and_is_marked(bad: float) -> None:
    expected = torch.ones(1, 1, 2, 3, dtype=torch.float64)
    out = torch.ones(1, 1, 2, 3)
    out[0, 0, 1, 2] = bad
    found = compare(out, expected, rtol=1e9, atol=1e9)
    assert not found.stats.passed and found.stats.non_finite == 1
    assert found.stats.worst == (0, 1, 2) and math.isinf(found.stats.max_abs)
    assert np.isnan(found.error_map[0, 1, 2]) and np.isnan(found.error_map).sum() == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_many_heads_are_one_comparison(dtype: torch.dtype) -> None:
    """Against the same numbers taken over the whole tensor at once."""
    generator = torch.Generator().manual_seed(0)
    expected = torch.randn(2, 3, 5, 4, generator=generator, dtype=torch.float64)
    out = (expected + 0.01 * torch.randn(expected.shape, generator=generator)).to(dtype)
    found = compare(out, expected, rtol=0.0, atol=1.0)
    difference = (out.double() - expected).abs().numpy()
    stats = found.stats
    assert stats.passed and stats.max_abs == difference.max()
    assert stats.mean_abs == pytest.approx(difference.mean())
    assert stats.rms == pytest.approx(math.sqrt((difference**2).mean()))
    assert stats.rel_fro == pytest.approx(np.linalg.norm(difference) / np.linalg.norm(expected.numpy()))
    head, row, column = stats.worst
    assert difference.reshape(6, 5, 4)[head, row, column] == difference.max()
    assert stats.worst_got == float(out.flatten(0, 1)[head, row, column])
    np.testing.assert_allclose(found.error_map, difference.reshape(6, 5, 4), rtol=1e-6)


def test_one_wrong_head_fails_the_whole() -> None:
    expected = torch.zeros(2, 2, 3, 3, dtype=torch.float64)
    out = torch.zeros(2, 2, 3, 3)
    out[1, 0, 2, 1] = 0.5
    assert compare(out, expected, 0.0, 0.4).stats.passed is False
    assert compare(out, expected, 0.0, 0.4).stats.worst == (2, 2, 1)
    assert compare(out, expected, 0.0, 0.6).stats.passed is True


def test_maps_that_do_not_fit_leave_heads_out_but_never_the_worst() -> None:
    expected = torch.zeros(2, 4, 3, 2, dtype=torch.float64)
    out = torch.zeros(2, 4, 3, 2)
    out[1, 2, 1, 1] = 0.5  # head 6
    found = compare(out, expected, 0.0, 1.0, map_limit=3 * 4 * 6)
    assert found.heads == (0, 1, 6) and found.error_map.shape == (3, 3, 2)
    assert found.error_map[2, 1, 1] == 0.5 and found.error_map.sum() == 0.5
    assert compare(out, expected, 0.0, 1.0, map_limit=1).heads == (6,)
    assert compare(out, expected, 0.0, 1.0, map_limit=8 * 4 * 6).heads == ()


def test_rows_left_out_count_for_nothing() -> None:
    expected = one_head([[0.0], [0.0], [2.0], [4.0]], torch.float64)
    out = one_head([[NAN], [7.0], [2.0], [4.5]])
    found = compare(out, expected, 0.0, 1.0, rows_left_out=2)
    stats = found.stats
    assert stats.passed and stats.non_finite == 0 and stats.rows_left_out == 2
    assert stats.worst == (0, 3, 0) and (stats.worst_got, stats.worst_expected) == (4.5, 4.0)
    assert stats.mean_abs == 0.25
    np.testing.assert_array_equal(found.error_map[0, :, 0], [0.0, 0.0, 0.0, 0.5])


@pytest.mark.parametrize(
    ("total", "limit", "wanted", "heads"),
    [
        (4, 40, 3, ()),
        (4, 39, 0, (0, 1, 2)),
        (4, 39, 2, (0, 1, 2)),
        (4, 39, 3, (0, 1, 3)),
        (4, 9, 2, (2,)),
        (1, 9, 0, ()),
    ],
)
def test_as_many_heads_are_kept_as_fit(total: int, limit: int, wanted: int, heads: tuple[int, ...]) -> None:
    assert kept_heads(total, 10, limit, wanted) == heads


def test_what_is_kept_is_said_in_words() -> None:
    text = kept_text("error map of flash", (0, 1, 2, 9, 11, 12), 64, 2**20, 6 * 2**20)
    assert "heads 0 to 2, 9, 11 to 12 of 64 are kept" in text
    assert "64.0 MiB" in text and "6.0 MiB" in text and text.endswith("\n")


def test_states_differ_by_their_largest_relative_difference() -> None:
    expected = torch.tensor([[[0.5, 10.0]]], dtype=torch.float64)
    everything_seen = torch.zeros(1, 1, 2, dtype=torch.bool)
    assert state_difference(torch.tensor([[[0.5, 10.0]]]), expected, everything_seen) == 0.0
    assert state_difference(torch.tensor([[[0.75, 11.0]]]), expected, everything_seen) == 0.25
    assert state_difference(torch.tensor([[[0.5, 15.0]]]), expected, everything_seen) == 0.5


@pytest.mark.parametrize(
    ("got", "expected", "unseen", "difference"),
    [
        (NAN, 1.0, False, INF),  # a tile with keys in sight was not written
        (NAN, -INF, False, INF),
        (NAN, -INF, True, 0.0),  # left out, as it may be
        (NAN, 1.0, True, 0.0),  # a running value whose tile was left out
        (-INF, -INF, True, 0.0),
        (-INF, -INF, False, 0.0),
        (-INF, 1.0, True, INF),
        (1.0, -INF, True, INF),
        (INF, 1.0, False, INF),
        (0.5, 1.0, True, 0.5),  # written, so it must be right
    ],
)
def test_masked_tiles_may_be_left_out_and_nothing_else(
    got: float, expected: float, unseen: bool, difference: float
) -> None:
    one = torch.tensor([[[expected]]], dtype=torch.float64)
    assert state_difference(torch.tensor([[[got]]]), one, torch.tensor([[[unseen]]])) == difference


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_bits_are_compared_whatever_they_mean(dtype: torch.dtype) -> None:
    values = torch.tensor([1.0, NAN, -0.0], dtype=dtype)
    assert same_bits(values, values.clone())
    assert not same_bits(values, torch.tensor([1.0, NAN, 0.0], dtype=dtype)), "-0 and 0 are equal, but not in bits"
