"""The oracle itself, against a worked example and against the definition."""

from __future__ import annotations

import math

import pytest
import torch

from kernels.reference import attention, softmax_states


def test_the_articles_worked_example() -> None:
    """Scores [1, 2, 3] in key blocks of two then one, values [10, 20, 30]."""
    q, k, v = torch.tensor([[1.0]]), torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[10.0], [20.0], [30.0]])
    states = softmax_states(q, k, block_n=2)
    assert states.m_tile.tolist() == [[2.0, 3.0]]
    assert states.m_running.tolist() == [[2.0, 3.0]]
    assert states.l_running[0].tolist() == pytest.approx([math.exp(-1) + 1, 1.503], abs=1e-3)
    assert float(attention(q, k, v)) == pytest.approx(25.752, abs=1e-3)


@pytest.mark.parametrize("chunk_bytes", [1, 3000, 2**30], ids=["row by row", "some rows", "one chunk"])
def test_chunks_do_not_change_the_result(chunk_bytes: int) -> None:
    generator = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(rows, 5, generator=generator) for rows in (11, 23, 23))
    scores = q.double() @ k.double().T / math.sqrt(5)
    torch.testing.assert_close(attention(q, k, v, chunk_bytes=chunk_bytes), scores.softmax(1) @ v.double())

    states = softmax_states(q, k, 4, chunk_bytes=chunk_bytes)
    assert states.l_running.shape == (11, 6)
    torch.testing.assert_close(states.m_running[:, -1], scores.amax(1))
    torch.testing.assert_close(states.l_running[:, -1], torch.exp(scores - scores.amax(1, keepdim=True)).sum(1))
    first = scores[:, :4]
    torch.testing.assert_close(states.l_running[:, 0], torch.exp(first - first.amax(1, keepdim=True)).sum(1))


def test_chunks_bound_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more rows are scored at once than the limit allows."""
    import kernels.reference as reference

    seen = [
        rows.stop - rows.start for rows, _ in reference._score_chunks(torch.zeros(100, 2), torch.zeros(50, 2), 12_000)
    ]
    assert sum(seen) == 100
    assert max(seen) * 50 * 8 * 3 <= 12_000
