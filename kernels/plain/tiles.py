"""Tiles: what one is, and how keys are split. Plain Python, no torch and no Triton."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from kernels.plain.launch_options import LAUNCH_OPTIONS, MAXNREG, NUM_STAGES, NUM_WARPS

AUTO_SPLITS = 0
BLOCKS = (16, 32, 64, 128, 256)
MAX_D = 256
DTYPE_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}


class Work(Protocol):
    """The problem a tile is for: Q is M x D per head, K and V are N x D per key head; `dtype` fp32, fp16 or bf16."""

    @property
    def m(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def d(self) -> int: ...
    @property
    def batch(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def causal(self) -> bool: ...


class Device(Protocol):
    """What a tile must fit: `capability` is "9.0" and its like, "" on the interpreter, where nothing has limits."""

    @property
    def capability(self) -> str: ...
    @property
    def sm_count(self) -> int: ...
    @property
    def shared_bytes(self) -> int: ...


@dataclass(frozen=True)
class TileConfig:
    """How a kernel cuts the problem: tile sizes in rows, the options of a launch, and the key splits.

    `splits` is the number of programs that share the keys of one query block; AUTO_SPLITS leaves it to
    `resolved_splits`. Kernels that do not split ignore it.
    """

    block_m: int = 16
    block_n: int = 16
    num_warps: int = NUM_WARPS.default
    num_stages: int = NUM_STAGES.default
    splits: int = 1
    maxnreg: int = MAXNREG.default

    @property
    def label(self) -> str:
        """BLOCK_M x BLOCK_N as people write it."""
        return f"{self.block_m}×{self.block_n}"

    @cached_property  # a launch takes the CPU a few microseconds: they are not to become more
    def options(self) -> dict[str, int]:
        """The keyword arguments of a launch; what is left to the compiler is not among them."""
        values = {one.name: getattr(self, one.name) for one in LAUNCH_OPTIONS}
        return {one.name: values[one.name] for one in LAUNCH_OPTIONS if not one.is_left(values[one.name])}

    @property
    def option_words(self) -> tuple[str, ...]:
        """The options in words, without what is left to the compiler: "4 warps", "3 stages"."""
        return tuple(filter(None, (one.said(getattr(self, one.name)) for one in LAUNCH_OPTIONS)))

    @property
    def unusual_words(self) -> tuple[str, ...]:
        """Those options in words that are mostly left to the compiler, and here are not."""
        return tuple(filter(None, (o.said(getattr(self, o.name)) for o in LAUNCH_OPTIONS if o.auto_text)))


def padded_d(d: int) -> int:
    """The width of a tile for `d` features: a power of two, and no less than a matrix product takes."""
    return max(16, 1 << (d - 1).bit_length())


def tiles_per_split(n: int, block_n: int, splits: int) -> int:
    """Key tiles of one split: every split takes as many, the last one what is left."""
    tiles = -(-n // block_n)
    return -(-tiles // max(1, min(splits, tiles)))


def resolved_splits(work: Work, tile: TileConfig, sm_count: int) -> int:
    """The number of key splits that a launch really makes: `tile.splits`, or the rule where it is AUTO_SPLITS.

    The rule: as many programs as the device has multiprocessors, each with a key tile at least. Either way no split is
    left without keys.
    """
    tiles = -(-work.n // tile.block_n)
    wanted = tile.splits
    if wanted == AUTO_SPLITS:
        blocks = work.batch * work.heads * -(-work.m // tile.block_m)
        wanted = max(1, min(max(1, sm_count) // blocks, tiles))
    return -(-tiles // tiles_per_split(work.n, tile.block_n, wanted))


def with_resolved_splits(work: Work, tile: TileConfig, sm_count: int) -> TileConfig:
    """`tile` with its number of splits as a launch makes them."""
    return replace(tile, splits=resolved_splits(work, tile, sm_count))
