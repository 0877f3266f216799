"""A thin slice of the grid on Triton's CPU interpreter, which needs no GPU, and what it refuses."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
import triton

from kernels import VARIANTS, KernelVariant, TileConfig
from kernels.common.checks import Limits, check_inputs
from kernels.variants.article import ARTICLE
from kernels.variants.flash import FLASH
from kernels.variants.hopper.launch import HOPPER
from kernels.variants.materialized import MATERIALIZED
from kernels.variants.split_kv.launch import SPLIT_KV
from tests.kernels.cases import Case, Draw, Inputs
from tests.kernels.launching import check_launch, launch, parts_before

ON_CPU = [variant for variant in VARIANTS if not variant.spec.capability]
SPLITS = (2, 3, 0)
LONGEST = 70


@pytest.fixture(autouse=True)
def interpreter() -> None:
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("this process compiles for the GPU")


def by_name(variant: KernelVariant) -> str:
    return variant.name


@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
@pytest.mark.parametrize("variant", ON_CPU, ids=by_name)
def test_results_are_those_of_float64(variant: KernelVariant, causal: bool, dtype: str, draw: Draw) -> None:
    if dtype not in variant.spec.dtypes or (causal and not variant.spec.causal):
        pytest.skip(f"{variant.name} does not take it: `test_unfit_inputs_get_a_sentence`")
    precision = "ieee" if dtype == "fp16" else variant.spec.precisions[-1]
    step = variant.spec.d_step
    d = max(step, draw.random.choice([1, 5, 8, 24, 40]) // step * step)
    like = Case(1, 1, d, dtype, causal)
    for i, case in enumerate(draw.cases(3, like, longest=LONGEST, one_head=not variant.spec.heads)):
        splits = SPLITS[i] if variant.spec.splits else 1
        with parts_before(i != 1):
            tile = variant.spec.nearest(TileConfig(32, 32, 4, 1, splits), d)
            check_launch(variant, case, tile, precision, draw, "cpu")


@pytest.mark.parametrize("variant", ON_CPU, ids=by_name)
def test_every_precision_runs(variant: KernelVariant, draw: Draw) -> None:
    for precision in variant.spec.precisions:
        case = Case(17, 37, 16, causal=variant.spec.causal)
        tile = variant.spec.nearest(TileConfig(16, 16, 4, 1, 2), case.d)
        check_launch(variant, case, tile, precision, draw, "cpu")


@pytest.mark.parametrize("variant", [v for v in ON_CPU if "bf16" in v.spec.dtypes], ids=by_name)
def test_bf16_is_refused_with_the_reason(variant: KernelVariant, draw: Draw) -> None:
    """The interpreter's product of bf16 matrices is garbage."""
    x = draw.inputs(Case(4, 4, 16, "bf16"), "cpu")
    with pytest.raises(
        ValueError, match=r"q is torch\.bfloat16 on the CPU; Triton's interpreter multiplies it wrongly"
    ):
        launch(variant, x, torch.empty_like(x.q), TileConfig(), "ieee", Case(4, 4, 16, "bf16"))


def test_hopper_refuses_the_cpu_in_one_line(draw: Draw) -> None:
    case = Case(4, 4, 16, "fp16")
    x = draw.inputs(case, "cpu")
    with pytest.raises(ValueError) as caught:
        launch(HOPPER, x, torch.empty_like(x.q), TileConfig(128, 128), "ieee", case)
    assert str(caught.value) == "kernel hopper needs a GPU of compute capability 9.0; Triton's interpreter has none"


@pytest.mark.parametrize("variant", [v for v in ON_CPU if v.spec.heads], ids=by_name)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": (1, 3, 8, 16)}, r"q has 3 heads and k 2; expected a multiple of k's"),
        ({"k": (1, 2, 8, 24)}, r"k is \(1, 2, 8, 24\) and v \(1, 2, 8, 16\); expected both \[1, Hkv, N, 16\]"),
        ({"v": (1, 2, 7, 16)}, r"k is \(1, 2, 8, 16\) and v \(1, 2, 7, 16\)"),
        ({"k": (2, 2, 8, 16), "v": (2, 2, 8, 16)}, r"expected both \[1, Hkv, N, 16\]"),
        ({"k": (1, 2, 0, 16), "v": (1, 2, 0, 16)}, r"k has shape \(1, 2, 0, 16\); expected \[batch, heads, rows, D\]"),
        (dict.fromkeys("qkv", (1, 2, 8, 257)), r"D is 257; expected at most MAX_D"),
    ],
    ids=["heads", "D of K", "N of V", "batches", "no keys", "D"],
)
def test_unfit_inputs_get_a_sentence(
    variant: KernelVariant, change: dict[str, tuple[int, ...]], words: str, draw: Draw
) -> None:
    q, k, v = (torch.ones(change.get(name, (1, 2, 8, 16))) for name in "qkv")
    with pytest.raises(ValueError, match=words.replace("MAX_D", str(variant.spec.max_d))):
        launch(variant, Inputs(q, k, v), torch.empty_like(q), TileConfig(), "ieee", Case(8, 8, 16))


@pytest.mark.parametrize(
    ("variant", "tile", "precision", "words"),
    [
        (SPLIT_KV, TileConfig(splits=-1), "ieee", r"splits is -1; expected 0 \(by rule\) or a whole number above"),
        (SPLIT_KV, TileConfig(num_warps=3), "ieee", "num_warps is 3; expected one of 1, 2, 4, 8, 16, 32"),
        (MATERIALIZED, TileConfig(), "fp16x3", "precision is fp16x3; expected one of ieee, "),
        (ARTICLE, TileConfig(block_m=512), "ieee", "block_m is 512; expected one of 16, 32, 64, 128, 256"),
    ],
    ids=["splits", "warps", "precision", "block"],
)
def test_unfit_tiles_get_a_sentence(
    variant: KernelVariant, tile: TileConfig, precision: str, words: str, draw: Draw
) -> None:
    case = Case(8, 8, 16)
    x = draw.inputs(case, "cpu")
    with pytest.raises(ValueError, match=words):
        launch(variant, x, torch.empty_like(x.q), tile, precision, case)


def test_16_bit_products_have_one_precision(draw: Draw) -> None:
    case = Case(8, 8, 16, "fp16")
    x = draw.inputs(case, "cpu")
    with pytest.raises(ValueError, match="precision is tf32; expected one of ieee"):
        launch(SPLIT_KV, x, torch.empty_like(x.q), TileConfig(), "tf32", case)


def test_a_precision_of_newer_tritons_is_refused_as_such(draw: Draw) -> None:
    old = replace(FLASH.spec, precisions=("ieee", "tf32"), newer_precisions=("bf16x6",))
    x = draw.inputs(Case(8, 8, 16), "cpu")
    words = f"precision is bf16x6, which Triton {triton.__version__} is too old for; expected one of ieee, tf32"
    with pytest.raises(ValueError, match=re.escape(words)):
        check_inputs(old, x.q, x.k, x.v, torch.empty_like(x.q), TileConfig(), "bf16x6", False)


@pytest.mark.parametrize(
    ("of_triton", "of_numpy", "works"),
    [("3.6.0", "2.4.0", False), ("3.6.0", "2.3.5", True), ("3.7.0", "2.10.1", True), ("3.10.0", "2.4.0", True)],
)
def test_an_interpreter_that_is_too_old_for_numpy_is_refused(
    of_triton: str, of_numpy: str, works: bool, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = draw.inputs(Case(8, 8, 16), "cpu")
    monkeypatch.setattr(triton, "__version__", of_triton)
    monkeypatch.setattr(np, "__version__", of_numpy)
    words = "" if works else f"the interpreter of Triton {of_triton} needs NumPy below 2.4"
    assert FLASH.refusal(Limits())[: len(words) or None] == words
    assert FLASH.refusal(Limits("9.0", 132, 232448)) == ""  # on a GPU nothing is interpreted
    with nullcontext() if works else pytest.raises(ValueError, match=words):
        check_inputs(FLASH.spec, x.q, x.k, x.v, torch.empty_like(x.q), TileConfig(), "ieee", False)


def test_more_splits_than_tiles_leave_none_without_keys(draw: Draw) -> None:
    """7 tiles of 16 keys: 99 splits become 7, 4 become 4 of two tiles each."""
    for splits in (4, 99):
        case = Case(20, 100, 8)
        tile = replace(TileConfig(), splits=splits)
        check_launch(SPLIT_KV, case, tile, "fp16x3", draw, "cpu")
