"""Tiles without a GPU: how keys are split, which tile is the default, which are worth a sweep."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from kernels import VARIANTS, KernelVariant, TileConfig
from kernels.common.checks import Limits
from kernels.plain import measured_tiles
from kernels.plain.spec import LIMITED
from kernels.plain.tiles import AUTO_SPLITS, resolved_splits, tiles_per_split, with_resolved_splits
from kernels.variants.flash import FLASH
from kernels.variants.split_kv.launch import SPLIT_KV
from tests.kernels.cases import Case, Draw

H200 = Limits("9.0", 132, 232448)
SMALL = Limits("7.5", 40, 65536)
INTERPRETER = Limits()


def some(draw: random.Random) -> Case:
    """Any problem."""
    m, n = (draw.randint(1, 2 ** draw.randint(1, 13)) for _ in range(2))
    return Case(
        m,
        n,
        draw.randint(1, 256),
        draw.choice(["fp32", "fp16", "bf16"]),
        draw.random() < 0.5,
        draw.randint(1, 4),
        draw.randint(1, 16),
    )


def test_no_split_is_empty_and_none_is_longer_than_the_first(draw: Draw) -> None:
    for _ in range(3000):
        n, splits = draw.random.randint(1, 5000), draw.random.randint(1, 70)
        block_n = draw.random.choice([16, 32, 64, 128, 256])
        per_split = tiles_per_split(n, block_n, splits)
        work = Case(1, n, 8)
        made = resolved_splits(work, TileConfig(16, block_n, splits=splits), 1)
        all_tiles = -(-n // block_n)
        last = all_tiles - (made - 1) * per_split
        about = f"n {n}, block_n {block_n}, splits {splits}: {made} of {per_split}; TILESCOPE_SEED={draw.seed}"
        assert 1 <= made <= splits, about
        assert 1 <= last <= per_split, about
        # Fewer tiles a split would need more splits than were asked for.
        assert per_split == 1 or (per_split - 1) * splits < all_tiles, about
        # What a launch makes is what asking for that number makes: a recorded run can be repeated.
        assert tiles_per_split(n, block_n, made) == per_split, about


def test_the_rule_fills_the_device_and_leaves_every_split_a_tile(draw: Draw) -> None:
    for _ in range(2000):
        work = some(draw.random)
        sm_count = draw.random.choice([1, 40, 108, 132])
        tile = TileConfig(draw.random.choice([16, 64, 128]), draw.random.choice([16, 64, 128]), splits=AUTO_SPLITS)
        made = resolved_splits(work, tile, sm_count)
        blocks = work.batch * work.heads * -(-work.m // tile.block_m)
        about = f"{work}, {tile}, {sm_count}: {made}; TILESCOPE_SEED={draw.seed}"
        assert 1 <= made <= -(-work.n // tile.block_n), about
        assert made == 1 or blocks * made <= sm_count, about
        assert with_resolved_splits(work, tile, sm_count) == replace(tile, splits=made)


@pytest.mark.parametrize(
    ("m", "n", "heads", "sm_count", "wanted"),
    [
        (1024, 4096, 1, 132, 16),  # 8 query blocks, so 16 splits are 128 programs
        (1024, 4096, 8, 132, 2),
        (4096, 4096, 16, 132, 1),  # the query blocks alone fill it
        (64, 128, 1, 132, 2),  # no more splits than tiles
        (64, 64, 1, 132, 1),
        (1024, 4096, 1, 1, 1),  # the interpreter runs one program at a time
    ],
)
def test_the_rule_by_example(m: int, n: int, heads: int, sm_count: int, wanted: int) -> None:
    tile = TileConfig(128, 64, splits=AUTO_SPLITS)
    assert resolved_splits(Case(m, n, 64, heads=heads), tile, sm_count) == wanted


def test_splits_by_hand_are_kept_up_to_one_a_tile() -> None:
    made = [resolved_splits(Case(1, 100, 8), TileConfig(16, 16, splits=splits), 132) for splits in (1, 2, 3, 4, 7, 99)]
    assert made == [1, 2, 3, 4, 7, 7]


def entry(**changes: Any) -> dict[str, Any]:
    """A line of the table."""
    line = {
        "kernel": "flash", "m": 1024, "n": 1024, "d": 64, "dtype": "bf16", "precision": "ieee", "batch": 1, "heads": 1,
        "causal": False, "block_m": 64, "block_n": 64, "num_warps": 4, "num_stages": 2, "splits": 1, "us": 1.0,
    }  # fmt: skip
    return line | changes


def table(monkeypatch: pytest.MonkeyPatch, *entries: dict[str, Any]) -> None:
    monkeypatch.setattr(measured_tiles, "_table", lambda: entries)


def test_the_default_is_the_nearest_measured_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    table(
        monkeypatch,
        entry(m=8192, n=8192, block_m=16),
        entry(block_m=32),
        entry(d=128, block_m=64),
        entry(causal=True, block_m=128),
        entry(kernel="split_kv", dtype="fp32", precision="fp16x3", block_m=64, splits=4),
        entry(kernel="split_kv", dtype="fp32", precision="bf16x3", block_m=128, splits=1),
    )

    def block_m(work: Case, variant: KernelVariant = FLASH, precision: str = "ieee") -> int:
        return variant.spec.default_tile(work, H200, precision).block_m

    near = Case(1000, 900, 64, "fp16")  # a 16-bit type is as good as the other
    assert block_m(near) == 32
    assert block_m(replace(near, m=5000, n=9000)) == 16
    assert block_m(replace(near, d=40)) == 32  # padded to 64
    assert block_m(replace(near, d=65)) == 64
    assert block_m(replace(near, causal=True)) == 128
    assert block_m(Case(64, 64, 64), SPLIT_KV, "fp16x3") == 64
    assert block_m(Case(64, 64, 64), SPLIT_KV, "bf16x3") == 128


def test_the_splits_of_another_problem_are_left_to_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, entry(kernel="split_kv", dtype="fp32", precision="fp16x3", splits=4))
    measured = Case(1024, 1024, 64)
    assert SPLIT_KV.spec.default_tile(measured, H200, "fp16x3").splits == 4
    assert SPLIT_KV.spec.default_tile(replace(measured, n=1000), H200, "fp16x3").splits == AUTO_SPLITS


def test_a_measured_tile_that_does_not_fit_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, entry(d=256, block_m=128, block_n=128, num_stages=3), entry(m=8, n=8, d=16, block_m=16))
    deep = Case(1024, 1024, 256, "bf16")
    assert FLASH.spec.default_tile(deep, H200).block_m == 16
    assert FLASH.spec.default_tile(deep, replace(H200, shared_bytes=2**20)).block_m == 128


def test_without_a_table_the_default_is_a_tile_of_the_space(monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch)
    for variant in VARIANTS:
        work = Case(1024, 1024, 64, variant.spec.dtypes[0])
        tile = variant.spec.default_tile(work, H200)
        assert tile.splits == (AUTO_SPLITS if variant.spec.splits else 1)
        assert replace(tile, splits=1) in variant.spec.space(work, H200)


@pytest.mark.parametrize("device", [INTERPRETER, H200], ids=["interpreter", "H200"])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_the_default_is_one_that_the_variant_takes(variant: KernelVariant, device: Limits, draw: Draw) -> None:
    """From the table that is shipped, for any problem."""
    for _ in range(300):
        work = replace(some(draw.random), dtype=draw.random.choice(variant.spec.dtypes))
        precision = draw.random.choice(variant.spec.precisions) if work.dtype == "fp32" else "ieee"
        tile = variant.spec.default_tile(work, device, precision)
        about = f"{work} {precision}: {tile}; TILESCOPE_SEED={draw.seed}"
        assert all(getattr(tile, name) in variant.spec.allowed(name, work.d) for name in LIMITED), about
        assert variant.spec.splits or tile.splits == 1, about
        assert variant.spec.fits(work, device, tile, precision), about


@pytest.mark.parametrize("device", [INTERPRETER, SMALL, H200], ids=["interpreter", "64 KiB", "H200"])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_space_has_what_the_variant_takes_and_what_fits(variant: KernelVariant, device: Limits, draw: Draw) -> None:
    for _ in range(60):
        work = replace(some(draw.random), dtype=draw.random.choice(variant.spec.dtypes))
        precision = draw.random.choice(variant.spec.precisions) if work.dtype == "fp32" else "ieee"
        space = variant.spec.space(work, device, precision)
        assert len(set(space)) == len(space)
        for tile in space:
            about = f"{work} {precision}: {tile}; TILESCOPE_SEED={draw.seed}"
            assert all(getattr(tile, name) in variant.spec.allowed(name, work.d) for name in LIMITED), about
            assert tile.splits == 1 or (variant.spec.splits and tile.splits * tile.block_n <= work.n), about
            assert not device.shared_bytes or operand_bytes(work, tile) <= device.shared_bytes, about


def operand_bytes(work: Case, tile: TileConfig) -> int:
    """The least that a tile takes: Q and one stage of K, in the input's type."""
    return (4 if work.dtype == "fp32" else 2) * max(16, work.d) * (tile.block_m + tile.block_n)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_space_has_something_for_every_d_on_an_h200(variant: KernelVariant) -> None:
    for d in (variant.spec.d_step, 64, 128, variant.spec.max_d):
        for dtype in variant.spec.dtypes:
            assert variant.spec.space(Case(1024, 4096, d, dtype), H200), f"D {d}, {dtype}"
