"""The table of runs where it stands: what is explored is in sight, and a person's columns come back."""

from __future__ import annotations

import pytest
from PyQt6.QtWidgets import QApplication, QTableView

from tests.ui.conftest import MakeWindow
from workbench.ui.runs.columns import PLACES
from workbench.ui.theme import ASSETS
from workbench.ui.window.help import MOUSE
from workbench.ui.window.main import MainWindow

RECORDINGS = tuple(sorted((ASSETS / "recordings").glob("*.tilescope")))


def view(window: MainWindow) -> QTableView:
    found = window.results.findChild(QTableView)
    assert found is not None
    return found


@pytest.mark.parametrize("size", [(1280, 720), (1440, 900)], ids=str)
@pytest.mark.parametrize("count", range(1, len(RECORDINGS) + 1), ids="{} recordings".format)
def test_what_is_explored_is_in_sight_at_the_first_width_of_the_table(
    make_test_window: MakeWindow, size: tuple[int, int], count: int
) -> None:
    window = make_test_window()
    window.resize(*size)
    window.docks.arrange()
    for recording in RECORDINGS[:count]:
        window.open_recording(recording)
    QApplication.processEvents()
    shown = view(window)
    viewport = shown.viewport()
    assert viewport is not None
    for title in ("Run", "Kernel", "Tile", "Time", "vs SDPA"):
        column = PLACES[title]
        if window.results._runs.shared.has_all_of(title):
            assert shown.isColumnHidden(column), f"{title} is in the line above"
            continue
        assert shown.columnViewportPosition(column) + shown.columnWidth(column) <= viewport.width(), title


def test_columns_come_back_in_the_next_window(make_test_window: MakeWindow) -> None:
    first = make_test_window()
    first.results.header._want("Warps", True)
    view(first).setColumnWidth(PLACES["Tile"], 177)
    kept = first.results.header.kept()
    first.close()
    second = make_test_window()
    assert second.results.header.kept() == kept
    assert not view(second).isColumnHidden(PLACES["Warps"])


@pytest.mark.parametrize("what", ["Ctrl+C", "table's header"])
def test_the_list_of_keys_names_what_the_table_has_no_button_for(what: str) -> None:
    assert any(what in left for left, _ in MOUSE)
