"""Each protocol without the workbench, in as few lines as it takes: prints one kernel's median per launch in us.

python -m tests.engine.bare_protocols PROTOCOL KERNEL M N D HEADS DTYPE BLOCK_M BLOCK_N WARPS STAGES SPLITS
"""

import sys
from statistics import median
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from kernels import VARIANTS, TileConfig

protocol, kernel = sys.argv[1:3]
m, n, d, heads = map(int, sys.argv[3:7])
dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[sys.argv[7]]
tile = TileConfig(*map(int, sys.argv[8:13]))
variant = next(v for v in VARIANTS if v.name == kernel)
q, k, v = (torch.randn(1, heads, rows, d, device="cuda").to(dtype) for rows in (m, n, n))
out = torch.empty_like(q)
l2: int = torch.cuda.get_device_properties(0).L2_cache_size
buffer = torch.empty(2 * l2, dtype=torch.int8, device="cuda")


def launch() -> None:
    variant.launch(q, k, v, out, tile=tile)


def event(**options: bool) -> Any:
    return torch.cuda.Event(enable_timing=True, **options)  # type: ignore[no-untyped-call]


def hold() -> None:
    torch.cuda._sleep(2000 * 400 * 33)  # type: ignore[no-untyped-call]


def article() -> float:
    """The average of one block of 50."""
    start, end = event(), event()
    start.record()
    for _ in range(50):
        launch()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) * 1e3 / 50


def warm() -> float:
    times: list[float] = []
    for _ in range(20):
        events = [event() for _ in range(33)]
        hold()
        launch()
        for one in events:
            one.record()
            launch()
        torch.cuda.synchronize()
        times += [events[i].elapsed_time(events[i + 1]) * 1e3 for i in range(32)]
    return median(times)


def cold() -> float:
    times: list[float] = []
    for _ in range(20):
        pairs = [(event(), event()) for _ in range(32)]
        hold()
        for start, end in pairs:
            buffer.zero_()
            start.record()
            launch()
            end.record()
        torch.cuda.synchronize()
        times += [start.elapsed_time(end) * 1e3 for start, end in pairs]
    return median(times)


def graph() -> float:
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for _ in range(10):
            launch()
    times: list[float] = []
    for _ in range(50):
        start, end = event(), event()
        captured.replay()
        start.record()
        captured.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / 10)
    return median(times)


def graph_cold() -> float:
    captured = torch.cuda.CUDAGraph()
    pairs = [(event(external=True), event(external=True)) for _ in range(10)]
    with torch.cuda.graph(captured):
        for start, end in pairs:
            buffer.zero_()
            start.record()
            launch()
            end.record()
    times: list[float] = []
    for _ in range(50):
        captured.replay()
        torch.cuda.synchronize()
        times += [start.elapsed_time(end) * 1e3 for start, end in pairs[1:]]
    return median(times)


def profiler() -> float:
    """For kernels that are one activity a launch."""
    with profile(activities=[ProfilerActivity.CUDA]) as session:
        for _ in range(200):
            launch()
        torch.cuda.synchronize()
    events: Any = session.events()
    times = [float(e.time_range.elapsed_us()) for e in events if e.device_type.name == "CUDA"]
    assert len(times) == 200, len(times)
    return median(times)


for _ in range(1000):
    launch()
torch.cuda.synchronize()
times = {
    "article": article,
    "warm": warm,
    "cold": cold,
    "graph": graph,
    "graph-cold": graph_cold,
    "profiler": profiler,
}
print(times[protocol]())
