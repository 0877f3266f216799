"""A traced run as a split, causal kernel makes it: m and l begin anew with each split, masked tiles are never run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernels.plain.tiles import TileConfig
from tests.samples import make_record
from workbench.run.events import TileStates
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.stats.arrays import FloatArray

CAUSAL = Problem(64, 96, 16, batch=2, heads=4, kv_heads=4, causal=True)
TILE = TileConfig(32, 16, splits=2)  # 6 key tiles, 3 in each split


def traced_run(problem: Problem = CAUSAL, tile: TileConfig = TILE, heads: tuple[int, ...] = ()) -> RunRecord:
    """A record of `problem` with its states as sent; `heads` are the numbers of those kept, empty for all."""
    record = make_record(problem=problem, tile=tile)
    states = record.states
    assert states is not None and states.m_tile is not None
    split_tiles = -(-states.m_tile.shape[2] // tile.splits)
    arrays = _anew(record, split_tiles)
    kept = list(heads) or list(range(problem.total_heads))
    m_tile, m_running, l_running = (_masked(problem, tile, array)[kept] for array in arrays)
    states = replace(
        states,
        m_tile=m_tile,
        m_running=m_running,
        l_running=l_running,
        split_tiles=split_tiles if tile.splits > 1 else 0,
        heads=heads,
    )
    request = RunRequest(problem, tile, kernel="split_kv")
    return replace(record, started=replace(record.started, request=request), states=states)


def states_of(record: RunRecord) -> TileStates:
    """The record's states, which must be there."""
    assert record.states is not None
    return record.states


def _anew(record: RunRecord, split_tiles: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Tile maximum, m and l of each split by itself: l from the differences of the unsplit one."""
    states = states_of(record)
    assert states.m_tile is not None and states.m_running is not None and states.l_running is not None
    m_tile, m_whole, l_whole = (a.astype(np.float64) for a in (states.m_tile, states.m_running, states.l_running))
    m, l_sum = np.empty_like(m_tile), np.empty_like(m_tile)
    scale = np.where(np.isfinite(m_whole), m_whole, 0.0)
    sums = l_whole * np.exp(scale)  # of exp(score) over all keys so far
    for first in range(0, m_tile.shape[2], split_tiles):
        part = slice(first, first + split_tiles)
        m[:, :, part] = np.maximum.accumulate(m_tile[:, :, part], axis=2)
        before = sums[:, :, first - 1 : first] if first else 0.0
        seen = np.where(np.isfinite(m[:, :, part]), m[:, :, part], 0.0)
        l_sum[:, :, part] = np.where(np.isfinite(m[:, :, part]), (sums[:, :, part] - before) * np.exp(-seen), 0.0)
    return m_tile.astype(np.float32), m.astype(np.float32), l_sum.astype(np.float32)


def _masked(problem: Problem, tile: TileConfig, array: FloatArray) -> FloatArray:
    """`array` with NaN in the tiles that no row of their block sees, found by asking every pair of a row and a key."""
    result = array.copy()
    rows, keys = np.arange(problem.m), np.arange(problem.n)
    sees = keys[None, :] <= rows[:, None] + problem.n - problem.m if problem.causal else np.ones((problem.m, problem.n))
    for top in range(0, problem.m, tile.block_m):
        for i in range(array.shape[2]):
            block = sees[top : top + tile.block_m, i * tile.block_n : (i + 1) * tile.block_n]
            if not block.any():
                result[:, top : top + tile.block_m, i] = np.nan
    return result
