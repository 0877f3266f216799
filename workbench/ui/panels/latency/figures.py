"""What one run's launch times come to: the figure that is its own, and how the single launches lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.analysis.metrics import interval_of
from workbench.analysis.numbers import TimeUnit, counted, format_range, format_time
from workbench.run.events import Started
from workbench.run.measurement import Latency, Role
from workbench.run.protocols import protocol_of
from workbench.run.record import RunRecord
from workbench.ui.panels.latency.launches import Launches
from workbench.words.times import figure_kind, figure_text

MEDIAN, AVERAGE = "median", "block average"  # kinds of figures
SO_FAR = "median so far"


@dataclass(frozen=True)
class Figure:
    """The one number of a role in a run, a time in us unless another metric is asked for: `kind` says what it is.

    The headline has the time too once the run has finished; until then it may be the median of what there is. `bar` is
    the 95% interval where it is of this number: a block's average has none. `name` is the kind with the number of
    launches where that belongs to it.
    """

    value: float
    kind: str = MEDIAN
    name: str = MEDIAN
    bar: tuple[float, float] | None = None

    @classmethod
    def of(cls, latency: Latency) -> Figure:
        """The protocol's own figure."""
        if latency.has_block:
            block = "block " if block_average(latency) is not None else ""
            return cls(latency.figure_us, f"{block}{figure_kind(latency)}", f"{block}{figure_text(latency)}")
        known = interval_of(latency)
        return cls(latency.figure_us, bar=None if known is None else (known.low, known.high))


@dataclass(frozen=True)
class Spread:
    """Median and percentiles of launch times, us; the median's 95% interval and the block's average where known.

    `figure` is what the trend is made of, None while it is not known; `name` is what the median is called then.
    """

    median: float
    p20: float
    p80: float
    interval: tuple[float, float] | None = None
    block: float | None = None
    figure: Figure | None = None
    name: str = MEDIAN

    @classmethod
    def of(
        cls, launches: Launches, latency: Latency | None = None, awaits_block: bool = False, ended: bool = False
    ) -> Spread:
        """Summarise `launches`; `latency` is what is known once they are all there, which never comes if it `ended`.

        Without it their median is the figure, unless that is to be the average of a block (`awaits_block`).
        """
        p20, median, p80 = launches.quantiles(0.2, 0.5, 0.8)
        if latency is None:
            name = f"partial, {counted(len(launches), 'launch', 'launches')}: {MEDIAN}" if ended else SO_FAR
            return cls(median, p20, p80, figure=None if awaits_block else Figure(median, name=name), name=name)
        known = interval_of(latency)
        interval = (known.low, known.high) if known is not None else None
        return cls(median, p20, p80, interval, block_average(latency), Figure.of(latency))

    @property
    def marked(self) -> list[float]:
        """What is marked beside the launches, us: the interval's ends and the block's average, where known."""
        return [*(self.interval or ()), *([self.block] if self.block is not None else [])]

    def range_text(self, unit: TimeUnit | None = None) -> str:
        """20th to 80th percentile, in `unit`."""
        return f"p20–p80 {format_range(self.p20, self.p80, unit)}"

    def lines(self, unit: TimeUnit | None = None) -> tuple[str, str]:
        """The figure, which is named, and its interval; then how the single launches lie, which a block is not of."""
        known = f", 95% {format_range(*self.interval, unit)}" if self.interval else ""
        median = f"{format_time(self.median, unit)}{known}"
        if self.figure is None:
            return f"{self.name} {median}", f"no {AVERAGE}; {self.range_text(unit)}"
        if self.figure.kind == MEDIAN:
            return f"{self.figure.name} {median}", self.range_text(unit)
        return f"{self.figure.name} {format_time(self.figure.value, unit)}", f"single launches: {MEDIAN} {median}"


def block_average(latency: Latency | None) -> float | None:
    """The time of an unbroken block's launches by their number, us; None where there was no such block."""
    if latency is None or not latency.has_block or latency.clock == "host":
        return None
    return latency.figure_us


def awaits_block(started: Started) -> bool:
    """Whether the figures of a run are the averages of blocks, and so not known before it has taken them."""
    return protocol_of(started.request.protocol).figure == "average" and started.device.mode == "cuda"


def spreads_of(record: RunRecord, launches: Mapping[Role, Launches]) -> dict[Role, Spread]:
    """What the `launches` of a run come to, as far as it has come, with those of what was never completed."""
    awaits, ended = awaits_block(record.started), record.end is not None
    found = {}
    for role, those in launches.items():
        measurement = record.measurement(role)
        found[role] = Spread.of(those, measurement.latency if measurement is not None else None, awaits, ended)
    return found
