"""The commands that need no window: run, presets, kernels."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench import codec
from workbench.engine.host import KernelHost
from workbench.exits import EXIT_FAILED, EXIT_PASSED, EXIT_WRONG, UsageError, check_writable
from workbench.metrics import METRICS, comparable_ratio, format_time, ratio
from workbench.model import (
    Failed,
    Log,
    Measurement,
    Progress,
    Ready,
    Role,
    RunRecord,
    RunRequest,
    Tensors,
    TileConfig,
    TileStates,
    VariantInfo,
)
from workbench.presets import PRESETS
from workbench.session import RunBuilder, Session, SessionError

ROLES: tuple[Role, ...] = ("kernel", "baseline")


def run(request: RunRequest, as_json: bool, trace: Path | None, session_path: Path | None) -> int:
    """One run; the result on stdout, everything else on stderr. Returns the exit status of the command line."""
    session = _session(session_path)
    if trace is not None:
        check_writable(trace)
        request = replace(request, keep_tensors=True)
    record, tensors = _run_to_end(request, session)
    if isinstance(record.end, Failed) and record.end.kind == "invalid":
        raise UsageError(record.end.message)
    if trace is not None and record.states is not None and tensors is not None:
        _write_trace(trace, record.states, tensors)
    if as_json:
        print(json.dumps(result_object(record)))
    else:
        print("\n".join(summary_lines(record)))
    if isinstance(record.end, Failed):
        print(f"tilescope: {record.end.message}", file=sys.stderr)
        if record.end.remedy:
            print(f"tilescope: try: {record.end.remedy}", file=sys.stderr)
        return EXIT_FAILED
    return EXIT_PASSED if all(c.error.passed for c in record.checked) else EXIT_WRONG


def list_presets() -> int:
    """Print every preset with its problem and where it comes from."""
    width = max(len(preset.name) for preset in PRESETS)
    for preset in PRESETS:
        print(f"{preset.name:<{width}}  {preset.problem.shape:<18}  {preset.title}")
    return EXIT_PASSED


def list_kernels(as_json: bool) -> int:
    """Print the kernels and the baselines with what each takes here."""
    with _host() as host:
        for event in host.wait_ready():
            if isinstance(event, Failed):
                print(f"tilescope: {event.message}", file=sys.stderr)
                return EXIT_FAILED
        ready = host.ready
    assert ready is not None
    print(json.dumps(kernels_object(ready)) if as_json else "\n".join(kernel_lines(ready)))
    return EXIT_PASSED


def kernels_object(ready: Ready) -> dict[str, Any]:
    """What `kernels --json` prints: the environment, and what each kernel and each baseline takes there."""
    return {
        "environment": codec.environment(ready.device),
        "kernels": [{**codec.plain(one), "runs_here": not one.unavailable} for one in ready.variants],
        "baselines": [{**codec.plain(one), "runs_here": not one.unavailable} for one in ready.baselines],
    }


def kernel_lines(ready: Ready) -> Iterator[str]:
    """The same in words: of each what it is, what it takes, and why it cannot run where it cannot."""
    yield f"on {ready.device.name} ({ready.device.mode_label}):"
    for variant in ready.variants:
        yield f"{variant.name}: {variant.description}"
        yield f"    {_variant_takes(variant)}"
        if variant.unavailable:
            yield f"    cannot run here: {variant.unavailable}"
    for baseline in ready.baselines:
        yield f"sdpa {baseline.name}: {baseline.description}"
        if baseline.unavailable:
            yield f"    cannot run here: {baseline.unavailable}"
        else:
            dims = _dimensions(baseline.min_d, baseline.max_d, baseline.d_step)
            yield f"    takes {', '.join(baseline.dtypes)}; {dims}"


def _variant_takes(variant: VariantInfo) -> str:
    blocks: tuple[tuple[str, tuple[int, ...]], ...] = (("BLOCK_M", variant.block_ms), ("BLOCK_N", variant.block_ns))
    if variant.block_ms == variant.block_ns:
        blocks = (("BLOCK_M and BLOCK_N", variant.block_ms),)
    parts = (
        f"takes {', '.join(variant.dtypes)}",
        f"precision {', '.join(variant.precisions)}",
        _dimensions(1, variant.max_d, variant.d_step),
        "heads and grouped heads" if variant.heads else "one head",
        "causal or not" if variant.causal else "no causal mask",
        "splits of the keys" if variant.splits else "no splits",
        *(f"{name} {', '.join(map(str, sizes))}" for name, sizes in (*blocks, ("num_warps", variant.warps))),
    )
    return "; ".join(parts)


def _dimensions(low: int, high: int, step: int) -> str:
    """The values of D that something takes."""
    span = f"D up to {high}" if low == 1 else f"D from {low} to {high}"
    return span if step == 1 else f"{span} in multiples of {step}"


def result_object(record: RunRecord) -> dict[str, Any]:
    """What `run --json` prints: the problem, the environment, one result an implementation, the ratio."""
    kernel, baseline = record.measurement("kernel"), record.measurement("baseline")
    failure = record.end if isinstance(record.end, Failed) else None
    wanted: list[Role] = ["kernel"] if record.started.request.sdpa == "none" else ["kernel", "baseline"]
    results = [_result(record, role, failure) for role in wanted]
    both = ratio(kernel, baseline) if kernel is not None and baseline is not None else None
    return {
        "problem": codec.plain(record.started.request.problem),
        "environment": {**codec.environment(record.started.device), "started_at": record.started.started_at},
        "results": results,
        # Of a wrong result, or on the interpreter, the quotient says nothing; "comparable" tells.
        "ratio": None if both is None else {**codec.plain(both), "comparable": comparable_ratio(record) is not None},
        "failure": codec.plain(failure),
        "trace": _trace_object(record.states),
    }


def summary_lines(record: RunRecord) -> Iterator[str]:
    """A run in words, the verdict on its correctness before its speed."""
    device, request = record.started.device, record.started.request
    yield f"{_problem_text(request)}, seed {request.problem.seed}, on {device.name}"
    for check in record.checked:
        name = f"sdpa ({check.backend})" if check.role == "baseline" else _kernel_text(record)
        verdict = "passed" if check.error.passed else "WRONG"
        yield f"{name}: {verdict}, max error {check.error.max_abs:.2e} at rtol {request.rtol:g}, atol {request.atol:g}"
        measured = record.measurement(check.role)
        if measured is not None:
            yield f"  {_latency_text(measured)}"
    both = comparable_ratio(record)
    if device.mode == "interpreter":
        yield f"times are on the host's clock: {device.mode_label}"
    elif both is not None:
        yield f"SDPA takes {both.baseline_over_kernel:.3g} times the kernel's time ({both.low:.3g} to {both.high:.3g})"


def _problem_text(request: RunRequest) -> str:
    problem = request.problem
    heads = f"{problem.batch} x {problem.heads} heads ({problem.kv_heads} of keys), " if problem.total_heads > 1 else ""
    precision = "" if problem.dtype != "fp32" or request.precision == "ieee" else f" ({request.precision})"
    return f"{heads}{problem.shape}, {problem.dtype}{precision}{', causal' if problem.causal else ''}"


def _kernel_text(record: RunRecord) -> str:
    """The kernel with the tile as launched."""
    tile = _launched_tile(record)
    splits = f", {tile.splits} splits" if tile.splits > 1 else ""
    return f"{record.started.request.kernel} {tile.label}{splits}"


def _launched_tile(record: RunRecord) -> TileConfig:
    """The tile with the key splits that were made, where the run came so far; else the request's."""
    measured = record.measurement("kernel")
    return measured.tile if measured is not None and measured.tile is not None else record.started.request.tile


def _latency_text(measured: Measurement) -> str:
    latency = measured.latency
    return (
        f"median {format_time(latency.median)} (p20 {format_time(latency.p20)}, p80 {format_time(latency.p80)}), "
        f"average of the block {format_time(latency.block_average_us)}; {latency.launches} launches, {latency.clock}"
    )


def _result(record: RunRecord, role: Role, failure: Failed | None) -> dict[str, Any]:
    request = record.started.request
    check, measured = record.check(role), record.measurement(role)
    result: dict[str, Any] = {
        "implementation": request.kernel if role == "kernel" else "sdpa",
        "role": role,
        "status": "ok" if measured is not None else "failed",
        "failure": codec.plain(_failure_of(record, role, failure)),
    }
    if role == "kernel":
        result |= {"tile": codec.plain(_launched_tile(record)), "precision": request.precision}
        result["resources"] = codec.plain(measured.resources) if measured is not None else None
    else:
        result["backend"] = check.backend if check is not None else request.sdpa
    result["latency"] = None if measured is None else _latency_object(measured)
    result["error"] = codec.plain(check.error) if check is not None else None
    result["metrics"] = None if measured is None else {m.name: codec.plain(m.value(measured)) for m in METRICS}
    return result


def _failure_of(record: RunRecord, role: Role, failure: Failed | None) -> Failed | None:
    """The run's failure, for the implementation whose turn it was; for the other one, that it had no turn."""
    if failure is None or record.measurement(role) is not None:
        return None
    unchecked: list[Role] = [r for r in ROLES if record.check(r) is None]
    unmeasured: list[Role] = [r for r in ROLES if record.measurement(r) is None]
    culprit = (unchecked or unmeasured)[0]
    return failure if role == culprit else Failed("cancelled", f"not measured: the run failed at the {culprit}")


def _latency_object(measured: Measurement) -> dict[str, Any]:
    latency = measured.latency
    summary = {"median": latency.median, "p20": latency.p20, "p80": latency.p80}
    return {**codec.plain(latency), **summary}


def _trace_object(states: TileStates | None) -> dict[str, Any] | None:
    if states is None:
        return None
    names = ("block_m", "block_n", "m_error", "l_error", "bit_equal", "skipped", "split_tiles", "heads")
    return {name: codec.plain(getattr(states, name)) for name in names}


def _run_to_end(request: RunRequest, session: Session | None) -> tuple[RunRecord, Tensors | None]:
    """Run and collect; progress, logs and failures go to stderr as they come."""
    builder = RunBuilder(request)
    tensors = None
    with _host(request.device) as host:
        for event in host.run(request):
            builder.take(event)
            match event:
                case Progress(phase, 0, _):
                    print(f"tilescope: {phase}", file=sys.stderr)
                case Log(text):
                    sys.stderr.write(text)
                case Tensors():
                    tensors = event
                case _:
                    pass
    record = builder.record()
    refused = isinstance(record.end, Failed) and record.end.kind == "invalid"
    if session is not None and not refused:
        record = session.add(record)
    return record, tensors


@contextmanager
def _host(device: str = "auto") -> Iterator[KernelHost]:
    host = KernelHost(device)
    try:
        yield host
    finally:
        host.close()


def _session(path: Path | None) -> Session | None:
    """The session to keep runs in. Raises UsageError if it cannot be written."""
    if path is None:
        return None
    session = Session(path)
    try:
        session.check()
    except SessionError as error:
        raise UsageError(str(error)) from error
    return session


def _write_trace(path: Path, states: TileStates, tensors: Tensors) -> None:
    arrays: dict[str, npt.NDArray[Any]] = {"q": tensors.q, "k": tensors.k, "v": tensors.v, "out": tensors.out}
    if states.skipped or states.m_tile is None or states.m_running is None or states.l_running is None:
        print(f"tilescope: no states in {path}: {states.skipped}", file=sys.stderr)
    else:
        arrays |= {"m_tile": states.m_tile, "m_running": states.m_running, "l_running": states.l_running}
        if states.heads:  # q, k, v and out are of all heads, the states of these
            arrays["heads"] = np.array(states.heads)
    with path.open("wb") as file:  # a file, not a name: savez would add .npz to it
        np.savez(file, **arrays)  # type: ignore[arg-type]
