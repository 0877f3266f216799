"""The filter over the table by real keys: what is asked for is shown, counted and said where it is not understood."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QApplication

from tests.samples import GPU, make_record
from tests.ui.conftest import MakeWindow
from tests.ui.hands import press_key
from workbench.run.events import Failed
from workbench.run.request import Problem
from workbench.run.session import Session
from workbench.ui.window.main import MainWindow

PROBLEM = Problem(32, 64, 16)


@pytest.fixture
def window(make_test_window: MakeWindow, tmp_path: Path) -> MainWindow:
    session = Session(tmp_path / "test.tilescope")
    for number, us in enumerate((90.0, 300.0, 80.0), 1):
        session.add(make_record(number, PROBLEM, device=GPU, kernel_us=us, protocol="cold"))
    session.add(make_record(4, PROBLEM, device=GPU, failure=Failed("compile", "no such instruction")))
    return make_test_window("test.tilescope")


def numbers(window: MainWindow) -> list[int]:
    model = window.results._runs
    return [model.key(row).number for row in range(model.rowCount())]


def test_words_and_terms_choose_runs_and_esc_shows_all(window: MainWindow) -> None:
    window.command("filter").trigger()
    line = window.results.filter
    assert line.isVisibleTo(window.results) and QApplication.focusWidget() in (line.edit, None)
    for text, expected in (("t", [4, 3, 2, 1]), ("time<100us", [3, 1]), ("time<100us -run:1", [3]), ("compile", [4])):
        line.edit.setText(text)
        assert numbers(window) == expected
        assert line.count.text() == f"{len(expected)} of 4 runs, in the trend too"
    press_key(line.edit, Qt.Key.Key_Escape)
    assert numbers(window) == [4, 3, 2, 1] and not line.isVisibleTo(window.results) and line.edit.text() == ""
    assert not window.is_running(), "and Esc stopped nothing"


def test_what_is_not_understood_is_said_under_the_line(window: MainWindow) -> None:
    line = window.results.filter
    window.command("filter").trigger()
    line.edit.setText("kernal:flash -failed")
    assert "kernal is nothing that is known of a run" in line.fault.text() and line.fault.isVisibleTo(line)
    assert numbers(window) == [3, 2, 1], "the rest is heeded"
    line.edit.setText("-failed")
    assert not line.fault.isVisibleTo(line)


def test_the_trend_is_of_the_runs_that_are_asked_for(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[int]] = []
    monkeypatch.setattr(window._stage, "set_history", lambda runs: told.append([run.run_id for run in runs]))
    for text in ("time<100us", ""):
        window.results.filter.edit.setText(text)
    assert told == [[1, 3], [1, 2, 3, 4]]


def test_a_run_that_ends_comes_into_the_table_if_it_is_asked_for(window: MainWindow) -> None:
    window.results.filter.edit.setText("-failed")
    window.results.upsert(make_record(5, PROBLEM, device=GPU, failure=Failed("died", "gone")))
    window.results.upsert(make_record(6, PROBLEM, device=GPU))
    assert numbers(window) == [6, 3, 2, 1]
    assert window.results.filter.count.text() == "4 of 6 runs, in the trend too"


def test_a_filter_that_no_run_meets_says_so(window: MainWindow) -> None:
    window.results.filter.edit.setText("nothing-of-that-kind")
    assert numbers(window) == [] and "No run meets the filter" in window.results._view.empty
    window.results.filter.edit.clear()
    assert window.results._view.empty == "No runs yet"
