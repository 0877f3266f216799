"""The table of many runs: each is read when its row is looked at, and what is asked for is found by the index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.run.kept.test_runs import MANY, Reads, session_of
from tests.samples import INTERPRETER, make_record, recorded_state
from tests.ui.runs.shown import shown_table, view
from workbench.analysis.listing.fields import INDEX
from workbench.analysis.listing.filter import parse_filter
from workbench.run.events import Failed
from workbench.run.kept.marks import Marks
from workbench.run.library import Library
from workbench.run.record import RunKey, RunRecord
from workbench.run.request import Problem
from workbench.run.session import Session
from workbench.ui.runs.columns import COLUMNS, Column
from workbench.ui.runs.listed import Listed, Order
from workbench.ui.runs.model import SAMPLE, RunsModel
from workbench.ui.runs.table import ResultsTable
from workbench.ui.theme import load_theme

SMALL = Problem(8, 32, 4)
DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


def some_runs() -> list[RunRecord]:
    """Right and wrong ones, failed ones, of a recording and of the interpreter: no two alike."""
    causal = Problem(16, 32, 4, dtype="fp16", causal=True)
    other = make_record(3, causal, TileConfig(32, 64, 8, 2), 900.0, 100.0, launches=20, protocol="cold")
    flash = replace(other.started.request, kernel="flash", precision="tf32")
    return [
        make_record(1, SMALL, TileConfig(16, 16), 300.0, 100.0, launches=9),
        make_record(2, SMALL, TileConfig(16, 32, splits=2), 90.0, 200.0, launches=5, passed=False),
        replace(other, started=replace(other.started, request=flash)),
        make_record(4, SMALL, failure=Failed("resources", "too much shared memory", resource="shared memory")),
        make_record(5, SMALL, failure=Failed("cancelled", "stopped")),
        replace(make_record(2, SMALL, kernel_us=700.0, launches=5), source="h200-watched"),
        make_record(7, Problem(8, 16, 4), device=INTERPRETER, launches=5),
        make_record(8, SMALL, protocol="warm", device_state=recorded_state("throttled"), launches=20),
        RunRecord.unreadable(9, Failed("damaged", "s.tilescope holds a damaged run 9")),
    ]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reads]:
    yield Reads(monkeypatch)


@pytest.fixture
def table(qtbot: QtBot) -> Iterator[ResultsTable]:
    yield shown_table(qtbot, 1000)


def runs_shown(table: ResultsTable) -> list[int]:
    model = view(table).model()
    assert isinstance(model, RunsModel)
    return [model.key(row).number for row in range(model.rowCount())]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.title)
@pytest.mark.parametrize("descending", [False, True])
def test_runs_are_sorted_by_what_is_seen_of_them(column: Column, descending: bool) -> None:
    """By the index as by the value in the cell; what has none comes last in both directions."""
    listed = Listed(some_runs())
    places = Order(listed, column.by, descending).sorted(range(len(listed)))
    values = [column.of(listed.record(place)).sort for place in places]
    assert sorted(places) == list(range(len(listed)))
    if column.title in ("!", "State", "Source", "Protocol", "Regs / spills"):  # which have an order of their own
        return
    known = [value for value in values if value is not None]
    if None in values:
        assert all(value is None for value in values[values.index(None) :]), values
    assert known == sorted(known, reverse=descending), values


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.title)
def test_a_run_that_comes_later_takes_its_place_in_the_order(column: Column) -> None:
    records = some_runs()
    for descending in (False, True):
        listed, order = Listed(), list[int]()
        for record in records:
            place = listed.put(record)
            ordering = Order(listed, column.by, descending)
            order.insert(ordering.row_for(place, order), place)
        keys = Order(listed, column.by, descending)
        assert [keys._key(place) for place in order] == [
            keys._key(place) for place in keys.sorted(range(len(listed)))
        ] or not any(keys._has_value)


def test_only_runs_that_are_looked_at_are_read(qtbot: QtBot, table: ResultsTable, tmp_path: Path, reads: Reads) -> None:
    session_of(tmp_path / "s.tilescope")
    runs = Library(Session(tmp_path / "s.tilescope", index=INDEX)).records()
    table.set_records(runs)
    seen = SAMPLE + 2  # and those that the line above the table speaks of
    assert reads.count <= seen and view(table).model().rowCount() == MANY  # type: ignore[union-attr]
    for place in range(len(COLUMNS)):
        view(table).sortByColumn(place, UP)
    table.filter.edit.setText("time<150us article")
    assert len(runs_shown(table)) == MANY // 2
    table.select(RunKey("", 1))
    assert reads.count <= 2 * seen + len(COLUMNS) * 40, "a page of rows for each order at most"
    assert reads.count < MANY * 5


def test_the_model_keeps_what_qt_asks_of_one(qtbot: QtBot, table: ResultsTable) -> None:
    model = RunsModel(load_theme("dark"))
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_records(some_runs()[:4])
    for record in (*some_runs()[4:], replace(some_runs()[0], end=Failed("died", "gone"))):
        model.upsert(record)
        model.sort(record.run_id % len(COLUMNS), DOWN if record.run_id % 2 else UP)
        model.set_filter(parse_filter("-failed" if record.run_id % 2 else ""))
    model.set_marks({RunKey("", 1): Marks(starred=True)})
    assert tester.model() is model


def test_what_is_selected_stays_so_in_another_order_and_choice(table: ResultsTable) -> None:
    table.set_records(some_runs())
    table.select(RunKey("", 3))
    for text in ("", "flash", "-wrong", "nothing of that kind", ""):
        table.filter.edit.setText(text)
        for place in range(len(COLUMNS)):
            view(table).sortByColumn(place, UP)
            selected = table.selected()
            assert selected is None or selected.run_id == 3
    assert runs_shown(table)


@pytest.mark.parametrize("sort", [DOWN, UP])
def test_a_run_that_ends_is_seen_where_it_belongs(table: ResultsTable, sort: Qt.SortOrder) -> None:
    table.set_records([])
    for place in range(len(COLUMNS)):
        view(table).sortByColumn(place, sort)
        for record in some_runs():
            table.upsert(record)
        before = runs_shown(table)
        view(table).sortByColumn(0 if place else 1, sort)
        view(table).sortByColumn(place, sort)
        assert runs_shown(table) == before, COLUMNS[place].title
        table.set_records([])


def test_a_run_of_which_nothing_can_be_read_says_no_settings(table: ResultsTable) -> None:
    damaged = some_runs()[-1]
    for column in COLUMNS:
        shown = column.of(damaged)
        assert len(shown.plain) == len(column.export)
        assert not any(word in shown.text for word in ("0", "article", "16", "fp32", "no device", "ieee")), column.title
    state = next(column for column in COLUMNS if column.title == "State")
    assert state.of(damaged).text == "cannot be read" and "damaged run 9" in state.of(damaged).tooltip
