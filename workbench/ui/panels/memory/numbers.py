"""What the memory panel draws and says of a run: bytes of S and P, the fewest, those requested. Without Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernels.plain.spec import KernelSpec
from kernels.plain.tiles import TileConfig, with_resolved_splits
from kernels.plain.traffic import Requested
from workbench.analysis.numbers import format_time
from workbench.analysis.traffic import (
    Materialised,
    least_bytes,
    materialised,
    materialised_traffic,
    movable_bytes,
    size_text,
)
from workbench.run.ceilings import Ceilings
from workbench.run.events import Started
from workbench.run.measurement import Measurement
from workbench.run.request import Problem


@dataclass(frozen=True)
class MemoryNumbers:
    """Sizes in bytes of one run. `curve` is what the kernel would request for each allowed BLOCK_M.

    `requested` is None for a kernel that nobody here knows. `movable` is what the device copies in
    `us`, the kernel's figure under `protocol`, at its ceiling: None where one of the two is not known.
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
    protocol: str = ""
    movable: float | None = None

    @property
    def time_text(self) -> str:
        """The kernel's time with the protocol that it was measured by; "" where there is none."""
        return f"{format_time(self.us)} ({self.protocol})" if self.us is not None else ""

    def sentence(self) -> str:
        """The point of it in words, and only what is known."""
        asked = self.requested
        if asked is None:
            whole = f"S and P would be {size_text(self.whole.together)}"
            return f"{whole}. What {self.kernel} requests of memory is not known."
        if asked.scores:
            text = f"This kernel writes S and P, {size_text(self.whole.together)}, and reads them again: it "
        else:
            text = f"S and P would be {size_text(self.whole.together)}. A tile of {self.tile.block_m} query rows "
        text += f"requests {size_text(asked.total)}, "
        text += f"{_times(asked.total, self.least)} the {size_text(self.least)} that must move; "
        text += "what of it the caches serve is not measured."
        if self.movable is not None and asked.total > self.movable:
            text += f" At the rate of a large copy the memory moves {size_text(self.movable)} in {self.time_text}: "
            text += f"about {size_text(asked.total - self.movable)} came from the caches."
        return text

    def parts(self) -> list[tuple[str, int]]:
        """What the launch asks for by what it is of, without what it does not have."""
        asked = self.requested
        if asked is None:
            return []
        named = (
            ("Q", asked.q),
            ("K and V", asked.k_and_v),
            ("O", asked.out),
            ("K and V split into parts before", asked.parts),
            ("split results", asked.partial),
            ("S", asked.scores),
            ("P", asked.weights),
        )
        return [(name, size) for name, size in named if size]


def _times(value: float, least: float) -> str:
    factor = value / least
    return f"{factor:.3g}×" if factor < 1000 else f"{factor:,.0f}×"


def numbers_of(
    started: Started, kernel: Measurement | None, spec: KernelSpec | None, ceilings: Ceilings | None
) -> MemoryNumbers:
    """The numbers of the run that `started`; `kernel` is its measurement, if there is one yet, `spec` its
    kernel's, if that is known."""
    request = started.request
    problem = request.problem
    launched = kernel.tile if kernel is not None and kernel.tile is not None else request.tile
    tile = with_resolved_splits(problem, launched, started.device.sm_count)
    us = kernel.latency.figure_us if kernel is not None and started.device.mode == "cuda" else None
    return MemoryNumbers(
        problem=problem,
        tile=tile,
        kernel=request.kernel,
        whole=materialised(problem),
        least=least_bytes(problem),
        moved_if_materialised=materialised_traffic(problem),
        requested=_requested(started, tile, spec) if spec is not None else None,
        curve=_curve(started, tile, spec) if spec is not None else (),
        us=us,
        protocol=kernel.latency.protocol if kernel is not None else "",
        movable=movable_bytes(us, ceilings) if us is not None and ceilings is not None else None,
    )


def _requested(started: Started, tile: TileConfig, spec: KernelSpec) -> Requested:
    """What a launch of the run's kernel with `tile`, its splits resolved, asks for."""
    request = started.request
    return spec.requested(request.problem, tile, request.precision, started.device.mode == "interpreter")


def _curve(started: Started, tile: TileConfig, spec: KernelSpec) -> tuple[tuple[int, int], ...]:
    """Bytes for each BLOCK_M that the kernel takes, with the splits that a launch of each would make."""
    request = started.request
    points = []
    for block_m in sorted({*spec.allowed("block_m", request.problem.d), tile.block_m}):
        other = replace(request.tile, block_m=block_m, block_n=tile.block_n)
        if block_m == tile.block_m:
            other = tile
        other = with_resolved_splits(request.problem, other, started.device.sm_count)
        points.append((block_m, _requested(started, other, spec).total))
    return tuple(points)


def whole_size(position: float) -> str:
    """A tick at log2(bytes), without places: 16 KiB, 4 MiB, 1 GiB."""
    size = 2.0 ** round(position)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:,.0f} TiB"
