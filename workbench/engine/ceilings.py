"""Measures the rates that bound every kernel on this device: the copy, and the matrix product in each precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any, Protocol

import torch

from workbench.ceilings import RATES, Ceilings
from workbench.engine.stopping import StopFlag
from workbench.model import DeviceInfo, Progress

COPY_BYTES = 2**30
SIDE = 8192
# Long enough for the clocks to rise from idle, and then for a median; a slow device gets few repetitions, never none.
WARMUP_S = 0.15
TIMED_S = 0.35
MIN_REPETITIONS, MAX_REPETITIONS = 5, 200

_DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}

Work = Callable[[], object]


class Timer(Protocol):
    """Seconds of each of `count` repetitions of `work`, by the device's own clock."""

    def __call__(self, work: Work, count: int) -> list[float]: ...


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
    device: str = "cuda",
    timer: Timer = cuda_seconds,
    copy_bytes: int = COPY_BYTES,
    side: int = SIDE,
) -> Ceilings:
    """Measure all rates of the GPU `info`, which takes about three seconds, on random data: zeros would flatter.

    Each is the median of repetitions after a warm-up. `report` hears of every rate before it is measured, and `stop` is
    checked between them. The copy must exceed the device's L2, and the matrices fill it. Raises torch's
    OutOfMemoryError where 2 GiB are not free, and ValueError on the interpreter, which has no rates.
    """
    if info.mode != "cuda":
        raise ValueError(f"device is {info.name}; ceilings are measured on a GPU alone")
    rates: dict[str, float] = {}
    for done, name in enumerate(("copy", *RATES)):
        stop.check()
        report(Progress(f"measuring the device's ceilings: {name}", done, 1 + len(RATES)))
        if name == "copy":
            copy_rate = 2 * copy_bytes / _seconds(_copy(device, copy_bytes), timer)
        else:
            with _float32_precision("high" if name == "tf32" else "highest"):
                rates[name] = 2 * side**3 / _seconds(_product(device, side, _DTYPES[name]), timer)
    torch.cuda.empty_cache()  # gigabytes that no run needs
    report(Progress("measured the device's ceilings", 1 + len(RATES), 1 + len(RATES)))
    date = datetime.now().astimezone().isoformat(timespec="seconds")
    return Ceilings(info.name, info.driver, info.torch, date, copy_rate, **rates)


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


def _seconds(work: Work, timer: Timer) -> float:
    """The median of repetitions after a warm-up, both as many as their time allows."""
    timer(work, 1)  # the first one loads the library, and says nothing about the next
    one = median(timer(work, 2))
    timer(work, _repetitions(WARMUP_S / one))
    return median(timer(work, _repetitions(TIMED_S / one)))


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
