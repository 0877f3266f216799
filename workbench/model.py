"""What crosses the process boundary: frozen dataclasses of scalars, strings and numpy arrays.

Nothing here knows torch, triton or Qt, so that the window can hold every result without importing
the libraries that made it. Shapes carry a leading head axis, which counts the heads of all batches one after the
other (head h of batch b is b * heads + h; 1 for a single head); times are in microseconds, sizes in bytes; m is in
natural-log units of the scaled score q.k / sqrt(D).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kernels.tiles import TileConfig as TileConfig
from workbench.environment import INTERPRETER_LABEL as INTERPRETER_LABEL
from workbench.environment import BaselineInfo as BaselineInfo
from workbench.environment import DeviceInfo as DeviceInfo
from workbench.environment import Mode as Mode
from workbench.environment import Provenance as Provenance
from workbench.environment import VariantInfo as VariantInfo
from workbench.measurement import Ending as Ending
from workbench.measurement import ErrorStats as ErrorStats
from workbench.measurement import FloatArray as FloatArray
from workbench.measurement import IntArray as IntArray
from workbench.measurement import Latency as Latency
from workbench.measurement import Measurement as Measurement
from workbench.measurement import Resources as Resources
from workbench.measurement import Role as Role
from workbench.request import DEVICE_CHOICES as DEVICE_CHOICES
from workbench.request import DTYPE_BYTES as DTYPE_BYTES
from workbench.request import DTYPES as DTYPES
from workbench.request import HOST_DTYPES as HOST_DTYPES
from workbench.request import HOST_PROTOCOLS as HOST_PROTOCOLS
from workbench.request import INPUT_DISTRIBUTIONS as INPUT_DISTRIBUTIONS
from workbench.request import PRECISIONS as PRECISIONS
from workbench.request import PROTOCOLS as PROTOCOLS
from workbench.request import SDPA_CHOICES as SDPA_CHOICES
from workbench.request import WARPS as WARPS
from workbench.request import Problem as Problem
from workbench.request import RunRequest as RunRequest

if TYPE_CHECKING:  # they know this module
    from workbench.ceilings import Ceilings
    from workbench.device_state import DeviceTrace, DeviceWarning
    from workbench.statistics import Ratio

ROLES: tuple[Role, ...] = ("kernel", "baseline")
"""In reading order. What is drawn goes the other way round, so that the kernel lies on top."""

FailureKind = Literal["compile", "resources", "launch", "memory", "timeout", "died", "cancelled", "invalid"]


@dataclass(frozen=True)
class Ready:
    """The child has started and says what it can do; `ceilings` are those kept for its device, if there are.

    `has_gpu` says whether the machine has a GPU to choose, also while the child works on the interpreter.
    """

    device: DeviceInfo
    variants: tuple[VariantInfo, ...]
    baselines: tuple[BaselineInfo, ...]
    ceilings: Ceilings | None = None
    has_gpu: bool = True


@dataclass(frozen=True)
class Started:
    """A run has begun; `started_at` is local time in ISO 8601.

    `ceilings` are the device's as they were known then: with them a recording shows its roofline on any machine.
    """

    request: RunRequest
    device: DeviceInfo
    started_at: str
    provenance: Provenance = field(default_factory=Provenance)
    ceilings: Ceilings | None = None


@dataclass(frozen=True)
class Progress:
    """What the engine is doing now; `done` of `total` steps of that phase (0 of 0: not countable)."""

    phase: str
    done: int = 0
    total: int = 0


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

    Where nothing can be read, the trace is empty and says why.
    """

    trace: DeviceTrace
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
    """

    block_m: int
    block_n: int
    n: int
    m_tile: FloatArray | None  # [heads kept, M, tiles] float32: the tile's own maximum
    m_running: FloatArray | None  # [heads kept, M, tiles] float32
    l_running: FloatArray | None  # [heads kept, M, tiles] float32
    complete: bool = True
    m_error: float | None = None
    l_error: float | None = None
    bit_equal: bool | None = None
    skipped: str = ""
    split_tiles: int = 0
    heads: tuple[int, ...] = ()


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
    """A run's one failure: what happened, and in `remedy` what to try."""

    kind: FailureKind
    message: str
    remedy: str = ""
    traceback: str = ""


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


@dataclass(frozen=True)
class RunRecord:
    """A run as it is kept: everything measured, also when the run ended early.

    `partial` holds samples of a role whose measurement was never completed. `source` is "" for a run of this
    session, else the file name of the recording it came from.
    """

    run_id: int
    started: Started
    checked: tuple[Checked, ...] = ()
    partial: tuple[Samples, ...] = ()
    measured: tuple[Measured, ...] = ()
    states: TileStates | None = None
    end: Finished | Failed | None = None
    source: str = ""
    comparison: Comparison | None = None
    rechecked: tuple[Rechecked, ...] = ()
    device_state: DeviceState | None = None

    def events(self) -> tuple[RunEvent, ...]:
        """The events that show this run again in a panel, in the order of a live run."""
        kept: list[RunEvent] = [self.started, *self.checked]
        for measured in self.measured:
            kept += [Samples(measured.measurement.role, measured.measurement.latency.samples), measured]
        kept += self.partial
        if self.comparison is not None:
            kept.append(self.comparison)
        kept += self.rechecked
        kept += [event for event in (self.device_state, self.states, self.end) if event is not None]
        return tuple(kept)

    def is_wrong(self, role: Role | None = None) -> bool:
        """Whether the output of `role` (None: of any) did not pass its check, or was another one after timing."""
        asked = ROLES if role is None else (role,)
        checked = any(not c.error.passed for c in self.checked if c.role in asked)
        measured = any(not m.measurement.error.passed for m in self.measured if m.measurement.role in asked)
        return checked or measured or any(r.failed for r in self.rechecked if r.role in asked)

    @property
    def passed(self) -> bool:
        """Whether every output that was checked is right, and none changed while it was timed."""
        return not self.is_wrong()

    def error(self, role: Role) -> ErrorStats | None:
        """The error of the output of `role` before it was timed, or None while it is not known."""
        check, measured = self.check(role), self.measurement(role)
        return check.error if check is not None else measured.error if measured is not None else None

    def recheck(self, role: Role) -> Rechecked | None:
        """What was found when the output of `role` was checked again after timing, or None."""
        return next((r for r in self.rechecked if r.role == role), None)

    def measurement(self, role: Role) -> Measurement | None:
        """The completed measurement of `role`, or None."""
        return next((m.measurement for m in self.measured if m.measurement.role == role), None)

    def check(self, role: Role) -> Checked | None:
        """The comparison with float64 of `role`, or None."""
        return next((c for c in self.checked if c.role == role), None)
