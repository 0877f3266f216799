"""What the child writes becomes text, whatever pieces it comes in."""

from __future__ import annotations

import multiprocessing as mp
import os
from collections.abc import Iterator
from multiprocessing.connection import Connection

import pytest

from tests.patience import LIMIT_S
from workbench.engine.host import log as child_log
from workbench.engine.host.log import ChildLog
from workbench.engine.host.process import KernelHost
from workbench.run.events import Finished, Started
from workbench.run.request import Problem, RunRequest

Ends = tuple[ChildLog, Connection]


@pytest.fixture
def ends() -> Iterator[Ends]:
    """The log, and the end that the child writes into."""
    reader, writer = mp.Pipe(duplex=False)
    log = ChildLog(reader)
    yield log, writer
    log.close()
    writer.close()


def test_a_character_that_comes_in_two_pieces_is_one(ends: Ends) -> None:
    log, writer = ends
    whole = "1 µs".encode()
    os.write(writer.fileno(), whole[:3])
    assert log.read() == "1 "
    os.write(writer.fileno(), whole[3:])
    assert log.read() == "µs"


def test_of_a_flood_only_so_much_is_read_at_once(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_log, "CHUNK", 100)
    monkeypatch.setattr(child_log, "CHUNKS", 3)
    log, writer = ends
    os.write(writer.fileno(), b"x" * 1000)
    assert [len(log.read()) for _ in range(5)] == [300, 300, 300, 100, 0]


def test_the_last_lines_are_the_last_words(ends: Ends) -> None:
    log, writer = ends
    assert log.last_words() == ""
    os.write(writer.fileno(), b"one\n\n  two \nthree\nfour\n")
    log.read()
    assert log.last_words() == "; its last words: two | three | four"


def test_a_log_whose_writer_is_gone_is_closed_and_keeps_its_last_words(ends: Ends) -> None:
    log, writer = ends
    os.write(writer.fileno(), b"good bye")
    writer.close()
    assert log.read() == "good bye" and log.pipe is None
    assert log.read() == "" and log.last_words() == "; its last words: good bye"


def test_a_run_goes_on_when_its_log_has_ended() -> None:
    host = KernelHost(job="tests.engine.host.fake_jobs")
    try:
        events = []
        for event in host.run(RunRequest(Problem(1, 1, 1), kernel="fine", time_limit_s=LIMIT_S)):
            events.append(event)
            if isinstance(event, Started):
                assert host._log is not None
                host._log.close()
        assert isinstance(events[-1], Finished)
    finally:
        host.close()
