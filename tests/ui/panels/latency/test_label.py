"""The words beside the best run cover no other run where any place is free."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.ui.panels.latency.trend.label import place_words

ROOM, HEIGHT, OFF = (300.0, 200.0), 16.0, 10.0
TEXTS = ("best right run: 16×16, 753.6 µs", "best: 16×16, 753.6 µs", "753.6 µs")


def width(text: str) -> float:
    return 6.0 * len(text)


def place(mark: tuple[float, float], others: list[tuple[float, float]]) -> tuple[str, int]:
    placed = place_words(TEXTS, width, HEIGHT, mark, np.array(others).reshape(-1, 2), ROOM, OFF)
    assert 0 <= placed.left <= ROOM[0] - width(placed.text)
    covered = [
        (x, y)
        for x, y in others
        if placed.left < x < placed.left + width(placed.text) and placed.top < y < placed.top + HEIGHT
    ]
    assert len(covered) <= placed.covered
    return placed.text, placed.covered


@pytest.mark.parametrize("mark", [(5.0, 5.0), (295.0, 195.0), (150.0, 100.0), (295.0, 5.0)])
def test_alone_the_longest_words_stand_beside_their_mark(mark: tuple[float, float]) -> None:
    assert place(mark, []) == (TEXTS[0], 0)


@pytest.mark.parametrize("seed", range(30))
def test_marks_around_are_not_covered_where_they_need_not_be(seed: int) -> None:
    draw = np.random.default_rng(seed)
    others = [(float(x), float(y)) for x, y in draw.uniform((0, 0), ROOM, (6, 2))]
    _, covered = place((150.0, 100.0), others)
    if covered:  # then the shortest words have no free place either
        assert place_words(TEXTS[-1:], width, HEIGHT, (150.0, 100.0), np.array(others), ROOM, OFF).covered


def test_the_mark_before_the_last_is_not_under_the_words() -> None:
    """A trend that falls: the run before the best stands up and left of it, where the words would."""
    _, covered = place((290.0, 120.0), [(220.0, 98.0), (150.0, 70.0), (80.0, 20.0)])
    assert not covered
