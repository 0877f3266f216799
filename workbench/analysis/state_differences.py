"""The softmax states and the errors of two runs of one problem, aligned by key position: pure numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.run.events import Checked, TileStates
from workbench.run.record import RunRecord
from workbench.stats.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Spans:
    """At each of `at` (key positions, or query rows) the largest difference in size."""

    at: IntArray
    largest: FloatArray


@dataclass(frozen=True)
class StateDifferences:
    """How far the states of one head differ between a run and another one.

    `m` is absolute, in natural-log units of the score; `l` is relative, with both taken at the same maximum. Both are
    the largest of all rows, by the key positions up to which both have come, and by query row at the last key.
    `odd` counts states that are a number in one run alone.
    """

    head: int
    m_by_key: Spans
    l_by_key: Spans
    m_by_row: Spans
    l_by_row: Spans
    odd: int = 0


@dataclass(frozen=True)
class ErrorDifferences:
    """By query row the largest absolute error of a run less that of another one, in one head. [M]"""

    head: int
    by_row: FloatArray


@dataclass(frozen=True)
class Apart:
    """What of two runs of one problem could be held against each other; None with the reason why not."""

    states: StateDifferences | None = None
    why_no_states: str = ""
    errors: ErrorDifferences | None = None
    why_no_errors: str = ""


def apart(run: RunRecord, other: RunRecord) -> Apart:
    """`run` against `other`, both whole. Nothing can be said of runs of other problems, seeds or inputs."""
    if run.started.request.problem != other.started.request.problem:
        why = "other values: the problem, the seed or the inputs differ"
        return Apart(why_no_states=why, why_no_errors=why)
    states, why_no_states = _states(run, other)
    errors, why_no_errors = _errors(run.check("kernel"), other.check("kernel"))
    return Apart(states, why_no_states, errors, why_no_errors)


def _states(run: RunRecord, other: RunRecord) -> tuple[StateDifferences | None, str]:
    ours, theirs = run.states, other.states
    if ours is None or theirs is None or ours.m_running is None or theirs.m_running is None:
        return None, "no states are kept of one of them"
    if not ours.complete or not theirs.complete:
        return None, "the states of one of them are not complete"
    m = run.started.request.problem.m
    head = _common_head(ours.heads, theirs.heads)
    rows, mine, others = np.intersect1d(ours.row_numbers(m), theirs.row_numbers(m), return_indices=True)
    keys, my_tiles, other_tiles = np.intersect1d(_ends(ours), _ends(theirs), return_indices=True)
    if head is None or not len(rows):
        return None, f"they keep the states of other {'heads' if head is None else 'rows'}"
    one = _of_all_keys(ours, head, mine, my_tiles)
    two = _of_all_keys(theirs, head, others, other_tiles)
    return _differences(head, rows, keys, one, two), ""


def _differences(
    head: int, rows: IntArray, keys: IntArray, one: tuple[FloatArray, FloatArray], two: tuple[FloatArray, FloatArray]
) -> StateDifferences:
    (m, den), (other_m, other_l) = one, two
    seen, both = np.isfinite(m) | np.isfinite(other_m), np.isfinite(m) & np.isfinite(other_m)
    with np.errstate(all="ignore"):
        of_m = np.where(both, np.abs(m - other_m), 0.0)
        of_l = np.where(both, np.abs(den * np.exp(m - other_m) / other_l - 1), 0.0)
    m_by_key, l_by_key = (Spans(keys, part.max(axis=0)) for part in (of_m, of_l))
    m_by_row, l_by_row = (Spans(rows, part[:, -1]) for part in (of_m, of_l))
    return StateDifferences(head, m_by_key, l_by_key, m_by_row, l_by_row, odd=int((seen & ~both).sum()))


def _common_head(ours: tuple[int, ...], theirs: tuple[int, ...]) -> int | None:
    """The first head that both have; no numbers mean all."""
    if not ours and not theirs:
        return 0
    mine, others = ours or range(max(theirs) + 1), theirs or range(max(ours) + 1)
    return min(set(mine) & set(others), default=None)


def _ends(states: TileStates) -> IntArray:
    """The key position behind each tile."""
    tiles = -(-states.n // states.block_n)
    return np.minimum(np.arange(1, tiles + 1) * states.block_n, states.n)


def _of_all_keys(states: TileStates, head: int, rows: IntArray, tiles: IntArray) -> tuple[FloatArray, FloatArray]:
    """m and l of `rows` over all keys up to the end of each of `tiles`, in float64: also where the keys are split.

    A tile that was never run adds no key, and leaves what was before it.
    """
    assert states.m_running is not None and states.l_running is not None
    index = states.heads.index(head) if states.heads else head
    parts = [np.asarray(array[index][rows], dtype=np.float64) for array in (states.m_running, states.l_running)]
    step = states.split_tiles or parts[0].shape[1]
    m, den = np.empty_like(parts[0]), np.empty_like(parts[1])
    before_m, before_l = np.full(len(rows), -np.inf), np.zeros(len(rows))
    for start in range(0, parts[0].shape[1], step):
        piece = slice(start, start + step)
        m[:, piece], den[:, piece] = _joined(before_m, before_l, *_filled(parts[0][:, piece], parts[1][:, piece]))
        before_m, before_l = m[:, piece][:, -1], den[:, piece][:, -1]
    return m[:, tiles], den[:, tiles]


def _filled(m: FloatArray, den: FloatArray) -> tuple[FloatArray, FloatArray]:
    """States of one split in which each tile that was not run has those of the last that was, or of no key."""
    last = np.maximum.accumulate(np.where(np.isnan(m), -1, np.arange(m.shape[1])), axis=1)
    row = np.arange(len(m))[:, None]
    none = last < 0
    return np.where(none, -np.inf, m[row, last]), np.where(none, 0.0, den[row, last])


def _joined(
    before_m: FloatArray, before_l: FloatArray, m: FloatArray, den: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The states of the splits before ([rows]) and of this one ([rows, tiles]) together."""
    most = np.maximum(before_m[:, None], m)
    base = np.where(np.isfinite(most), most, 0.0)  # a row that has seen no key: exp(-inf) is 0
    return most, before_l[:, None] * np.exp(before_m[:, None] - base) + den * np.exp(m - base)


def _errors(ours: Checked | None, theirs: Checked | None) -> tuple[ErrorDifferences | None, str]:
    if ours is None or theirs is None or ours.error_map is None or theirs.error_map is None:
        return None, "no error map is kept of one of them"
    head = _common_head(ours.heads, theirs.heads)
    if head is None:
        return None, "they keep the error maps of other heads"
    mine, others = (
        np.asarray(c.error_map)[c.heads.index(head) if c.heads else head].max(axis=1) for c in (ours, theirs)
    )
    return ErrorDifferences(head, mine.astype(np.float64) - others), ""
