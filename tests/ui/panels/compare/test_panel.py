"""The compare panel: the runs that are chosen beside each other, and how to choose them."""

from __future__ import annotations

import pytest
from PyQt6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from tests.samples import make_record
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.run.session import SessionError
from workbench.ui.panels.compare.panel import ComparePanel
from workbench.ui.panels.compare.shares import points
from workbench.ui.theme import load_theme

RUNS = tuple(make_record(number, Problem(32, 64, 16), kernel_us=300.0 + 20 * number) for number in range(1, 9))


@pytest.fixture
def panel(qtbot: QtBot) -> ComparePanel:
    made = ComparePanel(load_theme("dark"))
    qtbot.addWidget(made)
    made.resize(800, 500)
    with qtbot.waitExposed(made):
        made.show()
    return made


def show(panel: ComparePanel, runs: tuple[RunRecord, ...], qtbot: QtBot) -> None:
    """Choose `runs`, and wait until all of them is shown."""
    panel.choose(runs)
    settle(panel, qtbot)


def settle(panel: ComparePanel, qtbot: QtBot) -> None:
    """Draw as the window's timer does until all is there."""

    def is_complete() -> bool:
        panel.tick()
        return panel.is_complete

    qtbot.waitUntil(is_complete)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_two_to_six_runs_have_a_column_and_a_line_each(panel: ComparePanel, qtbot: QtBot, count: int) -> None:
    show(panel, RUNS[:count], qtbot)
    assert panel.grid.columnCount() == count
    assert sum(len(curve.getData()[0]) > 0 for curve in panel.shares.curves) == count
    legend = panel.legend.text().replace("&nbsp;", " ").replace("\u00a0", " ")
    assert all(f"run {run.run_id}" in legend for run in RUNS[:count])


@pytest.mark.parametrize("count", [0, 1, 7])
def test_fewer_and_more_say_how_many_can_be_compared(panel: ComparePanel, qtbot: QtBot, count: int) -> None:
    show(panel, RUNS[:3], qtbot)
    show(panel, RUNS[:count], qtbot)
    assert not panel.stack.shows_plots
    assert "2 to 6" in panel.stack.card.label.text()


def test_what_was_asked_for_before_is_never_shown_for_what_is_chosen_now(panel: ComparePanel, qtbot: QtBot) -> None:
    panel.choose(RUNS[:3])
    panel.choose(RUNS[3:5])
    show(panel, RUNS[5:7], qtbot)
    assert panel.found is not None
    assert [title.split("\n")[0] for title in panel.found.titles] == ["run 6", "run 7"]


def test_a_reference_stays_and_stands_first_whatever_is_chosen(panel: ComparePanel, qtbot: QtBot) -> None:
    panel.set_reference(RUNS[4])
    show(panel, RUNS[:2], qtbot)
    assert panel.runs == (RUNS[4], *RUNS[:2])
    show(panel, RUNS[:1], qtbot)
    assert panel.runs == (RUNS[4], RUNS[0])
    assert panel.references.currentText().startswith("run 5")


def test_another_one_can_be_chosen_in_the_panel(panel: ComparePanel, qtbot: QtBot) -> None:
    show(panel, RUNS[:3], qtbot)
    with qtbot.waitSignal(panel.referenceChanged) as told:
        panel.references.activated.emit(2)
    assert told.args == [RUNS[2]]


def test_a_reference_can_be_given_up_again(panel: ComparePanel, qtbot: QtBot) -> None:
    panel.set_reference(RUNS[4])
    show(panel, RUNS[:2], qtbot)
    panel.references.activated.emit(panel.references.count() - 1)
    assert panel.reference is None and panel.runs == RUNS[:2]


def test_states_are_read_when_they_are_looked_at(panel: ComparePanel, qtbot: QtBot) -> None:
    read: list[int] = []

    def load(run: RunRecord) -> RunRecord:
        read.append(run.run_id)
        if run.run_id == 3:
            raise SessionError("run 3 is damaged")
        return run

    panel.load = load
    show(panel, RUNS[:3], qtbot)
    assert not read
    panel.views.setCurrentIndex(2)
    settle(panel, qtbot)
    assert read == [1, 2, 3]
    said = panel.states.text.text().replace("&nbsp;", " ").replace("\u00a0", " ")
    assert "run 2" in said and "run 3 is damaged" in said
    assert panel.states.keys.items and panel.states.rows.items


@pytest.mark.parametrize("page", range(3))
def test_no_text_makes_the_panel_larger(panel: ComparePanel, qtbot: QtBot, page: int) -> None:
    panel.views.setCurrentIndex(page)
    show(panel, RUNS[:6], qtbot)
    assert panel.minimumSizeHint().width() < 560
    assert panel.minimumSizeHint().height() < 300


def test_what_fails_is_told_once_and_not_tried_in_every_frame(
    panel: ComparePanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("workbench.ui.panels.compare.panel.compared", fail)
    panel.choose(RUNS[:2])

    def has_raised() -> bool:
        try:
            panel.tick()
        except ZeroDivisionError:
            return True
        return False

    qtbot.waitUntil(has_raised)
    panel.tick()
    assert "cannot be compared" in panel.stack.card.label.text()
    monkeypatch.undo()
    show(panel, RUNS[2:4], qtbot)
    assert panel.stack.shows_plots


def test_before_any_choice_it_says_how_to_choose(panel: ComparePanel) -> None:
    assert panel.tick() or panel.stack.card.isVisible()
    assert "Ctrl-click" in panel.stack.card.label.text()


def test_a_picture_does_not_wait_for_the_thread(panel: ComparePanel) -> None:
    panel.choose(RUNS[:2])
    panel.draw_now()
    assert panel.grid.columnCount() == 2


def test_many_launches_are_drawn_by_few_of_them_with_both_ends(qapp: QApplication) -> None:
    import numpy as np

    ascending = np.sort(np.random.default_rng(0).normal(100, 1, 20_000))
    x, y = points(ascending)
    assert len(x) <= 1000
    assert set(x) <= set(ascending)
    assert (x[0], x[-1], y[-1]) == (ascending[0], ascending[-1], 100.0)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_every_label_is_in_the_colours_of_the_theme(panel: ComparePanel, qtbot: QtBot, theme: str) -> None:
    panel.apply_theme(load_theme(theme))
    show(panel, RUNS[:2], qtbot)
    assert load_theme(theme).kernel in panel.legend.text()
    assert all(label.text() for label in (panel.answer, panel.legend) if isinstance(label, QLabel))
