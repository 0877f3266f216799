"""What can be asked for: a problem, and one run of a kernel on it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from kernels.plain.precisions import EXACT
from kernels.plain.tiles import DTYPE_BYTES, TileConfig
from workbench.run.protocols import AUTO_PROTOCOL

DTYPES = tuple(DTYPE_BYTES)
SDPA_CHOICES = ("auto", "math", "efficient", "flash", "cudnn", "flex", "flash_attn", "flash_attn_3", "none")
DEVICE_CHOICES = ("auto", "cuda", "interpreter")
# Triton's interpreter multiplies bf16 wrongly.
HOST_DTYPES = ("fp32", "fp16")
INPUT_DISTRIBUTIONS = {
    "normal": "independent standard normal values",
    "uniform": "uniform in [-0.1, 0.1]",
    "outliers": "standard normal, one value in 256 multiplied by 20",
    "constant": "every value 0.5: all scores are equal, and a GPU that flips no bits draws less power, which flatters",
    "zeros": "every value 0: as constant, and the output is 0 as well",
}


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


# Which query rows' states are kept, where those of all rows of one head would be too large.
TRACE_ROWS = {
    "worst": "around the row of the largest error",
    "spread": "in blocks spread evenly over all",
}


@dataclass(frozen=True)
class Rival:
    """What a kernel is held against in place of SDPA: another kernel, tile or precision, on the same problem."""

    kernel: str
    tile: TileConfig
    precision: str = EXACT


@dataclass(frozen=True)
class RunRequest:
    """One run of a kernel and, unless `sdpa` is "none", of PyTorch's SDPA beside it.

    With a `rival` that one is the baseline, and SDPA is not measured: `sdpa` is "none". Both are timed in turns.
    `auto_tile` names the fields of `tile` that the engine is to choose for its device, by `KernelSpec.default_tile`,
    unless the kernel keeps its tile; the request in `Started` has what it chose, and none left to choose. So it is with
    the `protocol`, which is the device's usual one unless it is named.
    `time_limit_s` is the longest silence the host accepts from the engine, in seconds, before it ends it; None leaves
    that to the host. Timing kernel and baseline together ends after `max_seconds`, and after `max_samples` of each, if
    their medians are not known well enough before; a protocol with counts of its own heeds neither.
    `trace_rows`, one of TRACE_ROWS, says which query rows' states are kept where not all can be.
    """

    problem: Problem
    tile: TileConfig = field(default_factory=TileConfig)
    kernel: str = "article"
    precision: str = EXACT
    sdpa: str = "auto"
    device: str = "auto"
    protocol: str = AUTO_PROTOCOL
    rtol: float = 2e-3
    atol: float = 2e-3
    trace: bool = True
    keep_tensors: bool = False
    time_limit_s: float | None = None
    auto_tile: tuple[str, ...] = ()
    max_seconds: float = 5.0
    max_samples: int = 20_000
    trace_rows: str = "worst"
    rival: Rival | None = None

    @property
    def has_baseline(self) -> bool:
        """Whether the kernel is held against anything."""
        return self.sdpa != "none" or self.rival is not None


def put(request: RunRequest, name: str, value: object) -> RunRequest:
    """`request` with another value of the field `name`, wherever in it that is."""
    changes: dict[str, Any] = {name: value}
    if hasattr(request, name):
        return replace(request, **changes)
    if hasattr(request.problem, name):
        return replace(request, problem=replace(request.problem, **changes))
    return replace(request, tile=replace(request.tile, **changes))


def look_up(request: RunRequest, name: str) -> Any:
    """The value of the field `name`, wherever in the request it is."""
    return next(getattr(part, name) for part in (request, request.problem, request.tile) if hasattr(part, name))
