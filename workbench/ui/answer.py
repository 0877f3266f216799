"""What the headline says of a run: its events in, lines and chips out. Without Qt.

The order is the promise: wrong before failed, both before any speed, and who is faster only where that means something.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.metrics import Ratio, format_range, format_time, ratio
from workbench.model import (
    INTERPRETER_LABEL,
    Checked,
    Comparison,
    DeviceState,
    Failed,
    Finished,
    Measured,
    Measurement,
    Progress,
    Ready,
    Rechecked,
    Role,
    RunEvent,
    Started,
)
from workbench.ui import measure_words, words
from workbench.ui.chips import Chip

ROLES: tuple[Role, ...] = ("kernel", "baseline")
STARTING = Progress("starting")
CHANGED = "CHANGED while timing: suspect a race"
RATIO_TIP = (
    "The median ratio of rounds in which both were launched, and its 95% interval by a bootstrap of those rounds."
)
SPREAD_TIP = "Medians compared; the range is from the 20th and 80th percentiles of both."


@dataclass(frozen=True)
class Line:
    """What one block shows; `color` is a token of the theme.

    `note` stands small beside the value, `short_note` in its place where there is little room.
    """

    caption: str
    value: str
    color: str = "text"
    tooltip: str = ""
    note: str = ""
    short_note: str = ""


@dataclass
class Answer:
    """One run, as far as it has come."""

    ready: Ready | None = None
    started: Started | None = None
    progress: Progress = STARTING
    checks: dict[Role, Checked] = field(default_factory=dict)
    measured: dict[Role, Measurement] = field(default_factory=dict)
    rechecked: dict[Role, Rechecked] = field(default_factory=dict)
    comparison: Comparison | None = None
    device: DeviceState | None = None
    end: Finished | Failed | None = None

    def take(self, event: RunEvent) -> bool:
        """Keep `event`; False if the headline says nothing about it. A Started begins anew, in a new Answer."""
        match event:
            case Ready():
                self.ready = event
            case Progress():
                self.progress = event
            case Checked():
                self.checks[event.role] = event
            case Measured():
                self.measured[event.measurement.role] = event.measurement
            case Rechecked():
                self.rechecked[event.role] = event
            case Comparison():
                self.comparison = event
            case DeviceState():
                self.device = event
            case Finished() | Failed():
                self.end = event
            case _:
                return False
        return True

    def lines(self, elapsed: str) -> dict[str, Line]:
        """What each block shows; one that is missing is hidden. `elapsed` is how long a live run has gone on."""
        if self.started is None:
            return {"state": self._idle()}
        lines: dict[str, Line] = {}
        check = self.checks.get("kernel")
        if isinstance(self.end, Failed):
            lines |= self._failure(self.end)
        after = f"; {words.failure_words(self.end)}" if isinstance(self.end, Failed) else self._running_text(elapsed)
        # Whatever else happened, a wrong output is what must be seen first.
        if check is not None and not check.error.passed:
            lines["state"] = Line(f"{self._subject()}{after}", words.wrong_text(check.error), "bad")
            lines.pop("detail", None)
        elif any(r.failed for r in self.rechecked.values()):
            lines["state"] = self._changed(after)
            lines.pop("detail", None)
        elif self.end is None:
            lines["state"] = Line(self._subject(), self._running_text(elapsed).removeprefix(", "), "accent")
        if not isinstance(self.end, Failed):
            lines |= self._times()
            lines |= self._comparison()
            lines |= self._error(check)
        return lines

    def chips(self) -> tuple[Chip, ...]:
        """What must be known beside the times, the most important first."""
        return tuple(self._chips()) if self.started is not None else ()

    def method(self) -> tuple[str, str, str]:
        """How the times were obtained: the protocol, how the run ended, and both in whole sentences for a tooltip."""
        if self.started is None:
            return "", "", ""
        request = self.started.request
        latency = next((m.latency for m in self.measured.values()), None)
        name = latency.protocol if latency is not None else request.protocol
        seconds = measure_words.timed_seconds(self.device.trace) if self.device is not None else None
        endings = {role: measure_words.ended_text(m.latency, request, seconds) for role, m in self.measured.items()}
        # The less well known of the two stands for both: timing ended for both at once.
        worst = max(self.measured, key=lambda role: self.measured[role].latency.half_width or 0.0, default=None)
        short = endings[worst] if worst is not None else ""
        details = [f"protocol {measure_words.protocol_tip(name)}"]
        details += [f"{self._name(role)}: {text}" for role, text in endings.items()]
        details += [f"{self._name(role)}: {r.text}" for role, r in self.rechecked.items() if r.text]
        if self.device is not None:
            details += filter(None, [measure_words.no_trace_text(self.device.trace)])
        return f"{name} protocol", short, "\n".join(details)

    def _idle(self) -> Line:
        if self.ready is None:
            return Line("no run yet", "starting the engine", "muted")
        device = self.ready.device
        label = f", {INTERPRETER_LABEL}" if device.mode == "interpreter" else ""
        return Line(f"{device.name}{label}", "Ready to run", "text")

    def _subject(self) -> str:
        """What is being run."""
        assert self.started is not None
        request = self.started.request
        kernel = words.kernel_text(request.kernel, request.precision)
        return f"{kernel} {words.tile_text(request.tile)}, {words.problem_text(request.problem)}"

    def _name(self, role: Role) -> str:
        """A role in a word or two."""
        measurement = self.measured.get(role)
        if role == "kernel":
            return "kernel"
        return words.baseline_text(measurement.backend) if measurement is not None else "SDPA"

    def _running_text(self, elapsed: str) -> str:
        if self.end is not None:
            return ""
        steps = f" {self.progress.done} of {self.progress.total}" if self.progress.total else ""
        return f", {self.progress.phase}{steps}" + (f", {elapsed}" if elapsed else "")

    def _failure(self, failed: Failed) -> dict[str, Line]:
        color = "muted" if failed.kind == "cancelled" else "bad"
        lines = {"state": Line(self._subject(), words.failure_words(failed), color, failed.message)}
        message = " ".join(failed.message.split())
        if failed.remedy:
            remedy = f"Try: {' '.join(failed.remedy.split())}"
            lines["detail"] = Line(message, remedy, "text", f"{failed.message}\n{remedy}")
        elif message:
            lines["detail"] = Line("", message, "text", failed.message)
        return lines

    def _changed(self, after: str) -> Line:
        """The output was not the same after timing: whose, and by how much."""
        failed = {role: r for role, r in self.rechecked.items() if r.failed}
        whose = "" if "kernel" in failed else f"{self._name('baseline')} "
        errors = "\n".join(
            f"{self._name(role)}: max error {words.error_text(r.max_abs_before)} before timing, "
            f"{words.error_text(r.max_abs_after)} after: {r.text}"
            for role, r in failed.items()
        )
        return Line(f"{self._subject()}{after}", f"{whose}{CHANGED}", "bad", errors)

    def _times(self) -> dict[str, Line]:
        lines: dict[str, Line] = {}
        for role, measurement in self.measured.items():
            latency = measurement.latency
            right = self._is_right() and measurement.error.passed
            caption = words.implementation_text(measurement)
            if role == "kernel" and self._is_right():
                caption += f", {words.problem_text(measurement.problem)}"
            elif not measurement.error.passed:
                caption += ", WRONG"
            interval = measure_words.interval_range_text(latency)
            known = f"; {measure_words.INTERVAL_TIP} {interval}" if interval else ""
            spread = f"20th to 80th percentile {format_range(latency.p20, latency.p80)}"
            tooltip = f"{caption}\n{latency.protocol} protocol: median{known}\n{spread}"
            value, color = format_time(latency.median), str(role) if right else "muted"
            lines[role] = Line(caption, value, color, tooltip, interval, measure_words.half_width_text(latency))
        return lines

    def _comparison(self) -> dict[str, Line]:
        """Who is faster: on a GPU only, and only of two outputs that are right."""
        assert self.started is not None
        kernel, baseline = self.measured.get("kernel"), self.measured.get("baseline")
        if self.started.device.mode == "interpreter":
            return {"ratio": Line("times are", INTERPRETER_LABEL, "warn")} if self.measured else {}
        if kernel is None or baseline is None or not (self._is_right() and baseline.error.passed):
            return {}
        paired = self.comparison is not None
        result: Ratio = self.comparison.ratio if self.comparison is not None else ratio(kernel, baseline)
        name, interval = words.baseline_text(baseline.backend), words.interval_text(result)
        color = "text" if result.is_level else "good" if result.baseline_over_kernel > 1 else "text"
        level = " The interval contains 1: which one is faster is open." if result.is_level else ""
        return {
            "ratio": Line(
                f"{'95%' if paired else 'p20 to p80'}: {interval}",
                words.comparison_text(result, name),
                color,
                (RATIO_TIP if paired else SPREAD_TIP) + level,
            )
        }

    def _error(self, check: Checked | None) -> dict[str, Line]:
        if check is None or not check.error.passed:
            return {}
        error = check.error
        caption = f"max error, {words.tolerance_text(error)}"
        again = self.rechecked.get("kernel")
        if again is not None and again.failed:
            value, color = f"{words.error_text(again.max_abs_after)} after timing", "bad"
            return {"error": Line(f"max error, was {words.error_text(error.max_abs)}", value, color, again.text)}
        tooltip = f"{caption}\n{again.text}" if again is not None and again.text else ""
        return {"error": Line(caption, f"{words.error_text(error.max_abs)}, passed", "good", tooltip)}

    def _is_right(self) -> bool:
        """Whether nothing is known to be wrong with the kernel's output, before timing or after, nor SDPA's after."""
        check = self.checks.get("kernel")
        return (check is None or check.error.passed) and not any(r.failed for r in self.rechecked.values())

    def _chips(self) -> Iterator[Chip]:
        assert self.started is not None
        warnings = self.device.warnings if self.device is not None else ()
        for warning in warnings:
            yield Chip(measure_words.warning_text(warning), warning.text)
        if self.started.request.problem.inputs == "zeros" and not any(w.kind == "inputs" for w in warnings):
            yield Chip(measure_words.ZEROS_TEXT, measure_words.ZEROS_TIP)
        for role in ROLES:
            again, measurement = self.rechecked.get(role), self.measured.get(role)
            whose = "" if role == "kernel" else f"{self._name(role)} "
            if again is not None and again.deterministic is False:
                yield Chip(f"{whose}not deterministic", f"{self._name(role)}: {again.text}")
            if measurement is not None:
                yield from self._latency_chips(role, measurement, whose)

    def _latency_chips(self, role: Role, measurement: Measurement, whose: str) -> Iterator[Chip]:
        """What about the samples themselves keeps one median from being the whole truth."""
        latency, name = measurement.latency, self._name(role)
        if latency.launch_bound:
            names = f"\nwhat ran: {', '.join(latency.kernel_names)}" if latency.kernel_names else ""
            yield Chip(f"{whose}{latency.launch_bound}", f"{name} is {latency.launch_bound}{names}")
        if latency.modes is not None:
            text = measure_words.modes_text(latency.modes)
            yield Chip(f"{whose}{text}", f"{name}: {text}; the median is one number for both", str(role))
        if latency.drift is not None:
            text = f"{whose}drifting by {latency.drift.relative:+.1%}"
            yield Chip(text, f"{name}: {latency.drift.text} of the run")
