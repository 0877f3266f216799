"""What the latency panel knows of one run, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.analysis.numbers import TimeUnit, counted, format_range, format_time
from workbench.run.environment import INTERPRETER_LABEL
from workbench.run.measurement import Latency, Role
from workbench.run.protocols import protocol_of
from workbench.run.record import RunRecord
from workbench.ui.panels.latency.figures import Spread, spreads_of
from workbench.ui.panels.latency.launches import Launches
from workbench.ui.panels.latency.marks import BAND_ALPHA
from workbench.ui.text.cards import baseline_title, kernel_title, swatch
from workbench.ui.text.spans import Span, swatch_spans
from workbench.ui.theme import Theme
from workbench.words.known import no_readings_text
from workbench.words.names import heads_text, kind_text
from workbench.words.times import counts_text, drift_text, ended_text, modes_text, protocol_tip, timed_seconds


@dataclass(frozen=True)
class LatencyRun:
    """The run being shown, as far as it has come; `launches` are its launch times, a role with none left out.

    Times are said in `unit`, that of the axes; None: each in the one that suits it.
    """

    record: RunRecord
    launches: Mapping[Role, Launches]
    unit: TimeUnit | None = None

    @property
    def latencies(self) -> dict[Role, Latency]:
        """The finished measurements' times."""
        return {one.measurement.role: one.measurement.latency for one in self.record.measured}

    @property
    def first(self) -> Latency | None:
        """The first finished measurement's times, which say how all were timed; None before any."""
        return next(iter(self.latencies.values()), None)

    @property
    def protocol_name(self) -> str:
        """The protocol by which launches are timed."""
        return self.first.protocol if self.first is not None else self.record.started.request.protocol

    def spreads(self) -> dict[Role, Spread]:
        """What the launch times come to so far."""
        return spreads_of(self.record, self.launches)

    def title(self, role: Role) -> str:
        """How `role` is named in this run."""
        request = self.record.started.request
        return kernel_title(request) if role == "kernel" else baseline_title(request, self.record.backend)

    def legend(self, role: Role, theme: Theme) -> list[list[Span]]:
        """What the times of `role` come to, and the same in fewer words after it; nothing before the first.

        A wrong result is said before its speed, and that a run was stopped before what it came to; whatever the room,
        a number stands beside what it is of.
        """
        launches = self.launches.get(role)
        if launches is None:
            return [[]] * 5
        latency = self.latencies.get(role)
        spread = Spread.of(launches, latency)
        wrong = [Span("FAIL ", theme.bad, bold=True)] if self.record.is_wrong(role) else []
        square, name = swatch_spans(self.title(role), getattr(theme, role))
        color = getattr(theme, role)
        known = f"95% {format_range(*spread.interval, self.unit)}" if spread.interval else ""
        band = [Span("▬ ", theme.faint(role, BAND_ALPHA / 255)), Span(known)] if known else []
        whole = [Span(" ("), *band, Span((", " if band else "") + f"{spread.range_text(self.unit)})")]
        short = [Span(" ("), *band, Span(")")] if band else whole
        dashed = Span("╌ ", color)
        if spread.block is not None:
            block = [Span("─ ", color), Span("block average "), Span(format_time(spread.block, self.unit), bold=True)]
            median = [Span(", "), dashed, Span(f"median {format_time(spread.median, self.unit)}")]
            versions = [[*block, *median, *whole], [*block, *median, *short], [*block, *median], block]
        else:
            figure = [*self._so_far(role, len(launches), theme), dashed, Span("median ")]
            figure.append(Span(format_time(spread.median, self.unit), bold=True))
            versions = [[*figure, *whole], [*figure, *short], figure, figure]
        named = [[*wrong, square, name, Span("  "), *version] for version in versions]
        return [*named, [*wrong, square, *versions[-1]]]

    def _so_far(self, role: Role, count: int, theme: Theme) -> list[Span]:
        """What is said before a median that is not of all launches, as the run goes on or ended before."""
        if role in self.latencies:
            return []
        words = counted(count, "launch", "launches")
        if self.record.end is None:
            return [Span(f"{words} so far, ")]
        return [Span(f"partial, {words}", theme.warn, bold=True), Span(": ")]

    def wrong_text(self) -> str:
        """Whose output is wrong, in words; "" if none is known to be."""
        wrong = [self.title(check.role) for check in self.record.checked if not check.error.passed]
        lines = [f"FAIL: the output of {' and '.join(wrong)} is outside its tolerance"] if wrong else []
        lines += [f"FAIL: {self.title(again.role)}: {again.text}" for again in self.record.rechecked if again.failed]
        return "\n".join(lines)

    def clock(self, theme: Theme) -> list[Span]:
        """What must never be left out: that these are no times of a GPU."""
        is_interpreted = self.record.started.device.mode == "interpreter"
        return [Span(INTERPRETER_LABEL, theme.warn, bold=True)] if is_interpreted else []

    def protocol(self) -> list[str]:
        """How the times were obtained, and of what problem beside its shape, the most important first."""
        latency, problem = self.first, self.record.started.request.problem
        taken = [self.latencies.get(role, len(launches)) for role, launches in self.launches.items()]
        parts = [f"{self.protocol_name} protocol", counts_text(protocol_of(self.protocol_name), taken)]
        parts += [counted(latency.warmups, "warm-up")] if latency is not None else []
        parts += [kind_text(problem), heads_text(problem)]
        parts += [f"clock: {latency.clock}"] if latency is not None else []
        parts += [counted(latency.rounds, "round")] if latency is not None and latency.rounds else []
        late = sum(latency.late_samples for latency in self.latencies.values())
        parts += [f"{counted(late, 'sample')} may hold launch cost"] if late else []
        return [part for part in parts if part]

    def details(self) -> str:
        """How the times were obtained, in full, for a tooltip."""
        device = self.record.started.device
        place = f"{device.name}, {device.mode_label}"
        tip = protocol_tip(self.protocol_name, self.first.clock if self.first is not None else "")
        lines = (self.wrong_text(), place, ", ".join(self.protocol()), tip)
        return "\n".join(filter(None, (*lines, *self._endings(), self.no_strip())))

    def _endings(self) -> list[str]:
        """How the timing of each ended, and what was found about its times."""
        seconds = timed_seconds(self.record.device_state.readings) if self.record.device_state is not None else None
        lines = []
        for role, latency in self.latencies.items():
            parts = [ended_text(latency, self.record.started.request, seconds), latency.launch_bound]
            parts += [modes_text(latency.modes, self.unit)] if latency.modes is not None else []
            parts += [f"{drift_text(latency.drift)} from begin to end"] if latency.drift is not None else []
            title = self.title(role)
            lines.append(f"{title}: {', '.join(filter(None, parts))}")
            lines += [f"{title}: {note.text}" for note in latency.notes]
        return lines

    def no_strip(self) -> str:
        """Why there is no strip of the device's state; "" where there is one, or the run is not that far."""
        if self.record.device_state is not None:
            return no_readings_text(self.record.device_state.readings)
        return "no device state was recorded with this run" if self.record.end is not None else ""

    def swatch(self, role: Role, theme: Theme) -> str:
        """The legend's entry for `role`."""
        return swatch(self.title(role), getattr(theme, role))

    def launch_lines(self, role: Role, launch: int, theme: Theme) -> list[str]:
        """One launch (numbered from 1), in words."""
        value = format_time(float(self.launches[role].values[launch - 1]), self.unit)
        round_text = ""
        starts = self.latencies[role].round_starts if role in self.latencies else np.empty(0)
        if len(starts):
            round_text = f", round {int(np.searchsorted(starts, launch - 1, side='right'))}"
        return [
            self.swatch(role, theme),
            f"{'replay' if protocol_of(self.protocol_name).replays else 'launch'} {launch}{round_text}: <b>{value}</b>",
            f"{self.protocol_name} protocol",
        ]

    def bin_lines(self, low: float, high: float, counts: dict[Role, int], theme: Theme) -> list[str]:
        """One bin from `low` to `high` us, in words."""
        lines = [f"<b>{format_range(low, high, self.unit)}</b>"]
        return lines + [f"{self.swatch(role, theme)}: {counted(n, 'launch', 'launches')}" for role, n in counts.items()]
