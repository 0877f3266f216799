"""What the memory panel draws and says of a run: bytes of S and P, the fewest, the tile's, the device's. Without Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernels.tiles import with_resolved_splits
from workbench.ceilings import Ceilings
from workbench.metrics import format_time
from workbench.model import Measurement, Problem, RunRequest, Started, TileConfig, VariantInfo
from workbench.traffic import (
    Materialised,
    Requested,
    least_bytes,
    materialised,
    materialised_traffic,
    movable_bytes,
    requested_bytes,
)
from workbench.validate import BLOCK_RANGE, size_text

MATERIALIZED = "materialized"  # the kernel that does write S and P


@dataclass(frozen=True)
class MemoryNumbers:
    """Sizes in bytes of one run. `curve` is what the kernel would request for each allowed BLOCK_M.

    `requested` is None for a kernel that writes S and P; `movable` is what the device copies in `us`, the kernel's
    median, at its ceiling: None where one of the two is not known.
    """

    problem: Problem
    tile: TileConfig
    kernel: str
    whole: Materialised
    least: int
    moved_if_materialised: int
    requested: Requested | None
    curve: tuple[tuple[int, int], ...]
    us: float | None = None
    movable: float | None = None

    @property
    def used(self) -> int:
        """What this run's kernel asks for, or moves if it writes S and P."""
        return self.moved_if_materialised if self.requested is None else self.requested.total

    def sentence(self) -> str:
        """The point of it in words, and only what is known."""
        whole = f"S and P would be {size_text(self.whole.together)}"
        if self.requested is None:
            whole = f"This kernel writes S and P, {size_text(self.whole.together)}, and reads them again"
            return f"{whole}: {size_text(self.used)} move, {_times(self.used, self.least)} the least."
        text = f"{whole}. A tile of {self.tile.block_m} query rows requests {size_text(self.used)}, "
        text += f"{_times(self.used, self.least)} the {size_text(self.least)} that must move; "
        text += "what of it the caches serve is not measured."
        if self.movable is not None and self.used > self.movable:
            text += f" The memory alone could move {size_text(self.movable)} in {format_time(self.us or 0)}: "
            text += f"the caches served at least {size_text(self.used - self.movable)}."
        return text


def _times(value: float, least: float) -> str:
    factor = value / least
    return f"{factor:.3g}×" if factor < 1000 else f"{factor:,.0f}×"


def numbers_of(
    started: Started, kernel: Measurement | None, variants: Sequence[VariantInfo], ceilings: Ceilings | None
) -> MemoryNumbers:
    """The numbers of the run that `started`; `kernel` is its measurement, if there is one yet."""
    request = started.request
    problem = request.problem
    launched = kernel.tile if kernel is not None and kernel.tile is not None else request.tile
    tile = with_resolved_splits(problem, launched, started.device.sm_count)
    writes = request.kernel == MATERIALIZED
    us = kernel.latency.median if kernel is not None and started.device.mode == "cuda" else None
    return MemoryNumbers(
        problem=problem,
        tile=tile,
        kernel=request.kernel,
        whole=materialised(problem),
        least=least_bytes(problem),
        moved_if_materialised=materialised_traffic(problem),
        requested=None if writes else requested_bytes(problem, tile),
        curve=() if writes else _curve(request, started, tile, variants),
        us=us,
        movable=movable_bytes(us, ceilings) if us is not None and ceilings is not None else None,
    )


def _curve(
    request: RunRequest, started: Started, tile: TileConfig, variants: Sequence[VariantInfo]
) -> tuple[tuple[int, int], ...]:
    """Bytes for each BLOCK_M that the kernel takes, with the splits that a launch of each would make."""
    allowed = next((v.block_ms for v in variants if v.name == request.kernel), _powers())
    points = []
    for block_m in sorted({*allowed, tile.block_m}):
        other = replace(request.tile, block_m=block_m, block_n=tile.block_n)
        if block_m == tile.block_m:
            other = tile
        other = with_resolved_splits(request.problem, other, started.device.sm_count)
        points.append((block_m, requested_bytes(request.problem, other).total))
    return tuple(points)


def _powers() -> tuple[int, ...]:
    """Where no kernel says what it takes: the powers of two of the form."""
    low, high = BLOCK_RANGE
    return tuple(2**power for power in range(32) if low <= 2**power <= high)


def whole_size(position: float) -> str:
    """A tick at log2(bytes), without places: 16 KiB, 4 MiB, 1 GiB."""
    size = 2.0 ** round(position)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:,.0f} TiB"
