"""What the latency panel's trend is made of: runs of one problem on one device, in the order they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernels.plain.tiles import TileConfig
from workbench.analysis.metrics import Metric, find_metric, interval_of
from workbench.analysis.numbers import counted, format_range, format_time
from workbench.run.events import Failed, Finished, Started
from workbench.run.measurement import ROLES, Latency, Role
from workbench.run.protocols import protocol_of
from workbench.run.record import RunKey, RunRecord
from workbench.ui.panels.latency.launches import Launches
from workbench.ui.text.cards import baseline_title
from workbench.words.names import kernel_text
from workbench.words.results import FAILURE_WORDS
from workbench.words.times import figure_kind, figure_text

MOST_RUNS = 40
TIME = find_metric("figure")  # what the trend is made of unless something else is asked for
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

    @property
    def range_text(self) -> str:
        """p20 to p80, with the unit."""
        return f"p20–p80 {format_range(self.p20, self.p80)}"

    @property
    def lines(self) -> tuple[str, str]:
        """The figure, which is named, and its interval; then how the single launches lie, which a block is not of."""
        known = f", 95% {format_range(*self.interval)}" if self.interval else ""
        median = f"{format_time(self.median)}{known}"
        if self.figure is None:
            return f"{self.name} {median}", f"no {AVERAGE}; {self.range_text}"
        if self.figure.kind == MEDIAN:
            return f"{self.figure.name} {median}", self.range_text
        return f"{self.figure.name} {format_time(self.figure.value)}", f"single launches: {MEDIAN} {median}"


def block_average(latency: Latency | None) -> float | None:
    """The time of an unbroken block's launches by their number, us; None where there was no such block."""
    if latency is None or not latency.has_block or latency.clock == "host":
        return None
    return latency.figure_us


@dataclass(frozen=True)
class MadeWith:
    """What a run was made with, beside its device: other versions may take another time for the same."""

    torch: str = ""
    triton: str = ""
    driver: str = ""
    source: str = ""

    @property
    def lines(self) -> list[str]:
        """What is known, in lines of two."""
        named = (("torch", self.torch), ("triton", self.triton), ("driver", self.driver), ("source", self.source[:8]))
        known = [f"{name} {value}" for name, value in named if value]
        return [", ".join(known[i : i + 2]) for i in range(0, len(known), 2)]

    @property
    def versions(self) -> tuple[str, str, str]:
        """What two kernels, or two of SDPA's backends, can have in common; each kernel has a source of its own."""
        return self.torch, self.triton, self.driver


@dataclass(frozen=True)
class HistoryRun:
    """One run of the trend. `kernel` has its precision; `wrong` are those whose output failed its check.

    `variant` is the kernel's name alone: what its source belongs to. `unfinished` says in words why its figures are
    none that a headline has, "" of a run that has finished. `figures` are of what the trend shows, for the roles that
    have it.
    """

    kernel: str
    tile: TileConfig
    spreads: Mapping[Role, Spread]
    wrong: frozenset[Role] = frozenset()
    shown: bool = False
    baseline: str = "SDPA"
    protocol: str = ""
    made_with: MadeWith = MadeWith()
    variant: str = ""
    unfinished: str = ""
    figures: Mapping[Role, Figure] = field(default_factory=dict)

    def is_like(self, other: HistoryRun, role: Role) -> bool:
        """Whether `role` was made with the same versions in both; sources count between runs of one kernel only."""
        mine, theirs = self.made_with, other.made_with
        same_source = role != "kernel" or self.variant != other.variant or mine.source == theirs.source
        return mine.versions == theirs.versions and same_source


def awaits_block(started: Started) -> bool:
    """Whether the figures of a run are the averages of blocks, and so not known before it has taken them."""
    return protocol_of(started.request.protocol).figure == "average" and started.device.mode == "cuda"


def comparable(started: Started) -> tuple[object, ...]:
    """What two runs must share for their times to be compared: problem, device, the clock's meaning, the protocol.

    Another seed gives other values of the same kind, and so the same work. Kernels, precisions and tiles are what is
    compared.
    """
    device = started.device
    return replace(started.request.problem, seed=0), device.name, device.mode, started.request.protocol


def unfinished_text(end: Finished | Failed | None) -> str:
    """Why a run has not finished; "" of one that has."""
    if end is None:
        return "unfinished so far"
    return f"unfinished: {FAILURE_WORDS[end.kind]}" if isinstance(end, Failed) else ""


class History:
    """All runs that have ended. Those that are shown are summarised, once each."""

    def __init__(self) -> None:
        self._records: tuple[RunRecord, ...] = ()
        self._copies: dict[RunKey, RunKey] = {}
        self._known: dict[RunKey, tuple[RunRecord, dict[Role, Spread]]] = {}

    def set_records(self, records: Sequence[RunRecord]) -> None:
        """Take all runs that have ended, oldest first."""
        self._copies = _copies(records)
        self._records = tuple(record for record in records if record.key not in self._copies)

    def _spreads(self, record: RunRecord) -> dict[Role, Spread]:
        """What `record` came to; a recording that was read again may have another run of the same key."""
        known, spreads = self._known.get(record.key, (None, {}))
        if known is not record:
            # A rival is no SDPA, of which other runs have a time as well.
            roles: tuple[Role, ...] = ROLES if record.started.request.rival is None else ("kernel",)
            launches = {role: Launches(record.samples(role)) for role in roles if len(record.samples(role))}
            spreads = spreads_of(record, launches)
            self._known[record.key] = record, spreads
        return spreads

    def runs(self, shown: RunRecord, spreads: Mapping[Role, Spread], metric: Metric = TIME) -> list[HistoryRun]:
        """The latest runs that have finished and are comparable with the one `shown`, which is among them in any case.

        That one came to `spreads` so far, and is marked, or added at the end while it is not yet one of them. Their
        figures are those of `metric`.
        """
        kind, key = comparable(shown.started), self._copies.get(shown.key, shown.key)
        runs, is_there = [], False
        for record in self._records:
            if record.key == key:
                is_there = True
                runs.append(_history_run(shown, spreads, True, metric))
            elif isinstance(record.end, Finished) and comparable(record.started) == kind and self._spreads(record):
                runs.append(_history_run(record, self._spreads(record), False, metric))
        if not is_there and spreads:
            runs.append(_history_run(shown, spreads, True, metric))
        first = max(0, len(runs) - MOST_RUNS)
        earlier = [run for run in runs[:first] if run.shown]
        return earlier + runs[first + len(earlier) :]


def _copies(records: Sequence[RunRecord]) -> dict[RunKey, RunKey]:
    """Recorded runs that are known from elsewhere, and as what: a session may be opened again as its recording.

    When a run started does not tell it from another: that is known to the second. Its launch times do.
    """
    known: dict[str, list[RunRecord]] = {}
    found = {}
    for record in sorted(records, key=lambda r: r.source != ""):  # this session's own come first
        alike = known.setdefault(record.started.started_at, [])
        original = next((one for one in alike if _is_copy(record, one)), None)
        if original is not None:
            found[record.key] = original.key
        else:
            alike.append(record)
    return found


def _is_copy(record: RunRecord, other: RunRecord) -> bool:
    if not record.source or record.source == other.source or record.started != other.started:
        return False
    return all(np.array_equal(record.samples(role), other.samples(role)) for role in ROLES)


def spreads_of(record: RunRecord, launches: Mapping[Role, Launches]) -> dict[Role, Spread]:
    """What the `launches` of a run come to, as far as it has come, with those of what was never completed."""
    awaits, ended = awaits_block(record.started), record.end is not None
    found = {}
    for role, those in launches.items():
        measurement = record.measurement(role)
        found[role] = Spread.of(those, measurement.latency if measurement is not None else None, awaits, ended)
    return found


def figures_of(record: RunRecord, spreads: Mapping[Role, Spread], metric: Metric) -> dict[Role, Figure]:
    """What `metric` is for each role that has it. Of the time the run has one before it has finished, too."""
    if metric is TIME:
        return {role: spread.figure for role, spread in spreads.items() if spread.figure is not None}
    found = {}
    for measured in record.measured:
        value = metric.value(measured.measurement, record.started.ceilings)
        if value is not None:
            found[measured.measurement.role] = Figure(value, metric.title, metric.title)
    return found


def _history_run(record: RunRecord, spreads: Mapping[Role, Spread], shown: bool, metric: Metric) -> HistoryRun:
    started = record.started
    request, device = started.request, started.device
    return HistoryRun(
        kernel_text(request.kernel, request.precision),
        request.tile,
        spreads,
        frozenset(filter(record.is_wrong, ROLES)),
        shown,
        baseline_title(request, record.backend),
        request.protocol,
        MadeWith(device.torch, device.triton, device.driver, started.provenance.source_sha256),
        request.kernel,
        unfinished_text(record.end),
        figures_of(record, spreads, metric),
    )
