"""Samplers: how one protocol takes the times of one implementation, a round at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from workbench.engine.clocks import Clock, CudaClock, Gpu, HostClock, Launch
from workbench.engine.failures import CaptureError, InvalidRequestError
from workbench.engine.measure import QUEUED_LAUNCHES
from workbench.engine.profiling import per_launch
from workbench.engine.stopping import StopFlag
from workbench.model import FloatArray

# A round of one implementation is worth at most this; kernel and baseline then take turns often enough.
ROUND_US = 50_000.0
# Clocks rise from idle within about this time, and a shorter warm-up was seen to leave errors of a third.
WARMUP_US = 150_000.0
MIN_WARMUPS, MAX_WARMUPS = 3, 2000
REPLAY_US = 1000.0
REPLAYS = 10
MAX_CAPTURED = 500
CAPTURED_COLD = 20
PROFILED_LAUNCHES = 200
# The CPU's caches, too, are then as the other implementation left them; of a longer launch that is no great part.
LEAD_LIMIT_US = 10_000.0


class Sampler(Protocol):
    """Times one implementation. `round_size` samples are a round, always a multiple of `batch`; both after `prepare`.

    A sample stands for `launches_per_sample` launches. `flush_bytes` are written before each launch.
    """

    clock: str
    warmups: int
    round_size: int
    batch: int
    launches_per_sample: int
    flush_bytes: int
    kernel_names: tuple[str, ...]

    def prepare(self, stop: StopFlag) -> None:
        """Warm up, and decide how large a round is."""
        ...

    def take(self, count: int) -> FloatArray:
        """`count` times in microseconds (a multiple of `batch`)."""
        ...

    @property
    def late(self) -> int:
        """How many queues of launches began before the CPU had submitted all of them."""
        ...


class _Sampler:
    """What the samplers of a GPU share: the warm-up, and the size of a round."""

    clock = "cuda events"
    limit = QUEUED_LAUNCHES

    def __init__(self, launch: Launch, gpu: Gpu, most: int) -> None:
        """A round has at most `most` samples."""
        self._launch = launch
        self._gpu = gpu
        self._most = most
        self._events = CudaClock(gpu)
        self.warmups = 0
        self.round_size = self.batch = self.launches_per_sample = 1
        self.flush_bytes = 0
        self.kernel_names: tuple[str, ...] = ()

    @property
    def late(self) -> int:
        return self._events.late

    def prepare(self, stop: StopFlag) -> None:
        us = self._warm_up(stop)
        self.round_size = self._fitting(us, self.limit)

    def _fitting(self, us: float, limit: int) -> int:
        return max(1, min(limit, self._most, int(ROUND_US / max(us, 1e-3))))

    def _warm_up(self, stop: StopFlag) -> float:
        """Launch for WARMUP_US; the time of one launch, as it is without the CPU's part."""
        block = self._events.block_us(self._launch, MIN_WARMUPS) / MIN_WARMUPS
        wanted = max(MIN_WARMUPS, min(MAX_WARMUPS, int(WARMUP_US / max(block, 1e-3))))
        self.warmups = MIN_WARMUPS
        while self.warmups < wanted:
            stop.check()
            count = min(wanted - self.warmups, max(1, int(ROUND_US / max(block, 1e-3))))
            self._events.block_us(self._launch, count)
            self.warmups += count
        us = float(np.median(self._events.singles(self._launch, MIN_WARMUPS)))
        self.warmups += 1 + MIN_WARMUPS
        self._events.late = 0
        return us


class Warm(_Sampler):
    """CUDA events around each launch, a queue of them behind a wait."""

    def take(self, count: int) -> FloatArray:
        return self._events.singles(self._launch, count)


class Cold(_Sampler):
    """The same with the L2 flushed before each launch, outside the two events."""

    def __init__(self, launch: Launch, gpu: Gpu, most: int) -> None:
        super().__init__(launch, gpu, most)
        self._flush = gpu.flush()
        self.flush_bytes = self._flush.size

    def take(self, count: int) -> FloatArray:
        return self._events.flushed(self._launch, self._flush, count)


class Graph(_Sampler):
    """Replays of a CUDA graph of as many launches as take about a millisecond; a sample is a replay by its launches."""

    clock = "cuda graph"

    def prepare(self, stop: StopFlag) -> None:
        us = self._warm_up(stop)
        launches = max(1, min(MAX_CAPTURED, round(REPLAY_US / max(us, 1e-3))))

        def body() -> None:
            for _ in range(launches):
                self._launch()

        self._replay = _captured(self._gpu, body)
        self.launches_per_sample = launches
        self.round_size = self._fitting(us * launches, REPLAYS)

    def take(self, count: int) -> FloatArray:
        return self._events.singles(self._replay, count) / self.launches_per_sample


class GraphCold(_Sampler):
    """A CUDA graph of launches, before each of which the L2 is flushed, each between two events of the graph's own.

    The first launch of a replay is not timed. A replay gives `batch` samples.
    """

    clock = "cuda graph"

    def __init__(self, launch: Launch, gpu: Gpu, most: int) -> None:
        super().__init__(launch, gpu, most)
        self._flush = gpu.flush()
        self.flush_bytes = self._flush.size

    def prepare(self, stop: StopFlag) -> None:
        us = self._warm_up(stop)
        self.batch = self.round_size = self._fitting(us, CAPTURED_COLD)
        self._pairs = [(self._gpu.graph_event(), self._gpu.graph_event()) for _ in range(self.batch)]

        def body() -> None:
            self._flush.write()
            self._launch()
            for start, end in self._pairs:
                self._flush.write()
                start.record()
                self._launch()
                end.record()

        self._replay = _captured(self._gpu, body)

    def take(self, count: int) -> FloatArray:
        taken: list[float] = []
        for _ in range(count // self.batch):
            self._replay()
            self._gpu.synchronize()  # before the next replay writes the same events
            taken += [start.elapsed_time(end) * 1e3 for start, end in self._pairs]
        return np.array(taken)


class Profiled(_Sampler):
    """The time that the GPU was busy in each launch, a session of the profiler a round."""

    clock = "profiler"
    limit = PROFILED_LAUNCHES

    def prepare(self, stop: StopFlag) -> None:
        super().prepare(stop)
        self.take(MIN_WARMUPS)  # the first session loads CUPTI, which takes long
        self.warmups += 1 + MIN_WARMUPS

    def take(self, count: int) -> FloatArray:
        self._launch()

        def body() -> None:
            for _ in range(count):
                self._launch()

        busy, self.kernel_names = per_launch(self._gpu.profile(body), count)
        return busy


class OnHost:
    """The host's clock around each launch, on the interpreter; a short one is launched once before, not timed."""

    clock = "host"
    batch = launches_per_sample = 1
    flush_bytes = late = 0
    kernel_names: tuple[str, ...] = ()

    def __init__(self, launch: Launch, most: int, clock: Clock | None = None) -> None:
        self._launch = launch
        self._most = most
        self._clock = clock or HostClock()
        self._leads = False
        self.warmups = 1
        self.round_size = 1

    def prepare(self, stop: StopFlag) -> None:
        stop.check()
        us = self._clock.block_us(self._launch, 1)
        self._leads = us <= LEAD_LIMIT_US
        self.round_size = max(1, min(QUEUED_LAUNCHES, self._most, int(ROUND_US / max(us, 1e-3))))

    def take(self, count: int) -> FloatArray:
        if self._leads:
            self._launch()
        return self._clock.singles(self._launch, count)


_SAMPLERS: dict[str, Callable[[Launch, Gpu, int], Sampler]] = {
    "cold": Cold,
    "warm": Warm,
    "graph": Graph,
    "graph-cold": GraphCold,
    "profiler": Profiled,
}


def make_sampler(protocol: str, launch: Launch, gpu: Gpu | None, most: int) -> Sampler:
    """The sampler of `protocol` for `launch`, with at most `most` samples a round; on the host's clock without a GPU.

    Raises InvalidRequestError for a protocol that is not timed in rounds.
    """
    if gpu is None:
        return OnHost(launch, most)
    if protocol not in _SAMPLERS:
        raise InvalidRequestError(f"protocol is {protocol!r}; allowed are {', '.join(_SAMPLERS)}")
    return _SAMPLERS[protocol](launch, gpu, most)


def _captured(gpu: Gpu, body: Callable[[], None]) -> Launch:
    """`body` as a graph. Raises CaptureError, in which memory that ran out does not count."""
    try:
        return gpu.capture(body)
    except (InvalidRequestError, MemoryError):
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":
            raise
        # That the capture could not be ended comes last; the first of the errors says why.
        first: BaseException = error
        while first.__context__ is not None:
            first = first.__context__
        raise CaptureError(f"it cannot be captured in a CUDA graph: {first}") from error
