"""What a launch with split keys does beyond attention itself: for `split_kv`, and for `kernels.plain.traffic`."""

from __future__ import annotations

from kernels.plain.tiles import TileConfig, Work, padded_d, tiles_per_split

# From this many elements of K in one program's share on, K and V are split into parts once, before: a launch more costs
# about what splitting so many takes.
SPLIT_BEFORE_FROM = 8192
UNROLLED = 32  # splits, beyond which a loop combines them: unrolled code grows with their number


def is_read_often(work: Work, group: int, tile: TileConfig, splits: int, least: int = SPLIT_BEFORE_FROM) -> bool:
    """Whether several programs read the same keys, and each at least `least` elements of K.

    `group` query heads share a key head; `splits` are those that the launch makes.
    """
    readers = -(-work.m // tile.block_m) * group
    share = tiles_per_split(work.n, tile.block_n, splits) * tile.block_n * padded_d(work.d)
    return readers > 1 and share >= least
