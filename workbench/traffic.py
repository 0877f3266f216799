"""Bytes that attention must move, bytes that a way of computing it moves, and the time below which no kernel gets.

Pure arithmetic on a problem, a tile and a device's ceilings. All sizes are bytes, all times microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from kernels.tiles import AUTO_SPLITS, tiles_per_split
from workbench.ceilings import Ceilings
from workbench.model import DTYPE_BYTES, Problem, TileConfig

FP32_BYTES = 4
# Which matrix rate an fp32 product of each precision runs on, and how many products of that kind it takes.
_PRODUCTS = {
    "ieee": ("fp32", 1),
    "tf32": ("tf32", 1),
    "tf32x3": ("tf32", 3),
    "bf16x3": ("bf16", 3),
    "bf16x6": ("bf16", 6),
    "fp16x3": ("fp16", 3),
}

Bound = Literal["arithmetic", "memory"]


@dataclass(frozen=True)
class Materialised:
    """Bytes of the scores S, in fp32, and of their softmax P, in the problem's dtype, if both are written out."""

    scores: int
    weights: int

    @property
    def together(self) -> int:
        """S and P beside each other."""
        return self.scores + self.weights


@dataclass(frozen=True)
class Requested:
    """Bytes that a tiled kernel's programs ask for; the caches serve a part of them, so the memory may move less.

    `partial` is what splits of the keys write and read once more to combine their results.
    """

    q: int
    k_and_v: int
    out: int
    partial: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.q + self.k_and_v + self.out + self.partial


@dataclass(frozen=True)
class Floor:
    """The least time on a device's ceilings: the arithmetic at its matrix rate, the fewest bytes at its copy rate.

    `rate` is the matrix rate that the arithmetic runs on, `products` how many of its products one of ours takes.
    """

    arithmetic_us: float
    memory_us: float
    rate: str
    products: int

    @property
    def us(self) -> float:
        """The greater of the two: both can go on at one time, neither can be faster."""
        return max(self.arithmetic_us, self.memory_us)

    @property
    def bound(self) -> Bound:
        """Which of the two it is."""
        return "arithmetic" if self.arithmetic_us >= self.memory_us else "memory"

    def times(self, measured_us: float) -> float:
        """How many times the floor a measured time is."""
        return measured_us / self.us


def least_bytes(problem: Problem) -> int:
    """The fewest bytes that must move: Q, K and V read once, O written once. Grouped heads share K and V."""
    queries = problem.batch * problem.heads * problem.m
    keys = problem.batch * problem.kv_heads * problem.n
    return 2 * (queries + keys) * problem.d * DTYPE_BYTES[problem.dtype]


def materialised(problem: Problem) -> Materialised:
    """S and P of all heads, whole: a causal mask hides half of them, and saves none of it."""
    elements = problem.total_heads * problem.m * problem.n
    return Materialised(elements * FP32_BYTES, elements * DTYPE_BYTES[problem.dtype])


def materialised_traffic(problem: Problem) -> int:
    """Bytes moved by computing S and P one after the other: each written once and read once, beside the fewest."""
    return least_bytes(problem) + 2 * materialised(problem).together


def requested_bytes(problem: Problem, tile: TileConfig) -> Requested:
    """What the programs of a tiled kernel ask for: every block of BLOCK_M query rows reads all keys that it can see.

    K and V are read once per block and query head, in whole tiles of BLOCK_N but not beyond N; Q once, with splits once
    for each; O is written once. With splits, each writes its acc, m and l in fp32, which are read again.

    Raises ValueError for automatic splits: `kernels.tiles.with_resolved_splits` first.
    """
    size = DTYPE_BYTES[problem.dtype]
    splits = _splits(problem, tile)
    row_bytes = problem.total_heads * problem.m * problem.d * size
    states = problem.total_heads * problem.m * (problem.d + 2) * FP32_BYTES
    return Requested(
        q=row_bytes * splits,
        k_and_v=2 * problem.total_heads * int(_keys_read(problem, tile).sum()) * problem.d * size,
        out=row_bytes,
        partial=2 * states * splits if splits > 1 else 0,
    )


def tile_updates(problem: Problem, tile: TileConfig) -> int:
    """Tiles of BLOCK_M rows and BLOCK_N keys that all programs go through; those that a causal mask hides are none."""
    return problem.total_heads * int(-(-_keys_read(problem, tile) // tile.block_n).sum())


def floor_time(problem: Problem, precision: str, ceilings: Ceilings) -> Floor | None:
    """The least time for `problem` on `ceilings`; None where a rate that it needs was not measured.

    Operations are those of visible pairs. An fp32 problem runs on the matrix rate of its `precision`, divided by the
    products that it takes; a 16-bit one on its own dtype's.
    """
    name, products = _PRODUCTS[precision] if problem.dtype == "fp32" else (problem.dtype, 1)
    rate = float(getattr(ceilings, name))
    if not rate > 0 or not ceilings.copy_bytes_per_s > 0:
        return None
    return Floor(
        arithmetic_us=problem.flops * products / rate * 1e6,
        memory_us=least_bytes(problem) / ceilings.copy_bytes_per_s * 1e6,
        rate=name,
        products=products,
    )


def movable_bytes(us: float, ceilings: Ceilings) -> float:
    """What the device could have moved in that time at its copy rate."""
    return us * 1e-6 * ceilings.copy_bytes_per_s


def _splits(problem: Problem, tile: TileConfig) -> int:
    """The splits that a launch makes: none is left without keys."""
    if tile.splits == AUTO_SPLITS:
        raise ValueError("splits is 0, which leaves it to the launch; allowed are 1 and more")
    tiles = -(-problem.n // tile.block_n)
    return -(-tiles // tiles_per_split(problem.n, tile.block_n, tile.splits))


def _keys_read(problem: Problem, tile: TileConfig) -> npt.NDArray[np.int64]:
    """Keys that each block of query rows reads, [ceil(M / BLOCK_M)]: all, or whole tiles to what its last row sees."""
    blocks = -(-problem.m // tile.block_m)
    if not problem.causal:
        return np.full(blocks, problem.n, dtype=np.int64)
    ends = np.minimum(np.arange(1, blocks + 1, dtype=np.int64) * tile.block_m, problem.m)
    visible = np.clip(ends + problem.n - problem.m, 0, problem.n)
    tiles = -(-visible // tile.block_n)
    return np.asarray(np.minimum(tiles * tile.block_n, problem.n))
