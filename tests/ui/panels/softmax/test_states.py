"""Which tiles are masked, where key splits begin, what a cell says, and how lines break."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from kernels.plain.tiles import TileConfig
from tests.ui.panels.softmax.traces import CAUSAL, TILE, states_of, traced_run
from workbench.run.events import TileStates
from workbench.run.request import Problem
from workbench.ui.panels.softmax.lines import broken_line
from workbench.ui.panels.softmax.states import (
    MASKED_TEXT,
    SPLITS_TEXTS,
    UNSEEN_TEXT,
    HeadStates,
    MapFacts,
    pooled_texts,
)


def head_states(problem: Problem = CAUSAL, tile: TileConfig = TILE, index: int = 0, title: str = "") -> HeadStates:
    return HeadStates(problem, states_of(traced_run(problem, tile)), index, title)


@pytest.mark.parametrize(
    "problem",
    [
        CAUSAL,
        replace(CAUSAL, m=96, n=64),  # rows that see no key at all
        replace(CAUSAL, m=70, n=70),
        replace(CAUSAL, m=1, n=33),
        replace(CAUSAL, causal=False),
    ],
    ids=lambda p: f"{p.m}x{p.n}{'-causal' if p.causal else ''}",
)
@pytest.mark.parametrize("tile", [TILE, TileConfig(16, 32), TileConfig(64, 16, splits=4)], ids=lambda t: t.label)
def test_masked_tiles_are_those_without_a_pair_that_sees(problem: Problem, tile: TileConfig) -> None:
    shown = head_states(problem, tile)
    masked = np.arange(shown.tiles)[None, :] >= shown.ends[:, None]
    assert (np.isnan(shown.named["m"]) == masked).all()
    assert "nan" not in shown.contents("m")
    assert ("masked" in shown.contents("m")) == bool(masked.any())


def test_a_nan_elsewhere_is_told_from_a_masked_tile() -> None:
    states = states_of(traced_run())
    assert states.m_running is not None
    states.m_running[0, 40, 1] = np.nan
    assert HeadStates(CAUSAL, states, 0).contents("m") == {"masked", "nan", "unseen"}
    assert HeadStates(CAUSAL, states, 1).contents("m") == {"masked", "unseen"}


def test_split_borders_are_the_multiples_of_the_splits_tiles() -> None:
    assert head_states().borders.tolist() == [3]
    assert head_states(tile=TileConfig(32, 16, splits=4)).borders.tolist() == [2, 4]
    assert head_states(tile=TileConfig(32, 16)).borders.tolist() == []


def test_hover_says_head_split_row_tile_and_keys() -> None:
    lines = head_states(title="batch 1, head 2").hover_lines(63, 5)
    assert lines[:2] == ["batch 1, head 2 · split 2 of 2", "row 63 · tile 5 · keys [80, 96)"]
    assert [line.split(" <b>")[0] for line in lines[2:]] == ["m", "l", "tile max"]


def test_hover_on_a_masked_tile_says_so_and_gives_no_numbers() -> None:
    assert head_states().hover_lines(0, 5)[1:] == ["row 0 · tile 5 · keys [80, 96)", MASKED_TEXT]


def test_hover_on_a_row_that_has_seen_no_key_yet() -> None:
    lines = head_states().hover_lines(0, 3)  # the second split begins with keys that only later rows of the block see
    assert f"m <b>{UNSEEN_TEXT}</b>" in lines
    assert "l <b>0</b>" in lines
    assert "tile max <b>−inf: the row sees no key of this tile</b>" in lines


def test_tiles_that_are_still_to_come_are_not_run_yet() -> None:
    states = states_of(traced_run())
    assert states.m_running is not None
    states.m_running[0, 40:, 2] = np.nan
    shown = HeadStates(CAUSAL, replace(states, complete=False), 0)
    assert "m <b>not run yet</b>" in shown.hover_lines(50, 2)
    assert shown.hover_lines(0, 5)[-1] == MASKED_TEXT


def test_a_line_breaks_at_borders_and_gaps_and_shows_what_is_alone() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0, -np.inf, 6.0, np.nan, 8.0, 9.0])
    x, y = broken_line(values, np.array([2]))
    runs = [run for run in np.split(np.column_stack([x, y]), np.flatnonzero(np.isnan(y))) if len(run)]
    drawn = [run[~np.isnan(run[:, 1])].tolist() for run in runs]
    assert [points for points in drawn if points] == [
        [[0.0, 1.0], [1.0, 2.0]],
        [[2.0, 3.0], [3.0, 4.0]],
        [[4.6, 6.0], [5.4, 6.0]],
        [[7.0, 8.0], [8.0, 9.0]],
    ]


def test_splits_of_one_tile_are_lines_that_can_be_seen() -> None:
    x, y = broken_line(np.array([1.0, 2.0]), np.array([1]))
    assert x.tolist() == [-0.4, 0.4, 0.5, 0.6, 1.4]
    assert y[[0, 1, 3, 4]].tolist() == [1.0, 1.0, 2.0, 2.0] and np.isnan(y[2])


def facts(shown: HeadStates, name: str, seconds: float = inf) -> MapFacts:
    """All that must be known of a map, found in as many steps as it takes."""
    found = MapFacts(shown, name)
    while not found.advance(seconds):
        pass
    return found


@pytest.mark.parametrize("seconds", [inf, 0.0], ids=["at once", "part by part"])
def test_levels_and_contents_are_of_all_rows(seconds: float) -> None:
    """Also of maps so large that looking at some of the rows would be quicker."""
    data = np.ones((1, 40_000, 32), dtype=np.float32)
    data[0, 12_345, 6], data[0, 777, 3], data[0, 39_999, 31] = 9.0, -4.0, np.nan
    shown = HeadStates(Problem(40_000, 512, 16), TileStates(16, 16, 512, data, data, data), 0)
    assert facts(shown, "m", seconds).levels == (-4.0, 9.0) and facts(shown, "l", seconds).levels == (0.0, 9.0)
    assert facts(shown, "m", seconds).contents == {"nan"}
    data[0, 20_001, 5] = -np.inf
    assert facts(shown, "m", seconds).contents == {"nan", "unseen"}
    assert facts(shown, "m", seconds).levels == (-4.0, 9.0)
    data[:] = np.nan
    assert facts(shown, "m", seconds).levels == (0.0, 1.0)


def test_a_large_map_is_looked_at_in_steps() -> None:
    """However little time there is, each step does something, and none does all."""
    data = np.ones((1, 40_000, 32), dtype=np.float32)
    found = MapFacts(HeadStates(Problem(40_000, 512, 16), TileStates(16, 16, 512, data, data, data), 0), "m")
    assert not found.advance(0.0)
    assert found.advance()


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((1, 1), ""),
        ((6, 1), "each row drawn: the largest l of 6 query rows"),
        ((1, 2), "each column drawn: the largest l of 2 key tiles"),
        ((6, 2), "each cell drawn: the largest l of 6 query rows × 2 key tiles"),
    ],
)
def test_what_is_pooled_is_said(steps: tuple[int, int], words: str) -> None:
    texts = pooled_texts("l", *steps)
    assert texts[0] == words
    assert all(f"{count} " in text for text in texts for count in steps if count > 1)
    assert len(texts) == len(SPLITS_TEXTS) and [len(text) for text in texts] == sorted(map(len, texts), reverse=True)
