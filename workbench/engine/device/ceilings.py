"""Measures the rates that a kernel's time is held against: of a copy, and of a matrix product in each precision.

The device is watched meanwhile as in a run: a throttled or shared one gives rates that are too low, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from math import isfinite
from statistics import median
from typing import Any

import torch

from workbench.engine.device.monitor import DeviceMonitor
from workbench.engine.host.stopping import StopFlag
from workbench.run.ceilings import RATES, Ceilings
from workbench.run.device_state import DeviceFacts, DeviceReadings, DeviceWarning, judged
from workbench.run.environment import DeviceInfo
from workbench.run.events import Progress

NAMES = ("copy", *RATES)
COPY_BYTES = 2**30
SIDE = 8192
# Long enough for the clocks to rise from idle, and then for a median; a slow device gets few repetitions, never none.
WARMUP_S = 0.15
TIMED_S = 0.35
MIN_REPETITIONS, MAX_REPETITIONS = 5, 200

_DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}

Work = Callable[[], object]
# Seconds of each of so many repetitions, by the device's own clock.
Timer = Callable[[Work, int], list[float]]


def cuda_seconds(work: Work, count: int) -> list[float]:
    """CUDA events between back-to-back repetitions, all submitted before the first is waited for."""
    events: list[Any] = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]  # type: ignore[no-untyped-call]
    events[0].record()
    for event in events[1:]:
        work()
        event.record()
    events[-1].synchronize()
    return [before.elapsed_time(after) / 1e3 for before, after in pairwise(events)]


def measure_ceilings(
    info: DeviceInfo,
    report: Callable[[Progress], None],
    stop: StopFlag,
    *,
    monitor: DeviceMonitor | None = None,
    facts: DeviceFacts | None = None,
    device: str = "cuda",
    timer: Timer = cuda_seconds,
    copy_bytes: int = COPY_BYTES,
    side: int = SIDE,
) -> Ceilings:
    """Measure all rates of the GPU `info`, which takes about three seconds, on random data: zeros would flatter.

    Each is the median of repetitions after a warm-up, during which `monitor` reads the device; `facts` say which GPU it
    is and what it may draw. `report` hears of every rate before it is measured, and `stop` is checked between them. The
    copy must exceed the device's L2, and the matrices fill it. Raises torch's OutOfMemoryError where 2 GiB are not
    free, and ValueError on the interpreter, which has no rates.
    """
    if info.mode != "cuda":
        raise ValueError(f"device is {info.name}; ceilings are measured on a GPU alone")
    rates: dict[str, float] = {}
    with _watched(monitor) as watched:
        for done, name in enumerate(NAMES):
            stop.check()
            report(Progress(f"measuring the device's ceilings: {name}", done, len(NAMES)))
            rates[name] = _rate(name, device, timer, copy_bytes, side, monitor)
            # Gigabytes that no run needs. After each: the library of products keeps a piece of what it finds free.
            torch.cuda.empty_cache()
    report(Progress("measured the device's ceilings", len(NAMES), len(NAMES)))
    copy_rate, facts = rates.pop("copy"), facts or DeviceFacts()
    warnings = warnings_of(watched[0]) if watched else None
    return Ceilings(
        info.name,
        info.driver,
        info.torch,
        datetime.now().astimezone().isoformat(timespec="seconds"),
        copy_rate,
        **rates,
        l2_bytes=_l2_bytes(device),
        uuid=facts.uuid,
        power_limit_w=facts.power_limit_w if isfinite(facts.power_limit_w) else None,
        warnings=None if warnings is None else tuple(warning.text for warning in warnings),
        labels=tuple(warning.label for warning in warnings or ()),
    )


def warnings_of(readings: DeviceReadings) -> tuple[DeviceWarning, ...]:
    """What the device did while rates were measured, one timed span each, with the names of those that it concerns.

    Judged one by one: between a copy and a product the clock may change and harm neither.
    """
    concerned: dict[DeviceWarning, list[str]] = {}
    for name, span in zip(NAMES, readings.timed, strict=False):
        for warning in judged(replace(readings, timed=(span,)))[1]:
            concerned.setdefault(warning, []).append(name)
    return tuple(_of_some(warning, names, len(readings.timed)) for warning, names in concerned.items())


def _of_some(warning: DeviceWarning, names: list[str], count: int) -> DeviceWarning:
    """`warning` with the names of those that it concerns, where they are not all `count`."""
    whose = f"{', '.join(names)}: " if len(names) < count else ""
    return replace(warning, text=f"{whose}{warning.text}", label=f"{whose}{warning.label}")


@contextmanager
def _watched(monitor: DeviceMonitor | None) -> Iterator[list[DeviceReadings]]:
    """Read the device within; what was read is in the list afterwards, which stays empty without a monitor."""
    found: list[DeviceReadings] = []
    if monitor is not None:
        monitor.begin()
    try:
        yield found
    finally:
        if monitor is not None:
            found.append(monitor.end())


def _rate(name: str, device: str, timer: Timer, copy_bytes: int, side: int, monitor: DeviceMonitor | None) -> float:
    """Bytes of a copy, read and written, or operations of a product, for each second."""
    timed = monitor.timed() if monitor is not None else nullcontext()
    if name == "copy":
        return 2 * copy_bytes / _seconds(_copy(device, copy_bytes), timer, timed)
    with _float32_precision("high" if name == "tf32" else "highest"):
        return 2 * side**3 / _seconds(_product(device, side, _DTYPES[name]), timer, timed)


def _l2_bytes(device: str) -> int:
    """The size of the device's L2, 0 where it does not tell."""
    return int(getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0)) if device == "cuda" else 0


def _copy(device: str, size: int) -> Work:
    """Copies `size` bytes within the device's memory."""
    source = torch.randn(size // 4, device=device)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def _product(device: str, side: int, dtype: torch.dtype) -> Work:
    """Multiplies two square matrices into a third."""
    a, b = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))
    out = torch.empty_like(a)
    return lambda: torch.matmul(a, b, out=out)


def _seconds(work: Work, timer: Timer, timed: AbstractContextManager[None]) -> float:
    """The median of repetitions within `timed`, after a warm-up, both as many as their time allows."""
    timer(work, 1)  # the first one loads the library, and says nothing about the next
    one = median(timer(work, 2))
    timer(work, _repetitions(WARMUP_S / one))
    with timed:
        seconds = timer(work, _repetitions(TIMED_S / one))
    return median(seconds)


def _repetitions(fitting: float) -> int:
    return max(MIN_REPETITIONS, min(MAX_REPETITIONS, int(fitting)))


@contextmanager
def _float32_precision(wanted: str) -> Iterator[None]:
    """Let fp32 products round their inputs to tf32 ("high") or not ("highest"), and restore what was set."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(wanted)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
