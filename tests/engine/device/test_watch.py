"""What the device did is told while a run is timed and at its end, and each warning ends up beside the result."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kernels.plain.tiles import TileConfig
from tests.engine.device.recorded_nvml import load
from tests.engine.timing.played_clock import play_host_clock
from tests.samples import INTERPRETER, recorded_state
from workbench.cli.outcome import result_object, summary_lines
from workbench.engine.device.monitor import DeviceMonitor
from workbench.engine.device.watch import Watch
from workbench.engine.host.stopping import StopFlag, StoppedError
from workbench.run.device_state import DeviceReadings
from workbench.run.events import DeviceState, RunEvent, Samples
from workbench.run.record import RunBuilder
from workbench.run.request import Problem, RunRequest

REQUEST = RunRequest(Problem(16, 16, 8), TileConfig(16, 16), sdpa="none", trace=False, protocol="warm", max_samples=8)
# So long a launch is a round, or a chunk of the block's, of its own: a run has several timed spans on any machine.
LONG_LAUNCH_US = 50_000.0


class PlayedMonitor(DeviceMonitor):
    """Gives the readings of a recording, whatever the run does; notes what it was asked."""

    def __init__(self, name: str) -> None:
        self._played = recorded_state(name).readings
        self.asked: list[str] = []

    def begin(self) -> None:
        self.asked.append("begin")

    @contextmanager
    def timed(self) -> Iterator[None]:
        self.asked.append("timed")
        yield
        self.asked.append("timed no more")

    def so_far(self) -> DeviceReadings:
        self.asked.append("so far")
        return self._played

    def end(self) -> DeviceReadings:
        self.asked.append("end")
        return self._played


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="this process compiles for the GPU")
@pytest.mark.parametrize("protocol", ["block", "warm"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("steady", []),
        ("unsteady", ["clocks not steady"]),
        ("throttled", ["clocks not steady", "throttled by power"]),
        ("shared", ["another process uses this GPU"]),
    ],
)
def test_each_warning_is_on_the_record_and_in_what_is_printed(
    name: str, words: list[str], protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.engine.steps import Run

    play_host_clock(monkeypatch, LONG_LAUNCH_US)
    monitor = PlayedMonitor(name)
    request = RunRequest(**{**vars(REQUEST), "protocol": protocol})
    builder = RunBuilder(request)
    Run(request, INTERPRETER, builder.take, StopFlag(), monitor).go()
    record = builder.record()
    assert record.device_state is not None
    texts = [warning.text for warning in record.device_state.warnings]
    assert len(texts) == len(words) and all(text.startswith(word) for text, word in zip(texts, words, strict=True))
    printed = json.loads(json.dumps(result_object(record), allow_nan=False))["device_state"]
    assert [warning["text"] for warning in printed["warnings"]] == texts
    assert printed["readings"]["sm_mhz"] == load(name)["readings"]["sm_mhz"] and printed["facts"]["ecc"] == "on"
    lines = list(summary_lines(record))
    assert [line for line in lines if line.startswith("warning: ")] == [f"warning: {text}" for text in texts]
    assert monitor.asked[0] == "begin" and monitor.asked[-1] == "end" and monitor.asked.count("timed") >= 2
    assert monitor.asked.count("timed") == monitor.asked.count("timed no more")


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ("zeros", "inputs are zeros: a GPU that flips no bits"),
        ("constant", "inputs are one constant: a GPU that flips no bits"),
        ("normal", ""),
        ("outliers", ""),
    ],
)
def test_inputs_that_flip_no_bits_are_warned_of(inputs: str, words: str) -> None:
    events: list[RunEvent] = []
    watch = Watch(PlayedMonitor("steady"), Problem(8, 8, 8, inputs=inputs), events.append)
    watch.begin()
    watch.end()
    (state,) = events
    assert isinstance(state, DeviceState)
    texts = [warning.text for warning in state.warnings]
    assert len(texts) == bool(words) and all(text.startswith(words) for text in texts)


def test_partial_states_come_now_and_then_and_zeros_are_always_warned_of() -> None:
    now = 100.0
    monitor = PlayedMonitor("throttled")
    events: list[RunEvent] = []
    watch = Watch(monitor, Problem(8, 8, 8, inputs="zeros"), events.append, lambda: now)
    watch.begin()
    for _ in range(16):
        now += 0.125
        watch.tell()
    assert len(events) == monitor.asked.count("so far") == 4, "at most every half second"
    watch.end()
    watch.end()
    assert len(events) == 5
    for event in events:
        assert isinstance(event, DeviceState) and [w.kind for w in event.warnings] == ["inputs", "clocks", "power"]


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="this process compiles for the GPU")
def test_a_run_that_is_stopped_while_timed_still_says_what_the_device_did(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.engine.steps import Run

    play_host_clock(monkeypatch, LONG_LAUNCH_US)
    monitor, stop = PlayedMonitor("shared"), StopFlag()
    events: list[RunEvent] = []

    def send(event: RunEvent) -> None:
        events.append(event)
        if isinstance(event, Samples):
            stop._on_signal(0, None)

    with pytest.raises(StoppedError):
        Run(REQUEST, INTERPRETER, send, stop, monitor).go()
    assert monitor.asked[-1] == "end" and isinstance(events[-1], DeviceState) and events[-1].warnings


def test_without_a_monitor_the_reason_is_told() -> None:
    events: list[RunEvent] = []
    watch = Watch(None, Problem(8, 8, 8), events.append)
    watch.end()
    assert not events, "it never began"
    watch.begin()
    watch.tell()
    watch.end()
    (state,) = events
    assert isinstance(state, DeviceState) and "interpreter" in state.readings.missing[0].reason
