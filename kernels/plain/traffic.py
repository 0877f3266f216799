"""Bytes that one launch asks of memory, kernel by kernel, as its loads and stores are written. No torch, no Triton.

Counted is every element that a program loads or stores, each time that it does; what lies outside of a tensor is masked
and never touched. Caches serve a part of it, so that the memory itself moves less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernels.plain.spaces import PARTS
from kernels.plain.split_rule import is_read_often
from kernels.plain.tiles import AUTO_SPLITS, TileConfig, Work, padded_d, resolved_splits

FP32_BYTES = 4
PART_BYTES = 2
EXPONENT_BYTES = 4
SCALED = "fp16x3"  # the precision whose parts have an exponent a tile
# `kernels.variants.split_kv.combine` goes over more splits than these in a loop, and then reads each maximum twice.
UNROLLED = 32


class GroupedWork(Work, Protocol):
    """A problem with the number of its key heads."""

    @property
    def kv_heads(self) -> int: ...


@dataclass(frozen=True)
class Requested:
    """Bytes by what they are of: Q, K and V (or their parts) as attention reads them, and O.

    `parts`: K and V read, and their parts written, by the kernel that splits them beforehand. `partial`: what splits of
    the keys write and the combining kernel reads. `scores` and `weights`: S and P written, and as often as they are
    read.
    """

    q: int
    k_and_v: int
    out: int
    parts: int = 0
    partial: int = 0
    scores: int = 0
    weights: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.q + self.k_and_v + self.out + self.parts + self.partial + self.scores + self.weights


def requested(
    kernel: str, work: GroupedWork, tile: TileConfig, precision: str = "ieee", interpreted: bool = False
) -> Requested | None:
    """What one launch of `kernel` asks for; None for a kernel that this module does not know.

    `interpreted` is a launch on Triton's interpreter, which makes no bf16 parts. Raises ValueError for automatic
    splits: `kernels.plain.tiles.with_resolved_splits` first.
    """
    count = _COUNTS.get(kernel)
    return None if count is None else count(work, tile, precision, interpreted)


def parts_made(dtype: str, precision: str, interpreted: bool) -> int:
    """Into how many 16-bit parts a kernel splits an fp32 value; 0 where it multiplies values as they are."""
    if dtype != "fp32" or (interpreted and precision != SCALED):
        return 0
    return PARTS.get(precision, 0)


def _streamed(work: GroupedWork, tile: TileConfig, precision: str, interpreted: bool) -> Requested:
    """`article` and `flash`: every block of query rows reads Q once and the keys that it sees; O is written once."""
    return _one_pass(work, tile, least_tiles=0)


def _hopper(work: GroupedWork, tile: TileConfig, precision: str, interpreted: bool) -> Requested:
    """As `flash`, but a block that sees no key reads a tile all the same."""
    return _one_pass(work, tile, least_tiles=1)


def _one_pass(work: GroupedWork, tile: TileConfig, least_tiles: int) -> Requested:
    rows = _rows_bytes(work)
    tiles = _tiles_read(work, tile, least_tiles)
    keys = int(np.minimum(tiles * tile.block_n, work.n).sum())
    return Requested(rows, 2 * _heads(work) * keys * work.d * _size(work), rows)


def _split_kv(work: GroupedWork, tile: TileConfig, precision: str, interpreted: bool) -> Requested:
    """Every split reads Q; with more than one, each writes acc, m and l in fp32, which are read to combine them."""
    if tile.splits == AUTO_SPLITS:
        raise ValueError("splits is 0, which leaves it to the launch; allowed are 1 and more")
    splits = resolved_splits(work, tile, 1)
    rows = _rows_bytes(work)
    whole = _one_pass(work, tile, least_tiles=0)
    keys, before = whole.k_and_v, 0
    parts = parts_made(work.dtype, precision, interpreted)
    if parts and is_read_often(work, work.heads // work.kv_heads, tile, splits):
        # A tile of parts is whole, padded to BLOCK_N x BLOCK_D, for K and for V.
        part_tile = 2 * (parts * tile.block_n * padded_d(work.d) * PART_BYTES)
        part_tile += 2 * EXPONENT_BYTES if precision == SCALED else 0
        key_heads = work.batch * work.kv_heads
        read = 2 * key_heads * work.n * work.d * FP32_BYTES
        before = read + key_heads * -(-work.n // tile.block_n) * part_tile
        keys = _heads(work) * int(_tiles_read(work, tile, 0).sum()) * part_tile
    partial = 0
    if splits > 1:
        # m is read to find the greatest and again to weigh by it; the compiler makes one of both in unrolled code.
        reads_of_m = 2 if interpreted or splits > UNROLLED else 1
        values = (work.d + 2) + (work.d + 1 + reads_of_m)
        partial = splits * _heads(work) * work.m * values * FP32_BYTES
    return Requested(rows * splits, keys, rows, before, partial)


def _materialized(work: GroupedWork, tile: TileConfig, precision: str, interpreted: bool) -> Requested:
    """Q and K once for each tile of S; S written, read for m and l, read for P; P written, and read with V for O.

    A causal mask saves nothing: hidden tiles are computed, written and read as the others.
    """
    rows = _rows_bytes(work)
    row_blocks, key_tiles = -(-work.m // tile.block_m), -(-work.n // tile.block_n)
    elements = _heads(work) * work.m * work.n
    return Requested(
        q=rows * key_tiles,
        k_and_v=2 * _heads(work) * work.n * work.d * _size(work) * row_blocks,
        out=rows,
        scores=3 * elements * FP32_BYTES,
        weights=2 * elements * _size(work),
    )


_COUNTS: dict[str, Callable[[GroupedWork, TileConfig, str, bool], Requested]] = {
    "article": _streamed,
    "flash": _streamed,
    "split_kv": _split_kv,
    "hopper": _hopper,
    "materialized": _materialized,
}


def _size(work: Work) -> int:
    """Bytes of one element of Q, K, V and O."""
    return 4 if work.dtype == "fp32" else 2


def _heads(work: Work) -> int:
    return work.batch * work.heads


def _rows_bytes(work: Work) -> int:
    """Q, or O, once."""
    return _heads(work) * work.m * work.d * _size(work)


def _tiles_read(work: Work, tile: TileConfig, least: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Key tiles that each block of query rows reads, [ceil(M / BLOCK_M)]: all, or those up to what its last row sees.

    At least `least`.
    """
    blocks = -(-work.m // tile.block_m)
    seen = np.full(blocks, work.n, dtype=np.int64)
    if work.causal:
        ends = np.arange(1, blocks + 1, dtype=np.int64) * tile.block_m
        seen = np.clip(ends + work.n - work.m, 0, work.n)
    return np.maximum(least, -(-seen // tile.block_n))
