"""The tiles worth trying, per kernel, without those that cannot fit a device. Plain Python, as the tiles themselves."""

from __future__ import annotations

from collections.abc import Callable

from kernels.plain.tiles import Device, TileConfig, Work, grid, padded_d

# Parts that a split precision makes of an fp32 value, 2 bytes each.
PARTS = {"bf16x3": 2, "fp16x3": 2, "bf16x6": 3}
SHARED_RESERVE = 1024  # barriers and the compiler's own
SPLITS = (1, 2, 4, 8, 16, 32)


def space(kernel: str, work: Work, device: Device, precision: str = "ieee") -> tuple[TileConfig, ...]:
    """The tiles of `kernel` worth trying for `work`: those whose operands fit into the device's shared memory.

    A device without shared memory of its own (the interpreter: `shared_bytes` 0) takes all. Where the keys can be
    split, only splits that leave every program a tile and make no more than two programs a multiprocessor.
    Empty for a kernel that this module does not know.
    """
    tiles = _CANDIDATES[kernel](work) if kernel in _CANDIDATES else ()
    return tuple(tile for tile in tiles if fits(kernel, work, device, tile, precision) and _worth(work, device, tile))


def fits(kernel: str, work: Work, device: Device, tile: TileConfig, precision: str = "ieee") -> bool:
    """Whether the operands of one program fit into the device's shared memory."""
    if not device.shared_bytes:
        return True
    return shared_bytes(kernel, work, tile, precision) + SHARED_RESERVE <= device.shared_bytes


def shared_bytes(kernel: str, work: Work, tile: TileConfig, precision: str = "ieee") -> int:
    """Shared memory that one program's operands take, in bytes: Q once, K and V `num_stages` times.

    The compiler may need less: with fp32 products it does not keep every stage.
    """
    padded = padded_d(work.d)
    size = 4 if work.dtype == "fp32" else 2
    if kernel == "materialized":
        operands = tile.block_m * tile.block_n + tile.block_n * padded
        return size * max(operands * tile.num_stages, padded * (tile.block_m + tile.block_n * tile.num_stages))
    if kernel == "split_kv" and work.dtype == "fp32":
        size = 2 * PARTS.get(precision, 2)
    return size * padded * (tile.block_m + 2 * tile.block_n * tile.num_stages)


def _worth(work: Work, device: Device, tile: TileConfig) -> bool:
    programs = work.batch * work.heads * -(-work.m // tile.block_m) * tile.splits
    return tile.splits == 1 or (tile.splits * tile.block_n <= work.n and programs <= 2 * max(4, device.sm_count))


def _article(work: Work) -> tuple[TileConfig, ...]:
    # Full-precision dots take a register for every score: larger tiles spill.
    return grid((16, 32, 64), (16, 32, 64), (4, 8), (1, 2, 3), (1,))


def _flash(work: Work) -> tuple[TileConfig, ...]:
    if work.dtype == "fp32":
        return grid((32, 64), (32, 64), (4, 8), (1, 2), (1,))
    return grid((64, 128), (32, 64, 128), (4, 8), (2, 3), (1,))


def _split_kv(work: Work) -> tuple[TileConfig, ...]:
    return grid((32, 64, 128), (32, 64), (4, 8), (1, 2, 3), SPLITS)


def _hopper(work: Work) -> tuple[TileConfig, ...]:
    # A consumer owns 64 query rows; a third one has registers enough only where D is small.
    return grid((128, 192) if work.d <= 64 else (128,), (64, 128), (4,), (2, 3, 4), (1,))


def _materialized(work: Work) -> tuple[TileConfig, ...]:
    return grid((32, 64), (32, 64, 128), (4, 8), (2,), (1,))


_CANDIDATES: dict[str, Callable[[Work], tuple[TileConfig, ...]]] = {
    "article": _article,
    "flash": _flash,
    "split_kv": _split_kv,
    "hopper": _hopper,
    "materialized": _materialized,
}
