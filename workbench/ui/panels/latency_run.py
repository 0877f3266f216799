"""What the latency panel knows of one run, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.metrics import format_range, format_time
from workbench.model import (
    INTERPRETER_LABEL,
    Checked,
    Failed,
    Finished,
    FloatArray,
    Measured,
    Measurement,
    Role,
    RunEvent,
    Samples,
    Started,
)
from workbench.ui.cards import colored, kernel_title, sdpa_title, swatch
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
            case Finished() | Failed():
                self.end = event
            case _:
                return False
        return True

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
        known = self.measured.get(role) or self.checked.get(role)
        return sdpa_title(request, known.backend if known else "")

    def legend(self, role: Role, theme: Theme) -> list[list[Span]]:
        """What the times of `role` come to, and the same in fewer words after it; nothing before the first.

        A wrong result is said before its speed.
        """
        values = self.samples().get(role)
        if values is None:
            return [[]]
        stopped = ", not finished" if self.end is not None and role not in self.measured else ""
        wrong = [Span("FAIL ", theme.bad, bold=True)] if self._is_wrong(role) else []
        square, name = swatch_spans(self.title(role), getattr(theme, role))
        spread = Spread.of(values)
        median = Span(format_time(spread.median), bold=True)
        spread_text = Span(f" ({spread.range_text}){stopped}")
        return [
            [*wrong, square, name, Span("  median "), median, spread_text],
            [*wrong, square, name, Span("  "), median, spread_text],
            [*wrong, square, name, Span("  "), median],
            [*wrong, square, median],
        ]

    def _is_wrong(self, role: Role) -> bool:
        return role in self.checked and not self.checked[role].error.passed

    def wrong_text(self) -> str:
        """Whose output is wrong, in words; "" if none is known to be."""
        wrong = [self.title(role) for role in NAMED if self._is_wrong(role)]
        return f"FAIL: the output of {' and '.join(wrong)} is outside its tolerance" if wrong else ""

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
        """What problem the times are of beside its shape and how they were obtained, the most important first."""
        assert self.started is not None
        latency = next((m.latency for m in self.measured.values()), None)
        counts = [len(values) for values in self.samples().values()]
        problem = self.started.request.problem
        parts = [text for text in (kind_text(problem), heads_text(problem)) if text]
        if counts:
            same = len(set(counts)) == 1
            each = " each" if same and len(counts) > 1 else ""
            parts.append(f"{counts[0] if same else ' + '.join(map(str, counts))} launches{each}")
        if latency is not None:
            parts.append(f"{latency.warmups} warm-up" + "s" * (latency.warmups != 1))
        parts.append(f"{latency.protocol if latency else self.started.request.protocol} protocol")
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
        return "\n".join(filter(None, lines))

    def swatch(self, role: Role, theme: Theme) -> str:
        """The legend's entry for `role`."""
        return swatch(self.title(role), getattr(theme, role))

    def launch_lines(self, role: Role, launch: int, theme: Theme) -> list[str]:
        """One launch (numbered from 1), in words."""
        value = format_time(float(self.samples()[role][launch - 1]))
        return [self.swatch(role, theme), f"launch {launch}: <b>{value}</b>"]

    def bin_lines(self, low: float, high: float, counts: dict[Role, int], theme: Theme) -> list[str]:
        """One bin from `low` to `high` us, in words."""
        lines = [f"<b>{format_range(low, high)}</b>"]
        return lines + [f"{self.swatch(role, theme)}: {n} launch{'es' * (n > 1)}" for role, n in counts.items()]


def run_lines(run: HistoryRun, theme: Theme) -> list[str]:
    """One run of the history, in words."""
    tile = run.tile
    splits = f", {splits_text(tile)} splits" if tile.splits != 1 else ""
    lines = [f"<b>{run.kernel} {tile.label}</b>, {tile.num_warps} warps, {tile.num_stages} stages{splits}"]
    if run.wrong:
        lines.append(colored("FAIL: output outside its tolerance", theme.bad, bold=True))
    for role in NAMED:
        if role in run.spreads:
            name = "kernel" if role == "kernel" else run.baseline
            lines.append(f"{swatch(name, getattr(theme, role))} {run.spreads[role].text}")
    return lines
