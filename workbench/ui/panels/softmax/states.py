"""The softmax states of one head: which tiles were never run, where the keys are split, and all of it in words."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from time import perf_counter

import numpy as np

from workbench.analysis.numbers import number
from workbench.run.events import TileStates
from workbench.run.request import TRACE_ROWS, Problem
from workbench.stats.arrays import FloatArray
from workbench.ui.plots.map_cells import IntArray

MASKED, UNSEEN = "masked", "−inf"  # what a cell is, in a word
MASKED_TEXT = f"{MASKED}: no row of this block sees a key here"
UNSEEN_TEXT = f"{UNSEEN}: no key seen yet"
SPLITS_TEXTS = ("key split borders: m and l begin anew", "key splits: m, l begin anew", "key splits", "splits")
NOT_RUN_TEXT = "not run yet"
FINITE_AT_ONCE = 1 << 18  # cells: few enough to stay in a cache between the steps of a search


@dataclass(frozen=True)
class HeadStates:
    """Head `index` of the arrays of `states`, which must be there; `title` names it, "" for an only one."""

    problem: Problem
    states: TileStates
    index: int
    title: str = ""

    @cached_property
    def named(self) -> dict[str, FloatArray]:
        """The three arrays, [M, tiles] each."""
        states = self.states
        assert states.m_tile is not None and states.m_running is not None and states.l_running is not None
        arrays = {"m": states.m_running, "l": states.l_running, "tile max": states.m_tile}
        return {name: array[self.index] for name, array in arrays.items()}

    @property
    def rows(self) -> int:
        """Query rows that were kept: M, or a part of it."""
        return len(self.named["m"])

    @cached_property
    def row_numbers(self) -> IntArray:
        """The number of each of them. [rows]"""
        return self.states.row_numbers(self.problem.m).astype(np.int64)

    @property
    def tiles(self) -> int:
        """Key tiles of every row."""
        return int(self.named["m"].shape[1])

    @cached_property
    def ends(self) -> IntArray:
        """The number of key tiles that a row of each row's block sees, [M]; the rest are never run.

        Row i sees the keys up to i + N - M, so a block's last row decides.
        """
        problem, states = self.problem, self.states
        if not problem.causal:
            return np.full(self.rows, self.tiles)
        last_row = np.minimum((self.row_numbers // states.block_m + 1) * states.block_m, problem.m) - 1
        keys = np.clip(last_row + 1 + states.n - problem.m, 0, states.n)
        return np.asarray(-(-keys // states.block_n), dtype=np.int64)

    @cached_property
    def borders(self) -> IntArray:
        """The tiles with which a key split begins, without the first."""
        step = self.states.split_tiles
        return np.arange(step, self.tiles, step) if step else np.empty(0, dtype=np.int64)

    def contents(self, name: str, part: slice = slice(None)) -> frozenset[str]:
        """What the rows `part` of the map called `name` hold beside numbers: "masked", "unseen" (−inf), "nan"."""
        data, tiles = self.named[name][part], np.arange(self.tiles)[None, :]
        with np.errstate(all="ignore"):
            at = np.flatnonzero(~np.isfinite(data.sum(axis=1)))  # rows of numbers alone are most
        rows = data[at]
        empty, left_out = np.isnan(rows), tiles >= self.ends[part][at, None]
        kinds = (("masked", empty & left_out), ("nan", empty & ~left_out), ("unseen", rows == -np.inf))
        return frozenset(kind for kind, where in kinds if where.any())

    def is_masked(self, row: int, tile: int) -> bool:
        """Whether a cell has no value because its tile was never run."""
        return bool(tile >= self.ends[row] and np.isnan(self.named["m"][row, tile]))

    def hover_lines(self, row: int, tile: int) -> list[str]:
        """A cell in rich text: where it is, and the three values."""
        states = self.states
        start = tile * states.block_n
        where = [
            f"row {self.row_numbers[row]:,}",
            f"tile {tile}",
            f"keys [{start}, {min(states.n, start + states.block_n)})",
        ]
        above = [self.title] if self.title else []
        if len(self.borders):
            above.append(f"split {tile // states.split_tiles + 1} of {len(self.borders) + 1}")
        lines = [" · ".join(line) for line in (above, where) if line]
        if self.is_masked(row, tile):
            return [*lines, MASKED_TEXT]
        return lines + [f"{name} <b>{self._value(name, row, tile)}</b>" for name in self.named]

    def _value(self, name: str, row: int, tile: int) -> str:
        value = float(self.named[name][row, tile])
        if np.isnan(value) and not self.states.complete:
            return NOT_RUN_TEXT
        if np.isneginf(value):
            return UNSEEN_TEXT if name == "m" else "−inf: the row sees no key of this tile"
        return number(value, 5)


class MapFacts:
    """What must be known of all cells of a map before it is drawn; found part by part, since there may be millions."""

    def __init__(self, shown: HeadStates, name: str) -> None:
        self.shown, self.name = shown, name
        self._left = deque(_parts(shown.named[name]))
        self._low, self._high = inf, -inf
        self._contents: frozenset[str] = frozenset()

    def advance(self, seconds: float = inf) -> bool:
        """Go on for about `seconds`, for one part at least; whether all is known."""
        end = perf_counter() + seconds
        while self._left:
            part = self._left.popleft()
            data = self.shown.named[self.name][part]
            finite = data[np.isfinite(data)]
            if finite.size:
                self._low, self._high = min(self._low, float(finite.min())), max(self._high, float(finite.max()))
            self._contents |= self.shown.contents(self.name, part)
            if perf_counter() >= end:
                break
        return not self._left

    @property
    def levels(self) -> tuple[float, float]:
        """Smallest and largest finite value of all, of l 0 and the largest."""
        if self._low > self._high:
            return 0.0, 1.0
        return 0.0 if self.name == "l" else self._low, self._high

    @property
    def contents(self) -> frozenset[str]:
        """What the map holds beside numbers."""
        return self._contents


def _parts(data: FloatArray) -> list[slice]:
    """The rows of `data` in parts of about FINITE_AT_ONCE cells."""
    step = max(1, FINITE_AT_ONCE // max(1, data.shape[1]))
    return [slice(top, min(top + step, len(data))) for top in range(0, len(data), step)]


def pooled_texts(name: str, rows: int, tiles: int) -> tuple[str, str, str, str]:
    """What a drawn cell of the map called `name` is where it stands for several, and the same in fewer words."""
    counts = [counted for counted in ((rows, "query ", "rows"), (tiles, "key ", "tiles")) if counted[0] > 1]
    if not counts:
        return "", "", "", ""
    drawn = "row" if tiles == 1 else "column" if rows == 1 else "cell"
    of = " × ".join(f"{count} {of_what}{one}" for count, of_what, one in counts)
    few = " × ".join(f"{count} {one}" for count, _, one in counts)
    whole = f"each {drawn} drawn: the largest {name} of {of}"
    return whole, whole, f"map: largest {name} of {of}", f"map: max of {few}"


def rows_texts(shown: HeadStates) -> tuple[str, str]:
    """Which query rows were kept, where not all were, and the same in fewer words; else empty."""
    states, numbers = shown.states, shown.row_numbers
    if not states.row_blocks:
        return "", ""
    part = f"{shown.rows:,} of {shown.problem.m:,} query rows"
    return f"{part} kept, {numbers[0]:,} to {numbers[-1]:,}, {TRACE_ROWS.get(states.rows_by, '')}", f"{part} kept"


def captions(states: TileStates) -> list[str]:
    """Where the states are from and how right they are, and the same in fewer words."""
    if not states.complete:
        return ["Captured from the instrumented kernel, still running", "Instrumented kernel, still running"]
    bits = "" if states.bit_equal is None else "bit-equal" if states.bit_equal else "NOT bit-equal"
    errors = [e for e in (states.m_error, states.l_error) if e is not None]
    within = f"m, l within {number(float(np.max(errors)), 2)}" if errors else ""
    versions: Sequence[tuple[str, str, str]] = (
        ("Captured from the instrumented kernel", " to the timed output", " of float64"),
        ("Instrumented kernel", " to timed output", " of float64"),
        ("Instrumented", "", " of float64"),
        ("Traced", "", ""),
    )
    return [
        "; ".join(filter(None, (source, bits and bits + to_what, within and within + of_what)))
        for source, to_what, of_what in versions
    ]
