"""`run`: one run without a window, with its result on stdout and everything else on stderr."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType

from workbench.analysis.estimate import ASK_ABOVE_SECONDS, duration_words, run_seconds
from workbench.analysis.listing.fields import INDEX
from workbench.asking.usage import UsageError
from workbench.cli import exits
from workbench.cli.commands import engine, failed
from workbench.cli.outcome import result_object, summary_lines
from workbench.cli.output import OutputError, note, on_interrupt, out, pass_on
from workbench.cli.progress import ProgressLine
from workbench.cli.trace_file import trace_meta, write_trace
from workbench.run.events import Failed, Log, Progress, Started, Tensors
from workbench.run.protocols import protocol_of
from workbench.run.record import RunBuilder, RunRecord
from workbench.run.request import RunRequest
from workbench.run.session import Session, SessionError


def run(
    request: RunRequest, as_json: bool, trace: Path | None, session_path: Path | None, hints: Sequence[str] = ()
) -> int:
    """One run; the result on stdout, everything else on stderr. Returns the exit status of the command line.

    `hints` are said once it is known that it can run. The status is the run's own, also where its result cannot be
    printed or kept; it is 3 where a run that passed could not.
    """
    session = Session(session_path, index=INDEX) if session_path is not None else None
    if session is not None:
        with exits.refusing(SessionError):
            session.check()
    if trace is not None:
        exits.check_writable(trace)
        request = replace(request, keep_tensors=True)
    record, tensors, is_interrupted = _run_to_end(request, hints)
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
        return failed(record.end)
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


def _run_to_end(request: RunRequest, hints: Sequence[str]) -> tuple[RunRecord, Tensors | None, bool]:
    """The run, its tensors if it sent them, and whether Ctrl+C stopped it: whatever of it was measured until then.

    Progress, logs and failures go to stderr as they come, after the `hints` to whoever asked for it.
    """
    builder = RunBuilder(request)
    tensors, started = None, None
    interrupts: list[int] = []
    progress = ProgressLine()
    with engine(request.device) as host:

        def stop(number: int, frame: FrameType | None) -> None:
            interrupts.append(number)
            host.stop()
            host.abandon_start()

        host.announce_run()
        with on_interrupt(stop):
            for event in host.run(request):
                builder.take(event)
                match event:
                    case Progress():
                        if started is not None:  # a run that is refused has started, and makes no progress
                            for line in (*hints, *_expectations(request, started)):
                                progress.say(line)
                            progress.expected_s = _expected_s(started)
                            started = None
                        progress.take(event)
                    case Started():
                        started = event
                    case Log(text):
                        progress.end_line()
                        pass_on(text)
                    case Tensors():
                        tensors = event
    progress.end_line()
    return builder.record(), tensors, bool(interrupts)


def _expectations(asked: RunRequest, started: Started) -> Iterator[str]:
    """What whoever asked should know before it goes on: that it is long, and what of it does not count here."""
    seconds = _expected_s(started)
    if seconds > ASK_ABOVE_SECONDS:
        yield f"this takes about {duration_words(seconds)} on the interpreter; Ctrl+C stops it"
    protocol, plain = protocol_of(started.request.protocol), RunRequest(asked.problem)
    limits = [(one.max_seconds, one.max_samples) for one in (asked, plain)]
    if asked.protocol != protocol.name and protocol.has_fixed_counts and limits[0] != limits[1]:
        yield f"the limits of timing do not count here: protocol {protocol.name} takes a fixed number of launches"


def _expected_s(started: Started) -> float:
    """How long the run takes on the interpreter, in seconds; 0 on a GPU, where nobody needs to know."""
    return run_seconds(started.request) if started.device.mode == "interpreter" else 0.0


def _write_trace(record: RunRecord, tensors: Tensors | None, path: Path) -> None:
    """The trace of a run that came so far. Raises OutputError."""
    if record.states is not None and tensors is not None:
        write_trace(path, record.states, tensors, trace_meta(record, record.states))
