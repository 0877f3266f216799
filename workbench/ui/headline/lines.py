"""What the headline says of a run: its record in, lines out. Without widgets.

The order is the promise: wrong before failed, both before any speed, and who is faster only where that means something.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.analysis.metrics import comparable_ratio, holds_launch_cost
from workbench.analysis.numbers import TimeUnit, error_text, format_range, format_time, number, time_unit
from workbench.run.environment import INTERPRETER_LABEL
from workbench.run.events import Failed, Progress, Ready
from workbench.run.measurement import ROLES, Measurement
from workbench.run.protocols import protocol_of
from workbench.run.record import RunRecord
from workbench.words.names import implementation_text, kernel_text, named, problem_text, tile_text
from workbench.words.results import bounds_text, comparison_text, failure_words, remedy_text, tolerance_text, wrong_text
from workbench.words.times import (
    INTERVAL_TIP,
    counts_time,
    figure_tip,
    half_width_text,
    interval_range_text,
    samples_text,
    steps_text,
)

STARTING = Progress("starting")
CHANGED = "CHANGED while timing: suspect a race"
PAIRED_TIP = (
    "The median ratio of rounds in which both were launched, and its 95% interval by a bootstrap of those rounds."
)
FIGURES_TIP = (
    "The quotient of the two figures, and the 95% intervals of both medians combined. Kernel and baseline were not "
    "timed in turns, so that a drift between the two is not cancelled."
)
NO_VERDICT = "launch-bound: no verdict"
LAUNCHING_TIP = (
    "The average of a block holds what the CPU takes to launch, here most of what is not the kernel's: the figures do "
    "not tell which kernel is faster. Measure under cold, warm, graph or profiler."
)


@dataclass(frozen=True)
class Line:
    """What one block shows; `color` is a token of the theme.

    `note` stands small beside the value; the short ones take the place of the others where there is little room.
    """

    caption: str
    value: str
    color: str = "text"
    tooltip: str = ""
    note: str = ""
    short_note: str = ""
    short_caption: str = ""
    short_value: str = ""


def idle_line(ready: Ready | None) -> Line:
    """What stands there before any run."""
    if ready is None:
        return Line("no run yet", "starting the engine", "muted")
    device = ready.device
    label = f", {INTERPRETER_LABEL}" if device.mode == "interpreter" else ""
    return Line(f"{device.name}{label}", "Ready to run", "text")


def lines_of(record: RunRecord, progress: Progress = STARTING, elapsed: str = "") -> dict[str, Line]:
    """What each block shows of a run; one that is missing is hidden.

    `progress` is what a live run does, `elapsed` for how long it has gone on.
    """
    lines: dict[str, Line] = {}
    end, error = record.end, record.error("kernel")
    failed = end if isinstance(end, Failed) else None
    if failed is not None:
        lines |= _failure(record, failed)
    running = _running_text(record, progress, elapsed) if end is None else ""
    after = f"; {failure_words(failed)}" if failed is not None else f", {running}" if running else ""
    # Whatever else happened, a wrong output is what must be seen first.
    if error is not None and not error.passed:
        value, short = wrong_text(error), wrong_text(error, short=True)
        # Two tolerances are too long for the short value; the caption's beginning is seen at any width.
        held = "" if error.rtol == error.atol else f"{tolerance_text(error)}: "
        lines["state"] = Line(f"{held}{_subject(record)}{after}", value, "bad", short_value=short)
        lines.pop("detail", None)
    elif any(r.failed for r in record.rechecked):
        lines["state"] = changed_line(record, after)
        lines.pop("detail", None)
    elif end is None:
        lines["state"] = Line(_subject(record), running, "accent", short_value=_short_text(progress))
    if failed is None:
        unit = time_unit([m.measurement.latency.figure_us for m in record.measured])
        lines |= {m.measurement.role: _time(record, m.measurement, unit) for m in record.measured}
        lines |= _comparison(record) | _error(record)
    return lines


def _running_text(record: RunRecord, progress: Progress, elapsed: str) -> str:
    """What is being done, how far that is, and for how long."""
    phase, steps = progress.phase, steps_text(progress)
    if counts_time(progress):
        return ", ".join(filter(None, (phase, steps, _taken_text(record))))
    return ", ".join(filter(None, (f"{phase} {steps}".rstrip(), elapsed)))


def _short_text(progress: Progress) -> str:
    """The same where there is little room: how far it is, of what is limited in time also what it is."""
    return f"timing, {steps_text(progress)}" if counts_time(progress) else ""


def _taken_text(record: RunRecord) -> str:
    """How many samples have arrived: "4 launches each"; "" before the first."""
    protocol, taken = protocol_of(record.started.request.protocol), {role: len(record.samples(role)) for role in ROLES}
    counts = {named(role, record): samples_text(protocol, count) for role, count in taken.items() if count}
    texts = list(counts.values())
    if len(set(texts)) <= 1:
        return "".join(texts[:1]) + " each" * (len(texts) > 1)
    return " and ".join(f"{text} of {name}" for name, text in counts.items())


def _subject(record: RunRecord) -> str:
    """What is being run."""
    request = record.started.request
    kernel = kernel_text(request.kernel, request.precision)
    return f"{kernel} {tile_text(request.tile)}, {problem_text(request.problem)}"


def _failure(record: RunRecord, failed: Failed) -> dict[str, Line]:
    color = "muted" if failed.kind == "cancelled" else "bad"
    lines = {"state": Line(_subject(record), failure_words(failed), color, failed.message)}
    message, remedy = " ".join(failed.message.split()), remedy_text(failed)
    if remedy:
        lines["detail"] = Line(message, remedy, "text", f"{failed.message}\n{remedy}")
    elif message:
        lines["detail"] = Line("", message, "text", failed.message)
    return lines


def changed_line(record: RunRecord, after: str = "") -> Line:
    """The output was not the same after timing: whose, and by how much."""
    failed = [r for r in record.rechecked if r.failed]
    whose = "" if any(r.role == "kernel" for r in failed) else f"{named('baseline', record)} "
    errors = "\n".join(
        f"{named(r.role, record)}: max error {error_text(r.max_abs_before)} before timing, "
        f"{error_text(r.max_abs_after)} after: {r.text}"
        for r in failed
    )
    return Line(f"{_subject(record)}{after}", f"{whose}{CHANGED}", "bad", errors)


def _time(record: RunRecord, measurement: Measurement, unit: TimeUnit) -> Line:
    """The protocol's own figure in `unit`, which the line below names, with the interval where it is of that figure."""
    latency, role = measurement.latency, measurement.role
    is_wrong = record.is_wrong("kernel") or record.is_wrong(role)
    caption = short = implementation_text(measurement)
    if role == "kernel" and not is_wrong:
        caption += f", {problem_text(measurement.problem)}"
    elif not measurement.error.passed:
        caption, short = f"{caption}, WRONG", "WRONG"
    interval = interval_range_text(latency, unit)
    known = f"; {INTERVAL_TIP} {interval}" if interval else ""
    single = f"single launches: median {format_time(latency.median, unit)}" if latency.has_block else "median"
    spread = f"20th to 80th percentile {format_range(latency.p20, latency.p80, unit)}"
    tooltip = f"{caption}\n{figure_tip(latency)}\n{single}{known}\n{spread}"
    value, color = format_time(latency.figure_us, unit), "muted" if is_wrong else str(role)
    if latency.has_block:  # the interval is not of the average
        return Line(caption, value, color, tooltip, short_caption=short)
    return Line(caption, value, color, tooltip, interval, half_width_text(latency), short)


def _comparison(record: RunRecord) -> dict[str, Line]:
    """Who is faster: on a GPU only, and only of two outputs that are right."""
    if record.started.device.mode == "interpreter":
        return {"ratio": Line("times are", INTERPRETER_LABEL, "warn")} if record.measured else {}
    if record.passed and holds_launch_cost(record):
        return {"ratio": _launching(record)}
    result = comparable_ratio(record)
    if result is None:
        return {}
    paired = record.comparison is not None
    color = "text" if result.is_level or result.baseline_over_kernel < 1 else "good"
    level = " The interval contains 1: which one is faster is open." if result.is_level else ""
    value = comparison_text(result, named("baseline", record))
    quotient = f"{named('baseline', record)} / kernel {number(result.baseline_over_kernel)}"
    tooltip = f"{quotient}. {PAIRED_TIP if paired else FIGURES_TIP}{level}"
    caption, short = bounds_text(result, paired), bounds_text(result, paired, short=True)
    if record.started.request.rival is not None and paired:
        caption = f"paired, {caption}"  # two separate runs have a ratio of these as well
    return {"ratio": Line(caption, value, color, tooltip, short_caption=short)}


def _launching(record: RunRecord) -> Line:
    """That the figures do not tell who is faster, and what is known of the kernels alone."""
    times = {m.measurement.role: m.measurement.latency.kernel_us for m in record.measured}
    known = {named(role, record): us for role, us in times.items() if us is not None}
    unit = time_unit(list(known.values()))
    alone = ", ".join(f"{name} {format_time(us, unit)}" for name, us in known.items())
    caption = f"on the GPU alone: {alone}" if len(known) == len(ROLES) else "the average holds launch cost"
    return Line(caption, NO_VERDICT, "warn", LAUNCHING_TIP, short_caption="launch-bound", short_value="no verdict")


def _error(record: RunRecord) -> dict[str, Line]:
    error, again = record.error("kernel"), record.recheck("kernel")
    if error is None or not error.passed:
        return {}
    caption = f"max error, {tolerance_text(error)}"
    if again is not None and again.failed:
        value, before = f"{error_text(again.max_abs_after)} after timing", error_text(error.max_abs)
        return {"error": Line(f"max error, was {before}", value, "bad", again.text, short_caption="max error")}
    tooltip = f"{caption}\n{again.text}" if again is not None and again.text else ""
    value = f"{error_text(error.max_abs)}, passed"
    relative = f"{error_text(error.rel_fro)} of the output"  # a tolerance may be larger than all of it
    tooltip = f"{tooltip or caption}\n{relative}: the norm of the error over that of the output in float64"
    return {"error": Line(caption, value, "good", tooltip, relative, short_caption="max error")}
