"""What the latency panel knows of one run, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.metrics import format_range, format_time
from workbench.model import (
    INTERPRETER_LABEL,
    Checked,
    DeviceState,
    Failed,
    Finished,
    FloatArray,
    Latency,
    Measured,
    Measurement,
    Rechecked,
    Role,
    RunEvent,
    Samples,
    Started,
)
from workbench.ui.cards import colored, kernel_title, sdpa_title, swatch
from workbench.ui.measure_words import (
    ended_text,
    interval_range_text,
    modes_text,
    no_trace_text,
    protocol_tip,
    timed_seconds,
)
from workbench.ui.panels.latency_history import HistoryRun, Spread
from workbench.ui.spans import Span, swatch_spans
from workbench.ui.theme import Theme
from workbench.ui.words import heads_text, kind_text, splits_text

NAMED: tuple[Role, ...] = ("kernel", "baseline")  # in reading order


@dataclass
class LatencyRun:
    """The run being shown, as far as it has come."""

    started: Started | None = None
    arrived: dict[Role, list[FloatArray]] = field(default_factory=dict)
    measured: dict[Role, Measurement] = field(default_factory=dict)
    checked: dict[Role, Checked] = field(default_factory=dict)
    rechecked: dict[Role, Rechecked] = field(default_factory=dict)
    device: DeviceState | None = None
    end: Finished | Failed | None = None

    def take(self, event: RunEvent) -> bool:
        """Keep `event`; False if it says nothing about times."""
        match event:
            case Samples():
                self.arrived.setdefault(event.role, []).append(event.values)
            case Measured():
                self.measured[event.measurement.role] = event.measurement
            case Checked():
                self.checked[event.role] = event
            case Rechecked():
                self.rechecked[event.role] = event
            case DeviceState():
                self.device = event
            case Finished() | Failed():
                self.end = event
            case _:
                return False
        return True

    def latencies(self) -> dict[Role, Latency]:
        """The finished measurements' times."""
        return {role: measurement.latency for role, measurement in self.measured.items()}

    def protocol_name(self) -> str:
        """The protocol by which launches are timed."""
        assert self.started is not None
        latency = next(iter(self.latencies().values()), None)
        return latency.protocol if latency is not None else self.started.request.protocol

    def samples(self) -> dict[Role, FloatArray]:
        """All launch times known, us: a finished measurement's own, else those that have arrived."""
        result: dict[Role, FloatArray] = {}
        for role in NAMED:
            if role in self.measured:
                values = self.measured[role].latency.samples
            else:
                values = np.concatenate(self.arrived.get(role) or [np.empty(0)])
            if values.size:
                result[role] = values
        return result

    def title(self, role: Role) -> str:
        """How `role` is named in this run."""
        request = self.started.request if self.started else None
        if role == "kernel":
            return kernel_title(request)
        return sdpa_title(request, self.backend())

    def legend(self, role: Role, theme: Theme) -> list[list[Span]]:
        """What the times of `role` come to, and the same in fewer words after it; nothing before the first.

        A wrong result is said before its speed.
        """
        values = self.samples().get(role)
        if values is None:
            return [[]]
        stopped = ", not finished" if self.end is not None and role not in self.measured else ""
        wrong = [Span("FAIL ", theme.bad, bold=True)] if self.is_wrong(role) else []
        square, name = swatch_spans(self.title(role), getattr(theme, role))
        spread = Spread.of(values)
        median = Span(format_time(spread.median), bold=True)
        known = interval_range_text(self.measured[role].latency) if role in self.measured else ""
        known = f"95% {known}" if known else ""
        whole = Span(f" ({', '.join(filter(None, (known, spread.range_text)))}){stopped}")
        short = Span(f" ({known or spread.range_text}){stopped}")
        return [
            [*wrong, square, name, Span("  median "), median, whole],
            [*wrong, square, name, Span("  median "), median, short],
            [*wrong, square, name, Span("  "), median, short],
            [*wrong, square, name, Span("  "), median],
            [*wrong, square, median],
        ]

    def is_wrong(self, role: Role) -> bool:
        """Whether the output of `role` did not pass its check, or was another one after timing."""
        changed = role in self.rechecked and self.rechecked[role].failed
        return changed or (role in self.checked and not self.checked[role].error.passed)

    def backend(self) -> str:
        """The backend that SDPA took, "" while that is not known."""
        known = self.measured.get("baseline") or self.checked.get("baseline")
        return known.backend if known is not None else ""

    def wrong_text(self) -> str:
        """Whose output is wrong, in words; "" if none is known to be."""
        wrong = [self.title(role) for role in NAMED if role in self.checked and not self.checked[role].error.passed]
        lines = [f"FAIL: the output of {' and '.join(wrong)} is outside its tolerance"] if wrong else []
        lines += [f"FAIL: {self.title(role)}: {r.text}" for role, r in self.rechecked.items() if r.failed]
        return "\n".join(lines)

    def clock(self, theme: Theme) -> list[Span]:
        """What the times are: never left out on the interpreter."""
        assert self.started is not None
        if self.started.device.mode == "interpreter":
            return [Span(INTERPRETER_LABEL, theme.warn, bold=True)]
        return [Span(part, theme.muted) for part in self._clock_words()]

    def _clock_words(self) -> list[str]:
        latency = next((m.latency for m in self.measured.values()), None)
        return [f"clock: {latency.clock}"] if latency is not None else []

    def protocol(self) -> list[str]:
        """How the times were obtained, and of what problem beside its shape, the most important first."""
        assert self.started is not None
        latency = next(iter(self.latencies().values()), None)
        counts = [len(values) for values in self.samples().values()]
        problem = self.started.request.problem
        parts = [f"{self.protocol_name()} protocol"]
        parts += [text for text in (kind_text(problem), heads_text(problem)) if text]
        if counts:
            same = len(set(counts)) == 1
            each = " each" if same and len(counts) > 1 else ""
            parts.append(f"{counts[0] if same else ' + '.join(map(str, counts))} launches{each}")
        if latency is not None:
            parts.append(f"{latency.warmups} warm-up" + "s" * (latency.warmups != 1))
        if latency is not None and latency.rounds:
            parts.append(f"{latency.rounds} rounds")
        if self.started.device.mode == "interpreter":
            parts += self._clock_words()
        return parts

    def details(self) -> str:
        """How the times were obtained, in full, for a tooltip."""
        assert self.started is not None
        counts = [f"{len(values)} launches of {self.title(role)}" for role, values in self.samples().items()]
        device = self.started.device
        place = f"{device.name}, {device.mode_label}"
        lines = (self.wrong_text(), place, *self._clock_words(), *counts, ", ".join(self.protocol()))
        return "\n".join(filter(None, (*lines, protocol_tip(self.protocol_name()), *self._endings(), self.no_strip())))

    def _endings(self) -> list[str]:
        """How the timing of each ended, and what was found about its times."""
        assert self.started is not None
        seconds = timed_seconds(self.device.trace) if self.device is not None else None
        lines = []
        for role, latency in self.latencies().items():
            parts = [ended_text(latency, self.started.request, seconds), latency.launch_bound]
            parts += [modes_text(latency.modes)] if latency.modes is not None else []
            parts += [latency.drift.text] if latency.drift is not None else []
            lines.append(f"{self.title(role)}: {', '.join(filter(None, parts))}")
        return lines

    def no_strip(self) -> str:
        """Why there is no strip of the device's state; "" where there is one, or the run is not that far."""
        if self.device is not None:
            return no_trace_text(self.device.trace)
        return "no device state was recorded with this run" if self.end is not None else ""

    def swatch(self, role: Role, theme: Theme) -> str:
        """The legend's entry for `role`."""
        return swatch(self.title(role), getattr(theme, role))

    def launch_lines(self, role: Role, launch: int, theme: Theme) -> list[str]:
        """One launch (numbered from 1), in words."""
        value = format_time(float(self.samples()[role][launch - 1]))
        round_text = ""
        starts = self.measured[role].latency.round_starts if role in self.measured else np.empty(0)
        if len(starts):
            round_text = f", round {int(np.searchsorted(starts, launch - 1, side='right'))}"
        return [
            self.swatch(role, theme),
            f"launch {launch}{round_text}: <b>{value}</b>",
            f"{self.protocol_name()} protocol",
        ]

    def bin_lines(self, low: float, high: float, counts: dict[Role, int], theme: Theme) -> list[str]:
        """One bin from `low` to `high` us, in words."""
        lines = [f"<b>{format_range(low, high)}</b>"]
        return lines + [f"{self.swatch(role, theme)}: {n} launch{'es' * (n > 1)}" for role, n in counts.items()]


def run_lines(run: HistoryRun, theme: Theme) -> list[str]:
    """One run of the history, in words."""
    tile = run.tile
    splits = f", {splits_text(tile)} splits" if tile.splits != 1 else ""
    lines = [f"<b>{run.kernel} {tile.label}</b>, {tile.num_warps} warps, {tile.num_stages} stages{splits}"]
    lines.append(f"{run.protocol} protocol")
    if run.wrong:
        lines.append(colored("FAIL: the output is wrong", theme.bad, bold=True))
    for role in NAMED:
        if role in run.spreads:
            name = "kernel" if role == "kernel" else run.baseline
            lines.append(f"{swatch(name, getattr(theme, role))} {run.spreads[role].text}")
    return lines
