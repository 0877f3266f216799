"""Where the states of one head are too large, those of some of its rows are kept, and they are the very same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels.plain.tiles import TileConfig
from tests.engine.test_steps import record_of, run_of
from workbench.engine import steps
from workbench.engine.checking import states as capturing
from workbench.engine.checking.keeping import kept_row_blocks, trace_bytes
from workbench.run.events import Log, RunEvent, TileStates, rows_of_blocks
from workbench.run.request import TRACE_ROWS, Problem, RunRequest

PROBLEMS = {
    "one head": RunRequest(Problem(70, 48, 16), TileConfig(16, 16), device="interpreter"),
    "causal, heads": RunRequest(
        Problem(70, 48, 16, batch=2, heads=2, causal=True), TileConfig(16, 16), kernel="flash", device="interpreter"
    ),
    "splits": RunRequest(Problem(70, 80, 16), TileConfig(16, 16, splits=2), kernel="split_kv", device="interpreter"),
}


def states_of(request: RunRequest) -> tuple[TileStates, str]:
    events: list[RunEvent] = []
    run_of(request, events).go()
    states = record_of(request, events).states
    assert states is not None
    return states, "".join(event.text for event in events if isinstance(event, Log))


@pytest.mark.parametrize("by", TRACE_ROWS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_kept_rows_are_those_of_a_whole_trace(monkeypatch: pytest.MonkeyPatch, name: str, by: str) -> None:
    request = replace(PROBLEMS[name], trace_rows=by)
    whole, _ = states_of(request)
    for module in (capturing, steps):
        monkeypatch.setattr(module, "TRACE_LIMIT_BYTES", trace_bytes(request) // 2)
    part, log = states_of(request)
    assert not whole.row_blocks and whole.m_running is not None
    assert part.m_running is not None and part.m_tile is not None and part.l_running is not None
    assert 0 < len(part.row_blocks) < 5 and part.rows_by == by and len(part.heads) == 1
    rows, (head,) = part.row_numbers(request.problem.m), part.heads
    assert part.m_running.shape == (1, len(rows), whole.m_running.shape[2])
    for field in ("m_tile", "m_running", "l_running"):
        assert np.array_equal(getattr(part, field)[0], getattr(whole, field)[head][rows], equal_nan=True)
    assert part.bit_equal and part.m_error is not None and part.m_error < 1e-5
    assert f"{len(rows)} of 70 query rows of one head are kept, {TRACE_ROWS[by]}" in log


@pytest.mark.parametrize("m", [1, 64, 70, 65536])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.1, 0.0])
def test_blocks_fit_and_hold_what_was_asked_for(m: int, share: float) -> None:
    size = 12 * m * 100
    limit = int(share * size)
    for worst in (0, m // 2, m - 1):
        blocks = kept_row_blocks(m, 16, size, limit, "worst", worst)
        assert bool(blocks) is (share < 1)
        if blocks:
            assert worst // 16 in blocks and blocks == tuple(range(blocks[0], blocks[-1] + 1))
            assert len(blocks) == 1 or len(rows_of_blocks(blocks, 16, m)) * 1200 <= limit
    spread = kept_row_blocks(m, 16, size, limit, "spread", 0)
    assert list(spread) == sorted(set(spread)) and all(0 <= block <= (m - 1) // 16 for block in spread)
    if len(spread) > 1:
        assert spread[0] == 0 and spread[-1] == (m - 1) // 16 and np.ptp(np.diff(spread)) <= 1
