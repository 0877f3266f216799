"""How a kernel moves data: the bytes that one launch asks of memory, and what its programs hold. No torch, no Triton.

Counted is every element that a program loads or stores, each time that it does; what lies outside of a tensor is masked
and never touched. Caches serve a part of it, so that the memory itself moves less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernels.plain.precisions import PRECISIONS, parts_made
from kernels.plain.split_rule import UNROLLED, is_read_often
from kernels.plain.tiles import AUTO_SPLITS, DTYPE_BYTES, TileConfig, Work, padded_d, resolved_splits

FP32_BYTES = 4
PART_BYTES = 2
EXPONENT_BYTES = 4


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


@dataclass(frozen=True)
class Streamed:
    """Every block of query rows reads Q once and the key tiles that it sees, at least `least_tiles`; O is written once.

    A program holds Q, and K and V as often as there are stages.
    """

    least_tiles: int = 0

    def requested(self, work: GroupedWork, tile: TileConfig, precision: str, interpreted: bool) -> Requested:
        """Bytes of one launch."""
        rows = _rows_bytes(work)
        tiles = _tiles_read(work, tile, self.least_tiles)
        keys = int(np.minimum(tiles * tile.block_n, work.n).sum())
        return Requested(rows, 2 * _heads(work) * keys * work.d * DTYPE_BYTES[work.dtype], rows)

    def shared_bytes(self, work: Work, tile: TileConfig, precision: str) -> int:
        """Shared memory of one program's operands. The compiler may need less: of fp32 it does not keep every stage."""
        return DTYPE_BYTES[work.dtype] * padded_d(work.d) * (tile.block_m + 2 * tile.block_n * tile.num_stages)

    def scores_bytes(self, work: Work) -> int:
        """Device memory for S and P beside the tensors: they are never whole."""
        return 0


@dataclass(frozen=True)
class SplitKeys(Streamed):
    """As Streamed, by every split of the keys; each of several writes acc, m and l in fp32, read to combine them.

    In a precision of 16-bit parts a program holds those, and K and V that are read often are split beforehand.
    """

    def requested(self, work: GroupedWork, tile: TileConfig, precision: str, interpreted: bool) -> Requested:
        """Bytes of one launch. Raises ValueError for automatic splits: `with_resolved_splits` first."""
        if tile.splits == AUTO_SPLITS:
            raise ValueError("splits is 0, which leaves it to the launch; allowed are 1 and more")
        splits = resolved_splits(work, tile, 1)
        whole = super().requested(work, tile, precision, interpreted)
        keys, before = whole.k_and_v, 0
        parts = parts_made(work.dtype, precision, interpreted)
        if parts and is_read_often(work, work.heads // work.kv_heads, tile, splits):
            # A tile of parts is whole, padded to BLOCK_N x BLOCK_D, for K and for V.
            part_tile = 2 * (parts * tile.block_n * padded_d(work.d) * PART_BYTES)
            part_tile += 2 * EXPONENT_BYTES if PRECISIONS[precision].scaled else 0
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
        return Requested(whole.q * splits, keys, whole.out, before, partial)

    def shared_bytes(self, work: Work, tile: TileConfig, precision: str) -> int:
        """Shared memory of one program's operands, or of their parts."""
        parts = parts_made(work.dtype, precision, interpreted=False)
        whole = super().shared_bytes(work, tile, precision)
        return whole * PART_BYTES * parts // FP32_BYTES if parts else whole


@dataclass(frozen=True)
class WrittenScores:
    """Q and K once for each tile of S; S written, read for m and l, read for P; P written, and read with V for O.

    A causal mask saves nothing: hidden tiles are computed, written and read as the others.
    """

    def requested(self, work: GroupedWork, tile: TileConfig, precision: str, interpreted: bool) -> Requested:
        """Bytes of one launch."""
        rows, size = _rows_bytes(work), DTYPE_BYTES[work.dtype]
        row_blocks, key_tiles = -(-work.m // tile.block_m), -(-work.n // tile.block_n)
        elements = _heads(work) * work.m * work.n
        return Requested(
            q=rows * key_tiles,
            k_and_v=2 * _heads(work) * work.n * work.d * size * row_blocks,
            out=rows,
            scores=3 * elements * FP32_BYTES,
            weights=2 * elements * size,
        )

    def shared_bytes(self, work: Work, tile: TileConfig, precision: str) -> int:
        """Shared memory of one program's operands: of Q and K, or of P and V, whichever is more."""
        padded = padded_d(work.d)
        operands = tile.block_m * tile.block_n + tile.block_n * padded
        most = max(operands * tile.num_stages, padded * (tile.block_m + tile.block_n * tile.num_stages))
        return DTYPE_BYTES[work.dtype] * most

    def scores_bytes(self, work: Work) -> int:
        """Device memory for S in fp32 and P in the inputs' dtype, of all heads."""
        return _heads(work) * work.m * work.n * (FP32_BYTES + DTYPE_BYTES[work.dtype])


Movement = Streamed | SplitKeys | WrittenScores


def _heads(work: Work) -> int:
    return work.batch * work.heads


def _rows_bytes(work: Work) -> int:
    """Q, or O, once."""
    return _heads(work) * work.m * work.d * DTYPE_BYTES[work.dtype]


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
