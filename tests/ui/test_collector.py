"""Garbage is collected between events only: inside PyQt's own allocations it breaks what is being wrapped."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator

import pytest
from PyQt6.QtCore import QObject, QSizeF
from PyQt6.QtGui import QStandardItemModel
from PyQt6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from tests.patience import LIMIT_MS
from workbench.cli.app import make_application
from workbench.ui import collector as collector_module
from workbench.ui.collector import INTERVAL_MS, LONG_S, Collector, collect_what_is_due


class Garbage:
    """A cycle that calls `at_end` when it is collected."""

    def __init__(self, at_end: Callable[[], object]) -> None:
        self._self = self
        self._at_end = at_end

    def __del__(self) -> None:
        self._at_end()


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector of its own, in a process that collects as Python does by itself: tests do not."""
    gc.enable()
    owner = QObject()
    yield Collector(owner)
    owner.deleteLater()
    gc.disable()


def pass_threshold() -> list[list[int]]:
    """Make as many objects as start a collection, and keep them: count is what was made less what was freed."""
    return [[] for _ in range(gc.get_threshold()[0] + 100)]


def test_a_filled_box_keeps_its_model_while_garbage_makes_qt_objects(qtbot: QtBot, collector: Collector) -> None:
    automatic = gc.isenabled()  # as the collector has left it
    gc.disable()
    box = QComboBox()
    qtbot.addWidget(box)
    box.addItems(["cold", "warm"])
    made: list[QSizeF] = []
    Garbage(lambda: made.append(QSizeF(1, 1)))  # as a plot's label does when Qt takes it apart
    kept = pass_threshold()
    ask = box.model  # bound before: it is an allocation too
    if automatic:  # then the next allocation, which is the model's wrapper, collects
        gc.enable()
    model = ask()
    assert isinstance(model, QStandardItemModel)
    assert model.rowCount() == 2
    assert model.item(0) is not None
    del kept


def test_garbage_goes_while_events_are_handled_and_in_this_thread(qtbot: QtBot, collector: Collector) -> None:
    collected: list[threading.Thread] = []
    Garbage(lambda: collected.append(threading.current_thread()))
    kept = pass_threshold()
    assert not collected
    qtbot.waitUntil(lambda: bool(collected), timeout=LIMIT_MS * INTERVAL_MS)
    assert collected == [threading.current_thread()]
    del kept


def test_an_application_collects_once(qtbot: QtBot) -> None:
    app = make_application()
    assert make_application() is app
    assert len(app.findChildren(Collector)) == 1


def test_only_the_collector_collects(collector: Collector) -> None:
    assert not gc.isenabled()


@pytest.mark.parametrize(
    ("count", "collected"),
    [
        ((1, 1, 1), None),
        ((701, 10, 10), 0),
        ((701, 11, 10), 1),
        ((3, 2, 11), 2),
    ],
)
def test_the_oldest_generation_that_is_due_is_collected(
    monkeypatch: pytest.MonkeyPatch, count: tuple[int, int, int], collected: int | None
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(gc, "get_count", lambda: count)
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 10, 10))
    monkeypatch.setattr(gc, "collect", asked.append)
    collect_what_is_due()
    assert asked == ([] if collected is None else [collected])


def test_a_threshold_of_zero_means_never(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(gc, "get_count", lambda: (5, 5, 5))
    monkeypatch.setattr(gc, "get_threshold", lambda: (0, 10, 10))
    monkeypatch.setattr(gc, "collect", asked.append)
    collect_what_is_due()
    assert asked == []


@pytest.mark.parametrize(("seconds", "spared"), [(2 * LONG_S, [True]), (LONG_S / 2, [])])
def test_what_makes_a_full_round_long_is_spared_the_next(
    monkeypatch: pytest.MonkeyPatch, seconds: float, spared: list[bool]
) -> None:
    times = iter([0.0, seconds])
    frozen: list[bool] = []
    monkeypatch.setattr(collector_module, "perf_counter", lambda: next(times))
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 11))
    monkeypatch.setattr(gc, "collect", lambda generation: 0)
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    collect_what_is_due()
    assert frozen == spared
