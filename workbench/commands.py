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

from workbench import codec
from workbench.engine.host import KernelHost
from workbench.exits import EXIT_FAILED, EXIT_PASSED, EXIT_WRONG, UsageError, check_writable
from workbench.metrics import METRICS, comparable_ratio, format_time, ratio
from workbench.model import (
    Failed,
    Log,
    Measurement,
    Progress,
    Role,
    RunRecord,
    RunRequest,
    Tensors,
    TileStates,
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


def list_kernels() -> int:
    """Print the kernels and the SDPA backends with what each takes here."""
    with _host() as host:
        for event in host.wait_ready():
            if isinstance(event, Failed):
                print(f"tilescope: {event.message}", file=sys.stderr)
                return EXIT_FAILED
        ready = host.ready
    assert ready is not None
    print(f"on {ready.device.name} ({ready.device.mode_label}):")
    for variant in ready.variants:
        takes = f"{', '.join(variant.dtypes)}; D up to {variant.max_d}; blocks {', '.join(map(str, variant.blocks))}"
        print(f"{variant.name:<10}  {variant.description}; takes {takes}")
    for baseline in ready.baselines:
        takes = f"takes {', '.join(baseline.dtypes)}" if baseline.dtypes else "cannot run here"
        print(f"sdpa {baseline.name:<10}  {takes}")
    return EXIT_PASSED


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
    yield f"{request.problem.shape}, {request.problem.dtype}, seed {request.problem.seed}, on {device.name}"
    for check in record.checked:
        name = f"sdpa ({check.backend})" if check.role == "baseline" else f"{check.implementation} {request.tile.label}"
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
        result |= {"tile": codec.plain(request.tile), "precision": request.precision}
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
    names = ("block_m", "block_n", "m_error", "l_error", "bit_equal", "skipped")
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
    arrays = {"q": tensors.q, "k": tensors.k, "v": tensors.v, "out": tensors.out}
    if states.skipped or states.m_tile is None or states.m_running is None or states.l_running is None:
        print(f"tilescope: no states in {path}: {states.skipped}", file=sys.stderr)
    else:
        arrays |= {"m_tile": states.m_tile, "m_running": states.m_running, "l_running": states.l_running}
    with path.open("wb") as file:  # a file, not a name: savez would add .npz to it
        np.savez(file, **arrays)  # type: ignore[arg-type]
