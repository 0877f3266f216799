"""Says in one line what cannot work about a request, before anything is started.

The form marks its fields with these lines, the command line prints them, and the engine asks once more.
Rules that need the device or the kernels apply once the engine has announced them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kernels.plain.launch_options import LAUNCH_OPTIONS, listed
from kernels.plain.precisions import EXACT, PRECISIONS
from kernels.plain.spec import LIMITED, KernelSpec
from kernels.plain.tiles import AUTO_SPLITS, BLOCKS, DTYPE_BYTES, MAX_D, TileConfig
from workbench.analysis.estimate import REFUSE_ABOVE_SECONDS, duration_words, run_seconds
from workbench.analysis.traffic import size_text
from workbench.run.environment import BaselineInfo, DeviceInfo, KernelInfo, find_kernel
from workbench.run.protocols import AUTO_PROTOCOL, PROTOCOL_CHOICES, PROTOCOLS, protocol_of
from workbench.run.request import (
    DEVICE_CHOICES,
    DTYPES,
    HOST_DTYPES,
    INPUT_DISTRIBUTIONS,
    SDPA_CHOICES,
    TRACE_ROWS,
    Problem,
    RunRequest,
)

WARPGROUP_ROWS = 64  # a block of several warpgroups is no power of two; which of these it takes, a kernel says itself
MAX_SIDE = 2**24
MAX_SPLITS = MAX_SIDE  # a split has a key at least
SPLITS_ALLOWED = f"auto, or 1 to {MAX_SPLITS}"
MAX_HEADS = 2**16
MAX_SECONDS = 600
MAX_SAMPLES = 1_000_000


@dataclass(frozen=True)
class Fault:
    """One thing that cannot work: the request's field, its value with what is wrong about it, and what is allowed."""

    field: str
    found: str
    allowed: str = ""

    @property
    def message(self) -> str:
        """All of it in a line."""
        return "; ".join(filter(None, (self.found, self.allowed)))


def find_faults(
    request: RunRequest,
    device: DeviceInfo | None = None,
    kernels: Sequence[KernelInfo] = (),
    baselines: Sequence[BaselineInfo] = (),
) -> tuple[Fault, ...]:
    """Everything that cannot work about `request`, in the order of the form; empty if it can run."""
    kernel = find_kernel(kernels, request.kernel)
    faults = [*_problem_faults(request.problem), *_tile_faults(request, kernel), *_choice_faults(request)]
    if kernel is not None:
        faults += _kernel_faults(request, kernel, kernels, _multiplies_wrongly(request, device))
    elif kernels:
        names = _listed([kernel.name for kernel in kernels])
        faults.append(Fault("kernel", f"kernel is {request.kernel!r}; allowed are {names}"))
    if device is not None:
        faults += [*_interpreter_faults(request, device, kernel), *_torch_faults(request, device)]
    faults += _rival_faults(request, device, kernels)
    if baselines:
        faults += _baseline_faults(request, baselines, device)
    if device is not None and not faults:
        faults += [*_memory_faults(request, device, kernel)] or _time_faults(request, device)
    return tuple(faults)


def _problem_faults(problem: Problem) -> Iterator[Fault]:
    most = {"m": MAX_SIDE, "n": MAX_SIDE, "d": MAX_D, "batch": MAX_HEADS, "heads": MAX_HEADS, "kv_heads": MAX_HEADS}
    for name, limit in most.items():
        if not 1 <= (value := getattr(problem, name)) <= limit:
            label = name.upper() if len(name) == 1 else name
            yield Fault(name, f"{label} is {value}", f"allowed are 1 to {limit}")
    if problem.heads > 0 < problem.kv_heads and problem.heads % problem.kv_heads:
        divisors = _listed([count for count in range(1, problem.heads + 1) if problem.heads % count == 0])
        yield Fault("kv_heads", f"kv_heads is {problem.kv_heads}", f"allowed are the divisors of heads: {divisors}")
    if not 0 <= problem.seed < 2**63:
        yield Fault("seed", f"seed is {problem.seed}", "allowed are 0 to 2^63 - 1")


def _tile_faults(request: RunRequest, kernel: KernelInfo | None) -> Iterator[Fault]:
    """What no kernel takes, less what a known `kernel` says itself; a field that the engine is to choose passes."""
    passed = (*request.auto_tile, *(LIMITED if kernel is not None else ()))
    return (fault for fault in _all_tile_faults(request.tile) if fault.field not in passed)


def _all_tile_faults(tile: TileConfig) -> Iterator[Fault]:
    low, high = BLOCKS[0], BLOCKS[-1]
    for name, value in (("block_m", tile.block_m), ("block_n", tile.block_n)):
        if not low <= value <= high or (value & (value - 1) and value % WARPGROUP_ROWS):
            yield Fault(name, f"{name.upper()} is {value}", f"allowed are the powers of two from {low} to {high}")
    for option in LAUNCH_OPTIONS:
        if (value := getattr(tile, option.name)) not in option.allowed:
            yield Fault(option.name, f"{option.name} is {value}", f"allowed are {listed(option.allowed)}")
    if not AUTO_SPLITS <= tile.splits <= MAX_SPLITS:
        yield Fault("splits", f"splits is {tile.splits}", f"allowed are {SPLITS_ALLOWED}")


def _choice_faults(request: RunRequest) -> Iterator[Fault]:
    choices = (
        ("dtype", request.problem.dtype, DTYPES),
        ("inputs", request.problem.inputs, tuple(INPUT_DISTRIBUTIONS)),
        ("precision", request.precision, PRECISIONS),
        ("sdpa", request.sdpa, SDPA_CHOICES),
        ("device", request.device, DEVICE_CHOICES),
        ("trace_rows", request.trace_rows, TRACE_ROWS),
        ("protocol", request.protocol, PROTOCOL_CHOICES),
    )
    for name, value, allowed in choices:
        if value not in tuple(allowed):
            yield Fault(name, f"{name} is {value!r}", f"allowed are {_listed(tuple(allowed))}")
    limit = request.time_limit_s
    if limit is not None and not 0 < limit < float("inf"):
        yield Fault("time_limit_s", f"time limit is {limit:g} s", "allowed are finite numbers above 0")
    if not 0 < request.max_seconds <= MAX_SECONDS:
        yield Fault("max_seconds", f"max seconds is {request.max_seconds:g}", f"allowed are above 0 to {MAX_SECONDS}")
    if not 1 <= request.max_samples <= MAX_SAMPLES:
        yield Fault("max_samples", f"max samples is {request.max_samples}", f"allowed are 1 to {MAX_SAMPLES}")
    for name, tolerance in (("rtol", request.rtol), ("atol", request.atol)):
        if not 0 <= tolerance < float("inf"):
            yield Fault(name, f"{name} is {tolerance}", "allowed are finite numbers from 0")


def _kernel_faults(
    request: RunRequest, kernel: KernelInfo, kernels: Sequence[KernelInfo], said: bool
) -> Iterator[Fault]:
    """What the kernel does not take; its dtype is left out where it is `said` with the device's faults."""
    if kernel.unavailable:
        able = _listed([k.name for k in kernels if not k.unavailable])
        yield Fault("kernel", kernel.unavailable, f"allowed are {able}" if able else "")
        return  # what it would take elsewhere says nothing of here
    yield from (f for f in _kernel_problem_faults(request.problem, kernel) if not (said and f.field == "dtype"))
    yield from _kernel_tile_faults(request, kernel.spec)
    yield from _precision_faults(request, kernel.spec)


def _kernel_problem_faults(problem: Problem, kernel: KernelInfo) -> Iterator[Fault]:
    spec = kernel.spec
    if spec.max_d < problem.d <= MAX_D:
        yield Fault("d", f"D is {problem.d}", f"kernel {spec.name} takes 1 to {spec.max_d}")
    elif problem.d % spec.d_step and 1 <= problem.d <= MAX_D:
        yield Fault("d", f"D is {problem.d}", f"kernel {spec.name} takes multiples of {spec.d_step}")
    if problem.dtype in DTYPES and problem.dtype not in kernel.dtypes:
        yield Fault("dtype", f"dtype is {problem.dtype}", f"kernel {spec.name} takes {_listed(kernel.dtypes)}")
    if not spec.heads:
        for name, value in (("batch", problem.batch), ("heads", problem.heads)):
            if 1 < value <= MAX_HEADS:
                yield Fault(name, f"{name} is {value}", f"kernel {spec.name} takes 1")
    if problem.causal and not spec.causal:
        yield Fault("causal", "causal is on", f"kernel {spec.name} has no causal mask")


def _kernel_tile_faults(request: RunRequest, spec: KernelSpec) -> Iterator[Fault]:
    tile, d = request.tile, request.problem.d
    for name in LIMITED:
        value, allowed, why = getattr(tile, name), spec.allowed(name, d), spec.why(name, d)
        if value not in allowed and name not in request.auto_tile:
            label = name.upper() if name.startswith("block") else name
            takes = f"kernel {spec.name} takes {listed(allowed)}"
            yield Fault(name, f"{label} is {value}", f"{takes}: {why}" if why else takes)
    if 1 < tile.splits <= MAX_SPLITS and not spec.splits and "splits" not in request.auto_tile:
        yield Fault("splits", f"splits is {tile.splits}", f"kernel {spec.name} takes 1")


def _precision_faults(request: RunRequest, spec: KernelSpec) -> Iterator[Fault]:
    """Of 16-bit inputs the products are exact in fp32, so that there is nothing to choose."""
    dtype, precision = request.problem.dtype, request.precision
    if precision not in PRECISIONS:
        return
    if dtype != "fp32" and precision != EXACT:
        yield Fault("precision", f"precision is {precision}", f"{dtype} takes {EXACT} alone, its products being exact")
    elif dtype == "fp32" and precision not in spec.precisions:
        why = ", which needs a newer Triton" if precision in spec.newer_precisions else ""
        allowed = _listed(spec.precisions)
        yield Fault("precision", f"precision is {precision}{why}", f"kernel {spec.name} takes {allowed}")


def _interpreter_faults(request: RunRequest, device: DeviceInfo, kernel: KernelInfo | None) -> Iterator[Fault]:
    """Protocols of a GPU; and bf16, which it multiplies wrongly."""
    if device.mode != "interpreter":
        return
    if why := protocol_of(request.protocol).needs_gpu:
        allowed = _listed([name for name, protocol in PROTOCOLS.items() if not protocol.needs_gpu])
        found = f"protocol is {request.protocol}, which {why}"
        yield Fault("protocol", found, f"on the interpreter allowed are {allowed}")
    if _multiplies_wrongly(request, device):
        takes = kernel.dtypes if kernel is not None and not kernel.unavailable else DTYPES
        allowed = _listed([dtype for dtype in takes if dtype in HOST_DTYPES]) or "other kernels"
        found = f"dtype is {request.problem.dtype}, which Triton's interpreter multiplies wrongly"
        yield Fault("dtype", found, f"allowed are {allowed}")


def _torch_faults(request: RunRequest, device: DeviceInfo) -> Iterator[Fault]:
    """What an older torch lacks; a version that cannot be read is let through."""
    match, least = re.match(r"(\d+)\.(\d+)", device.torch), protocol_of(request.protocol).least_torch
    if device.mode != "cuda" or match is None:
        return
    version = tuple(map(int, match.groups()))
    if version < least:
        needs = ".".join(map(str, least))
        allowed = _listed([name for name, protocol in PROTOCOLS.items() if version >= protocol.least_torch])
        why = f"protocol is {request.protocol}, which needs torch {needs} or newer, and this is {device.torch}"
        yield Fault("protocol", why, f"allowed are {allowed}")


def _multiplies_wrongly(request: RunRequest, device: DeviceInfo | None) -> bool:
    """Whether the device is the interpreter, and the dtype one that it does not multiply rightly."""
    dtype, mode = request.problem.dtype, device.mode if device is not None else "cuda"
    return mode == "interpreter" and dtype in DTYPES and dtype not in HOST_DTYPES


def _rival_faults(request: RunRequest, device: DeviceInfo | None, kernels: Sequence[KernelInfo]) -> Iterator[Fault]:
    """What the rival cannot take of the problem; that both cannot be timed in turns, or that SDPA is asked for too."""
    rival = request.rival
    if rival is None:
        return
    if request.sdpa != "none":
        yield Fault("sdpa", f"sdpa is {request.sdpa}, and a rival is in its place", "allowed beside a rival is none")
    if request.protocol != AUTO_PROTOCOL and not protocol_of(request.protocol).takes_turns:
        allowed = _listed([name for name, protocol in PROTOCOLS.items() if protocol.takes_turns])
        found = f"protocol is {request.protocol}, which launches one after the other and not in turns"
        yield Fault("protocol", found, f"allowed beside a rival are {allowed}")
    alone = replace(request, kernel=rival.kernel, tile=rival.tile, precision=rival.precision, rival=None, auto_tile=())
    said = {fault.message for fault in find_faults(replace(request, rival=None), device, kernels)}
    for fault in find_faults(alone, device, kernels):
        if fault.message not in said:
            yield Fault("rival", f"of the rival {fault.found}", fault.allowed)


def _baseline_faults(
    request: RunRequest, baselines: Sequence[BaselineInfo], device: DeviceInfo | None
) -> Iterator[Fault]:
    """One line at most: why the chosen baseline cannot take this problem, and which can."""
    chosen, problem = request.sdpa, request.problem
    if chosen == "none" or chosen not in SDPA_CHOICES or problem.dtype not in DTYPES:
        return
    baseline = next((b for b in baselines if b.name == chosen), None)
    where = f" on {device.name}" if device is not None else ""
    reason = "which is not installed here" if baseline is None else _refusal(baseline, problem, where)
    if reason:
        able = [b.name for b in baselines if not _refusal(b, problem, where)]
        yield Fault("sdpa", f"sdpa is {chosen}, {reason}", f"allowed are {_listed([*able, 'none'])}")


def _refusal(baseline: BaselineInfo, problem: Problem, where: str) -> str:
    """Why `baseline` cannot take `problem`, as a clause; "" if it can."""
    if baseline.unavailable:
        return f"which cannot run{where}: {baseline.unavailable}"
    if problem.dtype not in baseline.dtypes:
        return f"which cannot take {problem.dtype}{where}"
    if not baseline.min_d <= problem.d <= baseline.max_d and 1 <= problem.d <= MAX_D:
        return f"which takes D from {baseline.min_d} to {baseline.max_d}, not {problem.d}"
    if problem.d % baseline.d_step and 1 <= problem.d <= MAX_D:
        return f"which takes D in multiples of {baseline.d_step}, not {problem.d}"
    return ""


def _memory_faults(request: RunRequest, device: DeviceInfo, kernel: KernelInfo | None) -> Iterator[Fault]:
    """Q, K, V, five outputs (two checked, one timed, two of the recheck) and the float64 reference must fit together.

    A kernel that writes S and P needs room for both, of all heads. What is made of one head at a time (its float64
    K and V, the comparison) counts once.
    """
    problem = request.problem
    item = DTYPE_BYTES[problem.dtype]
    queries, keys = problem.total_heads * problem.m, problem.batch * problem.kv_heads * problem.n
    need = problem.d * (queries * (6 * item + 8) + keys * 2 * item + (2 * problem.m + 2 * problem.n) * 8)
    parts = ""
    if kernel is not None and (scores := kernel.spec.movement.scores_bytes(problem)):
        need, parts = need + scores, f", {size_text(scores)} of it for S and P"
    if need > device.memory_bytes:
        found = f"{_sizes_text(problem)}, which needs {size_text(need)}{parts}"
        yield Fault("m", found, f"{device.name} has {size_text(device.memory_bytes)}: allowed are sizes that fit it")


def _time_faults(request: RunRequest, device: DeviceInfo) -> Iterator[Fault]:
    """What would go on for days on the interpreter; not asked before the tile is chosen, which decides it."""
    if device.mode != "interpreter" or request.auto_tile:
        return
    seconds = run_seconds(request)
    if seconds > REFUSE_ABOVE_SECONDS:
        found = f"{_sizes_text(request.problem)}, which takes about {duration_words(seconds)} on the interpreter"
        yield Fault("m", found, f"allowed is up to {duration_words(REFUSE_ABOVE_SECONDS)}")


def _sizes_text(problem: Problem) -> str:
    heads = f"{problem.batch} x {problem.heads} heads, " if problem.total_heads > 1 else ""
    return f"{heads}M x N x D is {problem.shape}"


def _listed(values: Sequence[object]) -> str:
    return ", ".join(str(value) for value in values)
