"""What `kernels.plain.traffic` says that a launch asks for, against what the interpreter sees it load and store."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from triton.runtime.interpreter import InterpreterBuilder

import kernels.common.precision
from kernels import KernelVariant, TileConfig
from kernels.plain.precisions import PRECISIONS, parts_made
from kernels.plain.tiles import with_resolved_splits
from kernels.variants.article import ARTICLE
from kernels.variants.flash import FLASH
from kernels.variants.materialized import MATERIALIZED
from kernels.variants.split_kv.launch import SPLIT_KV
from tests.kernels.cases import Case, Draw, Inputs
from tests.kernels.launching import launch

ODD = Case(37, 53, 24, batch=2, heads=4, kv_heads=2)
ONE_HEAD = Case(37, 53, 24)
CASES = (
    (ARTICLE, ONE_HEAD, TileConfig(16, 32), "ieee"),
    (FLASH, ODD, TileConfig(16, 32), "ieee"),
    (FLASH, replace(ODD, causal=True, dtype="fp16"), TileConfig(32, 16), "ieee"),
    (FLASH, replace(ODD, m=70, n=33, causal=True), TileConfig(16, 16), "ieee"),
    (SPLIT_KV, ODD, TileConfig(16, 16), "ieee"),
    (SPLIT_KV, ODD, TileConfig(16, 16, splits=3), "ieee"),
    (SPLIT_KV, replace(ODD, causal=True), TileConfig(16, 16, splits=2), "bf16x6"),
    (SPLIT_KV, replace(ODD, dtype="fp16"), TileConfig(16, 16, splits=2), "ieee"),
    (SPLIT_KV, replace(ONE_HEAD, m=3), TileConfig(16, 32, splits=2), "fp16x3"),
    (SPLIT_KV, replace(ODD, n=300, batch=1, heads=2, kv_heads=1), TileConfig(16, 32), "fp16x3"),
    (SPLIT_KV, replace(ODD, m=7, n=530, causal=True), TileConfig(16, 64, splits=2), "fp16x3"),
    (SPLIT_KV, Case(5, 16 * 35, 8), TileConfig(16, 16, splits=35), "ieee"),
    (MATERIALIZED, ODD, TileConfig(16, 32), "ieee"),
    (MATERIALIZED, replace(ODD, causal=True, dtype="fp16"), TileConfig(32, 16), "ieee"),
)


@pytest.fixture(autouse=True)
def interpreter() -> None:
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("this process compiles for the GPU")


class Counted:
    """Bytes that unmasked elements of loads and stores take, by the tensor that they lie in."""

    def __init__(self, patch: pytest.MonkeyPatch, x: Inputs, out: torch.Tensor) -> None:
        self.bytes: Counter[str] = Counter()
        self._ranges = {
            name: (tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes)
            for name, tensor in (("q", x.q), ("k", x.k), ("v", x.v), ("out", out))
        }
        load, store = InterpreterBuilder.create_masked_load, InterpreterBuilder.create_masked_store

        def counted_load(builder: Any, ptrs: Any, mask: Any, *rest: Any) -> Any:
            loaded = load(builder, ptrs, mask, *rest)
            self._count(ptrs, mask, loaded.data.itemsize)
            return loaded

        def counted_store(builder: Any, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
            self._count(ptrs, mask, value.data.itemsize)
            return store(builder, ptrs, value, mask, *rest)

        patch.setattr(InterpreterBuilder, "create_masked_load", counted_load)
        patch.setattr(InterpreterBuilder, "create_masked_store", counted_store)

    def _count(self, ptrs: Any, mask: Any, size: int) -> None:
        addresses = np.asarray(ptrs.data)[np.asarray(mask.data, dtype=bool)].ravel()
        left = len(addresses)
        for name, (begin, end) in self._ranges.items():
            here = int(((addresses >= begin) & (addresses < end)).sum())
            self.bytes[name] += size * here
            left -= here
        self.bytes["other"] += size * left


@pytest.mark.parametrize(("variant", "case", "tile", "precision"), CASES)
def test_what_is_asked_for_is_what_is_loaded_and_stored(
    variant: KernelVariant, case: Case, tile: TileConfig, precision: str, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = draw.inputs(case, "cpu")
    out = torch.empty_like(x.q)
    counted = Counted(monkeypatch, x, out)
    launch(variant, x, out, tile, precision, case)
    said = variant.spec.requested(case, with_resolved_splits(case, tile, 1), precision, interpreted=True)
    assert said.total == counted.bytes.total()
    assert said.q == counted.bytes["q"] and said.out == counted.bytes["out"]
    beside = said.partial + said.scores + said.weights
    if said.parts:
        assert said.k_and_v + said.parts + beside == sum(counted.bytes[name] for name in ("k", "v", "other"))
        assert counted.bytes["k"] + counted.bytes["v"] == x.k.nbytes + x.v.nbytes, "they are read once, to be split"
    else:
        assert said.k_and_v == counted.bytes["k"] + counted.bytes["v"] and beside == counted.bytes["other"]


def test_some_of_these_launches_split_k_and_v_before() -> None:
    found = [
        bool(variant.spec.requested(case, tile, precision, interpreted=True).parts)
        for variant, case, tile, precision in CASES
        if precision == "fp16x3"
    ]
    assert found == [False, True, True]


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["fp32", "fp16"])
def test_the_parts_counted_are_those_that_a_kernel_makes(
    dtype: torch.dtype, interpreted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels.common.precision, "interpreted", lambda: interpreted)
    for precision in PRECISIONS:
        parts = kernels.common.precision.parts_of(precision, dtype)
        name = "fp32" if dtype == torch.float32 else "fp16"
        assert parts_made(name, precision, interpreted) == (0 if parts is None else parts.count), precision
