"""The measurement of ceilings: with a clock that is made up, and on a real GPU."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from tests.samples import GPU, INTERPRETER, recorded_state
from workbench.engine.device.ceilings import MAX_REPETITIONS, MIN_REPETITIONS, Work, measure_ceilings
from workbench.engine.device.monitor import DeviceMonitor
from workbench.engine.host.stopping import StopFlag, StoppedError
from workbench.run.device_state import DeviceFacts, DeviceReadings
from workbench.run.events import Progress

SIDE, COPY_BYTES = 8, 1024


class FakeTimer:
    """Does the work, and says that it took as long as told; the last repetition of each series is far slower."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.counts: list[int] = []
        self.precisions: list[str] = []
        self.results: list[Any] = []

    def __call__(self, work: Work, count: int) -> list[float]:
        self.counts.append(count)
        self.precisions.append(torch.get_float32_matmul_precision())
        self.results.append([work() for _ in range(count)][-1])
        return [*[self.seconds] * (count - 1), 10 * self.seconds] if count > 2 else [self.seconds] * count


class RecordedMonitor(DeviceMonitor):
    """Gives a recording as the trace; the timed spans are `seconds` each, as many as were timed."""

    def __init__(self, trace: DeviceReadings, seconds: float) -> None:
        self._trace = trace
        self._seconds = seconds
        self.begun = self.spans = self.ended = 0

    def begin(self) -> None:
        self.begun += 1

    @contextmanager
    def timed(self) -> Iterator[None]:
        yield
        self.spans += 1

    def so_far(self) -> DeviceReadings:
        raise AssertionError("nobody looks at these readings meanwhile")

    def end(self) -> DeviceReadings:
        self.ended += 1
        edges = [self._seconds * i for i in range(self.spans + 1)]
        return replace(self._trace, timed=tuple(pairwise(edges)))


def measure(timer: FakeTimer, said: list[Progress] | None = None, stop: StopFlag | None = None, **more: Any) -> Any:
    heard = said if said is not None else []
    return measure_ceilings(
        GPU, heard.append, stop or StopFlag(), device="cpu", timer=timer, copy_bytes=COPY_BYTES, side=SIDE, **more
    )


def calm(seconds: float = 3.0) -> DeviceReadings:
    """Readings of a device that nothing disturbs."""
    count = int(seconds / 0.02)
    rows = [[0.02 * i, 1980, 3201, 40, 300, 0, 90] for i in range(count)]
    return DeviceReadings.of_rows(np.array(rows, dtype=np.float64))


def test_rates_count_bytes_both_ways_and_a_multiply_add_twice() -> None:
    ceilings = measure(FakeTimer(1e-3))
    assert ceilings.copy_bytes_per_s == pytest.approx(2 * COPY_BYTES / 1e-3)
    for name in ("fp32", "tf32", "fp16", "bf16"):
        assert getattr(ceilings, name) == pytest.approx(2 * SIDE**3 / 1e-3)
    assert ceilings.key == (GPU.name, GPU.driver, GPU.torch, "", None)


def test_they_say_which_gpu_they_are_of_and_what_it_may_draw() -> None:
    found = measure(FakeTimer(1e-3), facts=DeviceFacts(uuid="GPU-1", power_limit_w=700.0))
    assert found.key == (GPU.name, GPU.driver, GPU.torch, "GPU-1", 700.0)
    assert measure(FakeTimer(1e-3)).warnings is None, "nobody watched"


def test_a_calm_device_is_watched_and_gives_no_warning() -> None:
    monitor = RecordedMonitor(calm(), 0.5)
    assert measure(FakeTimer(1e-3), monitor=monitor).warnings == ()
    assert (monitor.begun, monitor.spans, monitor.ended) == (1, 5, 1)


def test_a_throttled_device_says_for_which_rates() -> None:
    trace = calm()
    trace.reasons[(trace.t > 2.1) & (trace.t < 2.4)] = 0x4
    trace.sm_mhz[trace.t >= 1.99] = 1500
    trace.sm_mhz[trace.t >= 2.53] = 1200
    (power,) = measure(FakeTimer(1e-3), monitor=RecordedMonitor(trace, 0.5)).warnings
    assert power.startswith("bf16: throttled by power: SwPowerCap in ")
    clocks = replace(trace, reasons=np.zeros_like(trace.reasons))
    clocks.sm_mhz[(trace.t > 0.1) & (trace.t < 0.3)] = 1200
    (unsteady,) = measure(FakeTimer(1e-3), monitor=RecordedMonitor(clocks, 0.5)).warnings
    assert unsteady == "copy: clocks not steady: from 1200 to 1980 MHz while timed"


def test_recordings_of_a_throttled_and_a_shared_device_are_named() -> None:
    throttled = recorded_state("throttled").readings
    assert any("throttled by power" in text for text in _warned(throttled, 0.5))
    assert _warned(recorded_state("shared").readings, 0.11) == (
        "another process uses this GPU: python3 (pid 483, 746 MiB)",
    ), "of all rates alike, and so without their names"


def test_a_device_that_could_not_be_read_is_no_calm_one() -> None:
    (text,) = _warned(DeviceReadings.without("NVML Shared Library Not Found"), 0.5)
    assert text.startswith("device state not known: no reading") and text.endswith("NVML Shared Library Not Found")


def test_a_failure_ends_the_watching() -> None:
    class Failing(FakeTimer):
        def __call__(self, work: Work, count: int) -> list[float]:
            raise MemoryError

    monitor = RecordedMonitor(calm(), 0.5)
    with pytest.raises(MemoryError):
        measure(Failing(1e-3), monitor=monitor)
    assert monitor.ended == 1


def _warned(trace: DeviceReadings, seconds: float) -> tuple[str, ...]:
    warnings = measure(FakeTimer(1e-3), monitor=RecordedMonitor(trace, seconds)).warnings
    assert isinstance(warnings, tuple)
    return warnings


def test_the_work_is_a_copy_and_products_of_random_matrices_in_each_dtype() -> None:
    timer = FakeTimer(1e-3)
    measure(timer)
    results = timer.results[::4]
    assert [result.dtype for result in results] == [
        torch.float32,
        torch.float32,
        torch.float32,
        torch.float16,
        torch.bfloat16,
    ]
    assert results[0].nbytes == COPY_BYTES
    assert all(result.shape == (SIDE, SIDE) for result in results[1:])
    assert all(0.1 < result.float().std() < 10 for result in results)


def test_only_tf32_is_measured_with_rounded_inputs_and_the_setting_comes_back() -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        timer = FakeTimer(1e-3)
        measure(timer)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    assert timer.precisions[4::4] == ["highest", "high", "highest", "highest"]


@pytest.mark.parametrize(("seconds", "repetitions"), [(1e-6, MAX_REPETITIONS), (0.01, 35), (3.0, MIN_REPETITIONS)])
def test_as_many_repetitions_as_their_time_allows(seconds: float, repetitions: int) -> None:
    timer = FakeTimer(seconds)
    measure(timer)
    assert timer.counts[3::4] == [repetitions] * 5


def test_progress_is_said_before_each_rate() -> None:
    said: list[Progress] = []
    measure(FakeTimer(1e-3), said)
    assert [(p.done, p.total) for p in said] == [(done, 5) for done in range(6)]
    assert [p.phase.rpartition(" ")[2] for p in said[:-1]] == ["copy", "fp32", "tf32", "fp16", "bf16"]


def test_a_stop_is_seen_between_the_rates() -> None:
    stop = StopFlag()
    timer = FakeTimer(1e-3)

    def hear(progress: Progress) -> None:
        if progress.done == 2:
            stop._on_signal(0, None)

    with pytest.raises(StoppedError):
        measure_ceilings(GPU, hear, stop, device="cpu", timer=timer, copy_bytes=COPY_BYTES, side=SIDE)
    assert len(timer.counts) == 3 * 4


def test_the_interpreter_has_none() -> None:
    with pytest.raises(ValueError, match="ceilings are measured on a GPU alone"):
        measure_ceilings(INTERPRETER, lambda progress: None, StopFlag())


@pytest.mark.gpu
@pytest.mark.timed
def test_on_a_gpu_they_are_near_what_such_a_device_reaches() -> None:
    """What an H200 reached when measured by hand: 4.25 TB/s, and 51, 368, 694 and 735 TFLOP/s."""
    from workbench.engine.device.choice import describe

    info = describe("cuda")
    if info.name != "NVIDIA H200":
        pytest.skip(f"the expected rates are those of an H200, and this is {info.name}")
    reserved, began = torch.cuda.memory_reserved(), time.perf_counter()
    ceilings = measure_ceilings(info, lambda progress: None, StopFlag())
    seconds = time.perf_counter() - began
    print(f"{ceilings} in {seconds:.1f} s")
    expected = {"copy_bytes_per_s": 4.25e12, "fp32": 51e12, "tf32": 368e12, "fp16": 694e12, "bf16": 735e12}
    for name, rate in expected.items():
        assert 0.5 * rate < getattr(ceilings, name) < 1.1 * rate, name
    assert seconds < 10
    assert torch.cuda.memory_reserved() - reserved < 2**28  # what the library of matrix products keeps for itself
