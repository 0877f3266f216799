"""Names of lines: apart where the lines are close, near them, and within the plot."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PyQt6.QtGui import QColor

from workbench.ui.plots.line_labels import LineLabel, LineLabels, fitted, spread
from workbench.ui.plots.themed import make_plot
from workbench.ui.theme import load_theme


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ([], []),
        ([3.0], [3.0]),
        ([0.0, 5.0], [0.0, 5.0]),
        ([1.0, 1.0], [0.5, 1.5]),
        ([0.0, 0.1, 0.2, 5.0], [-0.9, 0.1, 1.1, 5.0]),
        ([0.0, 1.5, 1.6], [0.0, 1.05, 2.05]),
    ],
)
def test_spread_moves_as_little_as_can_be(positions: list[float], expected: list[float]) -> None:
    assert spread(positions, 1.0) == pytest.approx(expected)


def test_a_chain_of_close_lines_is_pooled() -> None:
    placed = spread([0.0, 0.9, 1.0, 1.05, 3.9], 1.0)
    assert all(b - a >= 1.0 - 1e-9 for a, b in pairwise(placed))
    assert placed == sorted(placed)


def test_names_are_shown_from_below_and_removed(qapp: object) -> None:
    labels = LineLabels(make_plot(load_theme("dark")))
    color = QColor("white")
    labels.show([LineLabel(2.0, "upper", color), LineLabel(1.0, "lower", color)], QColor("black"))
    assert labels.texts() == ["lower", "upper"]
    labels.show([LineLabel(1.0, "only", color)], QColor("black"))
    assert [item.isVisible() for item in labels.items] == [True, False]


@pytest.mark.parametrize(
    ("positions", "expected"),
    [([5.0, 6.0], [5.0, 6.0]), ([9.0, 10.0, 11.0], [8.0, 9.0, 10.0]), ([-3.0, 0.5], [0.0, 1.0]), ([], [])],
)
def test_names_at_the_border_move_their_neighbours(positions: list[float], expected: list[float]) -> None:
    assert fitted(positions, 1.0, 0.0, 10.0) == expected
