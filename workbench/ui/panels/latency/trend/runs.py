"""One run of the trend: what is drawn of it, and what it was made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from workbench.analysis.metrics import Metric, find_metric
from workbench.run.events import Failed, Finished
from workbench.run.measurement import ROLES, Role
from workbench.run.record import RunRecord
from workbench.ui.panels.latency.figures import Figure
from workbench.ui.panels.latency.trend.along import Along
from workbench.ui.panels.latency.trend.looks import Series
from workbench.ui.text.cards import baseline_title
from workbench.words.results import FAILURE_WORDS

TIME = find_metric("figure")  # what the trend is made of unless something else is asked for


@dataclass(frozen=True)
class MadeWith:
    """What a run was made with, beside its device: other versions may take another time for the same."""

    torch: str = ""
    triton: str = ""
    driver: str = ""
    source: str = ""

    @classmethod
    def of(cls, record: RunRecord) -> MadeWith:
        """What `record` was made with."""
        device = record.started.device
        return cls(device.torch, device.triton, device.driver, record.started.provenance.source_sha256)

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
class Alike:
    """What runs have in common that one line joins: kernel and precision, versions, the kind of their figures."""

    series: Series
    made_with: MadeWith
    kind: str

    def is_like(self, other: Alike, role: Role) -> bool:
        """Whether `role` was made with the same versions in both; sources count between runs of one kernel only."""
        mine, theirs = self.made_with, other.made_with
        is_same = role != "kernel" or self.series.kernel != other.series.kernel or mine.source == theirs.source
        return mine.versions == theirs.versions and is_same


@dataclass(eq=False)
class TrendRun:
    """One run of the trend, the `order`-th of all that are known, at the `value` of the x axis.

    `figures` are of what the trend shows, for the roles that have it, and `baseline` is what the kernel was held
    against. `wrong` are the roles whose output failed its check. What is asked of thousands of runs is kept.
    """

    record: RunRecord
    order: int
    figures: Mapping[Role, Figure]
    value: Any
    alike: Alike
    baseline: str
    wrong: frozenset[Role]
    has_finished: bool

    @property
    def series(self) -> Series:
        """The kernel with its precision."""
        return self.alike.series

    @property
    def figure(self) -> Figure | None:
        """The kernel's."""
        return self.figures.get("kernel")

    @property
    def unfinished(self) -> str:
        """Why it has no time that a headline has; "" of one that has finished."""
        end = self.record.end
        if end is None:
            return "unfinished so far"
        return f"unfinished: {FAILURE_WORDS[end.kind]}" if isinstance(end, Failed) else ""


def make_run(record: RunRecord, order: int, figures: Mapping[Role, Figure], along: Along) -> TrendRun:
    """What the trend needs to know of `record`."""
    request = record.started.request
    figure = figures.get("kernel")
    series = Series(request.kernel, request.precision)
    return TrendRun(
        record,
        order,
        figures,
        along.of(record) if along.of is not None else None,
        _shared(Alike(series, MadeWith.of(record), figure.kind if figure is not None else "")),
        baseline_title(request, record.backend),
        frozenset(filter(record.is_wrong, ROLES)),
        isinstance(record.end, Finished),
    )


@lru_cache(maxsize=4096)
def _shared(alike: Alike) -> Alike:
    """The one object of all that are equal, which is compared at once."""
    return alike


def figures_of(record: RunRecord, metric: Metric) -> dict[Role, Figure]:
    """What `metric` is for each role that has it."""
    found: dict[Role, Figure] = {}
    for measured in record.measured:
        measurement = measured.measurement
        if metric is TIME:
            found[measurement.role] = Figure.of(measurement.latency)
            continue
        value = metric.value(measurement, record.started.ceilings)
        if value is not None:
            found[measurement.role] = Figure(value, metric.title, metric.title)
    return found
