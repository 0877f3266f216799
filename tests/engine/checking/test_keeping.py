"""Which heads are sent of a problem whose maps or states would be too many."""

from __future__ import annotations

import pytest

from kernels.plain.tiles import TileConfig
from workbench.engine.checking.keeping import kept_heads, kept_text, trace_bytes
from workbench.run.request import Problem, RunRequest


def test_the_states_of_one_head_are_three_numbers_for_each_row_and_tile() -> None:
    for heads in (1, 16):
        request = RunRequest(Problem(1024, 4090, 128, 4, heads), TileConfig(16, 16))
        assert trace_bytes(request) == 3 * 4 * 1024 * 256


@pytest.mark.parametrize(
    ("limit", "wanted", "kept"),
    [(80, 7, ()), (79, 7, (0, 1, 2, 3, 4, 5, 7)), (30, 1, (0, 1, 2)), (30, 5, (0, 1, 5)), (9, 5, (5,))],
)
def test_the_first_heads_that_fit_are_kept_and_the_wanted_one_always(
    limit: int, wanted: int, kept: tuple[int, ...]
) -> None:
    assert kept_heads(8, 10, limit, wanted) == kept


def test_what_is_kept_is_said_with_the_sizes() -> None:
    text = kept_text("softmax states", (0, 1, 2, 57), 64, 2**20, 4 * 2**20)
    assert text.startswith("softmax states: heads 0 to 2, 57 of 64 are kept; all would take 64.0 MiB, and at most 4.0 ")
