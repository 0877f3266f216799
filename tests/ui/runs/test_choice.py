"""Choosing runs in the table: in which order, by mouse and by keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.samples import make_record
from tests.ui.hands import press_key
from tests.ui.runs.shown import view
from workbench.run.request import Problem
from workbench.ui.runs.choice import MOST_TOLD
from workbench.ui.runs.table import ResultsTable
from workbench.ui.theme import load_theme

_test: Any = QTest
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def table(qtbot: QtBot) -> Iterator[ResultsTable]:
    widget = ResultsTable(load_theme("dark"))
    qtbot.addWidget(widget)
    widget.resize(900, 600)
    with qtbot.waitExposed(widget):
        widget.show()
    widget.set_records([make_record(number, Problem(8, 32, 4), launches=5) for number in range(1, 13)])
    yield widget


@pytest.fixture
def told(table: ResultsTable) -> list[list[int]]:
    """The numbers of the runs that are told, each time."""
    found: list[list[int]] = []
    table.recordsChosen.connect(lambda records: found.append([record.run_id for record in records]))
    return found


def click(table: ResultsTable, row: int, modifier: Qt.KeyboardModifier = NONE) -> None:
    shown = view(table)
    model = shown.model()
    assert model is not None
    place = shown.visualRect(model.index(row, 0)).center()
    _test.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, modifier, place)


def test_runs_are_told_in_the_order_of_choosing(table: ResultsTable, told: list[list[int]]) -> None:
    click(table, 5)
    click(table, 1, CTRL)
    click(table, 8, CTRL)
    assert told[-1] == [7, 11, 4]
    click(table, 1, CTRL)
    assert told[-1] == [7, 4]


def press_twice(table: ResultsTable, key: Qt.Key) -> None:
    for _ in range(2):
        press_key(view(table), key, SHIFT)


@pytest.mark.parametrize(
    "extend",
    [lambda t: click(t, 4, SHIFT), lambda t: press_twice(t, Qt.Key.Key_Down)],
    ids=["mouse", "keys"],
)
def test_shift_and_keys_choose_as_well(
    table: ResultsTable, told: list[list[int]], extend: Callable[[ResultsTable], object]
) -> None:
    click(table, 2)
    extend(table)
    assert told[-1] == [10, 9, 8]


def test_of_all_no_more_are_told_than_say_that_there_are_too_many(table: ResultsTable, told: list[list[int]]) -> None:
    view(table).selectAll()
    assert len(told[-1]) == MOST_TOLD


def test_sorting_keeps_the_choice_and_its_order(table: ResultsTable, told: list[list[int]]) -> None:
    click(table, 5)
    click(table, 1, CTRL)
    view(table).sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert told[-1] == [7, 11]
