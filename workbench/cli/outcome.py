"""What the command line says of a run: one object for scripts, some lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from workbench.analysis.caveats import computed_precision, of_precision, of_splits
from workbench.analysis.metrics import comparable_ratio, half_width_of, interval_of, metrics_on
from workbench.analysis.numbers import counted, format_range, format_time
from workbench.run import codec
from workbench.run.ceilings import Ceilings
from workbench.run.device_state import COLUMNS
from workbench.run.environment import Mode
from workbench.run.events import DeviceState, Failed, TileStates
from workbench.run.measurement import ROLES, Latency, Measurement, Role
from workbench.run.protocols import protocol_of
from workbench.run.record import RunRecord
from workbench.run.request import RunRequest
from workbench.stats.summary import Ratio
from workbench.words.names import OTHER_BASELINES, named
from workbench.words.results import NOT_CHECKED_AGAIN
from workbench.words.times import KERNEL_TIME_BY, ended_text, figure_text, modes_text, parts_text, samples_text


def result_object(record: RunRecord) -> dict[str, Any]:
    """What `run --json` prints: the problem, the environment, one result an implementation, the ratio, the device."""
    failure = record.end if isinstance(record.end, Failed) else None
    wanted: list[Role] = ["kernel", "baseline"] if record.started.request.has_baseline else ["kernel"]
    results = [_result(record, role, failure) for role in wanted]
    return {
        "problem": codec.plain(record.started.request.problem),
        "environment": {**codec.environment(record.started.device), "started_at": record.started.started_at},
        "provenance": codec.plain(record.started.provenance),
        "measuring": _measuring_object(record.started.request),
        "results": results,
        "ratio": _ratio_object(record),
        "device_state": _device_object(record.device_state),
        "failure": codec.plain(failure),
        "trace": _trace_object(record.states),
    }


def summary_lines(record: RunRecord) -> Iterator[str]:
    """A run in words, whether it is right before its speed."""
    device, request = record.started.device, record.started.request
    problem = request.problem
    yield f"{_problem_text(request, device.mode)}, seed {problem.seed}, {problem.inputs} inputs, on {device.name}"
    for check in record.checked:
        measured = record.measurement(check.role)
        backend = measured.backend if measured is not None else check.backend
        baseline = named("baseline", record) if request.rival else OTHER_BASELINES.get(backend) or f"sdpa ({backend})"
        name = baseline if check.role == "baseline" else _kernel_text(record)
        outcome, error = "passed" if check.error.passed else "WRONG", check.error
        sizes = f"max error {error.max_abs:.2e}, relative to the whole output {error.rel_fro:.1e}"
        yield f"{name}: {outcome}, {sizes}, at rtol {error.rtol:g}, atol {error.atol:g}"
        yield from (f"  {line}" for line in _recheck_lines(record, check.role))
        if measured is not None:
            yield from (f"  {line}" for line in _latency_lines(measured.latency, request))
        for partial in record.partial:
            if partial.role == check.role:
                yield f"  stopped: partial, {samples_text(protocol_of(request.protocol), len(partial.values))}"
    for warning in record.device_state.warnings if record.device_state is not None else ():
        yield f"warning: {warning.text}"
    both = comparable_ratio(record)
    if device.mode == "interpreter":
        yield f"times are on the host's clock: {device.mode_label}"
    elif both is not None:
        times = f"{both.baseline_over_kernel:.4g} times the kernel's time"
        yield f"{named('baseline', record)} takes {times} ({_bounds_text(record, both)})"


def _recheck_lines(record: RunRecord, role: Role) -> Iterator[str]:
    """Whether an output stayed what it was: a note where only its bits differ, or where nobody tried."""
    again = record.recheck(role)
    if again is not None:
        is_plain = again.bits_equal and again.deterministic is True
        yield f"{'FAILED: ' if again.failed else '' if is_plain else 'note: '}{again.text}"
    elif record.measurement(role) is not None and isinstance(record.end, Failed):
        yield f"note: {NOT_CHECKED_AGAIN}"


def _bounds_text(record: RunRecord, both: Ratio) -> str:
    """What bounds the ratio, of what kind that is, and whether it leaves open which one is faster."""
    if not isfinite(both.high):
        return "no interval, so that which one is faster is open"
    level = ", which leaves open which one is faster" if both.is_level else ""
    paired = "" if record.comparison is not None else ", not timed in turns"
    return f"{both.low:.4g} to {both.high:.4g} at 95%{paired}{level}"


def _problem_text(request: RunRequest, mode: Mode) -> str:
    problem = request.problem
    heads = f"{problem.batch} x {problem.heads} heads ({problem.kv_heads} of keys), " if problem.total_heads > 1 else ""
    warned = of_precision(request, mode)
    asked = warned.label if warned is not None else request.precision
    precision = "" if problem.dtype != "fp32" or request.precision == "ieee" else f" ({asked})"
    return f"{heads}{problem.shape}, {problem.dtype}{precision}{', causal' if problem.causal else ''}"


def _kernel_text(record: RunRecord) -> str:
    """The kernel with the tile as launched."""
    tile = record.launched_tile
    asked = f" ({record.started.request.tile.splits} asked)" if of_splits(record.started.request, tile) else ""
    splits = f"{counted(tile.splits, 'split')}{asked}" if tile.splits > 1 or asked else ""
    return ", ".join(filter(None, (f"{record.started.request.kernel} {tile.label}", splits, *tile.option_words)))


def _latency_lines(latency: Latency, request: RunRequest) -> Iterator[str]:
    """The protocol's figure first, the median with its interval and how it was got, then what else is to be known."""
    interval = interval_of(latency)
    bounds = f"{format_range(interval.low, interval.high)} at 95%" if interval is not None else "no interval"
    median, how = f"median {format_time(latency.median)} ({bounds})", f"{latency.protocol} protocol, {latency.clock}"
    if latency.has_block:
        yield f"{figure_text(latency)} {format_time(latency.figure_us)}, {how}"
        median = f"single launches: {median}"
    else:
        yield f"{median}, {how}"
        median = ""
    spread = f"p20 {format_time(latency.p20)}, p80 {format_time(latency.p80)}; {ended_text(latency, request)}"
    yield f"{median}, {spread}" if median else spread
    parts = parts_text(interval) if interval is not None else ""
    if parts:
        yield f"the interval: {parts}"
    if latency.kernel_us is not None and not latency.timed_by.is_profiled:
        yield f"the GPU takes {format_time(latency.kernel_us)} for a launch, {KERNEL_TIME_BY[latency.kernel_us_by]}"
    if latency.launch_bound:
        yield latency.launch_bound
    if latency.modes is not None:
        yield modes_text(latency.modes)
    if latency.drift is not None:
        yield latency.drift.text
    yield from (f"note: {note.text}" for note in latency.notes)


def _result(record: RunRecord, role: Role, failure: Failed | None) -> dict[str, Any]:
    request = record.started.request
    check, measured = record.check(role), record.measurement(role)
    result: dict[str, Any] = {
        "implementation": _implementation(request, role),
        "role": role,
        "status": "ok" if measured is not None else "failed",
        "failure": codec.plain(_failure_of(record, role, failure)),
    }
    if role == "kernel":
        result |= {"tile": codec.plain(record.launched_tile), "tile_asked": codec.plain(request.tile)}
        computed = computed_precision(request, record.started.device.mode)
        result |= {"precision": request.precision, "precision_computed": computed}
        result["resources"] = codec.plain(measured.resources) if measured is not None else None
    elif request.rival is not None:
        launched = measured.tile if measured is not None else request.rival.tile
        result |= {"tile": codec.plain(launched), "precision": request.rival.precision}
        result["resources"] = codec.plain(measured.resources) if measured is not None else None
    elif measured is not None:
        result["backend"] = measured.backend  # proved by its kernels, where they were seen
    else:
        result["backend"] = check.backend if check is not None else request.sdpa
    result["latency"] = None if measured is None else _latency_object(measured)
    result["partial"] = _partial_object(record, role)
    result["error"] = codec.plain(check.error) if check is not None else None
    result["recheck"] = codec.plain(record.recheck(role))
    result["metrics"] = None if measured is None else _metrics_object(measured, record.started.ceilings)
    return result


def _implementation(request: RunRequest, role: Role) -> str:
    if role == "kernel":
        return request.kernel
    return "sdpa" if request.rival is None else request.rival.kernel


def _partial_object(record: RunRecord, role: Role) -> dict[str, Any] | None:
    """What was timed of a role that was not timed to the end: its samples alone."""
    partial = next((part for part in record.partial if part.role == role), None)
    return None if partial is None else {"unit": "us", "samples": codec.plain(partial.values)}


def _metrics_object(measured: Measurement, ceilings: Ceilings | None) -> dict[str, Any]:
    """Every metric with its unit: "half_width" is a share in the latency, and in percent here as in the window."""
    return {m.name: {"value": codec.plain(m.value(measured, ceilings)), "unit": m.unit} for m in metrics_on(ceilings)}


def _measuring_object(request: RunRequest) -> dict[str, Any]:
    """The protocol, and the limits that timing may have ended at; None where it heeds none."""
    heeded = not protocol_of(request.protocol).has_fixed_counts
    limits = {name: getattr(request, name) if heeded else None for name in ("max_seconds", "max_samples")}
    return {"protocol": request.protocol, **limits}


def _failure_of(record: RunRecord, role: Role, failure: Failed | None) -> Failed | None:
    """The run's failure, for the implementation whose turn it was; for the other one, that it had no turn."""
    if failure is None or record.measurement(role) is not None:
        return None
    unchecked: list[Role] = [r for r in ROLES if record.check(r) is None]
    unmeasured: list[Role] = [r for r in ROLES if record.measurement(r) is None]
    if not unchecked and protocol_of(record.started.request.protocol).takes_turns:
        return failure  # timed in turns, both fail together
    culprit = (unchecked or unmeasured)[0]
    return failure if role == culprit else Failed("cancelled", f"not measured: the run failed at the {culprit}")


def _latency_object(measured: Measurement) -> dict[str, Any]:
    latency = measured.latency
    more = {"median": latency.median, "p20": latency.p20, "p80": latency.p80}
    figure = {"figure_us": latency.figure_us, "figure_name": figure_text(latency)}
    said = {
        "half_width": codec.plain(half_width_of(latency)),
        "launch_bound": latency.launch_bound,
        "notes": [note.text for note in latency.notes],
    }
    return {**figure, **codec.plain(latency), **more, **said}


def _ratio_object(record: RunRecord) -> dict[str, Any] | None:
    """The ratio; None where it would say nothing: on the interpreter, or of a wrong result."""
    both = comparable_ratio(record)
    if both is None:
        return None
    return {**codec.plain(both), "comparable": True, "paired": record.comparison is not None}


def _device_object(state: DeviceState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    readings = state.readings
    return {
        "warnings": codec.plain(state.warnings),
        **{name: codec.plain(getattr(readings, name)) for name in ("facts", "processes", "missing", "timed")},
        "readings": {name: codec.plain(getattr(readings, name)) for name in COLUMNS},
    }


def _trace_object(states: TileStates | None) -> dict[str, Any] | None:
    if states is None:
        return None
    names = ("block_m", "block_n", "m_error", "l_error", "bit_equal", "skipped", "split_tiles", "heads")
    return {name: codec.plain(getattr(states, name)) for name in names}
