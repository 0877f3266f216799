"""What crosses the process boundary: frozen dataclasses of scalars, strings and numpy arrays.

Nothing here knows torch, triton or Qt, so that the window can hold every result without importing
the libraries that made it. Shapes carry a leading head axis, which counts the heads of all batches one after the
other (head h of batch b is b * heads + h; 1 for a single head); times are in microseconds, sizes in bytes; m is in
natural-log units of the scaled score q.k / sqrt(D).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kernels.tiles import TileConfig as TileConfig

FloatArray = npt.NDArray[np.floating[Any]]

Role = Literal["kernel", "baseline"]
Mode = Literal["cuda", "interpreter"]
FailureKind = Literal["compile", "resources", "launch", "memory", "timeout", "died", "cancelled", "invalid"]

DTYPES = ("fp32", "fp16", "bf16")
DTYPE_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}
PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6", "fp16x3")
SDPA_CHOICES = ("auto", "math", "efficient", "flash", "cudnn", "flex", "flash_attn", "flash_attn_3", "none")
WARPS = (1, 2, 4, 8, 16, 32)
DEVICE_CHOICES = ("auto", "cuda", "interpreter")
PROTOCOLS = ("article",)
INPUT_DISTRIBUTIONS = {
    "normal": "independent standard normal values",
    "uniform": "uniform in [-0.1, 0.1]",
    "outliers": "standard normal, one value in 256 multiplied by 20",
    "constant": "every value 0.5, so that all scores are equal",
}

INTERPRETER_LABEL = "interpreter, not GPU time"


@dataclass(frozen=True)
class Problem:
    """An attention problem: Q is M x D, K and V are N x D, per head; `heads` query heads share `kv_heads` key heads.

    The causal mask is aligned to the lower right: row i sees the keys up to i + N - M, the last row sees all.
    `seed` and `inputs` (a key of INPUT_DISTRIBUTIONS) decide the values, so that a run can be repeated.
    """

    m: int
    n: int
    d: int
    batch: int = 1
    heads: int = 1
    kv_heads: int = 1
    dtype: str = "fp32"
    causal: bool = False
    seed: int = 0
    inputs: str = "normal"

    @property
    def shape(self) -> str:
        """M x N x D as people write it."""
        return f"{self.m} × {self.n} × {self.d}"

    @property
    def total_heads(self) -> int:
        """Query heads of all batches: the length of the head axis of what a run sends."""
        return self.batch * self.heads

    @property
    def blind_rows(self) -> int:
        """First rows of each head that see no key: M - N of them under a causal mask, where M > N."""
        return max(0, self.m - self.n) if self.causal else 0

    @property
    def visible_pairs(self) -> int:
        """Pairs of a query row and a key that the mask lets through, in one head."""
        if not self.causal:
            return self.m * self.n
        rows = min(self.m, self.n)  # rows that see a key: they see n - rows + 1 to n of them
        return rows * (2 * self.n - rows + 1) // 2

    @property
    def flops(self) -> int:
        """Floating-point operations of the two matrix products: 4 D per visible pair, a multiply-add being two."""
        return 4 * self.total_heads * self.visible_pairs * self.d


@dataclass(frozen=True)
class RunRequest:
    """One run of a kernel and, unless `sdpa` is "none", of PyTorch's SDPA beside it.

    `auto_tile` names the fields of `tile` that the engine is to choose for its device, by `TileConfig.default`; the
    request in `Started` has what it chose, and none left to choose. `time_limit_s` is the longest silence the host
    accepts from the engine, in seconds, before it ends it; None leaves that to the host.
    """

    problem: Problem
    tile: TileConfig = field(default_factory=TileConfig)
    kernel: str = "article"
    precision: str = "ieee"
    sdpa: str = "auto"
    device: str = "auto"
    protocol: str = "article"
    rtol: float = 2e-3
    atol: float = 2e-3
    trace: bool = True
    keep_tensors: bool = False
    time_limit_s: float | None = None
    auto_tile: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeviceInfo:
    """Where the engine runs, and the versions of what it runs with.

    `memory_bytes` is what the device (or the machine, on the interpreter) holds in all;
    `shared_bytes` is the most shared memory one program may take, 0 on the interpreter.
    """

    name: str
    mode: Mode
    torch: str
    triton: str
    python: str
    memory_bytes: int
    cuda: str = ""
    driver: str = ""
    capability: str = ""
    sm_count: int = 0
    shared_bytes: int = 0

    @property
    def mode_label(self) -> str:
        """How its clock must be named beside every time."""
        return "GPU" if self.mode == "cuda" else INTERPRETER_LABEL


@dataclass(frozen=True)
class VariantInfo:
    """What a kernel variant accepts, as the child announces it; see `kernels.KernelVariant`.

    `unavailable` says why it cannot run on this device, "" if it can.
    """

    name: str
    title: str
    description: str
    dtypes: tuple[str, ...]
    precisions: tuple[str, ...]
    max_d: int
    block_ms: tuple[int, ...]
    block_ns: tuple[int, ...]
    d_step: int
    heads: bool
    causal: bool
    splits: bool
    unavailable: str = ""
    warps: tuple[int, ...] = WARPS


@dataclass(frozen=True)
class BaselineInfo:
    """A baseline on this device: a backend of SDPA, or another attention that PyTorch's users have.

    `dtypes` are those it takes there; D is a multiple of `d_step` from `min_d` to `max_d`. All take heads, grouped
    heads and the causal mask, in the way that `description` says. `unavailable` says why it cannot run on this device,
    "" if it can. A baseline whose package is not installed is not announced.
    """

    name: str
    dtypes: tuple[str, ...]
    description: str = ""
    unavailable: str = ""
    min_d: int = 1
    max_d: int = 256
    d_step: int = 1


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

    `samples` are microseconds in launch order, none removed. `block_average_us` is the time of an unbroken
    block of `launches` launches divided by their number. `clock` is "cuda events" or "host".
    """

    protocol: str
    clock: str
    samples: FloatArray  # [launches]
    block_average_us: float
    warmups: int
    launches: int
    unit: str = "us"

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


@dataclass(frozen=True)
class Ready:
    """The child has started and says what it can do."""

    device: DeviceInfo
    variants: tuple[VariantInfo, ...]
    baselines: tuple[BaselineInfo, ...]


@dataclass(frozen=True)
class Started:
    """A run has begun; `started_at` is local time in ISO 8601."""

    request: RunRequest
    device: DeviceInfo
    started_at: str


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


RunEvent = Ready | Started | Progress | Checked | Samples | Measured | TileStates | Tensors | Log | Failed | Finished


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

    def events(self) -> tuple[RunEvent, ...]:
        """The events that show this run again in a panel, in the order of a live run."""
        kept: list[RunEvent] = [self.started, *self.checked]
        for measured in self.measured:
            kept += [Samples(measured.measurement.role, measured.measurement.latency.samples), measured]
        kept += self.partial
        if self.states is not None:
            kept.append(self.states)
        if self.end is not None:
            kept.append(self.end)
        return tuple(kept)

    def measurement(self, role: Role) -> Measurement | None:
        """The completed measurement of `role`, or None."""
        return next((m.measurement for m in self.measured if m.measurement.role == role), None)

    def check(self, role: Role) -> Checked | None:
        """The comparison with float64 of `role`, or None."""
        return next((c for c in self.checked if c.role == role), None)
