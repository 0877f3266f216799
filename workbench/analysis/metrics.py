"""What is said about a measurement: METRICS, the ratio to the baseline, and how well a median is known.

A new metric is one entry in METRICS: the table of runs, what is copied of it, the trend and JSON take it from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import hypot, inf
from typing import Literal

import numpy as np

from workbench.analysis.numbers import error_text, format_time
from workbench.analysis.traffic import floor_time, least_bytes
from workbench.run.ceilings import Ceilings
from workbench.run.measurement import Latency, Measurement, Resources
from workbench.run.record import RunRecord
from workbench.stats.summary import Interval, Ratio, median_interval, unseen_by

Better = Literal["lower", "higher", "neither"]


def comparable_ratio(record: RunRecord) -> Ratio | None:
    """The ratio of a run, or None where it says nothing of the kernel.

    On the interpreter, with a result that is wrong, and where a figure is of the launching.
    """
    says = record.passed and record.started.device.mode == "cuda" and not holds_launch_cost(record)
    return best_ratio(record) if says else None


def holds_launch_cost(record: RunRecord) -> bool:
    """Whether a figure of a run is known to be of the CPU's launching rather than of what was launched."""
    return any(one.measurement.latency.holds_launch_cost for one in record.measured)


def best_ratio(record: RunRecord) -> Ratio | None:
    """The ratio measured from paired rounds where there is one, else that of the two figures; None without both."""
    kernel, baseline = record.measurement("kernel"), record.measurement("baseline")
    if kernel is None or baseline is None:
        return None
    return record.comparison.ratio if record.comparison is not None else ratio(kernel, baseline)


def ratio(kernel: Measurement, baseline: Measurement) -> Ratio:
    """Compare a kernel with the baseline of the same run by the protocol's own figure; both must have taken time.

    The quotient of the two figures, bounded by the 95% intervals that are stated of the two medians: the sides that
    make it small, and those that make it large, are each combined as the root of the sum of squares. Unbounded where
    one of them has none. For runs that were not timed in turns: a drift between the two is within no interval.
    """
    ours, theirs = sides_of(kernel.latency), sides_of(baseline.latency)
    quotient = baseline.latency.figure_us / kernel.latency.figure_us
    if ours is None or theirs is None:
        return Ratio(quotient, 0.0, inf)
    low, high = 1 - hypot(theirs[0], ours[1]), 1 + hypot(theirs[1], ours[0])
    return Ratio(quotient, quotient * max(0.0, low), quotient * high)


def interval_of(latency: Latency) -> Interval | None:
    """The 95% interval of the median; None where there are too few samples for one.

    It is what was recorded; of a recording that is older than intervals, what its samples give.
    """
    if latency.interval is not None:
        return latency.interval if latency.interval.is_bounded else None
    samples = np.ascontiguousarray(latency.samples, dtype=np.float64).tobytes()
    return _interval_from(samples, unseen_by(latency.clock))


def sides_of(latency: Latency) -> tuple[float, float] | None:
    """How far that interval reaches below and above the median, relative to it; None without one."""
    interval, median = interval_of(latency), latency.median
    if interval is None:
        return None
    return ((median - interval.low) / median, (interval.high - median) / median) if median > 0 else (inf, inf)


def half_width_of(latency: Latency) -> float | None:
    """Half the width of that interval relative to the median; None without one."""
    interval = interval_of(latency)
    return None if interval is None else interval.relative_half_width(latency.median)


@lru_cache(maxsize=512)
def _interval_from(samples: bytes, unseen: float) -> Interval | None:
    """Kept, since a plot asks at every draw and a bootstrap takes some milliseconds."""
    values = np.frombuffer(samples)
    if not len(values) or not np.isfinite(values).all():
        return None
    interval = median_interval(values, unseen=unseen)
    return interval if interval.is_bounded else None


def _per_us(measurement: Measurement, amount: int) -> float | None:
    """`amount` over the time of a launch; None by the host's clock, which does not time a GPU."""
    us = measurement.latency.figure_us
    return amount / us if measurement.latency.clock != "host" and us > 0 else None


def _tflops(measurement: Measurement, _: Ceilings | None) -> float | None:
    """TFLOP/s of the two matrix products, if a GPU was timed."""
    rate = _per_us(measurement, measurement.problem.flops)
    return None if rate is None else rate / 1e6


def _gigabytes_per_s(measurement: Measurement, _: Ceilings | None) -> float | None:
    """The fewest bytes that must move, over the time, if a GPU was timed."""
    rate = _per_us(measurement, least_bytes(measurement.problem))
    return None if rate is None else rate / 1e3


def _half_width(measurement: Measurement, _: Ceilings | None) -> float | None:
    share = half_width_of(measurement.latency)
    return None if share is None else 100 * share


def _max_error(measurement: Measurement, _: Ceilings | None) -> float:
    return measurement.error.max_abs


def times_floor(measurement: Measurement, ceilings: Ceilings | None) -> float | None:
    """How many times the least time on `ceilings` the figure is; None by the host's clock, or without a rate."""
    if measurement.latency.clock == "host" or ceilings is None:
        return None
    least = floor_time(measurement.problem, measurement.precision or "ieee", ceilings)
    return None if least is None else least.times(measurement.latency.figure_us)


@dataclass(frozen=True)
class Metric:
    """One number about a measurement, which `find` gives on a device's ceilings; None where there is none.

    `title` is how it is called within a sentence, `tip` what it is in more words, and `better` which way is better.
    `digits` is the format of the bare number, as it is copied; people see it with its unit, or by `words`. The table of
    runs shows those that are `at_first`, and others when it is asked to.
    """

    name: str
    title: str
    unit: str
    find: Callable[[Measurement, Ceilings | None], float | None]
    tip: str
    digits: str = ".6g"
    better: Better = "lower"
    at_first: bool = False
    words: Callable[[float], str] | None = None
    needs_ceilings: bool = False

    @property
    def label(self) -> str:
        """The title with its unit, for axes and headers."""
        return f"{self.title} ({self.unit})" if self.unit not in ("", self.title) else self.title

    @property
    def is_count(self) -> bool:
        """Whether it is a whole number of something."""
        return self.digits == ".0f"

    def value(self, measurement: Measurement, ceilings: Ceilings | None = None) -> float | None:
        """The number of `measurement`, in `unit`."""
        return self.find(measurement, ceilings)

    def text(self, value: float) -> str:
        """The number for people, with its unit."""
        between = "" if self.unit in ("", "%", "×") else " "
        return f"{self.plain(value)}{between}{self.unit}" if self.words is None else self.words(value)

    def plain(self, value: float | None) -> str:
        """The bare number, whose unit the label has; "" for None."""
        return "" if value is None else f"{value:{self.digits}}"


def _time(name: str, title: str, tip: str, find: Callable[[Latency], float | None], at_first: bool = False) -> Metric:
    return Metric(name, title, "µs", lambda m, _: find(m.latency), tip, at_first=at_first, words=format_time)


def _resource(name: str, title: str, unit: str, tip: str, better: Better, find: Callable[[Resources], int]) -> Metric:
    def of(measurement: Measurement, _: Ceilings | None) -> float | None:
        return None if measurement.resources is None else float(find(measurement.resources))

    return Metric(name, title, unit, of, tip, ".0f", better, at_first=not unit)


_WORK = "4 D for every pair of a query row and a key that it sees, in all heads, / time"
_HALF = "half the 95% interval of the median"
METRICS = (
    _time("figure", "time", "the protocol's own: the average of its block, or the median", lambda t: t.figure_us, True),
    _time("median", "median", "of the single launches", lambda t: t.median),
    _time("p20", "p20", "20th percentile of the single launches", lambda t: t.p20, True),
    _time("p80", "p80", "80th percentile of the single launches", lambda t: t.p80, True),
    Metric("half_width", "interval half-width", "%", _half_width, _HALF, ".3g", at_first=True),
    _time("block_average", "block average", "of launches that nothing interrupts", lambda t: t.block_average_us),
    _time("launched_us", "back to back", "a launch among others, with what the CPU takes", lambda t: t.launched_us),
    _time(
        "kernel_us",
        "kernel alone",
        "on the GPU with warm caches, by the profiler, or events before it has started",
        lambda t: t.kernel_us,
    ),
    Metric("tflops", "TFLOP/s", "TFLOP/s", _tflops, _WORK, ".4g", "higher", at_first=True),
    Metric("bandwidth", "least bandwidth", "GB/s", _gigabytes_per_s, "Q, K, V and output / time", ".4g", "higher"),
    Metric("max_abs_error", "max error", "", _max_error, "against float64", ".4e", at_first=True, words=error_text),
    _resource("registers", "registers", "", "of a thread", "neither", lambda r: r.registers),
    _resource("spills", "spills", "", "registers of a thread that have no room", "lower", lambda r: r.spills),
    _resource("shared_bytes", "shared memory", "B", "of a program", "neither", lambda r: r.shared_bytes),
    Metric("times_floor", "times the floor", "×", times_floor, "of the device's ceilings", ".4g", needs_ceilings=True),
)
"""In the order in which they are printed; the table has its own where several share a column."""


def metrics_on(ceilings: Ceilings | None) -> tuple[Metric, ...]:
    """METRICS, without those that need ceilings where the device's are not known."""
    return tuple(metric for metric in METRICS if ceilings is not None or not metric.needs_ceilings)


def find_metric(name: str) -> Metric:
    """The metric called `name`; KeyError if there is none."""
    return {metric.name: metric for metric in METRICS}[name]
