"""The host survives whatever its child does: every bad run ends in one Failed and is followed by a good one."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.context import SpawnProcess

import pytest

from tests.engine.host.fake_jobs import CEILINGS
from tests.patience import LIMIT_S, is_alive, wait_until
from workbench.engine.host import process
from workbench.engine.host.process import KernelHost
from workbench.run.events import CeilingsMeasured, Failed, Finished, Log, Progress, RunEvent, Started
from workbench.run.request import Problem, RunRequest

FAKE = "tests.engine.host.fake_jobs"


@pytest.fixture
def host() -> Iterator[KernelHost]:
    made = KernelHost(job=FAKE)
    yield made
    made.close()


def request(action: str, time_limit_s: float = LIMIT_S, device: str = "auto") -> RunRequest:
    return RunRequest(Problem(1, 1, 1), kernel=action, time_limit_s=time_limit_s, device=device)


def run(
    host: KernelHost,
    action: str,
    on: Callable[[RunEvent], None] = lambda event: None,
    time_limit_s: float = LIMIT_S,
) -> list[RunEvent]:
    events = []
    for event in host.run(request(action, time_limit_s)):
        on(event)
        events.append(event)
    return events


def failure_of(events: list[RunEvent]) -> Failed:
    """The run's one end, which must be a failure."""
    ends = [event for event in events if isinstance(event, Finished | Failed)]
    assert len(ends) == 1 and ends[0] is events[-1]
    assert isinstance(ends[0], Failed)
    return ends[0]


def assert_next_run_works(host: KernelHost) -> None:
    assert isinstance(run(host, "fine")[-1], Finished)


def test_where_no_process_can_be_made_the_run_says_so_and_the_next_one_works(
    host: KernelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(process: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with monkeypatch.context() as patched:
        patched.setattr(SpawnProcess, "start", refuse)
        failure = failure_of(run(host, "fine"))
        assert failure.message.endswith(os.strerror(errno.EAGAIN)) and failure.remedy
        host.close()
    assert_next_run_works(host)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("spawned while spawning"), ValueError("fds")], ids=repr)
def test_a_child_that_was_never_there_can_be_closed(
    host: KernelHost, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Whatever stood in its way: a process that was not started cannot be joined."""

    def refuse(process: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(SpawnProcess, "start", refuse)
        with pytest.raises(type(error)):
            run(host, "fine")
        host.close()
    assert_next_run_works(host)


def test_a_good_run_ends_in_finished_and_keeps_the_child_warm(host: KernelHost) -> None:
    events = run(host, "fine")
    assert [type(e) for e in events[-3:]] == [Started, Progress, Finished]
    pid = host.pid
    assert_next_run_works(host)
    assert host.pid == pid


@pytest.mark.parametrize(
    ("action", "kind", "words"),
    [
        ("raises", "launch", "ValueError: something is wrong"),
        ("sticky", "launch", "illegal memory access"),
        ("aborts", "died", "SIGABRT"),
        ("exits", "died", "exit status 7"),
        ("unpicklable", "launch", "local object"),
    ],
)
def test_a_bad_run_gives_one_failure_and_the_next_run_works(
    host: KernelHost, action: str, kind: str, words: str
) -> None:
    failure = failure_of(run(host, action))
    assert failure.kind == kind
    assert words in failure.message
    assert_next_run_works(host)


def test_an_exception_keeps_the_child_and_a_dead_context_replaces_it(host: KernelHost) -> None:
    run(host, "fine")
    pid = host.pid
    run(host, "raises")
    assert host.is_alive() and host.pid == pid
    run(host, "sticky")
    assert not host.is_alive()
    assert_next_run_works(host)
    assert host.pid != pid


def test_ceilings_are_measured_like_a_run_and_kept_with_what_the_child_announced(host: KernelHost) -> None:
    events = list(host.measure_ceilings())
    assert [type(e) for e in events[-3:]] == [Progress, CeilingsMeasured, Finished]
    assert host.ready is not None and host.ready.ceilings == CEILINGS
    assert_next_run_works(host)
    host.announce_run()
    host.stop()
    assert failure_of(list(host.measure_ceilings())).kind == "cancelled"
    assert_next_run_works(host)


def test_the_last_words_of_a_dead_child_are_in_the_failure_and_in_the_log(host: KernelHost) -> None:
    events = run(host, "aborts")
    assert "LLVM ERROR: Cannot select" in failure_of(events).message
    assert any(isinstance(e, Log) and "LLVM ERROR" in e.text for e in events)


class HeldClock:
    """Stands still until a run has made progress, then goes on by a second each time that it is read."""

    def __init__(self) -> None:
        self._now, self._runs = 0.0, False

    def monotonic(self) -> float:
        self._now += self._runs
        return self._now

    def run_on(self, event: RunEvent) -> None:
        self._runs = self._runs or isinstance(event, Progress)


def test_a_silent_child_is_ended_after_its_time_limit(host: KernelHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the limit of a clock that stands still until the child has said what it does."""
    run(host, "fine")
    clock = HeldClock()
    monkeypatch.setattr(process, "time", clock)
    failure = failure_of(run(host, "hangs", on=clock.run_on, time_limit_s=0.5))
    assert failure.kind == "timeout"
    assert "0.5 s while hanging" in failure.message
    assert_next_run_works(host)


def test_a_killed_child_is_a_failure_of_its_own(host: KernelHost) -> None:
    def kill(event: RunEvent) -> None:
        if isinstance(event, Progress) and event.phase == "hanging":
            assert host.pid is not None
            os.kill(host.pid, signal.SIGKILL)

    failure = failure_of(run(host, "hangs", on=kill))
    assert failure.kind == "died"
    assert "SIGKILL" in failure.message and "hanging" in failure.message
    assert_next_run_works(host)


def test_a_child_killed_between_runs_is_replaced(host: KernelHost) -> None:
    run(host, "fine")
    assert host.pid is not None
    pid = host.pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not host.is_alive())  # one whose threads still end is listed as ended before its parent is told
    assert_next_run_works(host)


@pytest.mark.parametrize(("action", "keeps_child"), [("polite", True), ("python loop", True), ("deaf", False)])
def test_stop_ends_a_run(host: KernelHost, action: str, keeps_child: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not listen is ended, after a grace of two seconds for the others: here of all the time they need."""
    monkeypatch.setattr(process, "STOP_GRACE_S", LIMIT_S if keeps_child else 0.1)
    run(host, "fine")
    pid = host.pid

    def stop_soon(event: RunEvent) -> None:
        if isinstance(event, Progress):
            threading.Timer(0.1, host.stop).start()

    assert failure_of(run(host, action, on=stop_soon)).kind == "cancelled"
    assert_next_run_works(host)
    assert (host.pid == pid) is keeps_child


def test_stop_without_a_run_does_nothing(host: KernelHost) -> None:
    run(host, "fine")
    host.stop()
    assert_next_run_works(host)


def test_a_stop_during_the_start_ends_the_run(host: KernelHost) -> None:
    threading.Timer(0.05, host.stop).start()
    events = run(host, "deaf")
    assert failure_of(events).kind == "cancelled"
    assert_next_run_works(host)


DEAF = f"""
import os, signal
from workbench.engine.host.process import KernelHost

if __name__ == "__main__":
    for _ in range(2):  # with the first child of a process comes a tracker, whose start unblocks the signal
        host = KernelHost(job={FAKE!r})
        host.start()
        os.kill(host.pid, signal.SIGINT)
        print(type(list(host.wait_ready())[-1]).__name__)
        print(next(line for line in open(f"/proc/{{host.pid}}/status") if line.startswith("SigIgn")).strip())
        host.close()
    print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


def test_the_child_is_deaf_to_ctrl_c_from_its_first_moment_on() -> None:
    """In a terminal Ctrl+C reaches it too, and while it imports it has not said yet that it ignores that."""
    done = subprocess.run([sys.executable, "-c", DEAF], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    first, ignored, second, _, blocked = done.stdout.splitlines()
    assert first == second == "Ready", done.stderr
    assert int(ignored.split()[1], 16) >> (signal.SIGINT - 1) & 1
    assert blocked == "set()", "the window's own process hears it"


def test_everything_the_child_writes_arrives_in_the_log(host: KernelHost) -> None:
    events = run(host, "talks")
    assert isinstance(events[-1], Finished)
    text = "".join(e.text for e in [*events, *host.idle_log()] if isinstance(e, Log))
    assert "from Python" in text and "also to stderr" in text and "from C" in text
    assert "x" * 200_000 in text


def test_a_job_that_cannot_be_imported_fails_once() -> None:
    host = KernelHost(job="tests.engine.no_such_module")
    failure = failure_of(run(host, "fine"))
    host.close()
    assert "no_such_module" in failure.message and "doctor" in failure.remedy


def test_a_device_that_is_not_there_fails_and_another_works(host: KernelHost) -> None:
    assert "no cuda here" in failure_of(list(host.run(request("fine", device="cuda")))).message
    assert_next_run_works(host)


def test_a_caller_that_goes_away_leaves_no_run_behind(host: KernelHost) -> None:
    events = host.run(request("hangs"))
    next(e for e in events if isinstance(e, Progress))
    events.close()  # type: ignore[attr-defined]
    assert_next_run_works(host)


def test_close_ends_the_child() -> None:
    host = KernelHost(job=FAKE)
    run(host, "fine")
    pid = host.pid
    assert pid is not None
    host.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_child_dies_with_its_parent() -> None:
    """The parent is killed, so nothing of its own can end the child."""
    script = (
        "import time, sys\n"
        "from workbench.engine.host.process import KernelHost\n"
        "if __name__ == '__main__':\n"
        f"    host = KernelHost(job={FAKE!r})\n"
        "    list(host.wait_ready())\n"
        "    print(host.pid, flush=True)\n"
        "    time.sleep(3600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not is_alive(child))
