"""A large run is read in a thread, and what arrives late is nobody's."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from PyQt6 import sip
from pytestqt.qtbot import QtBot

from tests.patience import LIMIT_MS
from tests.samples import make_record
from workbench.run.record import RunRecord
from workbench.ui.files.reading import AT_ONCE_BYTES, RunReader

SMALL, LARGE = AT_ONCE_BYTES, AT_ONCE_BYTES + 1


class Files:
    """Each run is read when it may be, by its number; the reading thread is known."""

    def __init__(self, size: int) -> None:
        self.may = {number: threading.Event() for number in (1, 2)}
        self.threads: list[threading.Thread] = []
        self.taken: list[int] = []
        self.reader = RunReader(self.load, lambda record: size, self.take)

    def load(self, record: RunRecord) -> RunRecord:
        self.threads.append(threading.current_thread())
        if threading.current_thread() is not threading.main_thread():
            self.may[record.run_id].wait()
        return replace(record)

    def take(self, record: RunRecord) -> None:
        assert threading.current_thread() is threading.main_thread()
        self.taken.append(record.run_id)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_only_what_takes_long_is_read_in_a_thread(qtbot: QtBot, size: int) -> None:
    files = Files(size)
    assert files.reader.ask(make_record(1)) is (size == SMALL)
    files.may[1].set()
    qtbot.waitUntil(lambda: files.taken == [1], timeout=LIMIT_MS)
    assert (files.threads == [threading.main_thread()]) is (size == SMALL)


def test_of_two_only_the_last_is_shown_whichever_arrives_first(qtbot: QtBot) -> None:
    files = Files(LARGE)
    files.reader.ask(make_record(1))
    files.reader.ask(make_record(2))
    files.may[2].set()
    qtbot.waitUntil(lambda: files.taken == [2], timeout=LIMIT_MS)
    files.may[1].set()
    files.threads[0].join()
    files.reader.finish()
    assert files.taken == [2]


def test_finishing_waits_and_forgetting_gives_nothing(qtbot: QtBot) -> None:
    files = Files(LARGE)
    for event in files.may.values():
        event.set()
    files.reader.ask(make_record(1))
    files.reader.finish()
    assert files.taken == [1]
    files.reader.ask(make_record(2))
    files.reader.forget()
    files.reader.finish()
    assert files.taken == [1]


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_window_that_is_gone_when_a_run_arrives_is_no_error(qtbot: QtBot) -> None:
    files = Files(LARGE)
    files.reader.ask(make_record(1))
    qtbot.waitUntil(lambda: bool(files.threads), timeout=LIMIT_MS)
    assert not files.threads[0].daemon, "cut off at the end of the process it would abort it"
    sip.delete(files.reader)
    files.may[1].set()
    files.threads[0].join()
    assert files.taken == []
