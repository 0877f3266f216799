"""What samplers are, and what those of a GPU share: the warm-up, and the size of a round."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from workbench.engine.host.stopping import StopFlag
from workbench.engine.timing.block import QUEUED_LAUNCHES
from workbench.engine.timing.clocks import Clock, CudaClock, Gpu, Launch, Timed
from workbench.stats.arrays import FloatArray

# A round of one implementation is worth at most this; kernel and baseline then take turns often enough.
ROUND_US = 50_000.0
# Clocks rise from idle within about this time, and a shorter warm-up was seen to leave errors of a third.
WARMUP_US = 150_000.0
MIN_WARMUPS = 3


def warm_up(clock: Clock, launch: Launch, stop: StopFlag) -> tuple[float, int]:
    """Launch without a pause for WARMUP_US: the time of a launch in the last block, us, and how many there were."""
    passed, launches, count = 0.0, 0, MIN_WARMUPS
    while True:
        stop.check()
        block = clock.block_us(launch, count)
        launches += count
        passed += max(block, 1e-3 * count)
        if passed >= WARMUP_US:
            return block / count, launches
        # The last block is no shorter than others.
        count = max(1, int(ROUND_US * count / max(block, 1e-3)))


class Sampler:
    """Times one implementation. `round_size` samples are a round, always a multiple of `batch`; both after `prepare`.

    A sample stands for `launches_per_sample` launches. The other fields are those of `Latency`.
    """

    clock: str
    warmups = 0
    round_size = batch = launches_per_sample = 1
    flush_bytes = lost_sessions = 0
    launched_us: float | None = None
    kernel_names: tuple[str, ...] = ()

    def prepare(self, stop: StopFlag) -> None:
        """Warm up, and decide how large a round is."""
        raise NotImplementedError

    def take(self, count: int, timed: Timed = nullcontext) -> FloatArray:
        """`count` times in microseconds (a multiple of `batch`); `timed` is entered around what is timed."""
        raise NotImplementedError

    @property
    def late_samples(self) -> int:
        """How many samples the GPU reached before the CPU had submitted all of their queue."""
        return 0

    @property
    def kernel_us(self) -> float | None:
        """How long the GPU took for a launch, where the profiler saw its kernels."""
        return None


class GpuSampler(Sampler):
    """What the samplers of a GPU share."""

    clock = "cuda events"
    limit = QUEUED_LAUNCHES

    def __init__(self, launch: Launch, gpu: Gpu, most: int) -> None:
        """A round has at most `most` samples."""
        self._launch = launch
        self._gpu = gpu
        self._most = most
        self._events = CudaClock(gpu)

    @property
    def late_samples(self) -> int:
        return self._events.late_samples

    def prepare(self, stop: StopFlag) -> None:
        us = self._warm_up(stop)
        self.round_size = self._fitting(us, self.limit)
        self._learn()

    def _learn(self) -> None:
        """Take some samples that do not count, so that the clock knows how long this protocol's queues must wait."""
        self._events = CudaClock(self._gpu)  # a flush or a replay is submitted in another time than a bare launch
        for _ in range(2):  # the first queue also loads what they need
            self.take(MIN_WARMUPS)
            self.warmups += (1 + MIN_WARMUPS) * self.launches_per_sample
        self._events.late_samples = 0

    def _fitting(self, us: float, limit: int) -> int:
        return max(1, min(limit, self._most, int(ROUND_US / max(us, 1e-3))))

    def _warm_up(self, stop: StopFlag) -> float:
        """Warm up; the time of one launch, as it is without the CPU's part."""
        self.launched_us, count = warm_up(self._events, self._launch, stop)
        self.warmups += count
        us = float(np.median(self._events.singles(self._launch, MIN_WARMUPS)))
        self.warmups += 1 + MIN_WARMUPS
        self._events.late_samples = 0
        return us
