"""Tiles: what one is, how keys are split, and a good tile without trying any. Plain Python, no torch and no Triton."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from math import log2
from pathlib import Path
from typing import Any, Protocol

TABLE = Path(__file__).parents[1] / "measured" / "tiles.json"
AUTO_SPLITS = 0


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
    """How a kernel cuts the problem: tile sizes in rows, the compiler's two launch options, and the key splits.

    `splits` is the number of programs that share the keys of one query block; AUTO_SPLITS leaves it to
    `resolved_splits`. Kernels that do not split ignore it.
    """

    block_m: int = 16
    block_n: int = 16
    num_warps: int = 4
    num_stages: int = 3
    splits: int = 1

    @property
    def label(self) -> str:
        """BLOCK_M x BLOCK_N as people write it."""
        return f"{self.block_m}×{self.block_n}"

    @classmethod
    def default(cls, work: Work, device: Device, kernel: str = "flash", precision: str = "ieee") -> TileConfig:
        """A good tile for `kernel`, from the table measured on an H200 (`tiles.json`): the nearest measured problem.

        Nearest means: the same dtype class and precision, then the same padded D and mask, and the least distance in
        log2 of D, the heads, M and N; a tile that does not fit `device` is passed over. Its splits are by the rule,
        unless this very problem was measured. Where the device has no capability (the interpreter), large tiles, since
        there every tile costs the same; where nothing measured fits, 64 x 64 or the first of the kernel's space.
        """
        from kernels.plain.spaces import fits, space  # they are made of tiles

        if not device.capability:
            block = min(64, max(16, 1 << (min(work.m, work.n) - 1).bit_length()))
            splits = AUTO_SPLITS if kernel == "split_kv" else 1
            return space(kernel, work, device)[0] if kernel == "hopper" else cls(block, block, 4, 1, splits)
        near = [e for e in _table() if e["kernel"] == kernel and e["dtype"] in _alike(work.dtype)]
        near.sort(key=lambda entry: (entry["precision"] != precision, *_distance(entry, work)))
        for entry in near:
            tile = cls(*(int(entry[name]) for name in ("block_m", "block_n", "num_warps", "num_stages", "splits")))
            if fits(kernel, work, device, tile, precision):
                known = tile.splits == 1 or _is_problem(entry, work)
                return tile if known else replace(tile, splits=AUTO_SPLITS)
        tiles = space(kernel, work, device, precision)
        usual = [tile for tile in tiles if (tile.block_m, tile.block_n) == (64, 64)] or tiles
        if not usual:
            return cls()
        return replace(usual[0], splits=AUTO_SPLITS) if kernel == "split_kv" else usual[0]


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


def grid(
    block_ms: Iterable[int], block_ns: Iterable[int], warps: Iterable[int], stages: Iterable[int], splits: Iterable[int]
) -> tuple[TileConfig, ...]:
    """Every combination, in that order."""
    return tuple(
        TileConfig(m, n, w, s, k) for m in block_ms for n in block_ns for w in warps for s in stages for k in splits
    )


@cache
def _table() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(TABLE.read_text(encoding="utf-8"))["entries"]) if TABLE.exists() else ()


def _alike(dtype: str) -> tuple[str, ...]:
    """The 16-bit types take the same time."""
    return ("fp32",) if dtype == "fp32" else ("fp16", "bf16")


def _is_problem(entry: dict[str, Any], work: Work) -> bool:
    heads = (entry["batch"] * entry["heads"], work.batch * work.heads)
    return heads[0] == heads[1] and all(entry[name] == getattr(work, name) for name in ("m", "n", "d", "causal"))


def _distance(entry: dict[str, Any], work: Work) -> tuple[bool, bool, float]:
    padded = padded_d(work.d)
    sizes = (
        (entry["d"], padded),
        (entry["batch"] * entry["heads"], work.batch * work.heads),
        (entry["m"], work.m),
        (entry["n"], work.n),
    )
    return (
        entry["d"] != padded,
        entry["causal"] != work.causal,
        sum(abs(log2(measured / max(1, wanted))) for measured, wanted in sizes),
    )
