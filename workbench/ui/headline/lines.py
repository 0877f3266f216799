"""What the headline says of a run: its events in, lines out. Without widgets.

The order is the promise: wrong before failed, both before any speed, and who is faster only where that means something.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.analysis.metrics import comparable_ratio, format_range, format_time
from workbench.run.environment import INTERPRETER_LABEL
from workbench.run.events import (
    Checked,
    Comparison,
    DeviceState,
    Failed,
    Finished,
    Measured,
    Progress,
    Ready,
    Rechecked,
    RunEvent,
    Samples,
)
from workbench.run.measurement import Measurement, Role
from workbench.run.protocols import protocol_of
from workbench.run.record import RunRecord, with_event
from workbench.ui.headline.chips import Chip
from workbench.ui.headline.findings import Method, chips_of, method_of
from workbench.words import known as measure_words
from workbench.words import runs as words
from workbench.words.times import counts_time, figure_tip, half_width_text, remedy_text, samples_text, steps_text

STARTING = Progress("starting")
CHANGED = "CHANGED while timing: suspect a race"
PAIRED_TIP = (
    "The median ratio of rounds in which both were launched, and its 95% interval by a bootstrap of those rounds."
)
FIGURES_TIP = (
    "The quotient of the two figures, and the 95% intervals of both medians combined. Kernel and baseline were not "
    "timed in turns, so that a drift between the two is not cancelled."
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


@dataclass
class Answer:
    """One run, as far as it has come; `record` is None before the first."""

    ready: Ready | None = None
    record: RunRecord | None = None
    progress: Progress = STARTING
    taken: dict[Role, int] = field(default_factory=dict)  # samples that have arrived

    def take(self, event: RunEvent) -> bool:
        """Keep `event`; False if the headline says nothing new for it. A Started begins anew, in a new Answer."""
        match event:
            case Ready():
                self.ready = event
            case Progress():
                self.progress = event
            case Samples():
                self.taken[event.role] = self.taken.get(event.role, 0) + len(event.values)
                return False  # a Progress follows
            case Checked() | Measured() | Rechecked() | Comparison() | DeviceState() | Finished() | Failed():
                if self.record is not None:
                    self.record = with_event(self.record, event)
            case _:
                return False
        return True

    @property
    def is_running(self) -> bool:
        """Whether a run has begun and not ended."""
        return self.record is not None and self.record.end is None

    def lines(self, elapsed: str) -> dict[str, Line]:
        """What each block shows; one that is missing is hidden. `elapsed` is how long a live run has gone on."""
        record = self.record
        if record is None:
            return {"state": self._idle()}
        lines: dict[str, Line] = {}
        end, error = record.end, record.error("kernel")
        failed = end if isinstance(end, Failed) else None
        if failed is not None:
            lines |= _failure(record, failed)
        after = f"; {words.failure_words(failed)}" if failed is not None else self._running_text(elapsed)
        # Whatever else happened, a wrong output is what must be seen first.
        if error is not None and not error.passed:
            value, short = words.wrong_text(error), words.wrong_text(error, short=True)
            # Two tolerances are too long for the short value; the caption's beginning is seen at any width.
            held = "" if error.rtol == error.atol else f"{words.tolerance_text(error)}: "
            lines["state"] = Line(f"{held}{_subject(record)}{after}", value, "bad", short_value=short)
            lines.pop("detail", None)
        elif any(r.failed for r in record.rechecked):
            lines["state"] = _changed(record, after)
            lines.pop("detail", None)
        elif end is None:
            value = self._running_text(elapsed).removeprefix(", ")
            lines["state"] = Line(_subject(record), value, "accent", short_value=self._short_text())
        if failed is None:
            lines |= {m.measurement.role: _time(record, m.measurement) for m in record.measured}
            lines |= _comparison(record) | _error(record)
        return lines

    def chips(self) -> tuple[Chip, ...]:
        """What must be known beside the times, the most important first."""
        return chips_of(self.record) if self.record is not None else ()

    def method(self) -> Method:
        """How the times were obtained."""
        return method_of(self.record) if self.record is not None else Method()

    def _idle(self) -> Line:
        if self.ready is None:
            return Line("no run yet", "starting the engine", "muted")
        device = self.ready.device
        label = f", {INTERPRETER_LABEL}" if device.mode == "interpreter" else ""
        return Line(f"{device.name}{label}", "Ready to run", "text")

    def _running_text(self, elapsed: str) -> str:
        """What is being done, how far that is, and for how long; "" once the run has ended."""
        if not self.is_running:
            return ""
        phase, steps = self.progress.phase, steps_text(self.progress)
        if counts_time(self.progress):
            return f", {', '.join(filter(None, (phase, steps, self._taken_text())))}"
        doing = f"{phase} {steps}".rstrip()
        return f", {doing}" + (f", {elapsed}" if elapsed else "")

    def _short_text(self) -> str:
        """The same where there is little room: how far it is, of what is limited in time also what it is."""
        steps = steps_text(self.progress)
        return f"timing, {steps}" if counts_time(self.progress) else ""

    def _taken_text(self) -> str:
        """How many samples have arrived: "4 launches each"; "" before the first."""
        assert self.record is not None
        protocol = protocol_of(self.record.started.request.protocol)
        counts = {words.named(role, self.record): samples_text(protocol, n) for role, n in self.taken.items()}
        texts = list(counts.values())
        if len(set(texts)) <= 1:
            return "".join(texts[:1]) + " each" * (len(texts) > 1)
        return " and ".join(f"{text} of {name}" for name, text in counts.items())


def _subject(record: RunRecord) -> str:
    """What is being run."""
    request = record.started.request
    kernel = words.kernel_text(request.kernel, request.precision)
    return f"{kernel} {words.tile_text(request.tile)}, {words.problem_text(request.problem)}"


def _failure(record: RunRecord, failed: Failed) -> dict[str, Line]:
    color = "muted" if failed.kind == "cancelled" else "bad"
    lines = {"state": Line(_subject(record), words.failure_words(failed), color, failed.message)}
    message, remedy = " ".join(failed.message.split()), remedy_text(failed)
    if remedy:
        lines["detail"] = Line(message, remedy, "text", f"{failed.message}\n{remedy}")
    elif message:
        lines["detail"] = Line("", message, "text", failed.message)
    return lines


def _changed(record: RunRecord, after: str) -> Line:
    """The output was not the same after timing: whose, and by how much."""
    failed = [r for r in record.rechecked if r.failed]
    whose = "" if any(r.role == "kernel" for r in failed) else f"{words.named('baseline', record)} "
    errors = "\n".join(
        f"{words.named(r.role, record)}: max error {words.error_text(r.max_abs_before)} before timing, "
        f"{words.error_text(r.max_abs_after)} after: {r.text}"
        for r in failed
    )
    return Line(f"{_subject(record)}{after}", f"{whose}{CHANGED}", "bad", errors)


def _time(record: RunRecord, measurement: Measurement) -> Line:
    """The protocol's own figure, which the line below names, with the interval where it is of that figure."""
    latency, role = measurement.latency, measurement.role
    is_wrong = record.is_wrong("kernel") or record.is_wrong(role)
    caption = short = words.implementation_text(measurement)
    if role == "kernel" and not is_wrong:
        caption += f", {words.problem_text(measurement.problem)}"
    elif not measurement.error.passed:
        caption, short = f"{caption}, WRONG", "WRONG"
    interval = measure_words.interval_range_text(latency)
    known = f"; {measure_words.INTERVAL_TIP} {interval}" if interval else ""
    single = f"single launches: median {format_time(latency.median)}" if latency.has_block else "median"
    spread = f"20th to 80th percentile {format_range(latency.p20, latency.p80)}"
    tooltip = f"{caption}\n{figure_tip(latency)}\n{single}{known}\n{spread}"
    value, color = format_time(latency.figure_us), "muted" if is_wrong else str(role)
    if latency.has_block:  # the interval is not of the average
        return Line(caption, value, color, tooltip, short_caption=short)
    return Line(caption, value, color, tooltip, interval, half_width_text(latency), short)


def _comparison(record: RunRecord) -> dict[str, Line]:
    """Who is faster: on a GPU only, and only of two outputs that are right."""
    if record.started.device.mode == "interpreter":
        return {"ratio": Line("times are", INTERPRETER_LABEL, "warn")} if record.measured else {}
    result = comparable_ratio(record)
    if result is None:
        return {}
    paired = record.comparison is not None
    color = "text" if result.is_level or result.baseline_over_kernel < 1 else "good"
    level = " The interval contains 1: which one is faster is open." if result.is_level else ""
    value = words.comparison_text(result, words.named("baseline", record))
    tooltip = (
        f"SDPA / kernel {words.number(result.baseline_over_kernel)}. {PAIRED_TIP if paired else FIGURES_TIP}{level}"
    )
    caption, short = words.bounds_text(result, paired), words.bounds_text(result, paired, short=True)
    return {"ratio": Line(caption, value, color, tooltip, short_caption=short)}


def _error(record: RunRecord) -> dict[str, Line]:
    error, again = record.error("kernel"), record.recheck("kernel")
    if error is None or not error.passed:
        return {}
    caption = f"max error, {words.tolerance_text(error)}"
    if again is not None and again.failed:
        value, before = f"{words.error_text(again.max_abs_after)} after timing", words.error_text(error.max_abs)
        return {"error": Line(f"max error, was {before}", value, "bad", again.text, short_caption="max error")}
    tooltip = f"{caption}\n{again.text}" if again is not None and again.text else ""
    value = f"{words.error_text(error.max_abs)}, passed"
    relative = f"relative {words.error_text(error.rel_fro)}"  # a tolerance may be larger than all of the output
    tooltip = f"{tooltip or caption}\n{relative}: the norm of the error over that of float64"
    return {"error": Line(caption, value, "good", tooltip, relative, short_caption="max error")}
