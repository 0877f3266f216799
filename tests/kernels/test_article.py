"""The article's kernel against float64: its output, its traced states, its refusals."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
import torch

from kernels import VARIANTS, TileTrace
from kernels.article import ARTICLE
from kernels.reference import attention, softmax_states

ARTICLE_CASES = [(7, 13, 8), (35, 67, 32), (64, 129, 128)]
TILES = [(m, n) for m in (16, 32, 64) for n in (16, 32, 64)]
NAN = float("nan")


def shape_id(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def make_inputs(m: int, n: int, d: int, device: str, seed: int = 0) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(rows, d, generator=generator).to(device) for rows in (m, n, n))


def launch(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, tile: tuple[int, int], **more: Any) -> torch.Tensor:
    """The output of one launch into a NaN-filled tensor, so that what is not written shows."""
    out = torch.full_like(q, NAN)
    settings = {"num_warps": 4, "num_stages": 1, **more}
    ARTICLE.launch(q, k, v, out, block_m=tile[0], block_n=tile[1], **settings)
    return out


@pytest.mark.parametrize("tile", TILES, ids=shape_id)
@pytest.mark.parametrize("shape", ARTICLE_CASES, ids=shape_id)
def test_output_and_states_match_float64(shape: tuple[int, int, int], tile: tuple[int, int], device: str) -> None:
    q, k, v = make_inputs(*shape, device)
    out = launch(q, k, v, tile)
    assert float((out.double() - attention(q, k, v)).abs().max()) < 1e-6

    trace = TileTrace.unwritten(shape[0], shape[1], tile[1], q.device)
    traced_out = launch(q, k, v, tile, trace=trace)
    assert torch.equal(traced_out.view(torch.int32), out.view(torch.int32)), "tracing changed the result"
    expected = softmax_states(q, k, tile[1])
    for field in fields(TileTrace):
        got, want = getattr(trace, field.name), getattr(expected, field.name)
        assert got.shape == want.shape
        torch.testing.assert_close(got.double(), want, rtol=1e-5, atol=1e-5)


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
def test_odd_shapes_and_large_tiles(shape: tuple[int, int, int], tile: tuple[int, int], device: str) -> None:
    if device == "cuda" and shape[2] > 64 and max(tile) > 64:
        pytest.skip("more shared memory than a GPU has: the interpreter's case")
    q, k, v = make_inputs(*shape, device)
    torch.testing.assert_close(launch(q, k, v, tile).double(), attention(q, k, v), rtol=0, atol=2e-6)


@pytest.mark.parametrize("scale", [1e-4, 30.0], ids=["tiny scores", "scores near a thousand"])
def test_scores_of_any_size_stay_finite(scale: float, device: str) -> None:
    q, k, v = make_inputs(33, 70, 16, device)
    q = q * scale * 8
    out = launch(q, k, v, (16, 32))
    # The scores' own rounding in float32 is what SDPA has too; it grows with their size.
    expected = attention(q, k, v)
    theirs = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    ours_error, their_error = (float((o.double() - expected).abs().max()) for o in (out, theirs))
    assert torch.isfinite(out).all()
    assert ours_error <= max(4 * their_error, 1e-6)


def test_equal_scores_give_the_mean_of_the_values(device: str) -> None:
    q, k, v = make_inputs(20, 37, 8, device)
    out = launch(torch.zeros_like(q), k, v, (16, 16))
    torch.testing.assert_close(out, v.mean(dim=0).expand_as(out), rtol=0, atol=1e-6)


def test_one_hot_key_gives_its_value(device: str) -> None:
    q, k, v = make_inputs(20, 37, 8, device)
    k = torch.zeros_like(k)
    k[30] = 100 * q[3]
    torch.testing.assert_close(launch(q, k, v, (16, 16))[3], v[30])


def test_nothing_outside_the_output_is_written(device: str) -> None:
    q, k, v = make_inputs(19, 21, 8, device)
    guarded = torch.full((21, 8), NAN, device=device)
    ARTICLE.launch(q, k, v, guarded[1:20], block_m=16, block_n=16, num_warps=4, num_stages=1)
    assert torch.isfinite(guarded[1:20]).all()
    assert torch.isnan(guarded[0]).all() and torch.isnan(guarded[20]).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda q, k, v: (q.double(), k, v), "q is torch.float64"),
        (lambda q, k, v: (q, k.T.contiguous().T, v), "contiguous"),
        (lambda q, k, v: (q, k[:, :4].contiguous(), v), r"both \[N, 8\]"),
        (lambda q, k, v: (q[:0], k, v), r"q has shape \(0, 8\)"),
        (lambda q, k, v: (q[None], k, v), "two dimensions"),
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


def test_variants_have_distinct_names() -> None:
    names = [variant.name for variant in VARIANTS]
    assert len(names) == len(set(names))
    assert "article" in names
