"""Each protocol without the workbench, in as few lines as it takes: for each a line "NAME KERNEL_US SDPA_US SM_MHZ".

python -m tests.gpu.bare_protocols KERNEL PRECISION M N D BATCH HEADS DTYPE CAUSAL BLOCK_M BLOCK_N WARPS STAGES
SPLITS PROTOCOL..., of which `profiler` is to be the last, so that CUPTI is not there before.

Several may be started at once, which is mostly importing: with the path of a file in TILESCOPE_TURN they measure one
after another.
"""

import fcntl
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from statistics import median
from typing import Any

import pynvml
import torch
from torch.profiler import ProfilerActivity, profile

from tests.gpu.bare_launches import WORDS, Launch, launch_for, launches_from

Take = Callable[[], list[float]]
WARM_UP_S, TIMED_S = 0.2, 0.4
CYCLES_PER_US = 2000
LAUNCH_US, REPLAY_US = 400.0, 40.0  # what a busy CPU may take to submit one
clocks: list[float] = []  # MHz, while something is timed


def event(**options: bool) -> Any:
    return torch.cuda.Event(enable_timing=True, **options)  # type: ignore[no-untyped-call]


def hold(us: float) -> None:
    """Let the GPU wait, so that what follows is submitted before it begins."""
    torch.cuda._sleep(int(us * CYCLES_PER_US))  # type: ignore[no-untyped-call]


def between(launch: Launch, count: int, submit_us: float = LAUNCH_US) -> list[float]:
    """The times between events around each of `count` launches, us; one launch goes before.

    The GPU waits no longer than it must: what it may rest changes the power that it takes, and so its clock.
    """
    events = [event() for _ in range(count + 1)]
    hold(submit_us * (count + 1))
    launch()
    for one in events:
        one.record()
        if one is not events[-1]:
            launch()
    finish()
    return [start.elapsed_time(end) * 1e3 for start, end in pairwise(events)]


@cache
def flush_buffer() -> torch.Tensor:
    """To overwrite the L2 cache with; it stays, because graphs write it."""
    size: int = 2 * torch.cuda.get_device_properties(0).L2_cache_size
    return torch.empty(size, dtype=torch.int8, device="cuda")


def block(launch: Launch, scores: int) -> float:
    """The average of one block, which is longer for small problems."""
    count = 100 if scores <= 256 * 512 else 50 if scores <= 512 * 2048 else 20
    for _ in range(10):
        launch()
    start, end = event(), event()
    start.record()
    for _ in range(count):
        launch()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) * 1e3 / count


def warm(launch: Launch) -> Take:
    return lambda: between(launch, 32)


def cold(launch: Launch) -> Take:
    buffer = flush_buffer()

    def take() -> list[float]:
        pairs = [(event(), event()) for _ in range(32)]
        hold(400 * 33)
        for start, end in pairs:
            buffer.zero_()
            start.record()
            launch()
            end.record()
        finish()
        return [start.elapsed_time(end) * 1e3 for start, end in pairs]

    return take


def graph(launch: Launch) -> Take:
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for _ in range(10):
            launch()
    return lambda: [us / 10 for us in between(captured.replay, 10, REPLAY_US)]


def graph_cold(launch: Launch) -> Take:
    captured, buffer = torch.cuda.CUDAGraph(), flush_buffer()
    pairs = [(event(external=True), event(external=True)) for _ in range(20)]
    with torch.cuda.graph(captured):
        for start, end in pairs:
            buffer.zero_()
            start.record()
            launch()
            end.record()

    def take() -> list[float]:
        captured.replay()
        finish()
        return [start.elapsed_time(end) * 1e3 for start, end in pairs[1:]]

    return take


def profiler(launch: Launch) -> Take:
    def take() -> list[float]:
        with profile(activities=[ProfilerActivity.CUDA]) as session:
            for _ in range(200):
                launch()
            finish()
        events: Any = session.events()
        spans = sorted((e.time_range.start, e.time_range.end) for e in events if e.device_type.name == "CUDA")
        size, rest = divmod(len(spans), 200)
        assert size and not rest, f"{len(spans)} kernels of 200 launches"
        return [busy(spans[first : first + size]) for first in range(0, len(spans), size)]

    take()  # loads CUPTI
    return take


def busy(spans: list[tuple[float, float]]) -> float:
    """How long any of a launch's kernels ran: they may overlap."""
    total, reached = 0.0, spans[0][0]
    for start, end in spans:
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def sm_clock() -> float:
    """The SM clock now by NVML, MHz, of the device that is used."""
    clock: float = pynvml.nvmlDeviceGetClockInfo(device(), pynvml.NVML_CLOCK_SM)
    return clock


@cache
def device() -> Any:
    pynvml.nvmlInit()
    uuid = str(torch.cuda.get_device_properties(0).uuid)
    return pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")


def finish() -> None:
    """Wait for the GPU, and note its clock while it is still busy: at rest it is another."""
    clocks.append(sm_clock())
    torch.cuda.synchronize()


def medians(make: Callable[[Launch], Take], launches: tuple[Launch, Launch]) -> list[float]:
    """The time of both, which take turns, as in a comparison, and the clock meanwhile."""
    for launch in launches:
        launch_for(launch, WARM_UP_S)
    takes = [make(launch) for launch in launches]
    times: list[list[float]] = [[] for _ in takes]
    clocks.clear()
    end = time.monotonic() + TIMED_S
    while time.monotonic() < end:
        for taken, take in zip(times, takes, strict=True):
            taken += take()
    return [median(taken) for taken in (*times, clocks)]


def await_turn() -> None:
    """Wait until no other script measures; this one does then, until it ends."""
    path = os.environ.get("TILESCOPE_TURN")
    if path:
        fcntl.flock(os.open(path, os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)


if __name__ == "__main__":
    makes = {"warm": warm, "cold": cold, "graph": graph, "graph-cold": graph_cold, "profiler": profiler}
    torch.cuda.init()  # type: ignore[no-untyped-call]
    await_turn()
    both = launches_from(sys.argv[1:])
    hold(300_000)  # clocks rise, and power stays low, as before a first run
    torch.cuda.synchronize()
    m, n, _, batch, heads = map(int, sys.argv[3:8])
    scores = batch * heads * m * n
    for name in sys.argv[1 + WORDS :]:
        found = [*(block(one, scores) for one in both), sm_clock()] if name == "block" else medians(makes[name], both)
        print(name, *found, flush=True)
