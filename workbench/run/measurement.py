"""What is measured of one implementation: its error, its times, its resources."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from kernels.plain.tiles import TileConfig
from workbench.run.protocols import Protocol, protocol_of
from workbench.run.request import Problem
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.modes import Modes
from workbench.stats.summary import Drift, Interval

Role = Literal["kernel", "baseline"]
ROLES: tuple[Role, ...] = ("kernel", "baseline")
"""In reading order. What is drawn goes the other way round, so that the kernel lies on top."""

Ending = Literal["fixed", "precision", "time", "samples"]
KernelTimeBy = Literal["profiler", "earlier", "events"]

# Below this share of a launch's time the kernel is not what bounds it.
KERNEL_SHARE = 0.8


@dataclass(frozen=True)
class ErrorStats:
    """Error of an output against float64 attention, over all its elements.

    `worst` is (head, row, column) of the largest absolute error, `worst_got` and `worst_expected` the two
    values there; the head is its number among all heads. `passed` is allclose at `rtol` and `atol`; `non_finite`
    counts NaN and infinities, which never pass. `rows_left_out` is the number of first rows of each head that
    were not compared: a baseline may give NaN for a row that sees no key. `largest` is the largest absolute value that
    was expected, None in runs that are older.
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
    largest: float | None = None


@dataclass(frozen=True)
class Note:
    """Something that keeps times from being the whole truth: in a few words, and as a sentence."""

    label: str
    text: str


@dataclass(frozen=True)
class Latency:
    """Times of single launches, raw, with the words that say how they were obtained.

    `samples` are microseconds in launch order, none removed; under `graph` each is a replay's time by its
    `launches_per_sample` launches. `launches` counts those of all samples. `clock` is "cuda events", "cuda graph",
    "profiler" or "host". `block_average_us` is the time of an unbroken block of `launches` launches divided by their
    number, which only `block` takes, and only on a GPU; None elsewhere.

    `interval` is the 95% interval of the median (None: too few samples), `ended_by` what ended the run: the precision
    that was wanted, the limit of time, that of samples, or a count that was fixed. `round_starts` are the indices of
    the first sample of each of `rounds` rounds. `modes` and `drift` are None where there is one mode and no drift.
    `flush_bytes` were written before each launch, 0 where the caches were left warm.

    `launched_us` is the time of a launch in a block that nothing interrupts and that the GPU begins at once, so that it
    holds what the CPU takes to launch: the block of `block`, elsewhere the last one of the warm-up, always with warm
    caches. `kernel_us` is how long the GPU takes for one launch by the profiler, from the begin of its first kernel to
    the end of its last, with warm caches as well and submitted while the GPU waits, so that gaps between its kernels
    are the device's own; under `profiler` it is the median of the samples, which have no gaps. `kernel_names` are what
    ran. Both are None and empty where nobody looked. `kernel_us_by` says where that is from: the profiler in this run,
    the profiler in an earlier run of the same problem in the same engine, or, where the profiler had not started yet,
    the events around single launches, which count some two microseconds of their own and name no kernels.

    `late_samples` may hold launch cost: the GPU reached them before the CPU had submitted their whole queue.
    `lost_sessions` of the profiler lost records and were repeated.
    """

    protocol: str
    clock: str
    samples: FloatArray  # [samples]
    block_average_us: float | None
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
    launches_per_sample: int = 1
    launched_us: float | None = None
    late_samples: int = 0
    lost_sessions: int = 0
    kernel_us_by: KernelTimeBy = "profiler"

    @property
    def timed_by(self) -> Protocol:
        """The protocol with its traits."""
        return protocol_of(self.protocol)

    @property
    def has_block(self) -> bool:
        """Whether the protocol's own figure is the average of an unbroken block."""
        return self.timed_by.figure == "average" and self.block_average_us is not None

    @property
    def figure_us(self) -> float:
        """The protocol's own figure, us, of which every metric is made; `words.times.figure_text` names it."""
        average = self.block_average_us
        return average if self.has_block and average is not None else self.median

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval relative to the median; None without an interval."""
        return None if self.interval is None else self.interval.relative_half_width(self.median)

    @property
    def launch_bound(self) -> str:
        """That most of a launch's time is not the kernel's, in words; "" where it is, or where it is not known."""
        busy, launched = self.kernel_us, self.launched_us
        if busy is None or launched is None or not 0 < busy < KERNEL_SHARE * launched:
            return ""
        # Only a block's average holds launch cost: other launches wait, or are replayed.
        where = "" if self.timed_by.figure == "average" else " when launched one by one"
        return f"launch-bound{where}: {busy:.1f} µs of {launched:.1f} µs is the kernel"

    @property
    def holds_launch_cost(self) -> bool:
        """Whether the figure is known to be of the CPU's launching rather than of the kernel."""
        return self.timed_by.figure == "average" and bool(self.launch_bound)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What else keeps these times from being the whole truth."""
        found = []
        if self.late_samples:
            label = f"{self.late_samples} of {len(self.samples)} samples may hold launch cost"
            found.append(Note(label, f"{label}: the GPU reached them before the CPU had submitted their queue"))
        if self.lost_sessions:
            label = f"{self.lost_sessions} of the profiler's sessions lost records and were repeated"
            found.append(Note(label, label))
        return tuple(found)

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
