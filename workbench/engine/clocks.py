"""What launches are timed with: the GPU's events, graphs and profiler behind one interface, and the host's clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import torch

from workbench.engine.failures import InvalidRequestError
from workbench.engine.profiling import Activity, profile
from workbench.model import FloatArray

Launch = Callable[[], object]

# The GPU waits this long for each launch of a queue, so that the CPU has submitted all of them before the first begins.
SUBMIT_US = 400.0
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


class Gpu(Protocol):
    """What the protocols need of a GPU. Everything goes to one stream, in order."""

    def event(self) -> Event: ...

    def graph_event(self) -> Event:
        """An event that can be recorded inside a graph and read outside it."""
        ...

    def hold(self, us: float) -> None:
        """Let the GPU wait for about `us` microseconds."""
        ...

    def synchronize(self) -> None: ...

    def flush(self) -> Flush: ...

    def capture(self, body: Callable[[], None]) -> Launch:
        """What `body` launches, as a graph: the result replays it."""
        ...

    def profile(self, body: Callable[[], None]) -> list[Activity]:
        """What the GPU did for `body`."""
        ...


class CudaGpu:
    """The current CUDA device and stream."""

    def event(self) -> Event:
        """An event that can be timed."""
        made: Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        return made

    def graph_event(self) -> Event:
        """An event for the inside of a graph. Raises InvalidRequestError where torch has none."""
        try:
            made: Event = torch.cuda.Event(enable_timing=True, external=True)  # type: ignore[no-untyped-call]
        except TypeError:
            raise InvalidRequestError(
                f"protocol is graph-cold, which needs torch.cuda.Event with external=True: torch {torch.__version__} "
                f"has none, torch 2.13 has it; allowed are the other protocols"
            ) from None
        return made

    def hold(self, us: float) -> None:
        """Occupy the stream for about `us` microseconds (longer where the clock is lower)."""
        sleep = getattr(torch.cuda, "_sleep", None)  # not public; without it times are as a bare loop's
        if sleep is not None:
            sleep(int(us * CYCLES_PER_US))

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
        """Capture `body`; what it allocates comes from the graph's own pool."""
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            body()
        return graph.replay

    def profile(self, body: Callable[[], None]) -> list[Activity]:
        """Profile `body` by CUPTI."""
        return profile(body)


class Clock(Protocol):
    """Times launches. `block_us` is the whole of an unbroken block; `singles` is each launch's own time, us."""

    name: str

    def block_us(self, launch: Launch, count: int) -> float: ...

    def singles(self, launch: Launch, count: int) -> FloatArray: ...


class CudaClock:
    """CUDA events on the current stream. `late` counts queues of launches that began before all were submitted."""

    name = "cuda events"

    def __init__(self, gpu: Gpu | None = None) -> None:
        self._gpu = gpu or CudaGpu()
        self.late = 0

    def block_us(self, launch: Launch, count: int) -> float:
        """One event before and one after `count` launches, in microseconds."""
        start, end = self._gpu.event(), self._gpu.event()
        start.record()
        for _ in range(count):
            launch()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) * 1e3

    def singles(self, launch: Launch, count: int) -> FloatArray:
        """An event between every two of `count` launches, all submitted while the GPU waits.

        Without the wait a short kernel's times would be those of the CPU submitting it. One untimed launch goes
        first, so that the first timed one finds the caches as the others do.
        """
        events = [self._gpu.event() for _ in range(count + 1)]
        self._gpu.hold(SUBMIT_US * (count + 1))
        launch()
        events[0].record()
        for event in events[1:]:
            launch()
            event.record()
        self.late += events[0].query()
        events[-1].synchronize()
        return np.array([before.elapsed_time(after) * 1e3 for before, after in pairwise(events)])

    def flushed(self, launch: Launch, flush: Flush, count: int) -> FloatArray:
        """The same with the L2 flushed before each launch, outside the two events around it."""
        pairs = [(self._gpu.event(), self._gpu.event()) for _ in range(count)]
        self._gpu.hold(SUBMIT_US * (count + 1))
        launch()
        for start, end in pairs:
            flush.write()
            start.record()
            launch()
            end.record()
        self.late += pairs[0][0].query()
        pairs[-1][1].synchronize()
        return np.array([start.elapsed_time(end) * 1e3 for start, end in pairs])


class HostClock:
    """The host's monotonic clock around launches that return when they are done."""

    name = "host"

    def block_us(self, launch: Launch, count: int) -> float:
        """Host time of `count` launches, in microseconds."""
        start = time.perf_counter()
        for _ in range(count):
            launch()
        return (time.perf_counter() - start) * 1e6

    def singles(self, launch: Launch, count: int) -> FloatArray:
        """Host time of each of `count` launches, in microseconds."""
        return np.array([self.block_us(launch, 1) for _ in range(count)])
