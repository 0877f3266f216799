"""What launches are timed with: the GPU's events, graphs and profiler behind one interface, and the host's clock."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any, Protocol

import numpy as np
import torch

from workbench.engine.failures import InvalidRequestError
from workbench.engine.timing.profiling import Activity, profile
from workbench.stats.arrays import FloatArray

Launch = Callable[[], object]
# Entered around what is timed, and nothing else: readings of the device count within.
Timed = Callable[[], AbstractContextManager[None]]

# Before a queue of launches the GPU waits, so that the CPU has submitted all of them before the first begins: for each
# launch so many times what the CPU took for one in the slowest of the last queues but one (a lone hiccup, or loading at
# the first use, would lengthen all waits), and not less than a floor. As long as nothing was seen it waits for what any
# launch takes.
HOLD_FACTOR, RECENT_QUEUES = 3.0, 8
MIN_HOLD_US, UNKNOWN_HOLD_US, MAX_HOLD_US = 30.0, 400.0, 5000.0
CYCLES_PER_US = 2000
# Where the device does not tell the size of its L2: no GPU has a larger one (2026).
UNKNOWN_L2_BYTES = 128 * 2**20


class Event(Protocol):
    """A point in a stream's work, as `torch.cuda.Event` is one; times are milliseconds."""

    def record(self) -> None: ...

    def query(self) -> bool: ...

    def synchronize(self) -> None: ...

    def elapsed_time(self, end: Any) -> float: ...


@dataclass(frozen=True)
class Flush:
    """Writes `size` bytes, which puts everything else out of the L2 cache."""

    size: int
    write: Launch


class Gpu:
    """What the protocols need of a GPU: the current CUDA device. Everything goes to its current stream, in order.

    `has_profiled` says whether the profiler has started in this process, so that asking it takes no seconds.
    """

    has_profiled = False

    def event(self) -> Event:
        """An event that can be timed."""
        made: Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        return made

    def graph_event(self) -> Event:
        """One that is recorded inside a graph and read outside it. Raises InvalidRequestError where torch has none."""
        try:
            made: Event = torch.cuda.Event(enable_timing=True, external=True)  # type: ignore[no-untyped-call]
        except TypeError:
            raise InvalidRequestError(
                f"a graph timed from within needs torch.cuda.Event with external=True: torch {torch.__version__} has "
                f"none; allowed are the other protocols"
            ) from None
        return made

    def hold(self, us: float) -> None:
        """Occupy the stream for about `us` microseconds (longer where the clock is lower)."""
        sleep = getattr(torch.cuda, "_sleep", None)  # not public; without it times are as a bare loop's
        if sleep is not None:
            sleep(int(us * CYCLES_PER_US))

    def cpu_us(self) -> float:
        """The clock of the CPU that launches, us."""
        return time.perf_counter() * 1e6

    def synchronize(self) -> None:
        """Wait for everything that was submitted."""
        torch.cuda.synchronize()

    def flush(self) -> Flush:
        """Writes a buffer twice as large as the L2."""
        known = int(getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "L2_cache_size", 0))
        size = 2 * (known or UNKNOWN_L2_BYTES)
        buffer = torch.empty(size, dtype=torch.int8, device="cuda")
        return Flush(size, buffer.zero_)

    def capture(self, body: Callable[[], None]) -> Launch:
        """What `body` launches as a graph, with a memory pool of its own: the result replays it."""
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            body()
        return graph.replay

    def profile(self, body: Callable[[], None]) -> list[Activity]:
        """What the GPU did for `body`, by CUPTI."""
        found = profile(body)
        Gpu.has_profiled = True  # for the whole process
        return found


class CudaClock:
    """CUDA events on the current stream.

    `hold_us` is how long the GPU waits for each launch of a queue. It follows the last queues, and is longer for the
    next one where the GPU was through with it before the CPU had submitted all: `late_samples` counts those that the
    GPU had reached by then, whose times may hold launch cost.
    """

    name = "cuda events"

    def __init__(self, gpu: Gpu | None = None) -> None:
        self._gpu = gpu or Gpu()
        self._taken: deque[float] = deque(maxlen=RECENT_QUEUES)
        self.hold_us = UNKNOWN_HOLD_US
        self.late_samples = 0

    def block_us(self, launch: Launch, count: int, timed: Timed = nullcontext) -> float:
        """One event before and one after `count` launches, in microseconds, which begin at once."""
        start, end = self._gpu.event(), self._gpu.event()
        with timed():
            start.record()
            for _ in range(count):
                launch()
            end.record()
            end.synchronize()
        return float(start.elapsed_time(end)) * 1e3

    def singles(self, launch: Launch, count: int, timed: Timed = nullcontext) -> FloatArray:
        """An event between every two of `count` launches, all submitted while the GPU waits.

        Without the wait a short kernel's times would be those of the CPU submitting it. One untimed launch goes
        first, so that the first timed one finds the caches as the others do.
        """
        events = [self._gpu.event() for _ in range(count + 1)]

        def submit() -> None:
            launch()
            events[0].record()
            for event in events[1:]:
                launch()
                event.record()

        self._queue(submit, events[:-1], events[-1], timed)
        return np.array([before.elapsed_time(after) * 1e3 for before, after in pairwise(events)])

    def flushed(self, launch: Launch, flush: Flush, count: int, timed: Timed = nullcontext) -> FloatArray:
        """The same with the L2 flushed before each launch, outside the two events around it."""
        pairs = [(self._gpu.event(), self._gpu.event()) for _ in range(count)]

        def submit() -> None:
            launch()
            for start, end in pairs:
                flush.write()
                start.record()
                launch()
                end.record()

        self._queue(submit, [start for start, _ in pairs], pairs[-1][1], timed)
        return np.array([start.elapsed_time(end) * 1e3 for start, end in pairs])

    def _queue(self, submit: Launch, starts: Sequence[Event], last: Event, timed: Timed) -> None:
        """Submit a launch before `starts`, then one after each of them, while the GPU waits; return when all ran.

        The wait is no part of what is timed, since the GPU does nothing then that a launch would do.
        """
        launches = len(starts) + 1
        self._gpu.hold(self.hold_us * launches)
        began = self._gpu.cpu_us()
        submit()
        self._taken.append((self._gpu.cpu_us() - began) / launches)
        late = sum(1 for _ in takewhile(lambda event: event.query(), starts))
        if late:
            self.late_samples += late
            needed = max(2 * self.hold_us, HOLD_FACTOR * self._taken[-1])
        else:
            needed = HOLD_FACTOR * sorted(self._taken)[-2 if len(self._taken) > 1 else -1]
        self.hold_us = min(MAX_HOLD_US, max(MIN_HOLD_US, needed))
        starts[0].synchronize()
        with timed():
            last.synchronize()


class HostClock:
    """The host's monotonic clock around launches that return when they are done."""

    name = "host"
    late_samples = 0

    def block_us(self, launch: Launch, count: int, timed: Timed = nullcontext) -> float:
        """Host time of `count` launches, in microseconds."""
        with timed():
            start = time.perf_counter()
            for _ in range(count):
                launch()
            return (time.perf_counter() - start) * 1e6

    def singles(self, launch: Launch, count: int, timed: Timed = nullcontext) -> FloatArray:
        """Host time of each of `count` launches, in microseconds."""
        with timed():
            return np.array([self.block_us(launch, 1) for _ in range(count)])


# `block_us` is the whole of an unbroken block, `singles` each launch's own time, us; `timed` is entered around what is
# timed. `late_samples` may hold what the CPU took to launch.
Clock = CudaClock | HostClock
