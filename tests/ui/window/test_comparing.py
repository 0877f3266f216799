"""Comparing in the window: from clicks in the table to who is faster, and both measured again in turns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import INTERPRETER, make_record
from tests.ui.conftest import MakeWindow
from workbench.run.record import RunRecord
from workbench.run.request import Problem, Rival
from workbench.run.session import Session
from workbench.ui.panels.compare.panel import ComparePanel
from workbench.ui.window.main import MainWindow

_test: Any = QTest
RECORDING = Path("assets/recordings/h200-article-shapes.tilescope")


def click(window: MainWindow, number: int, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Click on the run `number` in the table."""
    view = window.results._view
    shown = view.model()
    assert shown is not None
    rows = {str(shown.index(row, 0).data()).split()[-1]: row for row in range(shown.rowCount())}
    index = shown.index(rows[str(number)], 0)
    view.scrollTo(index)
    _test.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, modifier, view.visualRect(index).center())


def panel_of(window: MainWindow) -> ComparePanel:
    panel = window._stage.panels[ComparePanel.name]
    assert isinstance(panel, ComparePanel)
    return panel


def test_two_clicks_say_which_tile_is_the_fastest(make_warm_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_warm_window()
    window.open_recording(RECORDING)
    panel = panel_of(window)
    click(window, 13)
    click(window, 12, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: panel.is_complete and panel.stack.shows_plots)
    assert not panel.visibleRegion().isEmpty()
    assert "16×16 is the fastest" in panel.answer.text()
    assert "1.142× as long" in panel.answer.text()
    assert "beyond noise" in panel.answer.text()


def test_two_runs_are_measured_again_in_turns(make_warm_window: MakeWindow, qtbot: QtBot, tmp_path: Path) -> None:
    session, problem = Session(tmp_path / "test.tilescope"), Problem(16, 32, 16)
    for tile in (TileConfig(16, 16), TileConfig(16, 32)):
        record = make_record(1, problem, tile=tile, device=INTERPRETER)
        request = replace(record.started.request, max_seconds=0.2)
        session.add(replace(record, started=replace(record.started, request=request)))
    window = make_warm_window()
    panel = panel_of(window)
    click(window, 1)
    click(window, 2, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: panel.is_complete and panel.turns.isEnabled())
    found: list[RunRecord] = []
    window.settled.connect(found.append)
    window._worker.start()
    panel.turns.click()
    qtbot.waitUntil(lambda: bool(found), timeout=60_000)
    record = found[0]
    assert record.started.request.rival == Rival("article", TileConfig(16, 32))
    assert record.passed and record.comparison is not None
    window.flush()
    assert "article 16×32" in window.headline.text()
    assert "interpreter" in window.headline.text()


def test_the_headline_holds_each_run_against_the_reference(make_warm_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_warm_window()
    window.open_recording(RECORDING)
    click(window, 13)
    window.results._refer.trigger()
    for number, said in ((12, "1.14× slower than"), (8, "no ratio to"), (13, "the reference")):
        click(window, number)
        qtbot.waitUntil(lambda said=said: said in window.headline.text())  # type: ignore[misc]
