"""Samplers: how one protocol takes the times of one implementation, a round at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np

from workbench.engine.failures import CaptureError, InvalidRequestError
from workbench.engine.host.stopping import StopFlag
from workbench.engine.timing.block import QUEUED_LAUNCHES
from workbench.engine.timing.clocks import Clock, Gpu, HostClock, Launch, Timed
from workbench.engine.timing.profiling import Activity, profiled_launches
from workbench.engine.timing.sampler import ROUND_US, GpuSampler, Sampler
from workbench.stats.arrays import FloatArray

REPLAY_US = 1000.0
REPLAYS = 10
MAX_CAPTURED = 500
CAPTURED_COLD = 20
PROFILED_LAUNCHES = 200
# The CPU's caches, too, are then as the other implementation left them; of a longer launch that is no great part.
LEAD_LIMIT_US = 10_000.0


class Warm(GpuSampler):
    """CUDA events around each launch, a queue of them behind a wait."""

    def take(self, count: int, timed: Timed = nullcontext) -> FloatArray:
        return self._events.singles(self._launch, count, timed)


class Flushing(GpuSampler):
    """What the samplers that overwrite the L2 before a launch share."""

    def __init__(self, launch: Launch, gpu: Gpu, most: int) -> None:
        super().__init__(launch, gpu, most)
        self._flush = gpu.flush()
        self.flush_bytes = self._flush.size


class Cold(Flushing):
    """As Warm, but with the L2 flushed before each launch, outside the two events."""

    def take(self, count: int, timed: Timed = nullcontext) -> FloatArray:
        return self._events.flushed(self._launch, self._flush, count, timed)


class Graph(GpuSampler):
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
        self._learn()

    def take(self, count: int, timed: Timed = nullcontext) -> FloatArray:
        return self._events.singles(self._replay, count, timed) / self.launches_per_sample


class GraphCold(Flushing):
    """A CUDA graph of launches, before each of which the L2 is flushed, each between two events of the graph's own.

    The first launch of a replay is not timed. A replay gives `batch` samples.
    """

    clock = "cuda graph"

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

    def take(self, count: int, timed: Timed = nullcontext) -> FloatArray:
        taken: list[float] = []
        for _ in range(count // self.batch):
            with timed():
                self._replay()
                self._gpu.synchronize()  # before the next replay writes the same events
            taken += [start.elapsed_time(end) * 1e3 for start, end in self._pairs]
        return np.array(taken)


class Profiled(GpuSampler):
    """The time that the GPU was busy in each launch, a session of the profiler a round."""

    clock = "profiler"
    limit = PROFILED_LAUNCHES

    def __init__(self, launch: Launch, gpu: Gpu, most: int) -> None:
        super().__init__(launch, gpu, most)
        self._busy: list[FloatArray] = []

    @property
    def kernel_us(self) -> float | None:
        """The median of the samples: launched one by one, the gaps between a launch's kernels are the CPU's."""
        return float(np.median(np.concatenate(self._busy))) if self._busy else None

    def _learn(self) -> None:
        """The first session loads CUPTI, which takes long."""
        super()._learn()
        self._busy.clear()
        self.lost_sessions = 0

    def take(self, count: int, timed: Timed = nullcontext) -> FloatArray:
        """`timed` is entered within the session: to begin one and to read its records is not what is timed."""

        def body() -> None:
            with timed():
                for _ in range(count):
                    self._launch()
                self._gpu.synchronize()

        def session() -> list[Activity]:
            self._launch()
            return self._gpu.profile(body)

        found = profiled_launches(session, count)
        self.kernel_names = found.names
        self.lost_sessions += found.lost
        self._busy.append(found.busy)
        return found.busy


class OnHost(Sampler):
    """The host's clock around each launch, on the interpreter; a short one is launched once before, not timed."""

    clock = "host"
    warmups = 1

    def __init__(self, launch: Launch, most: int, clock: Clock | None = None) -> None:
        self._launch = launch
        self._most = most
        self._clock = clock or HostClock()
        self._leads = False

    def prepare(self, stop: StopFlag) -> None:
        stop.check()
        us = self._clock.block_us(self._launch, 1)
        self._leads = us <= LEAD_LIMIT_US
        self.round_size = max(1, min(QUEUED_LAUNCHES, self._most, int(ROUND_US / max(us, 1e-3))))

    def take(self, count: int, timed: Timed = nullcontext) -> FloatArray:
        if self._leads:
            self._launch()
        return self._clock.singles(self._launch, count, timed)


# One for each protocol that is timed in turns.
SAMPLERS: dict[str, Callable[[Launch, Gpu, int], Sampler]] = {
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
    if protocol not in SAMPLERS:
        raise InvalidRequestError(f"protocol is {protocol!r}; allowed are {', '.join(SAMPLERS)}")
    return SAMPLERS[protocol](launch, gpu, most)


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
