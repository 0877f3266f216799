"""The cells of the table of runs that say how long a run took, and how well that is known."""

from __future__ import annotations

from workbench.analysis.metrics import best_ratio, half_width_of, holds_launch_cost, interval_of
from workbench.analysis.numbers import format_range, format_time
from workbench.run.events import Failed
from workbench.run.measurement import Latency, Role
from workbench.run.protocols import FigureKind
from workbench.run.record import RunRecord
from workbench.ui.headline.findings import method_of
from workbench.ui.runs.cells import Cell, Tone, copied, missing_cell, state_cell, times_said, words_cell
from workbench.words.known import watched_text
from workbench.words.names import named
from workbench.words.remarks import remarks_of
from workbench.words.results import NOT_PAIRED, PAIRED, against_text, bounds_text, comparison_text, wrong_text
from workbench.words.times import (
    INTERVAL_TIP,
    figure_kind,
    figure_text,
    figure_tip,
    half_width_text,
    interval_range_text,
    launches_text,
    parts_text,
    protocol_tip,
)

INTERPRETER_MARK = "interp."
UNKNOWN = "?"
SHORT: dict[FigureKind, str] = {"average": "avg", "median": "median"}


def protocol_cell(record: RunRecord) -> Cell:
    """How the launches were timed, and what the time beside it therefore is."""
    measurement = record.measurement("kernel")
    if measurement is None:
        name = record.started.request.protocol
        host = "host" if record.started.device.mode == "interpreter" else ""
        return words_cell(name, protocol_tip(name, host))
    latency = measurement.latency
    tooltip = f"{protocol_tip(latency.protocol, latency.clock)}\nthe time beside it: {figure_text(latency)}"
    text = f"{latency.protocol} {SHORT[figure_kind(latency)]}"
    return Cell(text, text, (latency.protocol,), tooltip)


def time_cell(record: RunRecord, role: Role) -> Cell:
    """The protocol's own figure; what is not GPU time says so in the kernel's cell itself. A rival is no SDPA."""
    measurement = record.measurement(role)
    if role == "baseline" and (measurement is None or record.started.request.rival is not None):
        return missing_cell(3)
    if measurement is None:
        return ended_cell(record)
    latency, device = measurement.latency, record.started.device
    us, interval = latency.figure_us, interval_range_text(latency)
    known = f"; {INTERVAL_TIP} {interval}" if interval else ""
    lines = [device.mode_label, f"{figure_tip(latency)}, {latency.clock}"]
    lines += [f"{launches_text(latency)}: median {format_time(latency.median)}{known}"]
    figure, median = copied(record, "figure", "median", role=role)
    plain = (figure, figure_text(latency), median)
    again = record.recheck(role)
    wrong = again.text if again is not None and again.failed else wrong_text(record.error(role) or measurement.error)
    before = f"{INTERPRETER_MARK} " if role == "kernel" and device.mode != "cuda" else ""
    if not record.is_wrong(role):
        tone: Tone = "" if device.mode == "cuda" else "warn"
        return Cell(before + format_time(us), us, plain, "\n".join(lines), tone, said=times_said(us, before=before))
    lines.insert(0, wrong)
    if role == "baseline":
        return Cell(format_time(us), us, plain, "\n".join(lines), "muted", struck=True, said=times_said(us))
    before = f"{state_cell(record).text} "  # first, as this is where one looks for the fastest
    text = before + format_time(us)
    return Cell(text, us, plain, "\n".join(lines), "bad", bold=True, said=times_said(us, before=before))


def ended_cell(record: RunRecord) -> Cell:
    """In place of a time that was not taken: that the run failed, or was stopped; why is told by its state."""
    state, end = state_cell(record), record.end
    word = "failed" if isinstance(end, Failed) and end.kind != "cancelled" else state.text
    if record.is_wrong("kernel"):
        word = state.text
    return Cell(word, None, ("",) * 3, state.tooltip, state.tone, state.bold)


def half_width_cell(record: RunRecord) -> Cell:
    """How well the kernel's median is known."""
    measurement = record.measurement("kernel")
    if measurement is None:
        return missing_cell()
    latency = measurement.latency
    half = half_width_of(latency)
    if half is None:
        return missing_cell(tooltip="too few launches for an interval of the median")
    of_what = "of the single launches, " if latency.has_block else ""
    tooltip = f"{INTERVAL_TIP} {of_what}{interval_range_text(latency)}{_parts(latency)}\n{method_of(record).known}"
    tone: Tone = "muted" if record.is_wrong("kernel") else ""
    return Cell(half_width_text(latency), half, copied(record, "half_width"), tooltip, tone)


def _parts(latency: Latency) -> str:
    interval = interval_of(latency)
    parts = "" if interval is None else parts_text(interval)
    return f": {parts}" if parts else ""


def spread_cell(record: RunRecord) -> Cell:
    measurement = record.measurement("kernel")
    if measurement is None:
        return missing_cell(2)
    low, high = measurement.latency.p20, measurement.latency.p80
    plain = copied(record, "p20", "p80")
    wrong = record.is_wrong("kernel")
    tooltip = f"p80 − p20 is {format_time(high - low)}"
    tone: Tone = "muted" if wrong else "" if record.started.device.mode == "cuda" else "warn"
    text, said = format_range(low, high), times_said(low, high)
    return Cell(text, high - low, plain, tooltip, tone, struck=wrong, said=said)


def ratio_cell(record: RunRecord) -> Cell:
    """Who is faster, in the words of the headline; what is copied is the baseline's time over the kernel's."""
    r, kernel = best_ratio(record), record.measurement("kernel")
    if r is None or kernel is None:
        return missing_cell(4)
    if record.started.device.mode == "interpreter":
        return missing_cell(4, "n/a", record.started.device.mode_label)
    if not record.passed:
        return missing_cell(4, "n/a", "no ratio for a wrong result")
    if holds_launch_cost(record):
        return missing_cell(4, "n/a", "launch-bound: the averages hold what the CPU takes to launch")
    paired = record.comparison is not None
    numbers = tuple(f"{value:.4g}" for value in (r.baseline_over_kernel, r.low, r.high))
    bounds = bounds_text(r, paired)
    figures = f"the quotient of the {figure_kind(kernel.latency)}s, with the intervals of both medians combined\n"
    how = "from paired rounds" if paired else f"{figures}not timed in turns: a drift between the two is not cancelled"
    level = "\nthe interval contains 1: which one is faster is open" if r.is_level else ""
    baseline = named("baseline", record)
    tooltip = (
        f"{baseline}'s time over the kernel's: {numbers[0]}\n"
        f"{comparison_text(r, baseline)}: {bounds}, {how}"
        f"{level}\n{kernel.latency.protocol} protocol"
    )
    text = against_text(r) if record.started.request.rival is None else comparison_text(r, baseline)
    return Cell(text, r.baseline_over_kernel, (*numbers, PAIRED if paired else NOT_PAIRED), tooltip)


def warnings_cell(record: RunRecord) -> Cell:
    """A mark where something must be known beside the times, another where something only is not known.

    That is what was not recorded, or what nobody tried. The sentences are its tooltip and what is copied.
    """
    chips = remarks_of(record)
    if not chips:
        return missing_cell(tooltip=watched_text(record))
    sentences = "; ".join(chip.tooltip.replace("\n", ", ") for chip in chips)
    tooltip = "\n".join(chip.tooltip for chip in chips)
    if all(chip.tone == "muted" for chip in chips):
        return Cell(UNKNOWN, f"2 {len(chips)}", (sentences,), tooltip, "muted")
    order = f"{'0' if any(c.tone == 'warn' for c in chips) else '1'} {len(chips)}"
    return Cell("!", order, (sentences,), tooltip, "warn", bold=True)
