"""What the latency panel knows of one run, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

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
from workbench.ui.cards import colored, kernel_title, sdpa_title, swatch, unbroken
from workbench.ui.panels.latency_history import HistoryRun, Spread
from workbench.ui.plotting import TimeScale
from workbench.ui.theme import Theme

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

    def header(self, scale: TimeScale, theme: Theme) -> str:
        """How the times were obtained and what they come to, as rich text; a wrong result is said first."""
        if self.started is None:
            return ""
        samples = self.samples()
        lines = [self._verdict(theme), self._protocol(samples, theme)]
        lines.append(" &nbsp; ".join(self._median(role, values, scale, theme) for role, values in samples.items()))
        return "<br>".join(line for line in lines if line)

    def _verdict(self, theme: Theme) -> str:
        wrong = [self.title(role) for role in NAMED if role in self.checked and not self.checked[role].error.passed]
        if not wrong:
            return ""
        return colored(f"FAIL: the output of {' and '.join(wrong)} is outside its tolerance", theme.bad, bold=True)

    def _protocol(self, samples: dict[Role, FloatArray], theme: Theme) -> str:
        assert self.started is not None
        latency = next((m.latency for m in self.measured.values()), None)
        parts = [f"{latency.protocol if latency else self.started.request.protocol} protocol"]
        if latency is not None:
            parts.append(f"clock: {latency.clock}")
        counts = {role: len(values) for role, values in samples.items()}
        if len(set(counts.values())) == 1:
            parts.append(f"{next(iter(counts.values()))} launches" + (" each" if len(counts) > 1 else ""))
        else:
            parts += [f"{count} launches of {self.title(role)}" for role, count in counts.items()]
        if latency is not None:
            parts.append(f"{latency.warmups} warm-ups")
        words = [unbroken(part) for part in (*parts, self.started.device.name)]
        if self.started.device.mode == "interpreter":
            words.insert(0, colored(INTERPRETER_LABEL, theme.warn, bold=True))
        return " · ".join(words)

    def _median(self, role: Role, values: FloatArray, scale: TimeScale, theme: Theme) -> str:
        stopped = ", not finished" if self.end is not None and role not in self.measured else ""
        text = unbroken(f"median {Spread.of(values).text(scale)}{stopped}")
        return f"{self.swatch(role, theme)}&nbsp;&nbsp;{text}"

    def swatch(self, role: Role, theme: Theme) -> str:
        """The legend's entry for `role`."""
        return swatch(self.title(role), getattr(theme, role))

    def launch_lines(self, role: Role, launch: int, scale: TimeScale, theme: Theme) -> list[str]:
        """One launch (numbered from 1), in words."""
        value = scale.text(float(self.samples()[role][launch - 1]))
        return [self.swatch(role, theme), f"launch {launch}: <b>{value}</b>"]

    def bin_lines(self, low: float, high: float, counts: dict[Role, int], scale: TimeScale, theme: Theme) -> list[str]:
        """One bin from `low` to `high` us, in words."""
        lines = [f"<b>{scale.text(low).split()[0]}–{scale.text(high)}</b>"]
        return lines + [f"{self.swatch(role, theme)}: {n} launch{'es' * (n > 1)}" for role, n in counts.items()]


def run_lines(run: HistoryRun, scale: TimeScale, theme: Theme) -> list[str]:
    """One run of the history, in words."""
    tile = run.tile
    splits = f", {tile.splits} splits" if tile.splits > 1 else ""
    lines = [f"<b>{run.kernel} {tile.label}</b>, {tile.num_warps} warps, {tile.num_stages} stages{splits}"]
    if run.wrong:
        lines.append(colored("FAIL: output outside its tolerance", theme.bad, bold=True))
    for role in NAMED:
        if role in run.spreads:
            name = "kernel" if role == "kernel" else "SDPA"
            lines.append(f"{swatch(name, getattr(theme, role))} {run.spreads[role].text(scale)}")
    return lines
