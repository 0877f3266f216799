"""Float64 attention and the float64 states of its online softmax: the oracle for every kernel.

Both work through the query rows in chunks, so that their memory is bounded whatever M and N are.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from kernels.variant import TileTrace

CHUNK_BYTES = 256 * 2**20


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, chunk_bytes: int = CHUNK_BYTES) -> torch.Tensor:
    """softmax(q k^T / sqrt(D)) v in float64, [M, D], on the device of the inputs.

    `q` is [M, D], `k` and `v` are [N, D] of any floating dtype. At most about `chunk_bytes` are held for scores.
    """
    out = torch.empty(q.shape, dtype=torch.float64, device=q.device)
    wide_v = v.double()
    for rows, scores in _score_chunks(q, k, chunk_bytes):
        out[rows] = torch.softmax(scores, dim=1) @ wide_v
    return out


def softmax_states(q: torch.Tensor, k: torch.Tensor, block_n: int, *, chunk_bytes: int = CHUNK_BYTES) -> TileTrace:
    """The float64 states that an online softmax has after each tile of `block_n` keys.

    `q` is [M, D], `k` is [N, D]; the three results are [M, ceil(N / block_n)] float64: the tile's maximum of the
    scaled scores, the running maximum m, and the running denominator l relative to that m.
    """
    tiles = -(-k.shape[0] // block_n)
    padding = tiles * block_n - k.shape[0]
    m_tile, m_running, l_running = (
        torch.empty(q.shape[0], tiles, dtype=torch.float64, device=q.device) for _ in range(3)
    )
    for rows, scores in _score_chunks(q, k, chunk_bytes):
        padded = torch.nn.functional.pad(scores, (0, padding), value=float("-inf"))
        by_tile = padded.view(-1, tiles, block_n)
        m_tile[rows] = by_tile.amax(dim=2)
        m_running[rows] = m_tile[rows].cummax(dim=1).values
        # l after tile i is the sum of exp(s - m_i) over all keys so far: a running log-sum-exp, less m_i.
        so_far = torch.logcumsumexp(torch.logsumexp(by_tile, dim=2), dim=1)
        l_running[rows] = torch.exp(so_far - m_running[rows])
    return TileTrace(m_tile, m_running, l_running)


def _score_chunks(q: torch.Tensor, k: torch.Tensor, chunk_bytes: int) -> Iterator[tuple[slice, torch.Tensor]]:
    """Slices of query rows with their scaled float64 scores, each [rows, N]."""
    wide_k = k.double()
    # Softmax and the padded copy of the states hold about three arrays of the scores' size at once.
    rows = max(1, chunk_bytes // (3 * 8 * k.shape[0]))
    for start in range(0, q.shape[0], rows):
        chunk = slice(start, min(start + rows, q.shape[0]))
        yield chunk, q[chunk].double() @ wide_k.T * q.shape[1] ** -0.5
