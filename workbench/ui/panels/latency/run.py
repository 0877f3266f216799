"""What the latency panel knows of one run, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.analysis.metrics import format_range, format_time
from workbench.run.environment import INTERPRETER_LABEL
from workbench.run.events import Checked, DeviceState, Failed, Finished, Measured, Rechecked, RunEvent, Samples, Started
from workbench.run.measurement import ROLES, Latency, Measurement, Role
from workbench.ui.panels.latency.history import HistoryRun, Spread, awaits_block
from workbench.ui.panels.latency.launches import Launches
from workbench.ui.panels.latency.marks import BAND_ALPHA
from workbench.ui.text.cards import colored, kernel_title, sdpa_title, swatch
from workbench.ui.text.spans import Span, swatch_spans
from workbench.ui.theme import Theme
from workbench.words.known import no_trace_text, timed_seconds
from workbench.words.runs import heads_text, kind_text, splits_text
from workbench.words.times import counted, ended_text, launches_text, modes_text, protocol_tip

INDENT = "&nbsp;" * 4  # of what belongs to the line above


@dataclass
class LatencyRun:
    """The run being shown, as far as it has come."""

    started: Started | None = None
    launches: dict[Role, Launches] = field(default_factory=dict)
    measured: dict[Role, Measurement] = field(default_factory=dict)
    checked: dict[Role, Checked] = field(default_factory=dict)
    rechecked: dict[Role, Rechecked] = field(default_factory=dict)
    device: DeviceState | None = None
    end: Finished | Failed | None = None

    def take(self, event: RunEvent) -> bool:
        """Keep `event`; False if it says nothing about times."""
        match event:
            case Samples():
                if event.role not in self.measured:  # which has them all
                    self.launches.setdefault(event.role, Launches()).append(event.values)
            case Measured():
                role = event.measurement.role
                self.measured[role] = event.measurement
                self.launches[role] = Launches(event.measurement.latency.samples)
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

    def samples(self) -> dict[Role, Launches]:
        """All launch times known: a finished measurement's own, else those that have arrived."""
        return {role: self.launches[role] for role in ROLES if len(self.launches.get(role, ()))}

    def spreads(self) -> dict[Role, Spread]:
        """What the launch times come to so far."""
        known, awaits, ended = self.latencies(), self.started is not None and awaits_block(self.started), bool(self.end)
        return {role: Spread.of(those, known.get(role), awaits, ended) for role, those in self.samples().items()}

    def title(self, role: Role) -> str:
        """How `role` is named in this run."""
        request = self.started.request if self.started else None
        if role == "kernel":
            return kernel_title(request)
        return sdpa_title(request, self.backend())

    def legend(self, role: Role, theme: Theme) -> list[list[Span]]:
        """What the times of `role` come to, and the same in fewer words after it; nothing before the first.

        A wrong result is said before its speed, and that a run was stopped before what it came to; whatever the room,
        a number stands beside what it is of.
        """
        launches = self.samples().get(role)
        if launches is None:
            return [[]] * 5
        latency = self.latencies().get(role)
        spread = Spread.of(launches, latency)
        wrong = [Span("FAIL ", theme.bad, bold=True)] if self.is_wrong(role) else []
        square, name = swatch_spans(self.title(role), getattr(theme, role))
        color = getattr(theme, role)
        band = (
            [Span("▬ ", theme.faint(role, BAND_ALPHA / 255)), Span(f"95% {format_range(*spread.interval)}")]
            if spread.interval
            else []
        )
        whole = [Span(" ("), *band, Span((", " if band else "") + f"{spread.range_text})")]
        short = [Span(" ("), *band, Span(")")] if band else whole
        dashed = Span("╌ ", color)
        if spread.block is not None:
            block = [Span("─ ", color), Span("block average "), Span(format_time(spread.block), bold=True)]
            median = [Span(", "), dashed, Span(f"median {format_time(spread.median)}")]
            versions = [[*block, *median, *whole], [*block, *median, *short], [*block, *median], block]
        else:
            figure = [*self._so_far(role, len(launches), theme), dashed, Span("median ")]
            figure.append(Span(format_time(spread.median), bold=True))
            versions = [[*figure, *whole], [*figure, *short], figure, figure]
        named = [[*wrong, square, name, Span("  "), *version] for version in versions]
        return [*named, [*wrong, square, *versions[-1]]]

    def _so_far(self, role: Role, count: int, theme: Theme) -> list[Span]:
        """What is said before a median that is not of all launches, as the run goes on or ended before."""
        if role in self.measured:
            return []
        words = counted(count, "launch", "launches")
        if self.end is None:
            return [Span(f"{words} so far, ")]
        return [Span(f"partial, {words}", theme.warn, bold=True), Span(": ")]

    def is_wrong(self, role: Role) -> bool:
        """Whether the output of `role` did not pass its check, or was another one after timing."""
        changed = role in self.rechecked and self.rechecked[role].failed
        return changed or (role in self.checked and not self.checked[role].error.passed)

    def wrong_roles(self) -> frozenset[Role]:
        """Those whose output is wrong, as far as that is known."""
        return frozenset(filter(self.is_wrong, ROLES))

    def backend(self) -> str:
        """The backend that SDPA took, "" while that is not known."""
        known = self.measured.get("baseline") or self.checked.get("baseline")
        return known.backend if known is not None else ""

    def wrong_text(self) -> str:
        """Whose output is wrong, in words; "" if none is known to be."""
        wrong = [self.title(role) for role in ROLES if role in self.checked and not self.checked[role].error.passed]
        lines = [f"FAIL: the output of {' and '.join(wrong)} is outside its tolerance"] if wrong else []
        lines += [f"FAIL: {self.title(role)}: {r.text}" for role, r in self.rechecked.items() if r.failed]
        return "\n".join(lines)

    def clock(self, theme: Theme) -> list[Span]:
        """What must never be left out: that these are no times of a GPU."""
        assert self.started is not None
        is_interpreted = self.started.device.mode == "interpreter"
        return [Span(INTERPRETER_LABEL, theme.warn, bold=True)] if is_interpreted else []

    def _clock_words(self) -> list[str]:
        latency = next((m.latency for m in self.measured.values()), None)
        return [f"clock: {latency.clock}"] if latency is not None else []

    def protocol(self) -> list[str]:
        """How the times were obtained, and of what problem beside its shape, the most important first."""
        assert self.started is not None
        latency = next(iter(self.latencies().values()), None)
        problem = self.started.request.problem
        parts = [f"{self.protocol_name()} protocol", self._counts_text()]
        parts += [counted(latency.warmups, "warm-up")] if latency is not None else []
        parts += [kind_text(problem), heads_text(problem), *self._clock_words()]
        parts += [counted(latency.rounds, "round")] if latency is not None and latency.rounds else []
        late = sum(latency.late_samples for latency in self.latencies().values())
        parts += [f"{counted(late, 'sample')} may hold launch cost"] if late else []
        return [part for part in parts if part]

    def _counts_text(self) -> str:
        """How many launches there are of each: "50 launches each", "320 replays × 25 launches + 12 launches"."""
        latencies, samples = self.latencies(), self.samples()
        unit = ("replay",) if self.protocol_name() == "graph" else ("launch", "launches")
        counts = [
            launches_text(latencies[role]) if role in latencies else counted(len(launches), *unit)
            for role, launches in samples.items()
        ]
        if len(set(counts)) == 1:
            return counts[0] + " each" * (len(counts) > 1)
        words = {count.rpartition(" ")[2] for count in counts}
        if len(words) == 1 and not any("×" in count for count in counts):
            return f"{' + '.join(count.partition(' ')[0] for count in counts)} {words.pop()}"
        return " + ".join(counts)

    def details(self) -> str:
        """How the times were obtained, in full, for a tooltip."""
        assert self.started is not None
        device = self.started.device
        place = f"{device.name}, {device.mode_label}"
        clock = next((latency.clock for latency in self.latencies().values()), "")
        tip = protocol_tip(self.protocol_name(), clock)
        lines = (self.wrong_text(), place, ", ".join(self.protocol()), tip)
        return "\n".join(filter(None, (*lines, *self._endings(), self.no_strip())))

    def _endings(self) -> list[str]:
        """How the timing of each ended, and what was found about its times."""
        assert self.started is not None
        seconds = timed_seconds(self.device.trace) if self.device is not None else None
        lines = []
        for role, latency in self.latencies().items():
            parts = [ended_text(latency, self.started.request, seconds), latency.launch_bound]
            parts += [modes_text(latency.modes)] if latency.modes is not None else []
            parts += [latency.drift.text] if latency.drift is not None else []
            title = self.title(role)
            lines.append(f"{title}: {', '.join(filter(None, parts))}")
            lines += [f"{title}: {note}" for note in latency.notes]
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
        value = format_time(float(self.launches[role].values[launch - 1]))
        round_text = ""
        starts = self.measured[role].latency.round_starts if role in self.measured else np.empty(0)
        if len(starts):
            round_text = f", round {int(np.searchsorted(starts, launch - 1, side='right'))}"
        return [
            self.swatch(role, theme),
            f"{'replay' if self.protocol_name() == 'graph' else 'launch'} {launch}{round_text}: <b>{value}</b>",
            f"{self.protocol_name()} protocol",
        ]

    def bin_lines(self, low: float, high: float, counts: dict[Role, int], theme: Theme) -> list[str]:
        """One bin from `low` to `high` us, in words."""
        lines = [f"<b>{format_range(low, high)}</b>"]
        return lines + [f"{self.swatch(role, theme)}: {counted(n, 'launch', 'launches')}" for role, n in counts.items()]


def run_lines(run: HistoryRun, theme: Theme) -> list[str]:
    """One run of the history, in words; lines that a narrow panel has room for."""
    tile = run.tile
    splits = f", {splits_text(tile)} splits" if tile.splits != 1 else ""
    lines = [f"<b>{run.kernel} {tile.label}</b>, {', '.join(tile.option_words)}{splits}"]
    lines += [f"{run.protocol} protocol", *run.made_with.lines]
    lines += [colored(run.unfinished, theme.warn, bold=True)] if run.unfinished else []
    names: dict[Role, str] = {"kernel": "kernel", "baseline": run.baseline}
    wrong = [names[role] for role in ROLES if role in run.wrong]
    if wrong:
        lines.append(colored(f"FAIL: the output of {' and '.join(wrong)} is wrong", theme.bad, bold=True))
    for role, name in names.items():
        if role in run.spreads:
            figure, launches = run.spreads[role].lines
            lines += [f"{swatch(name, getattr(theme, role))} {figure}", f"{INDENT}{launches}"]
    return lines
