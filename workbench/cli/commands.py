"""The commands that need no window: run, presets, kernels, ceilings."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from kernels.plain.launch_options import LAUNCH_OPTIONS, listed
from workbench.analysis.estimate import ASK_ABOVE_SECONDS, duration_words, run_seconds
from workbench.analysis.listing.fields import INDEX
from workbench.analysis.presets import PRESETS
from workbench.cli import exits
from workbench.cli.exits import UsageError
from workbench.cli.outcome import result_object, summary_lines
from workbench.cli.output import OutputError, note, on_interrupt, out, pass_on
from workbench.cli.trace_file import trace_meta, write_trace
from workbench.engine.host.process import KernelHost
from workbench.run import codec
from workbench.run.ceilings import RATES, Ceilings
from workbench.run.environment import KernelInfo
from workbench.run.events import CeilingsMeasured, Failed, Log, Progress, Ready, Started, Tensors
from workbench.run.record import RunBuilder, RunRecord
from workbench.run.request import RunRequest
from workbench.run.session import Session, SessionError
from workbench.words.results import remedy_text


def run(request: RunRequest, as_json: bool, trace: Path | None, session_path: Path | None) -> int:
    """One run; the result on stdout, everything else on stderr. Returns the exit status of the command line.

    That is the run's own, also where its result cannot be printed or kept; it is 3 where a run that passed could not.
    """
    session = Session(session_path, index=INDEX) if session_path is not None else None
    if session is not None:
        with exits.refusing(SessionError):
            session.check()
    if trace is not None:
        exits.check_writable(trace)
        request = replace(request, keep_tensors=True)
    record, tensors, is_interrupted = _run_to_end(request)
    if isinstance(record.end, Failed) and record.end.kind == "invalid":
        raise UsageError(record.end.message)
    steps: list[Callable[[], object]] = [lambda: _print_result(record, as_json)]
    if session is not None and not record.found_nothing:
        steps.insert(0, lambda: session.add(record))
    if trace is not None:
        steps.append(lambda: _write_trace(record, tensors, trace))
    spoiled = [step for step in steps if not _succeeds(step)]
    if is_interrupted:
        note("stopped")
        return exits.EXIT_INTERRUPTED
    if isinstance(record.end, Failed):
        return _failed(record.end)
    return exits.EXIT_WRONG if not record.passed else exits.EXIT_FAILED if spoiled else exits.EXIT_PASSED


def _succeeds(step: Callable[[], object]) -> bool:
    """Whether `step` could do what it does with a file; says why where not, so that the next step has its turn."""
    try:
        step()
    except (OutputError, SessionError) as error:
        note(str(error))
        return False
    return True


def _print_result(record: RunRecord, as_json: bool) -> None:
    if as_json:
        out(json.dumps(result_object(record)))
    elif not record.found_nothing:
        out("\n".join(summary_lines(record)))


def list_presets() -> int:
    """Print every preset with its problem and where it comes from."""
    width = max(len(preset.name) for preset in PRESETS)
    out("\n".join(f"{one.name:<{width}}  {one.problem.shape:<18}  {one.title}" for one in PRESETS))
    return exits.EXIT_PASSED


def list_kernels(as_json: bool) -> int:
    """Print the kernels and the baselines with what each takes here."""
    ready = announcement()
    if isinstance(ready, Failed):
        return _failed(ready)
    out(json.dumps(kernels_object(ready)) if as_json else "\n".join(kernel_lines(ready)))
    return exits.EXIT_PASSED


def announcement(device: str = "auto") -> Ready | Failed:
    """What an engine on `device` says when it starts, or why it cannot; it is ended again."""
    with _host(device) as host:
        *_, last = host.wait_ready()
    assert isinstance(last, Ready | Failed)
    return last


def ceilings(device: str, as_json: bool, again: bool) -> int:
    """Print the rates that a kernel is held against on the device; measured where none are kept, or `again` is set.

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
                    note(phase)
                case Log(text):
                    pass_on(text)
                case CeilingsMeasured(found):
                    pass
                case Failed():
                    return _failed(event)
    assert found is not None
    out(json.dumps(codec.plain(found)) if as_json else "\n".join(ceiling_lines(found)))
    return exits.EXIT_PASSED


def ceiling_lines(found: Ceilings) -> Iterator[str]:
    """The rates in words, with what they hold for, and what kept the device from its best."""
    limit = f", power limit {found.power_limit_w:.0f} W" if found.power_limit_w is not None else ""
    yield f"{found.device}{limit}, driver {found.driver}, torch {found.torch}, measured {found.date}"
    yield f"copy  {found.copy_bytes_per_s / 1e12:6.2f} TB/s, bytes read and bytes written"
    for name in RATES:
        rate = getattr(found, name)
        yield f"{name:<4}  {rate / 1e12:6.1f} TFLOP/s, of one large matrix product" if rate else f"{name:<4}  unknown"
    yield from (f"warning: {note}" for note in found.notes)


def _failed(failure: Failed) -> int:
    """Say why on stderr; the exit status. Raises UsageError where the request is at fault."""
    if failure.kind == "invalid":
        raise UsageError(failure.message)
    note(failure.message)
    if failure.remedy:
        note(remedy_text(failure))
    return exits.EXIT_FAILED


def kernels_object(ready: Ready) -> dict[str, Any]:
    """What `kernels --json` prints: the environment, and what each kernel and each baseline takes there."""
    return {
        "environment": codec.environment(ready.device),
        "kernels": [_kernel_object(one) for one in ready.kernels],
        "baselines": [{**codec.plain(one), "runs_here": not one.unavailable} for one in ready.baselines],
    }


def kernel_lines(ready: Ready) -> Iterator[str]:
    """The same in words: of each what it is, what it takes, and why it cannot run where it cannot."""
    yield f"on {ready.device.name} ({ready.device.mode_label}):"
    for kernel in ready.kernels:
        yield f"{kernel.name}: {kernel.spec.description}"
        yield f"    {_kernel_takes(kernel)}"
        if kernel.unavailable:
            yield f"    cannot run here: {kernel.unavailable}"
    for baseline in ready.baselines:
        yield f"sdpa {baseline.name}: {baseline.description}"
        if baseline.unavailable:
            yield f"    cannot run here: {baseline.unavailable}"
        else:
            dims = _dimensions(baseline.min_d, baseline.max_d, baseline.d_step)
            yield f"    takes {', '.join(baseline.dtypes)}; {dims}"


def _kernel_object(kernel: KernelInfo) -> dict[str, Any]:
    """Everything known of a kernel, beside what it takes here."""
    here = {"dtypes": kernel.dtypes, "unavailable": kernel.unavailable, "runs_here": not kernel.unavailable}
    return {**codec.plain(kernel.spec), "warps": kernel.spec.allowed("num_warps"), **here}


def _kernel_takes(kernel: KernelInfo) -> str:
    spec = kernel.spec
    blocks = (("BLOCK_M", spec.block_ms), ("BLOCK_N", spec.block_ns))
    parts = (
        f"takes {', '.join(kernel.dtypes)}",
        f"precision {', '.join(spec.precisions)}",
        _dimensions(1, spec.max_d, spec.d_step),
        "heads and grouped heads" if spec.heads else "one head",
        "causal or not" if spec.causal else "no causal mask",
        "splits of the keys" if spec.splits else "no splits",
        *(
            (f"BLOCK_M and BLOCK_N {listed(spec.block_ms)}",)
            if spec.block_ms == spec.block_ns
            else (f"{name} {listed(sizes)}" for name, sizes in blocks)
        ),
        *(f"{one.name} {listed(spec.allowed(one.name))}" for one in LAUNCH_OPTIONS),
    )
    return "; ".join(parts)


def _dimensions(low: int, high: int, step: int) -> str:
    """The values of D that something takes."""
    span = f"D up to {high}" if low == 1 else f"D from {low} to {high}"
    return span if step == 1 else f"{span} in multiples of {step}"


def _run_to_end(request: RunRequest) -> tuple[RunRecord, Tensors | None, bool]:
    """The run, its tensors if it sent them, and whether Ctrl+C stopped it: whatever of it was measured until then.

    Progress, logs and failures go to stderr as they come.
    """
    builder = RunBuilder(request)
    tensors, started = None, None
    interrupts: list[int] = []
    with _host(request.device) as host:

        def stop(number: int, frame: FrameType | None) -> None:
            interrupts.append(number)
            host.stop()
            host.abandon_start()

        host.announce_run()
        with on_interrupt(stop):
            for event in host.run(request):
                builder.take(event)
                match event:
                    case Progress(phase, 0, _):
                        if started is not None:  # a run that is refused has started, and makes no progress
                            _warn_of_long_run(started)
                            started = None
                        note(phase)
                    case Started():
                        started = event
                    case Log(text):
                        pass_on(text)
                    case Tensors():
                        tensors = event
    return builder.record(), tensors, bool(interrupts)


@contextmanager
def _host(device: str = "auto") -> Iterator[KernelHost]:
    """An engine that is ended with the block, also by Ctrl+C."""
    with on_interrupt(signal.default_int_handler), closing(KernelHost(device)) as host:
        yield host


def _warn_of_long_run(started: Started) -> None:
    """Say on stderr how long it takes, before it does, where that is long."""
    seconds = run_seconds(started.request) if started.device.mode == "interpreter" else 0.0
    if seconds > ASK_ABOVE_SECONDS:
        note(f"this takes about {duration_words(seconds)} on the interpreter; Ctrl+C stops it")


def _write_trace(record: RunRecord, tensors: Tensors | None, path: Path) -> None:
    """The trace of a run that came so far. Raises OutputError."""
    if record.states is not None and tensors is not None:
        write_trace(path, record.states, tensors, trace_meta(record, record.states))
