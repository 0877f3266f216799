"""The full grid, on a GPU: every D, dtype, precision and mask against float64, many shapes for each compiled kernel.

Plain and traced outputs, log-sum-exp, states and everything around the tensors in memory; see `check_launch`. Tests
that are marked `gpu` take minutes on one core, since each compiles several kernels: `-n 14` of pytest-xdist helps.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from kernels import KernelVariant, TileConfig
from kernels.common.checks import device_limits
from kernels.variants.article import ARTICLE
from kernels.variants.flash import FLASH
from kernels.variants.hopper.launch import HOPPER
from kernels.variants.materialized import MATERIALIZED
from kernels.variants.split_kv.launch import SPLIT_KV
from tests.kernels.cases import Case, Draw
from tests.kernels.launching import check_launch, parts_before

pytestmark = pytest.mark.gpu

ALL_D = (1, 5, 8, 16, 24, 40, 64, 80, 96, 128, 160, 256)
MASKS = pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
SPLITS = (1, 2, 3, 0)


def cover(
    variant: KernelVariant,
    like: Case,
    tile: TileConfig,
    precision: str,
    draw: Draw,
    *,
    count: int = 6,
    device: str = "cuda",
) -> None:
    """Hold `variant` to float64 on `count` problems like `like`.

    Variants that split keys split them by 1, 2, 3 and by rule, each with K and V split into parts before and within.
    """
    for i, case in enumerate(draw.cases(count, like, one_head=not variant.spec.heads)):
        splits = SPLITS[i % len(SPLITS)] if variant.spec.splits else 1
        before = i % 8 in (1, 2, 4, 7)
        with parts_before(before):
            check_launch(variant, case, replace(tile, splits=splits), precision, draw, device)


def small_tile(d: int, dtype: str) -> TileConfig:
    """A tile for the kernels that Triton pipelines: Q and two stages of K and V fit, whatever the device."""
    if dtype == "fp32":
        return TileConfig(32, 32, 4, 2 if d <= 128 else 1)
    return TileConfig(64, 64, 4 if d <= 128 else 8, 2 if d <= 128 else 1)


def split_tile(d: int) -> TileConfig:
    """A tile whose 16-bit parts fit for every D; several query blocks share a key tile, and one alone does too."""
    return TileConfig(64, 32, 4 if d <= 128 else 8, 2 if d <= 128 else 1)


@MASKS
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("d", ALL_D)
def test_flash(d: int, dtype: str, causal: bool, draw: Draw) -> None:
    cover(FLASH, Case(1, 1, d, dtype, causal), small_tile(d, dtype), "ieee", draw)


@MASKS
@pytest.mark.parametrize("precision", [p for p in FLASH.spec.precisions if p != "ieee"])
@pytest.mark.parametrize("d", [64, 80])
def test_flash_precisions(d: int, precision: str, causal: bool, draw: Draw) -> None:
    cover(FLASH, Case(1, 1, d, "fp32", causal), TileConfig(64, 32, 4, 1), precision, draw)


@MASKS
@pytest.mark.parametrize(("dtype", "precision"), [("fp32", "fp16x3"), ("bf16", "ieee")])
@pytest.mark.parametrize("d", ALL_D)
def test_split_kv(d: int, dtype: str, precision: str, causal: bool, draw: Draw) -> None:
    cover(SPLIT_KV, Case(1, 1, d, dtype, causal), split_tile(d), precision, draw, count=8)


@MASKS
@pytest.mark.parametrize(
    ("dtype", "precision"), [*(("fp32", p) for p in SPLIT_KV.spec.precisions if p != "fp16x3"), ("fp16", "ieee")]
)
@pytest.mark.parametrize("d", [64, 80])
def test_split_kv_precisions(d: int, dtype: str, precision: str, causal: bool, draw: Draw) -> None:
    tile = TileConfig(32, 32, 4, 1) if precision == "ieee" else TileConfig(64, 32, 4, 1)
    cover(SPLIT_KV, Case(1, 1, d, dtype, causal), tile, precision, draw)


@MASKS
@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
@pytest.mark.parametrize("block_m", [128, 192])
@pytest.mark.parametrize("d", [d for d in ALL_D if d % HOPPER.spec.d_step == 0])
def test_hopper(d: int, block_m: int, dtype: str, causal: bool, draw: Draw) -> None:
    if block_m == 192 and d > 64:
        pytest.skip("three consumers have registers for D up to 64")
    if reason := HOPPER.refusal(device_limits(torch.device("cuda"))):
        pytest.skip(reason)
    tile = TileConfig(block_m, 128 if d <= 128 else 64, 4, 2)
    cover(HOPPER, Case(1, 1, d, dtype, causal), tile, "ieee", draw)


@MASKS
@pytest.mark.parametrize(
    ("dtype", "precision"),
    [("fp32", "ieee"), ("fp32", MATERIALIZED.spec.precisions[-1]), ("fp16", "ieee"), ("bf16", "ieee")],
)
@pytest.mark.parametrize("d", [5, 64, 160])
def test_materialized(d: int, dtype: str, precision: str, causal: bool, draw: Draw) -> None:
    cover(MATERIALIZED, Case(1, 1, d, dtype, causal), TileConfig(32, 32, 4, 1), precision, draw, count=4)


@pytest.mark.parametrize("d", [1, 8, 40, 64, 128, 256])
def test_article(d: int, draw: Draw) -> None:
    cover(ARTICLE, Case(1, 1, d), TileConfig(16, 32, 4, 1), "ieee", draw)
