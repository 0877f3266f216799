"""What is said about a measurement: METRICS, the ratio to SDPA, and times as people read them.

Pure functions of what `model` holds. A new metric is one entry in METRICS: tables, trends and reports
take its title, unit and direction from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Literal

from workbench.model import Measurement, Resources, RunRecord

Direction = Literal["lower", "higher", "none"]

SIGNIFICANT_DIGITS = 4


@dataclass(frozen=True)
class Metric:
    """One number about a measurement. `direction` says which way is better; `value` is None where it has none."""

    name: str
    title: str
    unit: str
    direction: Direction
    value: Callable[[Measurement], float | None]

    @property
    def label(self) -> str:
        """The title with its unit, for axes and headers."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True)
class Ratio:
    """How many times as long SDPA takes as the kernel: above 1 the kernel is the faster one.

    `baseline_over_kernel` is of the medians. `low` is the baseline's p20 over the kernel's p80 and `high`
    the baseline's p80 over the kernel's p20: the worst and the best the two spreads allow.
    """

    baseline_over_kernel: float
    low: float
    high: float

    @property
    def is_level(self) -> bool:
        """Whether the spreads leave open which one is faster."""
        return self.low <= 1 <= self.high

    @property
    def inverse(self) -> Ratio:
        """How many times as long the kernel takes as SDPA."""
        return Ratio(1 / self.baseline_over_kernel, 1 / self.high, 1 / self.low)


def comparable_ratio(record: RunRecord) -> Ratio | None:
    """The ratio of a run, or None where it says nothing: on the interpreter, or with a result that is wrong."""
    kernel, baseline = record.measurement("kernel"), record.measurement("baseline")
    right = all(check.error.passed for check in record.checked)
    if kernel is None or baseline is None or not right or record.started.device.mode != "cuda":
        return None
    return ratio(kernel, baseline)


def ratio(kernel: Measurement, baseline: Measurement) -> Ratio:
    """Compare a kernel with the baseline of the same run; both must have taken some time."""
    ours, theirs = kernel.latency, baseline.latency
    return Ratio(theirs.median / ours.median, theirs.p20 / ours.p80, theirs.p80 / ours.p20)


def format_time(us: float) -> str:
    """`us` microseconds with its unit, in at most four significant digits: 762.6 µs, 1.41 ms, 2.3 s."""
    if not isfinite(us):
        return "n/a"
    rounded = _rounded(us)
    for unit, size in (("µs", 1.0), ("ms", 1e3)):
        if abs(rounded) < 1e3 * size:
            return f"{rounded / size:.{SIGNIFICANT_DIGITS}g} {unit}"
    seconds = rounded / 1e6
    return f"{seconds:.{SIGNIFICANT_DIGITS}g} s" if abs(seconds) < 1e4 else f"{seconds:.0f} s"


def format_range(low_us: float, high_us: float) -> str:
    """Two times with the unit said once where it is the same: 94.69–96.15 µs, 980 µs – 1.2 ms."""
    low, high = format_time(low_us), format_time(high_us)
    number, _, unit = low.partition(" ")
    return f"{number}–{high}" if unit and unit == high.partition(" ")[2] else f"{low} – {high}"


def _rounded(value: float) -> float:
    """`value` in four significant digits, so that 999.96 µs becomes 1 ms and not 1000 µs."""
    return round(value, SIGNIFICANT_DIGITS - 1 - floor(log10(abs(value)))) if value else 0.0


def _tflops(measurement: Measurement) -> float | None:
    """TFLOP/s of the two matrix products; None by the host's clock, which does not time a GPU."""
    median = measurement.latency.median
    if measurement.latency.clock == "host" or not median > 0:
        return None
    return measurement.problem.flops / median / 1e6


def _resource(pick: Callable[[Resources], int]) -> Callable[[Measurement], float | None]:
    return lambda m: None if m.resources is None else float(pick(m.resources))


METRICS = (
    Metric("median", "Median", "µs", "lower", lambda m: m.latency.median),
    Metric("p20", "20th percentile", "µs", "lower", lambda m: m.latency.p20),
    Metric("p80", "80th percentile", "µs", "lower", lambda m: m.latency.p80),
    Metric("block_average", "Block average", "µs", "lower", lambda m: m.latency.block_average_us),
    Metric("tflops", "Throughput", "TFLOP/s", "higher", _tflops),
    Metric("max_abs_error", "Max error", "", "lower", lambda m: m.error.max_abs),
    Metric("registers", "Registers per thread", "", "none", _resource(lambda r: r.registers)),
    Metric("spills", "Spilled registers per thread", "", "lower", _resource(lambda r: r.spills)),
    Metric("shared_bytes", "Shared memory per program", "B", "none", _resource(lambda r: r.shared_bytes)),
)


def find_metric(name: str) -> Metric:
    """The metric called `name`; KeyError if there is none."""
    return {metric.name: metric for metric in METRICS}[name]
