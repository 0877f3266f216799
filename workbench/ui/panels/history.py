"""What the latency panel's trend is made of: runs of one problem on one device, in the order they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.metrics import format_range, format_time
from workbench.model import ROLES, Latency, Role, RunRecord, Started, TileConfig
from workbench.ui.cards import sdpa_title
from workbench.ui.measure_words import figure_kind, figure_text, interval_of
from workbench.ui.panels.launches import Launches
from workbench.ui.words import kernel_text

MOST_RUNS = 40
MEDIAN, AVERAGE = "median", "block average"  # kinds of figures
SO_FAR = "median so far"


@dataclass(frozen=True)
class Figure:
    """The one number of a role in a run, us, which the headline has too: `kind` says what it is, in a word or two.

    `bar` is the 95% interval where it is of this number: a block's average has none. `name` is the kind with the number
    of launches where that belongs to it.
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

    `figure` is what the trend is made of, None while it is not known.
    """

    median: float
    p20: float
    p80: float
    interval: tuple[float, float] | None = None
    block: float | None = None
    figure: Figure | None = None

    @classmethod
    def of(cls, launches: Launches, latency: Latency | None = None, awaits_block: bool = False) -> Spread:
        """Summarise `launches`; `latency` is what is known once they are all there.

        Until then their median is the figure, unless that is to be the average of a block (`awaits_block`).
        """
        p20, median, p80 = launches.quantiles(0.2, 0.5, 0.8)
        if latency is None:
            return cls(median, p20, p80, figure=None if awaits_block else Figure(median, name=SO_FAR))
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
            return f"{SO_FAR} {median}; no {AVERAGE}", self.range_text
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

    `variant` is the kernel's name alone: what its source belongs to.
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


class History:
    """All finished runs. Those that are shown are summarised, once each."""

    def __init__(self) -> None:
        self._records: tuple[RunRecord, ...] = ()
        self._known: dict[int, dict[Role, Spread]] = {}

    def set_records(self, records: Sequence[RunRecord]) -> None:
        """Take all finished runs, oldest first."""
        present = set(map(id, records))
        self._known = {number: spreads for number, spreads in self._known.items() if number in present}
        self._records = tuple(records)  # keeps the records, and with them their ids, alive

    def _spreads(self, record: RunRecord) -> dict[Role, Spread]:
        if id(record) not in self._known:
            self._known[id(record)] = _spreads(record)
        return self._known[id(record)]

    def runs(
        self, started: Started, spreads: Mapping[Role, Spread], wrong: frozenset[Role], backend: str
    ) -> list[HistoryRun]:
        """The latest runs comparable with the one that `started`, which is marked, or added when unfinished.

        `spreads`, whose output is `wrong`, and SDPA's `backend` are of that one.
        """
        alike = [r for r in self._records if comparable(r.started) == comparable(started) and self._spreads(r)]
        same = [r for r in alike if r.started is started] or [r for r in alike if r.started == started]
        # Two that began alike in one second are told apart by their times.
        shown = next((r for r in reversed(same) if self._spreads(r) == spreads), same[-1] if same else None)
        runs = [_of_record(r, self._spreads(r), r is shown) for r in alike]
        if shown is None and spreads:
            runs.append(_history_run(started, spreads, wrong, backend, True))
        first = max(0, len(runs) - MOST_RUNS)
        earlier = [run for run in runs[:first] if run.shown]
        return earlier + runs[first + len(earlier) :]


def _spreads(record: RunRecord) -> dict[Role, Spread]:
    measured = {m.measurement.role: m.measurement.latency for m in record.measured}
    return {role: Spread.of(Launches(known.samples), known) for role, known in measured.items() if known.samples.size}


def _of_record(record: RunRecord, spreads: Mapping[Role, Spread], shown: bool) -> HistoryRun:
    baseline = record.measurement("baseline") or record.check("baseline")
    backend = baseline.backend if baseline is not None else ""
    return _history_run(record.started, spreads, frozenset(filter(record.is_wrong, ROLES)), backend, shown)


def _history_run(
    started: Started, spreads: Mapping[Role, Spread], wrong: frozenset[Role], backend: str, shown: bool
) -> HistoryRun:
    request, device = started.request, started.device
    kernel = kernel_text(request.kernel, request.precision)
    made_with = MadeWith(device.torch, device.triton, device.driver, started.provenance.source_sha256)
    title = sdpa_title(request, backend)
    return HistoryRun(kernel, request.tile, spreads, wrong, shown, title, request.protocol, made_with, request.kernel)
