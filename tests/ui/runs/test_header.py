"""The columns as a person has them are kept between launches; what is damaged is passed over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PyQt6.QtCore import QSettings, Qt
from pytestqt.qtbot import QtBot

from tests.samples import make_record
from workbench.run.request import Problem
from workbench.ui.runs.columns import COLUMNS, PLACES
from workbench.ui.runs.header import KEPT, Header
from workbench.ui.runs.table import ResultsTable
from workbench.ui.theme import load_theme

TITLES = [column.title for column in COLUMNS]


def header(qtbot: QtBot) -> Header:
    table = ResultsTable(load_theme("dark"))
    qtbot.addWidget(table)
    table.set_records([make_record(1, Problem(8, 32, 4), launches=5)])
    return table.header


def settings(tmp_path: Path, kept: object = None) -> QSettings:
    found = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    if kept is not None:
        found.setValue(KEPT, kept)
    return found


@pytest.mark.parametrize("title", TITLES)
def test_a_column_is_kept_as_it_was_left(qtbot: QtBot, tmp_path: Path, title: str) -> None:
    first, other = header(qtbot), header(qtbot)
    place = PLACES[title]
    if title != "Run":
        first._want(title, True)
    first._header.moveSection(first._header.visualIndex(place), 3)
    first._view.setColumnWidth(place, 222)
    first._view.sortByColumn(place, Qt.SortOrder.AscendingOrder)
    first.save(settings(tmp_path))
    other.restore(settings(tmp_path))
    assert other.kept() == first.kept()
    assert other._header.visualIndex(place) == 3 and other._view.columnWidth(place) == 222
    assert other._header.sortIndicatorSection() == place and not other._view.isColumnHidden(place)
    other.reset()
    assert other.kept() == header(qtbot).kept()


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "{",
        "[" * 100_000,
        "7",
        "[]",
        json.dumps({"order": 7, "widths": [], "seen": "x", "sort": None}),
        json.dumps(
            {"order": [None, "Gone", {}], "widths": {"Gone": 9, "Time": -5, "Tile": 1e9}, "sort": ["Gone", "ascending"]}
        ),
        json.dumps({"seen": {"Time": "no", "Tile": 1}, "sort": ["Time", "sideways"], "widths": {"Time": True}}),
        json.dumps({"sort": ["Time"], "order": ["Run", "Run"]}),
    ],
    ids=lambda text: text[:30],
)
def test_what_is_damaged_leaves_the_table_as_at_first(qtbot: QtBot, tmp_path: Path, damaged: str) -> None:
    found = header(qtbot)
    found.restore(settings(tmp_path, damaged))
    assert found.kept() == header(qtbot).kept()


def test_columns_that_a_layout_does_not_know_come_where_they_are_at_first(qtbot: QtBot) -> None:
    found = header(qtbot)
    known = [title for title in TITLES if title not in ("Tile", TITLES[-1])]
    found.take({"order": ["Gone", *reversed(known)]})
    order = found.kept()["order"]
    assert [title for title in order if title in known] == known[::-1]
    assert order.index("Tile") == order.index(TITLES[PLACES["Tile"] - 1]) + 1
    assert sorted(order) == sorted(TITLES)
