"""The engine that tests share hides nothing: a host has no more of another's than a living child."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from tests.shared_engine import DEVICE, SharedEngine
from workbench.engine.host.process import KernelHost
from workbench.run.events import Failed, Finished, Log, Progress, RunEvent
from workbench.run.request import Problem, RunRequest

FAKE = "tests.engine.host.fake_jobs"


@pytest.fixture
def engine() -> Iterator[SharedEngine]:
    made = SharedEngine(FAKE)
    made.warm()
    yield made
    made.close()


def run(host: KernelHost, action: str) -> list[RunEvent]:
    return list(host.run(RunRequest(Problem(1, 1, 1), kernel=action, time_limit_s=20.0, device=DEVICE)))


def borrowed(engine: SharedEngine) -> KernelHost:
    """A host that has run with the child."""
    host = engine.host(DEVICE, FAKE)
    assert isinstance(run(host, "fine")[-1], Finished)
    return host


def test_hosts_have_the_same_child_in_turn_and_not_the_words_of_the_one_before(engine: SharedEngine) -> None:
    first = borrowed(engine)
    pid = first.pid
    run(first, "talks")
    first.close()
    assert first.pid is None
    second = engine.host(DEVICE, FAKE)
    events = run(second, "aborts")
    assert not any(isinstance(event, Log) and "from Python" in event.text for event in events)
    end = events[-1]
    assert isinstance(end, Failed) and "LLVM" in end.message and "from C" not in end.message
    second.close()
    engine.warm()
    third = borrowed(engine)
    assert third.pid is not None and third.pid != pid, "one that has died is not handed on"
    third.close()


def test_a_child_that_is_busy_when_its_host_is_closed_is_ended(engine: SharedEngine) -> None:
    host = borrowed(engine)
    pid = host.pid
    assert pid is not None
    host.announce_run()
    host.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_two_hosts_at_once_have_a_child_each_and_only_the_shared_one_stays(engine: SharedEngine) -> None:
    one, other = borrowed(engine), borrowed(engine)
    shared, own = one.pid, other.pid
    assert shared is not None and own is not None and shared != own
    other.close()
    one.close()
    with pytest.raises(ProcessLookupError):
        os.kill(own, 0)
    os.kill(shared, 0)
    again = borrowed(engine)
    assert again.pid == shared
    again.close()


def test_a_host_whose_child_was_killed_goes_on_with_its_own_which_it_ends(engine: SharedEngine) -> None:
    host = borrowed(engine)
    assert host.pid is not None
    for event in host.run(RunRequest(Problem(1, 1, 1), kernel="hangs", time_limit_s=20.0, device=DEVICE)):
        if isinstance(event, Progress):
            os.kill(host.pid, signal.SIGKILL)
    assert isinstance(run(host, "fine")[-1], Finished)
    own = host.pid
    host.close()
    assert own is not None
    with pytest.raises(ProcessLookupError):
        os.kill(own, 0)


def test_another_device_or_job_is_no_business_of_the_shared_child(engine: SharedEngine) -> None:
    for host in (engine.host("auto", FAKE), engine.host(DEVICE, "tests.engine.no_such_module")):
        assert type(host) is KernelHost
