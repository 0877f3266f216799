"""What things are called: problems, kernels, tiles, baselines and runs."""

from __future__ import annotations

from kernels.plain.tiles import AUTO_SPLITS, TileConfig
from workbench.run.events import Started
from workbench.run.measurement import Measurement, Role
from workbench.run.record import RunRecord
from workbench.run.request import Problem, Rival, RunRequest

OTHER_BASELINES = {"flex": "FlexAttention", "flash_attn": "flash_attn 2", "flash_attn_3": "flash_attn 3"}


def head_text(problem: Problem, number: int) -> str:
    """A head by its number among all, said as people count: "head 13", and with several batches "batch 2, head 5"."""
    batch, head = divmod(number, problem.heads)
    return f"batch {batch + 1}, head {head + 1}" if problem.batch > 1 else f"head {head + 1}"


def heads_text(problem: Problem) -> str:
    """How many heads, as batch x heads, and the KV heads where they are fewer; "" for a single one."""
    if problem.total_heads == 1 and problem.kv_heads == 1:
        return ""
    batch = f"{problem.batch} × " if problem.batch > 1 else ""
    shared = f" / {problem.kv_heads} KV" if problem.kv_heads != problem.heads else ""
    return f"{batch}{problem.heads}{shared} heads"


def kind_text(problem: Problem) -> str:
    """A problem's dtype and mask where they are not the plain ones, else ""."""
    return ", ".join(
        filter(None, (problem.dtype if problem.dtype != "fp32" else "", "causal" if problem.causal else ""))
    )


def inputs_text(problem: Problem) -> str:
    """Which values Q, K and V have, where they are not the plain ones: "zeros inputs, seed 7"; else ""."""
    inputs = f"{problem.inputs} inputs" if problem.inputs != "normal" else ""
    return ", ".join(filter(None, (inputs, f"seed {problem.seed}" if problem.seed else "")))


def problem_text(problem: Problem) -> str:
    """A problem in a line: its shape, then its heads, dtype, mask and inputs where they are not the plain ones."""
    return ", ".join(filter(None, (problem.shape, heads_text(problem), kind_text(problem), inputs_text(problem))))


def versions_text(started: Started) -> str:
    """What a run was made with in a line: torch, Triton, and the revision of the kernel's source or its hash."""
    device, provenance = started.device, started.provenance
    source = provenance.revision[:8] or provenance.source_sha256[:8]
    return ", ".join(filter(None, (f"torch {device.torch}", f"triton {device.triton}", source)))


def kernel_text(kernel: str, precision: str) -> str:
    """A kernel, with the precision of its fp32 products where that is not the full one."""
    return kernel if precision in ("", "ieee") else f"{kernel} {precision}"


def tile_text(tile: TileConfig) -> str:
    """BLOCK_M × BLOCK_N, and the key splits where there are several."""
    splits = f"{splits_text(tile)} splits" if tile.splits != 1 else ""
    return ", ".join(filter(None, (tile.label, splits, *tile.unusual_words)))


def splits_text(tile: TileConfig) -> str:
    """The number of key splits, or that a rule is to choose it."""
    return str(tile.splits) if tile.splits != AUTO_SPLITS else "auto"


def baseline_text(choice: str) -> str:
    """How a baseline is called: attentions other than SDPA by their own names."""
    return OTHER_BASELINES.get(choice, "SDPA")


def rival_text(rival: Rival) -> str:
    """A rival by its kernel, precision and tile."""
    return f"{kernel_text(rival.kernel, rival.precision)} {tile_text(rival.tile)}"


def asked_baseline_text(request: RunRequest) -> str:
    """What a request wants the kernel held against."""
    return baseline_text(request.sdpa) if request.rival is None else rival_text(request.rival)


def named(role: Role, record: RunRecord) -> str:
    """A role of a run in a word or two: the baseline is SDPA, or another attention or kernel by its own name."""
    if role == "kernel":
        return "kernel"
    if record.started.request.rival is not None:
        return rival_text(record.started.request.rival)
    measurement = record.measurement(role)
    return baseline_text(measurement.backend if measurement is not None else record.started.request.sdpa)


def implementation_text(measurement: Measurement) -> str:
    """Who was measured: the kernel with its precision and tile, the baseline with the backend that SDPA took."""
    if measurement.role == "baseline" and measurement.tile is None:
        taken = measurement.backend
        return OTHER_BASELINES.get(taken) or f"SDPA {taken}".rstrip()
    name = kernel_text(measurement.implementation, measurement.precision)
    return f"{name} {tile_text(measurement.tile)}" if measurement.tile is not None else name


def source_text(record: RunRecord) -> str:
    """Which recording a run is from, made where and when; "" of one of this session."""
    started = record.started
    return f"recording: {record.source}, {started.device.name}, {started.started_at[:10]}" if record.source else ""
