"""The process that reads the device: what it reads, that it disturbs nothing, and that nothing it does fails a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.device.recorded_nvml import SAY_HANGING, Replay, columns_of, facts_of, load
from tests.patience import LIMIT_S, is_alive, wait_until
from workbench.engine.device import monitor as device_monitor
from workbench.engine.device.monitor import DeviceMonitor
from workbench.engine.device.nvml import Address
from workbench.run.device_state import COLUMNS, DeviceReadings, find_warnings

SOURCE = "tests.engine.device.recorded_nvml:"
PERIOD_S = 0.002


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that starts or answers late, because the machine has more to do, is none that does not."""
    monkeypatch.setattr(device_monitor, "START_LIMIT_S", LIMIT_S)
    monkeypatch.setattr(device_monitor, "ANSWER_LIMIT_S", LIMIT_S)


@pytest.fixture
def open_monitor() -> Iterator[Callable[..., DeviceMonitor]]:
    opened: list[DeviceMonitor] = []

    def make(argument: object, function: str = "open_trace", own: tuple[int, ...] = (os.getpid(),)) -> DeviceMonitor:
        opened.append(DeviceMonitor(argument, own, SOURCE + function, PERIOD_S))
        return opened[-1]

    yield make
    for monitor in opened:
        monitor.close()


def run_of(monitor: DeviceMonitor, readings: int) -> DeviceReadings:
    """A run of one timed region that ends once `readings` were taken."""
    monitor.begin()
    with monitor.timed():
        wait_until(lambda: len(monitor.so_far().t) >= readings)
    return monitor.end()


@pytest.mark.parametrize(
    ("name", "warned"),
    [("steady", []), ("unsteady", ["clocks"]), ("throttled", ["clocks", "power"]), ("shared", ["shared"])],
)
def test_what_the_device_says_arrives_and_is_judged(
    open_monitor: Callable[..., DeviceMonitor], name: str, warned: list[str]
) -> None:
    data = load(name)
    columns = columns_of(data)
    count = len(columns["t"])
    trace = run_of(open_monitor(Replay(name, os.getpid())), count)
    for column in COLUMNS[1:]:
        np.testing.assert_array_equal(getattr(trace, column)[:count], columns[column])
    assert trace.facts == facts_of(data)
    assert trace.missing == ()
    timed = replace(trace, timed=tuple((float(trace.t[i]), float(trace.t[j])) for i, j in timed_readings(data)))
    assert [warning.kind for warning in find_warnings(timed)] == warned


def timed_readings(data: dict[str, Any]) -> list[tuple[int, int]]:
    """First and last reading within each recorded timed span that holds any."""
    t = np.array(data["readings"]["t"])
    inside = [np.flatnonzero((t >= begin) & (t <= end)) for begin, end in data["timed"]]
    return [(int(hits[0]), int(hits[-1])) for hits in inside if len(hits)]


def test_times_count_from_the_beginning_of_each_run(open_monitor: Callable[..., DeviceMonitor]) -> None:
    monitor = open_monitor(Replay("steady", os.getpid()))
    first, second = run_of(monitor, 20), run_of(monitor, 10)
    for trace in (first, second):
        assert 0 <= trace.t[0] < trace.t[-1]
        assert (np.diff(trace.t) > 0).all()
        ((begin, end),) = trace.timed
        assert 0 <= begin < trace.t[10 if trace is first else 5] < end
    assert len(second.t) < len(first.t) + 1000
    assert second.sm_mhz[0] == 1980


def test_readings_come_no_more_often_than_asked(open_monitor: Callable[..., DeviceMonitor]) -> None:
    """On a busy machine some come late, and none is made up for: a late one may be closer to the next alone."""
    trace = run_of(open_monitor(Replay("steady", os.getpid())), 200)
    assert trace.t[-1] - trace.t[0] >= 0.99 * PERIOD_S * (len(trace.t) - 1)


@pytest.mark.speed
def test_readings_come_as_often_as_asked(open_monitor: Callable[..., DeviceMonitor]) -> None:
    trace = run_of(open_monitor(Replay("steady", os.getpid())), 200)
    assert np.median(np.diff(trace.t)) == pytest.approx(PERIOD_S, rel=0.5)


def test_nothing_is_read_between_runs(open_monitor: Callable[..., DeviceMonitor]) -> None:
    monitor = open_monitor(Replay("steady", os.getpid()))
    ended = run_of(monitor, 5)
    asked = [len(monitor.so_far().t) for _ in range(50)]  # as many answers as it could have read something between
    assert set(asked) == {len(ended.t)}


def test_the_process_is_started_once_and_at_low_priority(open_monitor: Callable[..., DeviceMonitor]) -> None:
    monitor = open_monitor(Replay("steady", os.getpid()))
    monitor.start()
    pid = monitor.pid
    assert pid is not None
    run_of(monitor, 3)
    assert os.getpriority(os.PRIO_PROCESS, pid) >= min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    run_of(monitor, 3)
    assert monitor.pid == pid
    monitor.close()
    assert monitor.pid is None
    assert not is_alive(pid)


def test_the_programs_own_processes_are_not_others(open_monitor: Callable[..., DeviceMonitor]) -> None:
    own = (os.getpid(), 483)
    assert run_of(open_monitor(Replay("shared", os.getpid()), own=own), 5).processes == ()


def test_a_list_without_the_program_itself_is_of_other_numbers_and_not_believed(
    open_monitor: Callable[..., DeviceMonitor],
) -> None:
    """As in a container: NVML lists the numbers that processes have outside of it."""
    trace = run_of(open_monitor(Replay("shared", 12_345)), 5)
    assert trace.processes == ()
    assert [m.reading for m in trace.missing] == ["processes"]
    assert "none of this program's own" in trace.missing[0].reason


@pytest.mark.parametrize("column", COLUMNS[1:])
def test_a_reading_that_is_not_supported_is_nan_and_named(
    open_monitor: Callable[..., DeviceMonitor], column: str
) -> None:
    trace = run_of(open_monitor(Replay("steady", os.getpid(), lacks=column)), 5)
    assert [(m.reading, m.reason) for m in trace.missing] == [(column, "Not Supported")]
    assert np.isnan(getattr(trace, column)).all()
    assert all(np.isfinite(getattr(trace, name)).all() for name in COLUMNS if name != column)


def assert_unread(trace: DeviceReadings, words: str) -> None:
    assert len(trace.t) == 0
    assert [m.reading for m in trace.missing] == ["device state"]
    assert words in trace.missing[0].reason


def test_a_device_that_is_not_there_is_said_and_not_asked_for_again(
    open_monitor: Callable[..., DeviceMonitor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor = open_monitor("no such device", "fail_to_open")
    for _ in range(2):
        monitor.begin()
        with monitor.timed():
            pass
        trace = monitor.end()
        assert_unread(trace, "OSError: no such device")
        assert len(trace.timed) == 1
    assert monitor.pid is None


def test_a_run_that_ends_before_the_first_reading_says_so(
    open_monitor: Callable[..., DeviceMonitor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor = open_monitor(Replay("steady", os.getpid()))
    monitor.begin()
    assert_unread(monitor.end(), "ended before the first reading")
    assert len(run_of(monitor, 5).t) >= 5


def test_a_process_that_is_not_ready_is_not_waited_for_and_not_ended(
    open_monitor: Callable[..., DeviceMonitor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at all during a run, and at its end no longer than the limit of a start."""
    monitor = open_monitor(Replay("steady", os.getpid()), "open_and_hang")
    monitor.begin()
    pid = monitor.pid
    assert_unread(monitor.so_far(), "not ready yet")
    monkeypatch.setattr(device_monitor, "START_LIMIT_S", 0.1)
    assert_unread(monitor.end(), "not ready yet")
    assert monitor.pid == pid


def test_a_driver_that_stops_answering_fails_no_run_and_is_left(
    open_monitor: Callable[..., DeviceMonitor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_monitor, "ANSWER_LIMIT_S", 0.3)
    monitor = open_monitor(Replay("steady", os.getpid(), lacks="facts"))
    monitor.begin()
    pid = monitor.pid
    assert_unread(monitor.end(), "did not answer within 0.3 s")
    assert monitor.pid is None
    assert pid is not None and not is_alive(pid)


def test_a_library_that_ends_the_process_fails_no_run(
    open_monitor: Callable[..., DeviceMonitor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor = open_monitor(Replay("steady", os.getpid()), "open_and_die")
    monitor.begin()
    assert_unread(monitor.end(), "ended during the run")
    assert monitor.pid is None


def test_a_monitor_that_is_killed_costs_one_runs_readings_and_comes_back(
    open_monitor: Callable[..., DeviceMonitor],
) -> None:
    monitor = open_monitor(Replay("steady", os.getpid()))
    monitor.begin()
    wait_until(lambda: len(monitor.so_far().t) >= 5)
    pid = monitor.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))
    broken = monitor.end()
    assert len(broken.t) >= 5
    assert [m.reading for m in broken.missing] == ["device state"]
    assert len(run_of(monitor, 5).t) >= 5
    assert monitor.pid != pid


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="NVML is there")
def test_a_missing_nvml_fails_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = DeviceMonitor(Address())
    try:
        monitor.begin()
        trace = monitor.end()
    finally:
        monitor.close()
    assert_unread(trace, "NVML")


PARENT = """
import os, sys, time
from tests.engine.device.recorded_nvml import Replay
from workbench.engine.device.monitor import DeviceMonitor
source = "tests.engine.device.recorded_nvml:" + sys.argv[1]
monitor = DeviceMonitor(Replay("steady", os.getpid()), (os.getpid(),), source)
monitor.begin()
while sys.argv[1] == "open_trace" and not len(monitor.so_far().t):
    time.sleep(0.01)
print(monitor.pid, flush=True)
time.sleep(3600)
"""


@pytest.mark.parametrize("function", ["open_trace", "open_and_hang"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_monitor_ends_when_its_parent_is_killed(how: signal.Signals, function: str, tmp_path: Path) -> None:
    """Also while it hangs in the driver, where it does not see that its pipe has closed."""
    root = Path(__file__).resolve().parents[3]
    hangs = tmp_path / "hangs"
    command, environment = [sys.executable, "-c", PARENT, function], os.environ | {SAY_HANGING: str(hangs)}
    with subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        if function == "open_and_hang":
            wait_until(hangs.exists)
        assert is_alive(pid)
        parent.send_signal(how)
    wait_until(lambda: not is_alive(pid))


@pytest.mark.gpu
@pytest.mark.timed
def test_on_a_gpu_it_reads_every_20_ms_what_nvml_says(capfd: pytest.CaptureFixture[str]) -> None:
    import torch

    torch.ones(1, device="cuda")
    monitor = DeviceMonitor(Address.of(torch.cuda.get_device_properties(0)), own=(os.getpid(),))
    try:
        monitor.start()
        time.sleep(2)
        monitor.begin()
        with monitor.timed():
            x = torch.randn(4096, 4096, device="cuda")
            end = time.monotonic() + 0.5
            while time.monotonic() < end:
                x @ x
                torch.cuda.synchronize()
        trace = monitor.end()
    finally:
        monitor.close()
    assert 20 <= np.count_nonzero(trace.is_timed) <= 27
    assert np.median(np.diff(trace.t)) == pytest.approx(0.02, abs=0.002)
    assert trace.facts.name == torch.cuda.get_device_name(0)
    assert all(np.isfinite(getattr(trace, name)).all() for name in COLUMNS), trace.missing
    assert 100 < trace.sm_mhz.max() <= trace.facts.max_sm_mhz < 5000
    assert 10 < trace.temperature_c.min() <= trace.temperature_c.max() < 110
    assert 10 < trace.power_w.min() <= trace.power_w.max() < 1.2 * trace.facts.power_limit_w
    assert not [p for p in trace.processes if p.pid == os.getpid()]
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.gpu
def test_on_a_gpu_it_finds_the_device_by_uuid_and_by_bus_and_no_other() -> None:
    import torch

    from workbench.engine.device.nvml import NvmlSource

    address = Address.of(torch.cuda.get_device_properties(0))
    assert address.uuid.startswith("GPU-") and address.pci
    by_uuid, by_pci = (NvmlSource(one).facts() for one in (Address(uuid=address.uuid), Address(pci=address.pci)))
    assert by_uuid.uuid == by_pci.uuid == address.uuid
