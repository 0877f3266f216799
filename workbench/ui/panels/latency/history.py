"""What the latency panel's trend is made of: runs of one problem on one device, in the order they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kernels.plain.tiles import TileConfig
from workbench.analysis.metrics import format_range, format_time, interval_of
from workbench.run.events import Failed, Finished, Started
from workbench.run.measurement import ROLES, Latency, Role
from workbench.run.record import RunRecord
from workbench.ui.panels.latency.launches import Launches
from workbench.ui.text.cards import sdpa_title
from workbench.words.runs import FAILURE_WORDS, kernel_text
from workbench.words.times import counted, figure_kind, figure_text

MOST_RUNS = 40
MEDIAN, AVERAGE = "median", "block average"  # kinds of figures
SO_FAR = "median so far"


@dataclass(frozen=True)
class Figure:
    """The one number of a role in a run, us: `kind` says what it is, in a word or two.

    The headline has it too once the run has finished; until then it may be the median of what there is. `bar` is the
    95% interval where it is of this number: a block's average has none. `name` is the kind with the number of launches
    where that belongs to it.
    """

    us: float
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
        return f"{self.figure.name} {format_time(self.figure.us)}", f"single launches: {MEDIAN} {median}"


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
    none that a headline has, "" of a run that has finished.
    """

    kernel: str
    tile: TileConfig
    spreads: Mapping[Role, Spread]
    wrong: frozenset[Role] = frozenset()
    shown: bool = False
    baseline: str = "SDPA"
    protocol: str = "article"
    made_with: MadeWith = MadeWith()
    variant: str = ""
    unfinished: str = ""

    @property
    def figures(self) -> dict[Role, Figure]:
        """The figure of each role that has one."""
        return {role: spread.figure for role, spread in self.spreads.items() if spread.figure is not None}

    def is_like(self, other: HistoryRun, role: Role) -> bool:
        """Whether `role` was made with the same versions in both; sources count between runs of one kernel only."""
        mine, theirs = self.made_with, other.made_with
        same_source = role != "kernel" or self.variant != other.variant or mine.source == theirs.source
        return mine.versions == theirs.versions and same_source


def awaits_block(started: Started) -> bool:
    """Whether the figures of a run are the averages of blocks, and so not known before it has taken them."""
    return started.request.protocol == "article" and started.device.mode == "cuda"


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
        self._originals: tuple[RunRecord, ...] = ()
        self._known: dict[int, dict[Role, Spread]] = {}

    def set_records(self, records: Sequence[RunRecord]) -> None:
        """Take all runs that have ended, oldest first."""
        present = set(map(id, records))
        self._known = {number: spreads for number, spreads in self._known.items() if number in present}
        self._records = tuple(records)  # keeps the records, and with them their ids, alive
        self._originals = self._without_copies()

    def _without_copies(self) -> tuple[RunRecord, ...]:
        """All but the recorded runs that are known from elsewhere: a session may be opened again as its recording."""
        known: dict[str, list[RunRecord]] = {}
        copies = set()
        for record in sorted(self._records, key=lambda r: r.source != ""):  # this session's own come first
            alike = known.setdefault(record.started.started_at, [])
            if record.source and any(self._is_copy(record, one) for one in alike):
                copies.add(id(record))
            else:
                alike.append(record)
        return tuple(record for record in self._records if id(record) not in copies)

    def _is_copy(self, record: RunRecord, other: RunRecord) -> bool:
        differs = other.source == record.source or other.started != record.started
        return not differs and self._spreads(other) == self._spreads(record)

    def _spreads(self, record: RunRecord) -> dict[Role, Spread]:
        if id(record) not in self._known:
            self._known[id(record)] = _spreads(record)
        return self._known[id(record)]

    def runs(
        self,
        started: Started,
        spreads: Mapping[Role, Spread],
        wrong: frozenset[Role],
        backend: str,
        end: Finished | Failed | None,
    ) -> list[HistoryRun]:
        """The latest runs that have finished and are comparable with the one shown, which is among them in any case.

        That is the one that `started` and came to `spreads`, and is marked, or added at the end while no record is of
        it; its outputs in `wrong` are wrong, SDPA's `backend` is its own, and so is its `end`.
        """
        kind = comparable(started)
        alike = [r for r in self._originals if comparable(r.started) == kind and self._spreads(r)]
        # When it started does not tell two runs apart: that is known to the second.
        shown = next((r for r in reversed(alike) if r.started == started and self._spreads(r) == spreads), None)
        finished = [r for r in alike if r is shown or isinstance(r.end, Finished)]
        runs = [_of_record(r, self._spreads(r), r is shown) for r in finished]
        if shown is None and spreads:
            runs.append(_history_run(started, spreads, wrong, backend, True, end))
        first = max(0, len(runs) - MOST_RUNS)
        earlier = [run for run in runs[:first] if run.shown]
        return earlier + runs[first + len(earlier) :]


def _spreads(record: RunRecord) -> dict[Role, Spread]:
    """As the panel has them when it shows `record`, with the launches of what was never completed."""
    known = {m.measurement.role: m.measurement.latency for m in record.measured}
    launches = {role: Launches(latency.samples) for role, latency in known.items()}
    for part in record.partial:
        if part.role not in known:
            launches.setdefault(part.role, Launches()).append(part.values)
    awaits, ended = awaits_block(record.started), record.end is not None
    return {role: Spread.of(those, known.get(role), awaits, ended) for role, those in launches.items() if len(those)}


def _of_record(record: RunRecord, spreads: Mapping[Role, Spread], shown: bool) -> HistoryRun:
    baseline = record.measurement("baseline") or record.check("baseline")
    backend = baseline.backend if baseline is not None else ""
    wrong = frozenset(filter(record.is_wrong, ROLES))
    return _history_run(record.started, spreads, wrong, backend, shown, record.end)


def _history_run(
    started: Started,
    spreads: Mapping[Role, Spread],
    wrong: frozenset[Role],
    backend: str,
    shown: bool,
    end: Finished | Failed | None,
) -> HistoryRun:
    request, device = started.request, started.device
    return HistoryRun(
        kernel_text(request.kernel, request.precision),
        request.tile,
        spreads,
        wrong,
        shown,
        sdpa_title(request, backend),
        request.protocol,
        MadeWith(device.torch, device.triton, device.driver, started.provenance.source_sha256),
        request.kernel,
        unfinished_text(end),
    )
