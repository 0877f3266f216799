"""One run of the trend: what is drawn of it, and what it was made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from workbench.analysis.metrics import Metric, find_metric
from workbench.run.events import Failed, Finished
from workbench.run.measurement import ROLES, Role
from workbench.run.record import RunRecord
from workbench.ui.panels.latency.figures import Figure
from workbench.ui.panels.latency.trend.looks import Series
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


@dataclass(eq=False)
class TrendRun:
    """One run of the trend, the `order`-th of all that are known.

    `figures` are of what the trend shows, for the roles that have it.
    """

    record: RunRecord
    order: int
    figures: Mapping[Role, Figure] = field(default_factory=dict)

    @cached_property
    def series(self) -> Series:
        """The kernel with its precision."""
        request = self.record.started.request
        return Series(request.kernel, request.precision)

    @cached_property
    def made_with(self) -> MadeWith:
        """The versions and the kernel's source."""
        return MadeWith.of(self.record)

    @cached_property
    def wrong(self) -> frozenset[Role]:
        """Those whose output failed its check."""
        return frozenset(filter(self.record.is_wrong, ROLES))

    @property
    def has_finished(self) -> bool:
        """Whether it came to its end, so that its headline has a time."""
        return isinstance(self.record.end, Finished)

    @property
    def unfinished(self) -> str:
        """Why it has no time that a headline has; "" of one that has finished."""
        end = self.record.end
        if end is None:
            return "unfinished so far"
        return f"unfinished: {FAILURE_WORDS[end.kind]}" if isinstance(end, Failed) else ""

    def is_like(self, other: TrendRun, role: Role) -> bool:
        """Whether `role` was made with the same versions in both; sources count between runs of one kernel only."""
        mine, theirs = self.made_with, other.made_with
        is_same = role != "kernel" or self.series.kernel != other.series.kernel or mine.source == theirs.source
        return mine.versions == theirs.versions and is_same

    @property
    def line_key(self) -> tuple[object, ...]:
        """What runs that one line joins have in common: kernel and precision, versions, kind of figure."""
        figure = self.figures.get("kernel")
        return self.series, self.made_with, figure.kind if figure is not None else ""


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
