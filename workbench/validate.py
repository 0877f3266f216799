"""Says in one line what cannot work about a request, before anything is started.

The form marks its fields with these lines, the command line prints them, and the engine asks once more.
Rules that need the device or the kernels apply once the engine has announced them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench import model
from workbench.model import BaselineInfo, DeviceInfo, Problem, RunRequest, TileConfig, VariantInfo

MAX_D = 256
BLOCK_RANGE = (16, 256)
WARPS = (1, 2, 4, 8, 16, 32)
STAGES = range(1, 9)
MAX_SIDE = 2**24
TRACE_LIMIT_BYTES = 192 * 2**20


@dataclass(frozen=True)
class Fault:
    """One thing that cannot work: the request's field, and a line with its value and what is allowed."""

    field: str
    message: str


def find_faults(
    request: RunRequest,
    device: DeviceInfo | None = None,
    variants: Sequence[VariantInfo] = (),
    baselines: Sequence[BaselineInfo] = (),
) -> tuple[Fault, ...]:
    """Everything that cannot work about `request`, in the order of the form; empty if it can run."""
    faults = [*_problem_faults(request.problem), *_tile_faults(request.tile), *_choice_faults(request)]
    if variants:
        faults += _variant_faults(request, variants)
    if baselines:
        faults += _baseline_faults(request, baselines, device)
    if device is not None and not faults:
        faults += _memory_faults(request, device)
    return tuple(faults)


def trace_bytes(request: RunRequest) -> int:
    """Bytes of the three state arrays (tile maximum, running m, running l) of the traced launch."""
    problem = request.problem
    tiles = -(-problem.n // request.tile.block_n)
    return 3 * 4 * problem.batch * problem.heads * problem.m * tiles


def size_text(count: float) -> str:
    """A number of bytes in the unit people read it in."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def _problem_faults(problem: Problem) -> Iterator[Fault]:
    for name, value in (("m", problem.m), ("n", problem.n)):
        if not 1 <= value <= MAX_SIDE:
            yield Fault(name, f"{name.upper()} is {value}; allowed are 1 to {MAX_SIDE}")
    if not 1 <= problem.d <= MAX_D:
        yield Fault("d", f"D is {problem.d}; allowed are 1 to {MAX_D}")
    for name, value in (("batch", problem.batch), ("heads", problem.heads), ("kv_heads", problem.kv_heads)):
        if value < 1:
            yield Fault(name, f"{name} is {value}; allowed are 1 and more")
    if not 0 <= problem.seed < 2**63:
        yield Fault("seed", f"seed is {problem.seed}; allowed are 0 to 2^63 - 1")


def _tile_faults(tile: TileConfig) -> Iterator[Fault]:
    low, high = BLOCK_RANGE
    for name, value in (("block_m", tile.block_m), ("block_n", tile.block_n)):
        if not low <= value <= high or value & (value - 1):
            yield Fault(name, f"{name.upper()} is {value}; allowed are the powers of two from {low} to {high}")
    if tile.num_warps not in WARPS:
        yield Fault("num_warps", f"num_warps is {tile.num_warps}; allowed are {_listed(WARPS)}")
    if tile.num_stages not in STAGES:
        yield Fault("num_stages", f"num_stages is {tile.num_stages}; allowed are {STAGES[0]} to {STAGES[-1]}")
    if tile.splits < 1:
        yield Fault("splits", f"splits is {tile.splits}; allowed are 1 and more")


def _choice_faults(request: RunRequest) -> Iterator[Fault]:
    choices = (
        ("dtype", request.problem.dtype, model.DTYPES),
        ("inputs", request.problem.inputs, tuple(model.INPUT_DISTRIBUTIONS)),
        ("precision", request.precision, model.PRECISIONS),
        ("sdpa", request.sdpa, model.SDPA_CHOICES),
        ("device", request.device, model.DEVICE_CHOICES),
        ("protocol", request.protocol, model.PROTOCOLS),
    )
    for name, value, allowed in choices:
        if value not in allowed:
            yield Fault(name, f"{name} is {value!r}; allowed are {_listed(allowed)}")
    limit = request.time_limit_s
    if limit is not None and not 0 < limit < float("inf"):
        yield Fault("time_limit_s", f"time limit is {limit:g} s; allowed are finite numbers above 0")
    for name, tolerance in (("rtol", request.rtol), ("atol", request.atol)):
        if not 0 <= tolerance < float("inf"):
            yield Fault(name, f"{name} is {tolerance}; allowed are finite numbers from 0")


def _variant_faults(request: RunRequest, variants: Sequence[VariantInfo]) -> Iterator[Fault]:
    variant = next((v for v in variants if v.name == request.kernel), None)
    if variant is None:
        known = _listed([v.name for v in variants])
        yield Fault("kernel", f"kernel is {request.kernel!r}; allowed are {known}")
        return
    problem, tile = request.problem, request.tile
    if variant.max_d < problem.d <= MAX_D:
        yield Fault("d", f"D is {problem.d}; kernel {variant.name} takes 1 to {variant.max_d}")
    if not tuple(_tile_faults(tile)):
        for name, value in (("block_m", tile.block_m), ("block_n", tile.block_n)):
            if value not in variant.blocks:
                yield Fault(name, f"{name.upper()} is {value}; kernel {variant.name} takes {_listed(variant.blocks)}")
    if problem.dtype in model.DTYPES and problem.dtype not in variant.dtypes:
        yield Fault("dtype", f"dtype is {problem.dtype}; kernel {variant.name} takes {_listed(variant.dtypes)}")
    if request.precision in model.PRECISIONS and request.precision not in variant.precisions:
        allowed = _listed(variant.precisions)
        yield Fault("precision", f"precision is {request.precision}; kernel {variant.name} takes {allowed}")
    if not variant.heads:
        for name, value in (("batch", problem.batch), ("heads", problem.heads), ("kv_heads", problem.kv_heads)):
            if value > 1:
                yield Fault(name, f"{name} is {value}; kernel {variant.name} takes 1")
    if problem.causal and not variant.causal:
        yield Fault("causal", f"causal is on; kernel {variant.name} has no causal mask")
    if tile.splits > 1 and not variant.splits:
        yield Fault("splits", f"splits is {tile.splits}; kernel {variant.name} takes 1")


def _baseline_faults(
    request: RunRequest, baselines: Sequence[BaselineInfo], device: DeviceInfo | None
) -> Iterator[Fault]:
    dtype = request.problem.dtype
    baseline = next((b for b in baselines if b.name == request.sdpa), None)
    if baseline is None or dtype in baseline.dtypes or dtype not in model.DTYPES:
        return
    where = f" on {device.name}" if device is not None else ""
    able = [b.name for b in baselines if dtype in b.dtypes]
    yield Fault(
        "sdpa", f"sdpa is {request.sdpa}, which cannot take {dtype}{where}; allowed are {_listed([*able, 'none'])}"
    )


def _memory_faults(request: RunRequest, device: DeviceInfo) -> Iterator[Fault]:
    """Q, K, V, two outputs, and the float64 copies of the reference must fit beside each other."""
    problem = request.problem
    rows = 3 * problem.m + 2 * problem.n
    need = problem.batch * problem.heads * problem.d * (rows * 4 + (problem.m + 2 * problem.n) * 8)
    if need > device.memory_bytes:
        yield Fault(
            "m",
            f"M x N x D is {problem.shape}, which needs {size_text(need)}; {device.name} has "
            f"{size_text(device.memory_bytes)}: allowed are sizes that fit it",
        )


def _listed(values: Sequence[object]) -> str:
    return ", ".join(str(value) for value in values)
