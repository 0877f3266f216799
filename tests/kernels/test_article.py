"""The article's kernel on its own cases and on odd ones, and the sentences for what it does not take."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kernels import VARIANTS, TileConfig
from kernels.variants.article import ARTICLE
from tests.kernels.cases import Case, Draw
from tests.kernels.launching import check_launch

ARTICLE_CASES = [(7, 13, 8), (35, 67, 32), (64, 129, 128)]
TILES = [(m, n) for m in (16, 32, 64) for n in (16, 32, 64)]


def shape_id(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


@pytest.mark.parametrize("tile", TILES, ids=shape_id)
@pytest.mark.parametrize("shape", ARTICLE_CASES, ids=shape_id)
def test_output_and_states_match_float64(
    shape: tuple[int, int, int], tile: tuple[int, int], draw: Draw, device: str
) -> None:
    check_launch(ARTICLE, Case(*shape), TileConfig(*tile, num_stages=1), "ieee", draw, device)


@pytest.mark.parametrize(
    ("shape", "tile"),
    [
        ((1, 1, 1), (16, 16)),
        ((17, 5, 5), (16, 64)),
        ((3, 300, 96), (128, 256)),
        ((130, 31, 160), (256, 16)),
        ((40, 33, 256), (32, 32)),
    ],
    ids=shape_id,
)
def test_odd_shapes_and_large_tiles(
    shape: tuple[int, int, int], tile: tuple[int, int], draw: Draw, device: str
) -> None:
    if device == "cuda" and shape[2] > 64 and max(tile) > 64:
        pytest.skip("more shared memory than a GPU has: the interpreter's case")
    check_launch(ARTICLE, Case(*shape), TileConfig(*tile, num_stages=1), "ieee", draw, device)


def launch(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, tile: tuple[int, int], **more: Any) -> None:
    ARTICLE.launch(q, k, v, torch.empty_like(q), tile=TileConfig(*tile, num_stages=1), **more)


def make_inputs(m: int, n: int, d: int, device: str) -> tuple[torch.Tensor, ...]:
    return tuple(torch.ones(1, 1, rows, d, device=device) for rows in (m, n, n))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda q, k, v: (q.double(), k, v), "q is torch.float64"),
        (lambda q, k, v: (q.half(), k.half(), v.half()), "q is torch.float16; kernel article takes fp32"),
        (lambda q, k, v: (q, k.mT.contiguous().mT, v), "k has strides .* expected a contiguous tensor"),
        (lambda q, k, v: (q, k[..., :4].contiguous(), v), r"expected both \[1, Hkv, N, 8\]"),
        (lambda q, k, v: (q[:, :, :0], k, v), r"q has shape \(1, 1, 0, 8\)"),
        (lambda q, k, v: (q[0], k, v), r"expected \[batch, heads, rows, D\]"),
        (lambda q, k, v: (q.expand(1, 2, -1, -1).contiguous(), k, v), "q has 1 x 2 heads; kernel article takes 1"),
        (lambda q, k, v: tuple(t.new_zeros(1, 1, 16, 257) for t in (q, k, v)), "D is 257; expected at most 256"),
    ],
)
def test_unfit_inputs_get_a_sentence(change: Any, words: str, device: str) -> None:
    q, k, v = change(*make_inputs(16, 16, 8, device))
    with pytest.raises(ValueError, match=words):
        launch(q, k, v, (16, 16))


def test_unfit_tiles_get_a_sentence(device: str) -> None:
    q, k, v = make_inputs(16, 16, 8, device)
    with pytest.raises(ValueError, match="block_n is 48; expected one of 16, 32, 64, 128, 256"):
        launch(q, k, v, (16, 48))
    with pytest.raises(ValueError, match="precision is tf32; expected one of ieee"):
        launch(q, k, v, (16, 16), precision="tf32")
    with pytest.raises(ValueError, match="causal is on; kernel article has no causal mask"):
        launch(q, k, v, (16, 16), causal=True)


def test_variants_have_distinct_names() -> None:
    names = [variant.name for variant in VARIANTS]
    assert len(names) == len(set(names))
