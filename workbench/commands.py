"""The commands that need no window: run, presets, kernels, ceilings."""

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
from workbench.ceilings import RATES, Ceilings
from workbench.engine.host import KernelHost
from workbench.estimate import ASK_ABOVE_SECONDS, duration_words, run_seconds
from workbench.exits import EXIT_FAILED, EXIT_PASSED, EXIT_WRONG, UsageError, check_writable
from workbench.model import (
    CeilingsMeasured,
    Failed,
    Log,
    Progress,
    Ready,
    RunRecord,
    RunRequest,
    Started,
    Tensors,
    TileStates,
    VariantInfo,
)
from workbench.outcome import result_object, summary_lines
from workbench.presets import PRESETS
from workbench.session import RunBuilder, Session, SessionError


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
        _write_trace(trace, record.states, tensors, trace_meta(record, record.states))
    if as_json:
        print(json.dumps(result_object(record)))
    else:
        print("\n".join(summary_lines(record)))
    if isinstance(record.end, Failed):
        return _failed(record.end)
    return EXIT_PASSED if record.passed else EXIT_WRONG


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


def ceilings(device: str, as_json: bool, again: bool) -> int:
    """Print the rates that bound every kernel on the device; measured where none are kept, or `again` is set.

    Raises UsageError on the interpreter, which has none.
    """
    with _host(device) as host:
        for event in host.wait_ready():
            if isinstance(event, Failed):
                return _failed(event)
        assert host.ready is not None
        found = None if again else host.ready.ceilings
        for event in host.measure_ceilings() if found is None else ():
            match event:
                case Progress(phase):
                    print(f"tilescope: {phase}", file=sys.stderr)
                case Log(text):
                    sys.stderr.write(text)
                case CeilingsMeasured(found):
                    pass
                case Failed():
                    return _failed(event)
                case _:
                    pass
    assert found is not None
    print(json.dumps(codec.plain(found)) if as_json else "\n".join(ceiling_lines(found)))
    return EXIT_PASSED


def ceiling_lines(found: Ceilings) -> Iterator[str]:
    """The rates in words, with what they hold for."""
    yield f"{found.device}, driver {found.driver}, torch {found.torch}, measured {found.date}"
    yield f"copy  {found.copy_bytes_per_s / 1e12:6.2f} TB/s, bytes read and bytes written"
    for name in RATES:
        rate = getattr(found, name)
        yield f"{name:<4}  {rate / 1e12:6.1f} TFLOP/s, of one large matrix product" if rate else f"{name:<4}  unknown"


def _failed(failure: Failed) -> int:
    """Say why on stderr; the exit status. Raises UsageError where the request is at fault."""
    if failure.kind == "invalid":
        raise UsageError(failure.message)
    print(f"tilescope: {failure.message}", file=sys.stderr)
    if failure.remedy:
        print(f"tilescope: try: {failure.remedy}", file=sys.stderr)
    return EXIT_FAILED


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


def _run_to_end(request: RunRequest, session: Session | None) -> tuple[RunRecord, Tensors | None]:
    """Run and collect; progress, logs and failures go to stderr as they come."""
    builder = RunBuilder(request)
    tensors, started = None, None
    with _host(request.device) as host:
        for event in host.run(request):
            builder.take(event)
            match event:
                case Progress(phase, 0, _):
                    if started is not None:  # a run that is refused has started, and makes no progress
                        _warn_of_long_run(started)
                        started = None
                    print(f"tilescope: {phase}", file=sys.stderr)
                case Started():
                    started = event
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


def _warn_of_long_run(started: Started) -> None:
    """Say on stderr how long it takes, before it does, where that is long."""
    seconds = run_seconds(started.request) if started.device.mode == "interpreter" else 0.0
    if seconds > ASK_ABOVE_SECONDS:
        words = f"this takes about {duration_words(seconds)} on the interpreter; Ctrl+C stops it"
        print(f"tilescope: {words}", file=sys.stderr)


def trace_meta(record: RunRecord, states: TileStates) -> dict[str, Any]:
    """What the arrays of a trace are of: the request as it was launched, and the order of the heads."""
    request, kernel = record.started.request, record.measurement("kernel")
    problem = request.problem
    tile = kernel.tile if kernel is not None and kernel.tile is not None else request.tile
    return {
        "problem": codec.plain(problem),
        "kernel": request.kernel,
        "tile": codec.plain(tile),
        "precision": request.precision,
        "scale": problem.d**-0.5,
        "split_tiles": states.split_tiles,
        "heads": "number of head = batch * heads + head",
        "heads_kept": list(states.heads or range(problem.total_heads)),
    }


def _write_trace(path: Path, states: TileStates, tensors: Tensors, meta: dict[str, Any]) -> None:
    arrays: dict[str, npt.NDArray[Any]] = {"q": tensors.q, "k": tensors.k, "v": tensors.v, "out": tensors.out}
    arrays["meta"] = np.array(json.dumps(meta))
    if states.skipped or states.m_tile is None or states.m_running is None or states.l_running is None:
        print(f"tilescope: no states in {path}: {states.skipped}", file=sys.stderr)
    else:
        arrays |= {"m_tile": states.m_tile, "m_running": states.m_running, "l_running": states.l_running}
        if states.heads:  # q, k, v and out are of all heads, the states of these
            arrays["heads"] = np.array(states.heads)
    with path.open("wb") as file:  # a file, not a name: savez would add .npz to it
        np.savez(file, **arrays)  # type: ignore[arg-type]
