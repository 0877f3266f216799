"""All runs that have ended, and which of them belong to one trend. Read a piece at a time, each once."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from operator import is_
from time import perf_counter

import numpy as np

from workbench.analysis.metrics import Metric
from workbench.run.kept.runs import Runs
from workbench.run.measurement import ROLES, Role
from workbench.run.record import RunKey, RunRecord
from workbench.stats.arrays import FloatArray
from workbench.ui.panels.latency.figures import Spread
from workbench.ui.panels.latency.trend.along import ORDER, Along, Kind
from workbench.ui.panels.latency.trend.runs import TIME, TrendRun, figures_of, make_run


@dataclass(eq=False)
class Trend:
    """What is drawn: `runs` that have finished, those that `failed`, in their order, and the one that is `shown`.

    `others` counts runs of the problem that are not drawn, by why; `waiting` how many are not read yet.
    """

    kind: Kind
    metric: Metric = TIME
    along: Along = ORDER
    runs: tuple[TrendRun, ...] = ()
    failed: tuple[TrendRun, ...] = ()
    others: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0

    @cached_property
    def by_key(self) -> dict[RunKey, TrendRun]:
        """Its runs by their keys."""
        return {run.record.key: run for run in (*self.runs, *self.failed)}

    @cached_property
    def next_order(self) -> int:
        """Of a run that is none of them yet."""
        return max((run.order for run in self.by_key.values()), default=-1) + 1

    @cached_property
    def values(self) -> FloatArray:
        """The kernels' figures, in the order of `runs`."""
        return np.array([run.figures["kernel"].value for run in self.runs], dtype=np.float64)


@dataclass(eq=False)
class _Kept:
    """A run with what is drawn of it, by the names of the metrics and axes that were asked for so far."""

    record: RunRecord
    order: int
    runs: dict[tuple[str, str], TrendRun] = field(default_factory=dict)


class History:
    """All runs that have ended, by their kind. One more costs as little with many runs as with few."""

    def __init__(self) -> None:
        self._records: Sequence[RunRecord] = ()
        self._forget()

    def _forget(self) -> None:
        self._pending: deque[int] = deque()
        self._copies: dict[RunKey, RunKey] = {}
        self._alike: dict[str, list[RunRecord]] = {}
        self._kinds: dict[Kind, list[_Kept]] = {}
        self._trends: dict[tuple[object, ...], Trend] = {}

    def set_records(self, records: Sequence[RunRecord]) -> None:
        """Take all runs that have ended, oldest first; where they are those of before and some more, only these."""
        known = len(self._records)
        if not _goes_on(records, self._records):
            self._forget()
            known = 0
        sources = [key.source for key in _keys(records)]
        # This session's own come first: a recording may hold copies of them.
        self._pending.extend(sorted(range(known, len(records)), key=lambda order: sources[order] != ""))
        self._records = records
        self._trends = {}

    def trend(self, shown: RunRecord, metric: Metric = TIME, along: Along = ORDER, seconds: float = inf) -> Trend:
        """The runs that are comparable with the one `shown`, and what `metric` is of them.

        Reading runs ends after about `seconds`; what is still to be read is counted as waiting.
        """
        until, kind = perf_counter() + seconds, Kind.of(shown)
        self._read(until)
        if self._pending:
            return Trend(kind, metric, along, waiting=len(self._pending))
        key = (kind, metric.name, along.name)
        if key not in self._trends:
            trend = self._trend(kind, metric, along, until)
            if trend.waiting:
                return trend
            self._trends = {key: trend}
        return self._trends[key]

    def key_of(self, record: RunRecord) -> RunKey:
        """The key under which `record` is drawn: a copy is drawn as its original."""
        return self._copies.get(record.key, record.key)

    def _read(self, until: float) -> None:
        """Sort runs by their kinds, at least one."""
        while self._pending:
            order = self._pending.popleft()
            record = self._records[order]
            alike = self._alike.setdefault(record.started.started_at, [])
            original = next((one for one in alike if _is_copy(record, one)), None) if record.source else None
            if original is not None:
                self._copies[record.key] = original.key
            else:
                alike.append(record)
                self._kinds.setdefault(Kind.of(record), []).append(_Kept(record, order))
            if perf_counter() > until:
                return

    def _trend(self, kind: Kind, metric: Metric, along: Along, until: float) -> Trend:
        free = along.frees(kind)
        members = [one for other, kept in self._kinds.items() if along.frees(other) == free for one in kept]
        members.sort(key=lambda one: one.order)
        waiting = _measure(members, metric, along, until)
        if waiting:
            return Trend(kind, metric, along, waiting=waiting)
        runs = [one.runs[metric.name, along.name] for one in members]
        others = self._others(kind, along)
        unknown = sum(run.has_finished and run.figure is None for run in runs)
        if unknown:
            others[f"without {metric.title}"] = unknown
        drawn = tuple(run for run in runs if run.has_finished and run.figure is not None)
        return Trend(kind, metric, along, drawn, tuple(run for run in runs if not run.has_finished), others)

    def _others(self, kind: Kind, along: Along) -> dict[str, int]:
        """Runs of the same problem that are of another device or protocol, by which."""
        found: Counter[str] = Counter()
        free = along.frees(kind)
        for other, kept in self._kinds.items():
            if other.problem != kind.problem or along.frees(other) == free:
                continue
            if other.mode == "unknown":
                found["never begun"] += len(kept)
            elif (other.device, other.mode) != (kind.device, kind.mode) and free.device:
                found[f"on {other.device}"] += len(kept)
            else:
                found[f"of protocol {other.protocol}"] += len(kept)
        return dict(found)


def shown_run(history: History, trend: Trend, shown: RunRecord, spreads: Mapping[Role, Spread]) -> TrendRun | None:
    """The run of `trend` that is `shown`; one made of its `spreads` so far while it is none of them.

    None where it has no figure yet.
    """
    known = trend.by_key.get(history.key_of(shown))
    if known is not None and known.has_finished:
        return known if known.figure is not None else None
    if trend.metric is TIME:
        figures = {role: spread.figure for role, spread in spreads.items() if spread.figure is not None}
    else:
        figures = dict(figures_of(shown, trend.metric))
    order = trend.next_order if known is None else known.order
    return make_run(shown, order, figures, trend.along) if "kernel" in figures else None


def _measure(members: Sequence[_Kept], metric: Metric, along: Along, until: float) -> int:
    """Find what is drawn of `members`; returns how many are left to be found, as time is up."""
    key = metric.name, along.name
    for i, one in enumerate(members):
        if key not in one.runs:
            one.runs[key] = make_run(one.record, one.order, figures_of(one.record, metric), along)
            if perf_counter() > until:
                return len(members) - 1 - i
    return 0


def _goes_on(records: Sequence[RunRecord], before: Sequence[RunRecord]) -> bool:
    """Whether `records` are those of before, and maybe more after them; none is read to see that."""
    if isinstance(records, Runs):
        return records.extends(before)
    return len(before) <= len(records) and all(map(is_, before, records))


def _keys(records: Sequence[RunRecord]) -> Sequence[RunKey]:
    return records.keys if isinstance(records, Runs) else [record.key for record in records]


def _is_copy(record: RunRecord, other: RunRecord) -> bool:
    """Whether one is the other opened as a recording; when it started tells it to the second, its launches exactly."""
    if record.source == other.source or record.started != other.started:
        return False
    return all(np.array_equal(record.samples(role), other.samples(role)) for role in ROLES)
