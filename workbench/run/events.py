"""What crosses the process boundary: frozen dataclasses of scalars, strings and numpy arrays.

Nothing here knows torch, triton or Qt, so that the window can hold every result without importing
the libraries that made it. Shapes carry a leading head axis, which counts the heads of all batches one after the
other (head h of batch b is b * heads + h; 1 for a single head); times are in microseconds, sizes in bytes; m is in
natural-log units of the scaled score q.k / sqrt(D).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from kernels.plain.spec import KernelSpec
from workbench.run.ceilings import Ceilings
from workbench.run.device_state import DeviceReadings, DeviceWarning
from workbench.run.environment import BaselineInfo, DeviceInfo, KernelInfo, Provenance
from workbench.run.measurement import ErrorStats, Measurement, Role
from workbench.run.request import RunRequest
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.summary import Ratio

FailureKind = Literal["compile", "resources", "launch", "memory", "timeout", "died", "cancelled", "invalid", "damaged"]


@dataclass(frozen=True)
class Ready:
    """The child has started and says what it can do; `ceilings` are those kept for its device, if there are.

    `has_gpu` says whether the machine has a GPU to choose, also while the child works on the interpreter.
    """

    device: DeviceInfo
    kernels: tuple[KernelInfo, ...]
    baselines: tuple[BaselineInfo, ...]
    ceilings: Ceilings | None = None
    has_gpu: bool = True


@dataclass(frozen=True)
class Started:
    """A run has begun; `started_at` is local time in ISO 8601.

    `ceilings` are the device's as they were known then, `kernel` is what was known of the kernel: with them a recording
    shows its roofline and its memory on any machine. None in older runs.
    """

    request: RunRequest
    device: DeviceInfo
    started_at: str
    provenance: Provenance = field(default_factory=Provenance)
    ceilings: Ceilings | None = None
    kernel: KernelSpec | None = None


@dataclass(frozen=True)
class Progress:
    """What the engine is doing now; `done` of `total` of that phase (0 of 0: not countable).

    `unit` is what they count: steps, or milliseconds of the phase's limit.
    """

    phase: str
    done: int = 0
    total: int = 0
    unit: Literal["steps", "ms"] = "steps"


@dataclass(frozen=True)
class Checked:
    """An output compared with float64, before anything is timed. The map is |out - float64|.

    `heads` are the numbers of the heads that the map's first axis holds, in that order, where the maps of all would be
    too large to send; empty: all of them in order. The head of `error.worst` is always there. A row that was left out
    of the comparison is 0 in the map.
    """

    implementation: str
    role: Role
    error: ErrorStats
    error_map: FloatArray | None  # [heads kept, M, D] float32
    backend: str = ""
    heads: tuple[int, ...] = ()


@dataclass(frozen=True)
class Samples:
    """Launch times in microseconds as they arrive; each event carries only new ones."""

    role: Role
    values: FloatArray  # [new samples]


@dataclass(frozen=True)
class Measured:
    """A finished measurement, with all its samples."""

    measurement: Measurement


@dataclass(frozen=True)
class Comparison:
    """Kernel and baseline were both timed: how many times as long the baseline takes, from paired rounds."""

    ratio: Ratio


@dataclass(frozen=True)
class Rechecked:
    """An output compared with float64 again after timing, and two more launches on equal inputs with each other.

    The errors are the largest absolute ones before and after; `bits_equal` says whether the output after timing has
    the very bits of the one before, `deterministic` whether the two launches have each other's (None: not tried).
    `failed`: the output changed while it was timed in a way that no order of additions explains. `text` says which.
    """

    role: Role
    max_abs_before: float
    max_abs_after: float
    bits_equal: bool
    deterministic: bool | None
    text: str
    failed: bool = False


@dataclass(frozen=True)
class DeviceState:
    """What the device did so far in this run, and what of it must be said beside the result; the last is complete.

    Where nothing can be read, there are no readings, and they say why.
    """

    readings: DeviceReadings
    warnings: tuple[DeviceWarning, ...] = ()


@dataclass(frozen=True)
class CeilingsRequest:
    """Asks the engine to measure the ceilings of its device."""


@dataclass(frozen=True)
class CeilingsMeasured:
    """The ceilings of the engine's device were measured, and kept."""

    ceilings: Ceilings


@dataclass(frozen=True)
class TileStates:
    """The online softmax inside the traced kernel, per query row and key tile.

    `complete` is False while the interpreter is still filling it: tiles not yet run are NaN.
    `m_error` and `l_error` are the largest relative differences from the float64 states, and `bit_equal` says
    whether the traced launch gave the very bits of the untraced one; both None until complete.
    `skipped` says in words why there is no trace; the arrays are None then, or when not loaded.
    `split_tiles` is the number of key tiles in each key split, 0 where the keys are not split: m and l begin anew at
    every multiple of it. A tile that no row of its block sees (causal) is never run: it stays NaN.
    `heads` are the numbers of the heads that the arrays' first axis holds, in that order, where the states of all
    would be too large to send; empty: all of them in order. The errors and `bit_equal` are of all heads.
    `row_blocks` are the numbers of the blocks of `block_m` query rows that the second axis holds, ascending, where all
    rows of one head would be too large; empty: all of them. Then one head alone was traced, the errors and `bit_equal`
    are of its kept rows, and `rows_by` is the rule that chose them, one of `request.TRACE_ROWS`.
    """

    block_m: int
    block_n: int
    n: int
    m_tile: FloatArray | None  # [heads kept, rows kept, tiles] float32: the tile's own maximum
    m_running: FloatArray | None  # [heads kept, rows kept, tiles] float32
    l_running: FloatArray | None  # [heads kept, rows kept, tiles] float32
    complete: bool = True
    m_error: float | None = None
    l_error: float | None = None
    bit_equal: bool | None = None
    skipped: str = ""
    split_tiles: int = 0
    heads: tuple[int, ...] = ()
    row_blocks: tuple[int, ...] = ()
    rows_by: str = ""

    def row_numbers(self, m: int) -> IntArray:
        """The query row that each row of the arrays is of, for a problem of `m` rows. [rows kept]"""
        return rows_of_blocks(self.row_blocks, self.block_m, m)


def rows_of_blocks(blocks: Sequence[int], block_m: int, m: int) -> IntArray:
    """The numbers of all query rows in `blocks` of `block_m` rows each, of all `m` rows where there are none."""
    if not blocks:
        return np.arange(m, dtype=np.int64)
    rows = (np.asarray(blocks)[:, None] * block_m + np.arange(block_m)).ravel()
    return np.asarray(rows[rows < m], dtype=np.int64)


@dataclass(frozen=True)
class Tensors:
    """The run's own inputs and the kernel's output, sent only when the request asks to keep them.

    All float32, which holds every fp16 and bf16 value exactly.
    """

    q: FloatArray  # [heads, M, D]
    k: FloatArray  # [key heads, N, D], those of all batches too
    v: FloatArray  # [key heads, N, D]
    out: FloatArray  # [heads, M, D]


@dataclass(frozen=True)
class Log:
    """Text the engine wrote to its stdout or stderr."""

    text: str


@dataclass(frozen=True)
class Failed:
    """A run's one failure: what happened, and in `remedy` what to try.

    `resource` is what a kernel needs more of than there is ("shared memory"), "" where it is not known.
    """

    kind: FailureKind
    message: str
    remedy: str = ""
    traceback: str = ""
    resource: str = ""


@dataclass(frozen=True)
class Finished:
    """A run came to its end; `seconds` is the whole run on the engine's clock."""

    seconds: float


RunEvent = (
    Ready
    | Started
    | Progress
    | Checked
    | Samples
    | Measured
    | Comparison
    | Rechecked
    | DeviceState
    | CeilingsMeasured
    | TileStates
    | Tensors
    | Log
    | Failed
    | Finished
)
Send = Callable[[RunEvent], None]
"""Hands an event to whoever follows the run."""
