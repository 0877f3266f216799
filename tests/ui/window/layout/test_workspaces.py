"""Workspaces: each shows what it is for, can be changed and reset, and is kept by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import QByteArray, QSettings, Qt
from PyQt6.QtWidgets import QApplication, QTabBar
from pytestqt.qtbot import QtBot

from tests.ui.conftest import MakeWindow
from tests.ui.hands import press_key
from workbench.ui.panels import PANELS
from workbench.ui.window.actions import workspace_command
from workbench.ui.window.layout.workspaces import WORKSPACES, Cell, Workspace
from workbench.ui.window.main import MainWindow

EACH = pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda workspace: workspace.name)


def seen(window: MainWindow) -> set[str]:
    """The names of the docks in front."""
    QApplication.processEvents()
    docks = window.docks.named().items()
    return {name for name, dock in docks if dock.isVisible() and dock.geometry().right() >= 0}


def open_docks(window: MainWindow) -> set[str]:
    """The names of the docks that are not closed."""
    return {name for name, dock in window.docks.named().items() if not dock.isHidden()}


def test_a_first_start_shows_the_first_with_every_panel(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    assert window.docks.workspace is WORKSPACES[0]
    assert window.command(workspace_command(WORKSPACES[0])).isChecked()
    assert open_docks(window) == set(window.widget_names())


@EACH
def test_its_key_shows_what_it_names_and_checks_its_entry(
    qtbot: QtBot, make_test_window: MakeWindow, workspace: Workspace
) -> None:
    window = make_test_window()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    press_key(window, Qt.Key(Qt.Key.Key_1 + WORKSPACES.index(workspace)), Qt.KeyboardModifier.ControlModifier)
    assert window.docks.workspace is workspace
    checked = [w for w in WORKSPACES if window.command(workspace_command(w)).isChecked()]
    assert checked == [workspace]
    known = set(window.widget_names())
    fronts = [[n for n in cell.names if n in known][:1] for row in workspace.rows for cell in row.cells]
    assert {name for front in fronts for name in front} <= seen(window)
    assert ("controls" in seen(window)) == workspace.has_form


def test_what_workspaces_name_is_there() -> None:
    """But for "compare", which another panel stands in for until it is there."""
    there = {panel.name for panel in PANELS} | {"results", "compare"}
    assert {n for w in WORKSPACES for row in w.rows for cell in row.cells for n in cell.names} <= there


@EACH
def test_a_changed_one_is_kept_by_itself_and_reset_by_itself(
    make_test_window: MakeWindow, workspace: Workspace
) -> None:
    window = make_test_window()
    others = [w for w in WORKSPACES if w is not workspace]
    first = {}
    for each in (*others, workspace):
        window.docks.enter(each)
        first[each.name] = open_docks(window)
    window.docks.dock("log").setVisible("log" not in first[workspace.name])
    window.docks.dock("results").hide()
    changed = open_docks(window)
    assert changed != first[workspace.name]
    for other in others:
        window.docks.enter(other)
        assert open_docks(window) == first[other.name]
    window.docks.enter(workspace)
    assert open_docks(window) == changed
    window.close()
    again = make_test_window("again.tilescope")
    assert again.docks.workspace is workspace
    assert open_docks(again) == changed
    again.command("reset").trigger()
    assert open_docks(again) == first[workspace.name]


def test_what_an_older_program_kept_is_the_first_ones(make_test_window: MakeWindow, tmp_path: Path) -> None:
    old = make_test_window()
    old.docks.dock("error").hide()
    old.close()
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    group = f"workspaces/{WORKSPACES[0].name}"
    settings.setValue("layout", settings.value(f"{group}/layout"))  # as one without workspaces kept it
    settings.setValue("docks", settings.value(f"{group}/docks"))
    settings.remove("workspaces")
    settings.remove("workspace")
    settings.sync()
    window = make_test_window("other.tilescope")
    assert window.docks.workspace is WORKSPACES[0]
    assert open_docks(window) == set(window.widget_names()) - {"error"}


@pytest.mark.parametrize("kept", ["layout", "docks", "shares", "workspace"])
def test_damaged_settings_cost_a_layout_and_no_start(make_test_window: MakeWindow, tmp_path: Path, kept: str) -> None:
    make_test_window().close()
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    name = kept if kept == "workspace" else f"workspaces/{WORKSPACES[0].name}/{kept}"
    settings.setValue(name, QByteArray(b"\x00damaged"))
    settings.sync()
    window = make_test_window("other.tilescope")
    assert "results" in seen(window)


def test_going_round_leaves_neither_tabs_nor_a_ring_behind(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    for workspace in (*WORKSPACES, *WORKSPACES):
        window.docks.enter(workspace)
        QApplication.processEvents()
        bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        shown = [bar for bar in bars if bar.isVisible() and bar.geometry().right() >= 0]
        several = [names for row in workspace.rows for cell in row.cells if len(names := cell_docks(window, cell)) > 1]
        assert sorted(bar.count() for bar in shown) == sorted(map(len, several))
        assert all(bar.focusPolicy() == Qt.FocusPolicy.NoFocus for bar in bars if bar not in shown)
        assert not window.headline.hasFocus()


def cell_docks(window: MainWindow, cell: Cell) -> list[str]:
    """The docks of a cell of an arrangement that nobody has changed."""
    places = {dock.widget().name: dock.widget().place for dock in window.docks.all()}  # type: ignore[union-attr]
    return cell.docks(places)
