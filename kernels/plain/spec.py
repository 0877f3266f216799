"""KernelSpec: everything about a kernel that can be known without running it, as plain data that crosses processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from kernels.plain.launch_options import LAUNCH_OPTIONS
from kernels.plain.measured_tiles import measured_tiles
from kernels.plain.precisions import EXACT
from kernels.plain.tiles import AUTO_SPLITS, BLOCKS, DTYPE_BYTES, MAX_D, Device, TileConfig, Work
from kernels.plain.traffic import GroupedWork, Movement, Requested

SHARED_RESERVE = 1024  # barriers and the compiler's own
OPTION_VALUES = {option.name: option.allowed for option in LAUNCH_OPTIONS}
LIMITED = ("block_m", "block_n", *OPTION_VALUES)  # the fields of a tile of which a kernel takes certain values


@dataclass(frozen=True)
class Grid:
    """Tiles worth trying, every combination: for problems of these dtypes and a D up to `max_d`."""

    block_ms: tuple[int, ...]
    block_ns: tuple[int, ...]
    warps: tuple[int, ...]
    stages: tuple[int, ...]
    splits: tuple[int, ...] = (1,)
    dtypes: tuple[str, ...] = tuple(DTYPE_BYTES)
    max_d: int = MAX_D

    def tiles(self) -> Iterator[TileConfig]:
        """All of them, in that order."""
        return (TileConfig(*one) for one in product(self.block_ms, self.block_ns, self.warps, self.stages, self.splits))


@dataclass(frozen=True)
class Limit:
    """The values that a kernel takes of a tile's field, where it does not take all; from a D above `above_d` on.

    `why` is a clause, said to who asks for others.
    """

    field: str
    allowed: tuple[int, ...]
    above_d: int = 0
    why: str = ""


@dataclass(frozen=True)
class KernelSpec:
    """One kernel: the limits within which it is right, how it moves data, and the tiles worth trying.

    `precisions` are those of its fp32 dots; 16-bit inputs take EXACT alone, their products being exact in fp32.
    `newer_precisions` are those that it would take with a newer Triton. `block_ms` and `block_ns` are the values that
    BLOCK_M and BLOCK_N may take, `limits` narrows those and the launch options; D is a multiple of `d_step` up to
    `max_d`. `heads`, `causal` and `splits` say whether it takes more than one head, a causal mask, more than one key
    split; `capability` is the only compute capability it runs on ("" for any, and for the interpreter), `triton` the
    first version of Triton that has what it is written in. Of `grids` the first that is for a problem counts.
    `keeps_tile` says that a tile belongs to the problem it is given with, and that none is chosen in its place.
    """

    name: str
    title: str
    description: str
    dtypes: tuple[str, ...]
    precisions: tuple[str, ...]
    movement: Movement
    grids: tuple[Grid, ...]
    max_d: int = MAX_D
    block_ms: tuple[int, ...] = BLOCKS
    block_ns: tuple[int, ...] = BLOCKS
    d_step: int = 1
    heads: bool = False
    causal: bool = False
    splits: bool = False
    limits: tuple[Limit, ...] = ()
    capability: str = ""
    triton: tuple[int, int] = (3, 3)
    newer_precisions: tuple[str, ...] = ()
    keeps_tile: bool = False

    def allowed(self, field: str, d: int = 1) -> tuple[int, ...]:
        """The values that it takes of `field`, one of LIMITED, for a problem of that D."""
        limit = self._limit(field, d)
        if limit is not None:
            return limit.allowed
        return self.block_ms if field == "block_m" else self.block_ns if field == "block_n" else OPTION_VALUES[field]

    def why(self, field: str, d: int = 1) -> str:
        """Why it takes no others of `field`, as a clause; "" where nothing is to be said of it."""
        limit = self._limit(field, d)
        return limit.why if limit is not None else ""

    def space(self, work: Work, device: Device, precision: str = EXACT) -> tuple[TileConfig, ...]:
        """The tiles worth trying for `work`: those whose operands fit into the device's shared memory.

        A device without shared memory of its own (the interpreter: `shared_bytes` 0) takes all. Where the keys can be
        split, only splits that leave every program a tile and make no more than two programs a multiprocessor.
        """
        grids = (grid for grid in self.grids if work.dtype in grid.dtypes and work.d <= grid.max_d)
        tiles = next((grid.tiles() for grid in grids), ())
        return tuple(t for t in tiles if self.fits(work, device, t, precision) and _is_worth(work, device, t))

    def fits(self, work: Work, device: Device, tile: TileConfig, precision: str = EXACT) -> bool:
        """Whether the operands of one program fit into the device's shared memory."""
        if not device.shared_bytes:
            return True
        return self.movement.shared_bytes(work, tile, precision) + SHARED_RESERVE <= device.shared_bytes

    def default_tile(self, work: Work, device: Device, precision: str = EXACT) -> TileConfig:
        """A good tile, from the table measured on an H200: that of the nearest measured problem which fits `device`.

        Where the device has no capability (the interpreter), a large one, since there every tile costs the same; where
        nothing measured fits, 64 x 64 or the first of its space. Always one that it takes.
        """
        if not device.capability:
            block = min(64, max(16, 1 << (min(work.m, work.n) - 1).bit_length()))
            return self.nearest(TileConfig(block, block, num_stages=1, splits=AUTO_SPLITS), work.d)
        measured = measured_tiles(self.name, work, precision)
        found = next((tile for tile in measured if self.fits(work, device, tile, precision)), None)
        if found is None and (tiles := self.space(work, device, precision)):
            usual = next((tile for tile in tiles if (tile.block_m, tile.block_n) == (64, 64)), tiles[0])
            found = replace(usual, splits=AUTO_SPLITS)
        return self.nearest(found or TileConfig(), work.d)

    def nearest(self, tile: TileConfig, d: int) -> TileConfig:
        """`tile`, with the nearest value that it takes in every field of which it does not take what is there."""
        asked = {name: getattr(tile, name) for name in LIMITED}
        taken = {name: min(self.allowed(name, d), key=lambda one: abs(one - asked[name])) for name in LIMITED}
        return replace(tile, **taken, splits=tile.splits if self.splits else 1)

    def requested(
        self, work: GroupedWork, tile: TileConfig, precision: str = EXACT, interpreted: bool = False
    ) -> Requested:
        """Bytes that one launch asks for; `interpreted` is one on Triton's interpreter, which makes no bf16 parts.

        Raises ValueError for automatic splits, where it splits: `with_resolved_splits` first.
        """
        return self.movement.requested(work, tile, precision, interpreted)

    def _limit(self, field: str, d: int) -> Limit | None:
        for limit in self.limits:  # asked for by every launch: a generator would take as long as the rest of it
            if limit.field == field and d > limit.above_d:
                return limit
        return None


def _is_worth(work: Work, device: Device, tile: TileConfig) -> bool:
    programs = work.batch * work.heads * -(-work.m // tile.block_m) * tile.splits
    return tile.splits == 1 or (tile.splits * tile.block_n <= work.n and programs <= 2 * max(4, device.sm_count))
