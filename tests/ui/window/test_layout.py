"""Where the window's panels stand, at first and when it is opened again, its keys, and its colours."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import QSettings
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui.conftest import MakeWindow
from tests.ui.window.test_main import TINY, run_to_end
from workbench.ui.panels import PANELS
from workbench.ui.places import Place
from workbench.ui.window.actions import COMMANDS

NEW_PANELS = ("roofline", "memory")


def test_the_first_sight_is_of_the_runs_with_the_new_panels_behind_them(
    qtbot: QtBot, make_test_window: MakeWindow
) -> None:
    window = make_test_window()
    qtbot.waitExposed(window)
    QApplication.processEvents()
    assert not window.results.visibleRegion().isEmpty()
    docks = window.tabifiedDockWidgets(window.docks.dock("results"))
    behind = [panel.title for panel in PANELS if panel.place is Place.BEHIND_LOWER]
    assert [dock.windowTitle() for dock in docks] == behind
    menus = window.menuBar()
    assert menus is not None
    view = next(action.menu() for action in menus.actions() if action.text() == "&View")
    assert view is not None
    assert {panel.title for panel in PANELS} <= {action.text() for action in view.actions()}
    assert set(NEW_PANELS) <= set(window.widget_names())


@pytest.mark.parametrize("kept_names", [False, True], ids=["an old program's layout", "this one's, of fewer panels"])
def test_a_layout_that_does_not_know_a_panel_does_not_hide_it(
    make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_names: bool
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("workbench.ui.window.stage.PANELS", tuple(p for p in PANELS if p.name not in NEW_PANELS))
        old = make_test_window()
        old.docks.dock("error").hide()
        old.close()
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    if not kept_names:
        settings.remove("docks")
        settings.sync()
    window = make_test_window("other.tilescope")
    QApplication.processEvents()
    for name in NEW_PANELS:
        dock = window.docks.dock(name)
        assert dock.isVisibleTo(window) and not dock.isFloating()
        assert dock in window.tabifiedDockWidgets(window.docks.dock("results"))
    assert not window.results.visibleRegion().isEmpty()
    assert not window.docks.dock("error").isVisibleTo(window)  # what was hidden stays so
    window.docks.dock("roofline").hide()
    window.close()
    again = make_test_window("third.tilescope")
    assert not again.docks.dock("roofline").isVisibleTo(again)  # a known one that was hidden is no new one


def test_the_form_keeps_its_width_when_the_window_takes_another(make_warm_window: MakeWindow) -> None:
    window = make_warm_window()
    window.resize(1440, 900)

    def widths() -> dict[str, int]:
        for _ in range(5):
            QApplication.processEvents()
        return {name: window.docks.dock(name).width() for name in ("controls", "latency", "softmax")}

    before = widths()
    window.resize(2560, 1440)
    wide = widths()
    assert wide["controls"] == pytest.approx(before["controls"], abs=8)
    assert wide["latency"] > 1.5 * before["latency"] and wide["softmax"] > 1.5 * before["softmax"]
    for width in range(2560, 1440, -35):  # as a dragged frame does it: what is rounded must not add up
        window.resize(width, 900)
        widths()
    window.resize(1440, 900)
    assert widths() == pytest.approx(before, abs=8)


def test_the_layout_comes_back(qtbot: QtBot, make_warm_window: MakeWindow) -> None:
    window = make_warm_window()
    run_to_end(qtbot, window, TINY)
    window.docks.dock("error").hide()
    window.resize(1200, 800)
    window.close()
    again = make_warm_window("other.tilescope")
    assert not again.docks.dock("error").isVisibleTo(again)
    assert again.docks.dock("latency").isVisibleTo(again)
    again.command("reset").trigger()
    assert again.docks.dock("error").isVisibleTo(again)


@pytest.mark.parametrize("name", ["Ctrl+R", "F5", "Esc", "Ctrl+B", "Ctrl+Shift+S"])
def test_the_promised_keys_exist_once(make_test_window: MakeWindow, name: str) -> None:
    window = make_test_window()
    owners = [a for a in window.actions() if name in [s.toString() for s in a.shortcuts()]]
    assert len(owners) == 1


def test_both_themes_and_a_picture(qtbot: QtBot, make_warm_window: MakeWindow) -> None:
    from workbench.ui.files.pictures import take_picture
    from workbench.ui.theme import load_theme

    window = make_warm_window()
    run_to_end(qtbot, window, TINY)
    colors = []
    for name in ("dark", "light"):
        window.set_theme(load_theme(name))
        window.flush()
        image = take_picture(window, 2.0)
        assert (image.width(), image.height()) == (window.width() * 2, window.height() * 2)
        colors.append(image.pixelColor(image.width() // 2, 4).lightness())
    assert colors[0] < 80 < 180 < colors[1]


def test_every_command_stands_in_a_menu(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    bar = window.menuBar()
    assert bar is not None
    menus = [menu for action in bar.actions() if (menu := action.menu()) is not None]
    listed = {action for menu in menus for action in menu.actions()}
    assert [command.name for command in COMMANDS if window.command(command.name) not in listed] == []
