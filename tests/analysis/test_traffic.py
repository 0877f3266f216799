"""Bytes and floors against numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kernels.plain.tiles import TileConfig
from kernels.plain.traffic import Movement, Requested, SplitKeys, Streamed, WrittenScores
from workbench.analysis.traffic import (
    fits_cache,
    floor_time,
    least_bytes,
    materialised,
    materialised_traffic,
    movable_bytes,
    size_text,
)
from workbench.run.ceilings import Ceilings
from workbench.run.request import Problem

MIB = 2**20
ARTICLE_LARGE = Problem(1024, 4096, 128)
CEILINGS = Ceilings("Test GPU", "580.0", "2.13.0", "2026-01-31", 4.25e12, 51e12, 368e12, 694e12, 735e12)


STREAMED, SPLIT, WRITTEN = Streamed(), SplitKeys(), WrittenScores()


def asked(movement: Movement, problem: Problem, tile: TileConfig, precision: str = "ieee") -> Requested:
    """What a launch on a GPU asks for."""
    return movement.requested(problem, tile, precision, interpreted=False)


def test_the_fewest_bytes_of_the_articles_largest_shape() -> None:
    """Q and O are 1024 x 128 x 4 B = 0.5 MiB each, K and V 4096 x 128 x 4 B = 2 MiB each."""
    assert least_bytes(ARTICLE_LARGE) == 5 * MIB


def test_grouped_heads_share_their_keys() -> None:
    """2 batches: Q and O of 8 heads are 2 x 8 x 64 x 32 x 2 B = 64 KiB each, K and V of 2 heads 32 KiB each."""
    problem = Problem(64, 128, 32, batch=2, heads=8, kv_heads=2, dtype="bf16")
    assert least_bytes(problem) == 2 * 65_536 + 2 * 32_768


def test_rows_that_see_no_key_need_not_be_read() -> None:
    """Of 4096 rows the last 128 see a key: Q 128 x 64 x 4 B = 32 KiB, K and V as much each, O 1 MiB."""
    problem = Problem(4096, 128, 64, causal=True)
    assert least_bytes(problem) == 3 * 32_768 + MIB == 1_146_880
    assert least_bytes(replace(problem, causal=False)) == 2 * MIB + 2 * 32_768
    assert least_bytes(replace(problem, m=128, n=4096)) == 2 * MIB + 2 * 32_768, "the last row sees every key"


def test_the_articles_score_matrix_is_16_mib_and_both_are_32() -> None:
    both = materialised(ARTICLE_LARGE)
    assert (both.scores, both.together) == (16 * MIB, 32 * MIB)
    assert materialised_traffic(ARTICLE_LARGE) == (5 + 64) * MIB


def test_the_weights_of_a_16_bit_problem_take_half_of_its_scores() -> None:
    both = materialised(Problem(1024, 4096, 128, heads=3, kv_heads=3, dtype="fp16"))
    assert (both.scores, both.weights) == (48 * MIB, 24 * MIB)


@pytest.mark.parametrize("movement", [STREAMED, SPLIT], ids=["streamed", "split"])
@pytest.mark.parametrize(("block_m", "times"), [(16, 64), (32, 32), (64, 16), (128, 8), (256, 4)])
def test_keys_and_values_are_read_once_per_program_row(movement: Movement, block_m: int, times: int) -> None:
    found = asked(movement, ARTICLE_LARGE, TileConfig(block_m, 16))
    assert found == Requested(q=MIB // 2, k_and_v=times * 4 * MIB, out=MIB // 2)
    assert found.total == times * 4 * MIB + MIB


def test_a_block_that_is_not_full_reads_the_keys_as_well() -> None:
    """M = 65 in blocks of 16 are 5 blocks; 7 keys are read, not a whole tile of 16."""
    assert asked(STREAMED, Problem(65, 7, 8), TileConfig(16, 16)).k_and_v == 5 * 2 * 7 * 8 * 4


def test_splits_read_q_again_and_move_their_partial_results_twice() -> None:
    """16 splits of 64 tiles: each writes acc (1024 x 128), m and l (1024 each) in fp32, and each is read."""
    found = asked(SPLIT, ARTICLE_LARGE, TileConfig(128, 64, splits=16))
    assert found.q == 16 * MIB // 2
    assert found.k_and_v == 8 * 4 * MIB
    assert found.partial == 2 * 16 * 1024 * (128 + 2) * 4
    looped = asked(SPLIT, ARTICLE_LARGE, TileConfig(128, 64, splits=64))
    assert looped.partial == 64 * 1024 * (2 * (128 + 2) + 1) * 4, "a loop reads each m twice"


@pytest.mark.parametrize(("precision", "parts", "exponents"), [("bf16x3", 2, 0), ("bf16x6", 3, 0), ("fp16x3", 2, 1)])
def test_a_split_precision_writes_parts_before_and_reads_those(precision: str, parts: int, exponents: int) -> None:
    """1024 x 4096 x 128 in 64 tiles of 64 keys, K and V each: of 2 bytes a part, fp16x3 with an int32 for each tile."""
    found = asked(SPLIT, ARTICLE_LARGE, TileConfig(128, 64, splits=16), precision)
    written = parts * 2 * 4096 * 128 * 2 + exponents * 2 * 64 * 4
    assert found.parts == 4 * MIB + written, "K and V are read, and their parts written"
    assert found.k_and_v == 8 * written, "each of 8 blocks of query rows reads all parts"


def test_parts_are_padded_to_whole_tiles() -> None:
    """300 keys are 10 tiles of 32, D = 24 is padded to 32; 2 batches of 4 heads on 2 key heads, 3 blocks of rows."""
    found = asked(SPLIT, Problem(37, 300, 24, batch=2, heads=4, kv_heads=2), TileConfig(16, 32), "bf16x3")
    padded = 2 * 2 * 320 * 32 * 2
    assert found.parts == 4 * (2 * 300 * 24 * 4 + padded)
    assert found.k_and_v == 8 * 3 * padded


def test_a_single_reader_and_a_small_share_split_their_own_parts() -> None:
    once = asked(SPLIT, Problem(16, 4096, 128), TileConfig(16, 64), "bf16x6")
    small = asked(SPLIT, Problem(64, 64, 64), TileConfig(16, 64), "bf16x6")
    assert (once.parts, once.k_and_v) == (0, 4 * MIB)
    assert (small.parts, small.k_and_v) == (0, 4 * 2 * 64 * 64 * 4)


def test_no_split_is_counted_that_would_have_no_keys() -> None:
    """4 tiles for 3 splits are 2 tiles each, and so 2 splits."""
    found = asked(SPLIT, Problem(16, 64, 16), TileConfig(16, 16, splits=3))
    assert found.q == 2 * 16 * 16 * 4


def test_automatic_splits_must_be_resolved_first() -> None:
    with pytest.raises(ValueError, match="splits is 0"):
        asked(SPLIT, ARTICLE_LARGE, TileConfig(splits=0))


def test_a_causal_block_reads_the_tiles_up_to_its_last_row() -> None:
    """M = N = 64 in 16 x 16 tiles: the blocks read 1, 2, 3 and 4 tiles."""
    assert asked(STREAMED, Problem(64, 64, 8, causal=True), TileConfig(16, 16)).k_and_v == 2 * 10 * 16 * 8 * 4


@pytest.mark.parametrize(("m", "n", "block_m", "block_n"), [(7, 13, 16, 16), (70, 33, 16, 32), (33, 70, 32, 16)])
def test_causal_keys_are_those_of_tiles_with_a_visible_pair(m: int, n: int, block_m: int, block_n: int) -> None:
    visible = np.tril(np.ones((m, n), bool), n - m)
    rows, columns = range(0, m, block_m), range(0, n, block_n)
    keys = sum(
        min(block_n, n - key) * bool(visible[row : row + block_m, key : key + block_n].any())
        for row, key in product(rows, columns)
    )
    problem = Problem(m, n, 8, heads=3, kv_heads=3, causal=True)
    assert asked(STREAMED, problem, TileConfig(block_m, block_n)).k_and_v == 2 * 3 * keys * 8 * 4


def test_a_kernel_with_a_least_tile_reads_it_for_a_block_that_sees_no_key() -> None:
    """Causal, 512 x 128: of 4 blocks of 128 rows three see no key and read 64 keys each, the last reads 128."""
    problem = Problem(512, 128, 64, dtype="bf16", causal=True)
    found = asked(Streamed(least_tiles=1), problem, TileConfig(128, 64))
    assert found == Requested(q=512 * 64 * 2, k_and_v=2 * (3 * 64 + 128) * 64 * 2, out=512 * 64 * 2)
    assert asked(STREAMED, problem, TileConfig(128, 64)).k_and_v == 2 * 128 * 64 * 2


def test_s_is_read_twice_by_the_kernel_that_writes_it() -> None:
    """1024 x 4096 x 128 in tiles of 32 x 64: Q once for each of 64 key tiles, K and V for each of 32 blocks of rows."""
    found = asked(WRITTEN, ARTICLE_LARGE, TileConfig(32, 64))
    assert found.scores == 3 * 16 * MIB and found.weights == 2 * 16 * MIB
    assert found.q == 64 * MIB // 2 and found.k_and_v == 32 * 4 * MIB and found.out == MIB // 2


def test_what_fits_the_l2_need_not_come_from_memory() -> None:
    assert fits_cache(ARTICLE_LARGE, replace(CEILINGS, l2_bytes=5 * MIB))
    assert not fits_cache(ARTICLE_LARGE, replace(CEILINGS, l2_bytes=5 * MIB - 1))
    assert not fits_cache(ARTICLE_LARGE, CEILINGS), "its size is not known"


def test_the_floor_of_full_precision_is_arithmetic() -> None:
    """4 x 1024 x 4096 x 128 = 2.147 GFLOP at 51 TFLOP/s are 42.1 us; 5 MiB at 4.25 TB/s are 1.23 us."""
    floor = floor_time(ARTICLE_LARGE, "ieee", CEILINGS)
    assert floor is not None
    assert floor.arithmetic_us == pytest.approx(42.107, abs=1e-3)
    assert floor.memory_us == pytest.approx(1.2336, abs=1e-4)
    assert (floor.bound, floor.rate) == ("arithmetic", "fp32")
    assert floor.times(762.6) == pytest.approx(18.11, abs=0.01)


@pytest.mark.parametrize(
    ("precision", "rate", "products"),
    [("tf32", "tf32", 1), ("tf32x3", "tf32", 3), ("bf16x3", "bf16", 3), ("bf16x6", "bf16", 6), ("fp16x3", "fp16", 3)],
)
def test_a_split_precision_takes_several_products(precision: str, rate: str, products: int) -> None:
    floor = floor_time(ARTICLE_LARGE, precision, CEILINGS)
    assert floor is not None
    expected = products * 4 * 1024 * 4096 * 128 / getattr(CEILINGS, rate) * 1e6
    assert floor.arithmetic_us == pytest.approx(expected)
    assert (floor.rate, floor.products) == (rate, products)


def test_a_16_bit_problem_runs_on_its_own_rate_whatever_the_precision() -> None:
    floor = floor_time(Problem(4096, 4096, 128, dtype="fp16"), "ieee", CEILINGS)
    assert floor is not None
    assert floor.rate == "fp16"
    assert floor.arithmetic_us == pytest.approx(4 * 4096**2 * 128 / 694e12 * 1e6)


def test_the_floor_of_one_query_row_is_memory() -> None:
    """Decoding: 4096 keys of 128 for one row take 2 FLOP a byte."""
    floor = floor_time(Problem(1, 4096, 128, dtype="bf16"), "ieee", CEILINGS)
    assert floor is not None
    assert floor.bound == "memory"
    assert floor.us == pytest.approx(2 * (1 + 4096) * 128 * 2 / 4.25e12 * 1e6)


def test_a_causal_floor_counts_visible_pairs() -> None:
    """1024 rows, the last of which sees all 4096 keys: 3073 + ... + 4096 pairs."""
    floor = floor_time(Problem(1024, 4096, 128, causal=True), "ieee", CEILINGS)
    assert floor is not None
    assert floor.arithmetic_us == pytest.approx(4 * 128 * (3073 + 4096) * 512 / 51e12 * 1e6)


def test_without_the_rate_there_is_no_floor() -> None:
    unmeasured = Ceilings("Test GPU", "580.0", "2.13.0", "2026-01-31", 4.25e12, fp32=51e12)
    assert floor_time(ARTICLE_LARGE, "tf32", unmeasured) is None


def test_what_the_device_could_have_moved() -> None:
    assert movable_bytes(100.0, CEILINGS) == pytest.approx(425e6)


def test_sizes_are_written_in_their_unit() -> None:
    assert [size_text(n) for n in (12, 2048, 16 * 2**20, 3 * 2**30)] == ["12 B", "2.0 KiB", "16.0 MiB", "3.0 GiB"]
