"""States and errors of two runs, aligned by key position, whatever their tiles and splits are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels.plain.tiles import TileConfig
from tests.samples import make_record, softmax_states
from workbench.analysis.state_differences import apart
from workbench.run.record import RunRecord
from workbench.run.request import Problem

PROBLEMS = {
    "plain": Problem(24, 96, 8),
    "ragged": Problem(24, 75, 8),
    "causal": Problem(24, 96, 8, causal=True),
    "blind rows": Problem(48, 24, 8, causal=True),
    "heads": Problem(8, 64, 8, heads=2),
}


def run(problem: Problem, block_n: int, number: int = 1, split_tiles: int = 0) -> RunRecord:
    """A run whose states are numpy's; with `split_tiles` they begin anew at every split, as a kernel's do."""
    record = make_record(number, problem, TileConfig(16, block_n), launches=5)
    assert record.states is not None and record.states.m_tile is not None
    m_tile, m, den, _ = softmax_states(problem, block_n)
    if split_tiles:
        m, den = _split(m_tile, m, den, split_tiles)
    states = replace(record.states, m_tile=m_tile, m_running=m, l_running=den, split_tiles=split_tiles)
    return replace(record, states=states)


def _split(m_tile: np.ndarray, m: np.ndarray, den: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """The running states as they are where m and l begin anew at every `step` tiles."""
    with np.errstate(all="ignore"):
        base = np.where(np.isfinite(m), m, 0)
        before = np.concatenate(
            [np.zeros_like(den[..., :1]), den[..., :-1] * np.exp(m[..., :-1] - base[..., 1:])], axis=-1
        )
        added = np.nan_to_num(den - np.nan_to_num(before)) * np.exp(base)  # of each tile, at a maximum of 0
    new_m, new_l = np.empty_like(m), np.empty_like(den)
    for start in range(0, m.shape[-1], step):
        piece = slice(start, start + step)
        new_m[..., piece] = np.maximum.accumulate(m_tile[..., piece], axis=-1)
        shift = np.where(np.isfinite(new_m[..., piece]), new_m[..., piece], 0)
        new_l[..., piece] = np.cumsum(added[..., piece], axis=-1) * np.exp(-shift)
    return new_m, new_l


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize(("one", "other", "split"), [(16, 32, 0), (16, 48, 0), (32, 16, 2), (16, 16, 0)])
def test_equal_states_differ_by_rounding_whatever_the_tiles_are(
    problem: Problem, one: int, other: int, split: int
) -> None:
    found = apart(run(problem, one), run(problem, other, 2, split)).states
    assert found is not None and found.odd == 0
    step = np.lcm(one, other)
    assert list(found.m_by_key.at) == sorted({*range(step, problem.n, step), problem.n})
    assert len(found.m_by_row.at) == problem.m
    assert max(found.m_by_key.largest.max(), found.l_by_key.largest.max(), found.l_by_row.largest.max()) < 1e-9


def test_a_state_that_is_off_is_found_where_it_is() -> None:
    problem = PROBLEMS["plain"]
    one, two = run(problem, 16), run(problem, 32, 2)
    assert one.states is not None and one.states.l_running is not None
    wrong = one.states.l_running.copy()
    wrong[0, 5, 1] *= 1.5  # up to key 32
    found = apart(replace(one, states=replace(one.states, l_running=wrong)), two).states
    assert found is not None
    assert found.l_by_key.largest[0] == pytest.approx(0.5)
    assert found.l_by_key.largest[1:].max() < 1e-9


def test_errors_are_by_row_with_the_sign_of_who_is_worse() -> None:
    one, two = run(PROBLEMS["plain"], 16), run(PROBLEMS["plain"], 32, 2)
    check = one.checked[0]
    assert check.error_map is not None
    worse = replace(check, error_map=check.error_map + np.float32(1.0))
    found = apart(replace(one, checked=(worse, *one.checked[1:])), replace(two, checked=one.checked)).errors
    assert found is not None
    assert found.by_row == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("change", [{"seed": 5}, {"inputs": "zeros"}, {"m": 16}])
def test_runs_of_other_values_say_so(change: dict[str, object]) -> None:
    found = apart(run(PROBLEMS["plain"], 16), run(replace(PROBLEMS["plain"], **change), 16))  # type: ignore[arg-type]
    assert found.states is None and found.errors is None
    assert "differ" in found.why_no_states


def test_what_is_not_kept_says_so() -> None:
    one = run(PROBLEMS["plain"], 16)
    found = apart(one, replace(one, states=None, checked=()))
    assert found.why_no_states and found.why_no_errors
