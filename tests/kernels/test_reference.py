"""The oracle itself, against a worked example and against the definition."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest
import torch

from kernels import TileTrace
from kernels.plain.tiles import tiles_per_split
from kernels.reference import _score_chunks, attention, softmax_states

NEVER = float("-inf")
SHAPES = {"M = N": (17, 17), "M < N": (6, 23), "M > N": (23, 6), "one row": (1, 9), "one key": (9, 1)}


def make_inputs(m: int, n: int, d: int = 5, heads: tuple[int, int, int] = (1, 1, 1)) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(1)
    batch, of_queries, of_keys = heads
    shapes = ((batch, of_queries, m, d), (batch, of_keys, n, d), (batch, of_keys, n, d))
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def scores_of(q: torch.Tensor, k: torch.Tensor, causal: bool) -> torch.Tensor:
    """Scaled float64 scores [B, H, M, N] by the definition, key by key: row i sees the keys up to i + N - M."""
    m, n, group = q.shape[2], k.shape[2], q.shape[1] // k.shape[1]
    scores = torch.full((*q.shape[:3], n), NEVER, dtype=torch.float64)
    for h in range(q.shape[1]):
        for i in range(m):
            last = i + n - m if causal else n - 1
            for j in range(max(0, last + 1)):
                scores[:, h, i, j] = (q[:, h, i].double() * k[:, h // group, j].double()).sum(-1) / math.sqrt(
                    q.shape[3]
                )
    return scores


def test_the_articles_worked_example() -> None:
    """Scores [1, 2, 3] in key blocks of two then one, values [10, 20, 30]."""
    q, k, v = (torch.tensor(values)[None, None, :, None] for values in ([1.0], [1.0, 2.0, 3.0], [10.0, 20.0, 30.0]))
    states = softmax_states(q, k, block_n=2)
    assert states.m_tile.tolist() == [[[2.0, 3.0]]]
    assert states.m_running.tolist() == [[[2.0, 3.0]]]
    assert states.l_running[0, 0].tolist() == pytest.approx([math.exp(-1) + 1, 1.503], abs=1e-3)
    assert float(attention(q, k, v)) == pytest.approx(25.752, abs=1e-3)


@pytest.mark.parametrize("heads", [(1, 1, 1), (2, 6, 3), (2, 4, 1)], ids=["one head", "groups", "one key head"])
@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_attention_is_the_definition(shape: tuple[int, int], causal: bool, heads: tuple[int, int, int]) -> None:
    q, k, v = make_inputs(*shape, heads=heads)
    weights = torch.exp(scores_of(q, k, causal))
    sums = weights.sum(-1, keepdim=True)
    wide_v = v.double().repeat_interleave(heads[1] // heads[2], dim=1)
    expected = torch.where(sums > 0, weights @ wide_v / sums, 0.0)  # a row that sees no key is 0
    out = attention(q, k, v, causal=causal)
    assert out.shape == q.shape and torch.isfinite(out).all()
    torch.testing.assert_close(out, expected)


@pytest.mark.parametrize("splits", [1, 2, 3, 100])
@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_states_are_the_definition(shape: tuple[int, int], causal: bool, splits: int) -> None:
    """Every tile from its own keys and those before it in its split."""
    block_n = 4
    q, k, _ = make_inputs(*shape, heads=(2, 4, 2))
    scores = scores_of(q, k, causal).flatten(0, 1)
    states = softmax_states(q, k, block_n, causal=causal, splits=splits)
    tiles = -(-shape[1] // block_n)
    per_split = tiles_per_split(shape[1], block_n, splits)
    assert states.m_tile.shape == states.m_running.shape == states.l_running.shape == (8, shape[0], tiles)
    for tile in range(tiles):
        begin, end = tile // per_split * per_split * block_n, (tile + 1) * block_n
        m = scores[..., begin:end].amax(-1)
        l = torch.exp(scores[..., begin:end] - m.masked_fill(m == NEVER, 0.0)[..., None]).sum(-1)  # noqa: E741
        torch.testing.assert_close(states.m_tile[..., tile], scores[..., tile * block_n : end].amax(-1))
        torch.testing.assert_close(states.m_running[..., tile], m)
        torch.testing.assert_close(states.l_running[..., tile], l)


def test_splits_share_the_tiles_and_none_is_empty() -> None:
    assert [tiles_per_split(100, 16, splits) for splits in (1, 2, 3, 4, 7, 99)] == [7, 4, 3, 2, 1, 1]


def test_the_scale_is_used() -> None:
    q, k, v = make_inputs(4, 7)
    torch.testing.assert_close(
        attention(q, k, v, scale=0.3), attention(q * 0.3 * math.sqrt(5), k, v), rtol=1e-6, atol=1e-6
    )
    torch.testing.assert_close(softmax_states(q, k, 3, scale=0.0).l_running[0, 0], torch.tensor([3.0, 6, 7]).double())


@pytest.mark.parametrize("chunk_bytes", [1, 3000, 2**30], ids=["row by row", "some rows", "one chunk"])
@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
def test_chunks_do_not_change_the_result(causal: bool, chunk_bytes: int) -> None:
    q, k, v = make_inputs(11, 23, heads=(1, 2, 1))
    torch.testing.assert_close(
        attention(q, k, v, causal=causal, chunk_bytes=chunk_bytes), attention(q, k, v, causal=causal)
    )
    states = softmax_states(q, k, 4, causal=causal, chunk_bytes=chunk_bytes)
    whole = softmax_states(q, k, 4, causal=causal)
    for field in fields(TileTrace):
        torch.testing.assert_close(getattr(states, field.name), getattr(whole, field.name))


def test_chunks_bound_the_memory() -> None:
    """No more rows are scored at once than the limit allows."""
    chunks = _score_chunks(torch.zeros(100, 2), torch.zeros(50, 2), False, None, 12_000)
    seen = [rows.stop - rows.start for rows, _ in chunks]
    assert sum(seen) == 100
    assert max(seen) * 50 * 8 * 3 <= 12_000
