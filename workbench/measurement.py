"""What is measured of one implementation: its error, its times, its resources. `model` has these names as well."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kernels.tiles import TileConfig
from workbench.request import Problem

if TYPE_CHECKING:  # they say what is judged of these arrays, and so know this module
    from workbench.modes import Modes
    from workbench.statistics import Drift, Interval

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]

Role = Literal["kernel", "baseline"]
Ending = Literal["fixed", "precision", "time", "samples"]

# Below this share of a launch's time the kernel is not what the time measures.
KERNEL_SHARE = 0.8


@dataclass(frozen=True)
class ErrorStats:
    """Error of an output against float64 attention, over all its elements.

    `worst` is (head, row, column) of the largest absolute error, `worst_got` and `worst_expected` the two
    values there; the head is its number among all heads. `passed` is allclose at `rtol` and `atol`; `non_finite`
    counts NaN and infinities, which never pass. `rows_left_out` is the number of first rows of each head that
    were not compared: a baseline may give NaN for a row that sees no key.
    """

    max_abs: float
    mean_abs: float
    rms: float
    rel_fro: float
    worst: tuple[int, int, int]
    worst_got: float
    worst_expected: float
    rtol: float
    atol: float
    passed: bool
    non_finite: int = 0
    rows_left_out: int = 0


@dataclass(frozen=True)
class Latency:
    """Times of single launches, raw, with the words that say how they were obtained.

    `samples` are microseconds in launch order, none removed; under `graph` each is a replay's time by its launches.
    `block_average_us` is the time of an unbroken block of `launches` launches divided by their number; only `article`
    has such a block, and for the others it is the mean. `clock` is "cuda events", "cuda graph", "profiler" or "host".

    `interval` is the 95% interval of the median (None: too few samples), `ended_by` what ended the run: the precision
    that was wanted, the limit of time, that of samples, or a count that was fixed. `round_starts` are the indices of
    the first sample of each of `rounds` rounds. `modes` and `drift` are None where there is one mode and no drift.
    `kernel_us` is the time that the GPU was busy in one launch, by the profiler, with the names of what ran: None
    where it was not asked. `flush_bytes` were written before each launch, 0 where the caches were left warm.
    """

    protocol: str
    clock: str
    samples: FloatArray  # [launches]
    block_average_us: float
    warmups: int
    launches: int
    unit: str = "us"
    interval: Interval | None = None
    ended_by: Ending = "fixed"
    rounds: int = 0
    round_starts: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # [rounds]
    modes: Modes | None = None
    drift: Drift | None = None
    kernel_us: float | None = None
    kernel_names: tuple[str, ...] = ()
    flush_bytes: int = 0

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval relative to the median; None without an interval."""
        return None if self.interval is None else self.interval.relative_half_width(self.median)

    @property
    def launch_bound(self) -> str:
        """That most of a launch's time is not the kernel's, in words; "" where it is, or where it is not known."""
        busy, median = self.kernel_us, self.median
        if busy is None or self.protocol == "profiler" or not 0 < busy < KERNEL_SHARE * median:
            return ""
        return f"launch-bound: {busy:.1f} µs of {median:.1f} µs is the kernel"

    # Cached: panels read them at every draw, and a percentile costs more than the rest of a draw's text.
    @cached_property
    def median(self) -> float:
        """Median of the single launches, us."""
        return float(np.median(self.samples))

    @cached_property
    def p20(self) -> float:
        """20th percentile of the single launches, us."""
        return float(np.percentile(self.samples, 20))

    @cached_property
    def p80(self) -> float:
        """80th percentile of the single launches, us."""
        return float(np.percentile(self.samples, 80))


@dataclass(frozen=True)
class Resources:
    """What the compiled kernel takes per program: registers and spilled registers per thread, shared bytes."""

    registers: int
    spills: int
    shared_bytes: int


@dataclass(frozen=True)
class Measurement:
    """One implementation's result in one run. `backend` names what SDPA really took, "" for a kernel.

    `tile` is the tile as launched: its `splits` is the number really made, also where the request left it open.
    """

    implementation: str
    role: Role
    problem: Problem
    latency: Latency
    error: ErrorStats
    backend: str = ""
    tile: TileConfig | None = None
    precision: str = ""
    resources: Resources | None = None
