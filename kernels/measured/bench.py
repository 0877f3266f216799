"""`python -m kernels.measured.bench`: the kernels beside PyTorch's SDPA on this GPU, as a table and as JSON.

Every figure is GPU time by graph replay: launches captured in a CUDA graph, so that the CPU's part is out, with the
caches as the last launch left them. Kernel and baselines take turns, round by round, so that a change of clocks meets
all of them; a figure is the median of the rounds. The error is against float64, on standard normal inputs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import torch
import triton
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from kernels.common.checks import DTYPES, device_limits
from kernels.common.variant import KernelVariant, TileTrace
from kernels.plain.precisions import EXACT
from kernels.plain.tiles import TileConfig, with_resolved_splits
from kernels.reference import attention
from kernels.variants import VARIANTS
from kernels.variants.article import ARTICLE
from kernels.variants.flash import FLASH
from kernels.variants.hopper.launch import HOPPER
from kernels.variants.materialized import MATERIALIZED
from kernels.variants.split_kv.launch import SPLIT_KV

ROUNDS = 9
ROUND_US = 3000.0
MAX_LAUNCHES = 100
MATH_SCORES_BYTES = 2**28
BACKENDS = {
    "math": SDPBackend.MATH,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}
Launch = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One line of the table: a problem, the kernel for it, and the error that the line promises at most."""

    kernel: str
    m: int
    n: int
    d: int
    dtype: str = "fp32"
    precision: str = EXACT
    batch: int = 1
    heads: int = 1
    causal: bool = False
    max_error: float | None = None
    """None: no more than SDPA's own."""

    @property
    def variant(self) -> KernelVariant:
        return next(variant for variant in VARIANTS if variant.name == self.kernel)

    @property
    def title(self) -> str:
        heads = f"{self.batch} x {self.heads} heads, " if self.batch * self.heads > 1 else ""
        return f"{self.dtype} {heads}{self.m} x {self.n} x {self.d}{', causal' if self.causal else ''}"

    @property
    def flops(self) -> int:
        """4 D a visible pair; every case has M <= N."""
        pairs = self.m * (2 * self.n - self.m + 1) // 2 if self.causal else self.m * self.n
        return 4 * self.batch * self.heads * pairs * self.d


FP32_SHAPES = ((1024, 4096, 128), (1024, 4096, 64), (512, 2048, 128), (256, 512, 64), (4096, 4096, 128))
CASES = (
    *(Case(SPLIT_KV.name, *shape, precision="fp16x3") for shape in FP32_SHAPES),
    *(Case(SPLIT_KV.name, *shape, precision="bf16x6") for shape in FP32_SHAPES),
    *(Case(SPLIT_KV.name, *shape, precision="bf16x3", max_error=2e-6) for shape in FP32_SHAPES if shape[1] > 512),
    *(
        Case(HOPPER.name, 4096, 4096, d, dtype, EXACT, 4, 16, causal)
        for d in (128, 64)
        for causal in (False, True)
        for dtype in ("bf16", "fp16")
    ),
    Case(FLASH.name, 4096, 4096, 128, "bf16", EXACT, 4, 16),
    Case(FLASH.name, 1024, 4096, 128, precision="tf32x3", max_error=1e-6),
    Case(MATERIALIZED.name, 1024, 4096, 128, precision="tf32x3", max_error=1e-6),
    Case(ARTICLE.name, 1024, 4096, 128, max_error=1e-6),
)


def graph_of(launch: Launch, launches: int) -> torch.cuda.CUDAGraph:
    """`launches` launches as one graph."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            launch()
    return graph


def replay_us(graph: torch.cuda.CUDAGraph, launches: int) -> float:
    """GPU time of one launch in one replay, in microseconds."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) * 1e3 / launches


def interleaved_us(launches: dict[str, Launch], rounds: int = ROUNDS) -> dict[str, float]:
    """The median time of each of `launches` in microseconds, over rounds in which each has its turn."""
    graphs: dict[str, tuple[torch.cuda.CUDAGraph, int]] = {}
    for name, launch in launches.items():
        for _ in range(3):
            launch()
        torch.cuda.synchronize()
        one = replay_us(graph_of(launch, 1), 1)
        count = max(1, min(MAX_LAUNCHES, int(ROUND_US / max(one, 1.0))))
        graphs[name] = graph_of(launch, count), count
    times: dict[str, list[float]] = {name: [] for name in launches}
    for timed in range(-1, rounds):
        for name, (graph, count) in graphs.items():
            us = replay_us(graph, count)
            if timed >= 0:
                times[name].append(us)
    return {name: median(values) for name, values in times.items()}


def run_case(case: Case) -> dict[str, Any]:
    """Times and errors of `case` as plain values; `kernel` and each SDPA backend that takes it."""
    q, k, v, out = tensors_of(case)
    limits, spec = device_limits(q.device), case.variant.spec
    tile = TileConfig() if spec.keeps_tile else spec.default_tile(case, limits, case.precision)
    trace = TileTrace.unwritten(case.batch * case.heads, case.m, case.n, tile.block_n, q.device)
    launches: dict[str, Launch] = {
        "kernel": launch_of(case, tile, (q, k, v, out)),
        "traced": launch_of(case, tile, (q, k, v, torch.empty_like(out)), trace),
        "auto": lambda: _sdpa(q, k, v, case.causal),
    }
    launches |= {name: _forced(name, q, k, v, case.causal) for name in BACKENDS if _takes(name, q, k, v, case.causal)}
    launches["kernel"]()
    sample = slice(0, 1)  # of the batch: float64 of the largest cases takes more than a GPU has
    expected = attention(q[sample], k[sample], v[sample], causal=case.causal)
    errors = {"kernel": _error(out[sample], expected)}
    for name in launches.keys() - {"kernel", "traced"}:
        theirs = launches[name]()
        assert isinstance(theirs, torch.Tensor)
        errors[name] = _error(theirs[sample], expected)
    times = interleaved_us(launches)
    return {
        **asdict(case),
        "title": case.title,
        "tile": asdict(with_resolved_splits(case, tile, limits.sm_count)),
        "options": ", ".join(tile.option_words),
        "us": times,
        "tflops": {name: case.flops / us / 1e6 for name, us in times.items()},
        "max_error": errors,
        "allowed_error": errors["auto"] if case.max_error is None else case.max_error,
    }


def tensors_of(case: Case) -> tuple[torch.Tensor, ...]:
    """Q, K and V of `case`, the same every time, and an output filled with NaN."""
    generator = torch.Generator("cuda").manual_seed(0)
    shapes = [(case.batch, case.heads, rows, case.d) for rows in (case.m, case.n, case.n)]
    q, k, v = (torch.randn(s, generator=generator, device="cuda").to(DTYPES[case.dtype]) for s in shapes)
    return q, k, v, torch.full_like(q, float("nan"))


def launch_of(
    case: Case, tile: TileConfig, tensors: tuple[torch.Tensor, ...], trace: TileTrace | None = None
) -> Launch:
    """The launch of the case's kernel on such tensors."""
    q, k, v, out = tensors
    launch = case.variant.launch
    return lambda: launch(q, k, v, out, tile=tile, precision=case.precision, causal=case.causal, trace=trace)


def _sdpa(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Every case has equal M and N where it is causal, so PyTorch's own alignment is ours."""
    return scaled_dot_product_attention(q, k, v, is_causal=causal)


def _forced(name: str, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> Launch:
    def launch() -> torch.Tensor:
        with sdpa_kernel(BACKENDS[name]):
            return _sdpa(q, k, v, causal)

    return launch


def _takes(name: str, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch says for each backend why it was not taken
            _forced(name, q[:1, :1], k[:1, :1], v[:1, :1], causal)()
        # The math backend keeps all scores: with many heads it takes twenty times as long as any other.
        return name != "math" or 4 * q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2] <= MATH_SCORES_BYTES
    except RuntimeError:
        return False


def _error(out: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest |out - expected|; a NaN stays one."""
    return float((out.double() - expected).abs().max())


def environment() -> dict[str, str]:
    """What the figures depend on."""
    return {
        "device": torch.cuda.get_device_name(),
        "torch": str(torch.__version__),
        "triton": triton.__version__,
        "python": platform.python_version(),
        "cuda": torch.version.cuda or "",
        "date": date.today().isoformat(),
        "method": f"graph replay, median of {ROUNDS} interleaved rounds",
    }


HEADER = (
    "| problem | kernel | tile | µs | TFLOP/s | SDPA auto µs | best SDPA µs "
    "| × auto | × best | error | SDPA's | traced |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def table_line(result: dict[str, Any]) -> str:
    """One result as a line of a Markdown table; a wrong one says so before its speed."""
    us, errors, tile = result["us"], result["max_error"], result["tile"]
    rivals = {name: time for name, time in us.items() if name not in ("kernel", "traced")}
    best = min(rivals, key=lambda name: rivals[name])
    precision = f" {result['precision']}" if result["dtype"] == "fp32" else ""
    splits = f", {tile['splits']} splits" if tile["splits"] > 1 else ""
    over = "" if errors["kernel"] <= result["allowed_error"] else f" OVER {result['allowed_error']:.1e}"
    cells = (
        result["title"],
        result["kernel"] + precision,
        f"{tile['block_m']} × {tile['block_n']}, {result['options']}{splits}",
        f"{us['kernel']:.1f}",
        f"{result['tflops']['kernel']:.0f}",
        f"{us['auto']:.1f}",
        f"{us[best]:.1f} ({best})",
        f"{us['auto'] / us['kernel']:.2f}",
        f"{us[best] / us['kernel']:.2f}",
        f"{errors['kernel']:.1e}{over}",
        f"{errors['auto']:.1e}",
        f"{us['traced'] / us['kernel']:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Run the cases and print the table; 1 if an error is too large, 2 for a bad option, 3 without a GPU."""
    parser = argparse.ArgumentParser(prog="python -m kernels.measured.bench", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there as well")
    names = sorted({case.kernel for case in CASES})
    parser.add_argument("--kernel", choices=names, help="only this kernel's cases")
    options = parser.parse_args()
    if options.json is not None and not os.access(options.json.parent, os.W_OK):
        print(f"kernels.measured.bench: json is {options.json}; expected a file that can be written", file=sys.stderr)
        return 2
    if not torch.cuda.is_available():
        print("kernels.measured.bench: no NVIDIA GPU that torch can use; these are GPU times", file=sys.stderr)
        return 3
    limits = device_limits(torch.device("cuda"))
    refused = {v.name: v.refusal(limits) for v in VARIANTS if v.refusal(limits)}
    for reason in refused.values():
        print(f"kernels.measured.bench: left out: {reason}", file=sys.stderr)
    where = environment()
    print(f"{where['device']}, torch {where['torch']}, triton {where['triton']}, {where['date']}; {where['method']}\n")
    print(HEADER)
    results = []
    for case in CASES:
        if case.kernel in refused or options.kernel not in (None, case.kernel):
            continue
        results.append(run_case(case))
        print(table_line(results[-1]), flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps({"environment": where, "results": results}, indent=1), encoding="utf-8")
    right = all(result["max_error"]["kernel"] <= result["allowed_error"] for result in results)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
