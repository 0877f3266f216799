"""A table of runs as it stands in the window, and the view within it."""

from __future__ import annotations

from PyQt6.QtWidgets import QTableView
from pytestqt.qtbot import QtBot

from workbench.ui.runs.table import ResultsTable
from workbench.ui.theme import load_theme


def shown_table(qtbot: QtBot, width: int) -> ResultsTable:
    """An empty one, `width` wide, that is on the screen."""
    table = ResultsTable(load_theme("dark"))
    qtbot.addWidget(table)
    table.resize(width, 300)
    with qtbot.waitExposed(table):
        table.show()
    return table


def view(table: ResultsTable) -> QTableView:
    found = table.findChild(QTableView)
    assert found is not None
    return found
