"""Float64 attention and the float64 states of its online softmax: the oracle for every kernel.

Both work through the query rows in chunks, so that their memory is bounded whatever M and N are. The causal mask is
aligned to the lower right: the last query row sees every key, row i sees keys up to i + N - M.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from kernels.common.variant import TileTrace
from kernels.plain.tiles import tiles_per_split

CHUNK_BYTES = 256 * 2**20
NEVER = float("-inf")


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    chunk_bytes: int = CHUNK_BYTES,
) -> torch.Tensor:
    """softmax(scale q k^T) v in float64, [B, H, M, D], on the device of the inputs; scale is 1 / sqrt(D) unless given.

    `q` is [B, H, M, D], `k` and `v` are [B, Hkv, N, D] of any floating dtype, H a multiple of Hkv: query head h reads
    key head h // (H / Hkv). A row that sees no key is 0. At most about `chunk_bytes` are held for scores.
    """
    out = torch.empty(q.shape, dtype=torch.float64, device=q.device)
    for b, h, h_kv in _heads(q, k):
        wide_v = v[b, h_kv].double()
        for rows, scores in _score_chunks(q[b, h], k[b, h_kv], causal, scale, chunk_bytes):
            unseen = (scores == NEVER).all(dim=1, keepdim=True)
            weights = torch.softmax(scores.masked_fill(unseen, 0.0), dim=1).masked_fill(unseen, 0.0)
            out[b, h, rows] = weights @ wide_v
    return out


def softmax_states(
    q: torch.Tensor,
    k: torch.Tensor,
    block_n: int,
    *,
    causal: bool = False,
    scale: float | None = None,
    splits: int = 1,
    chunk_bytes: int = CHUNK_BYTES,
    only: range | None = None,
) -> TileTrace:
    """The float64 states that an online softmax has after each tile of `block_n` keys, of the rows in `only` (or all).

    `q` is [B, H, M, D], `k` is [B, Hkv, N, D]; the three results are [B * H, M, ceil(N / block_n)] float64: the tile's
    maximum of the scaled scores, the running maximum m, and the running denominator l relative to that m. With
    `splits` they begin anew every `tiles_per_split` tiles. Where no key has been seen, m is -inf and l is 0.
    """
    n = k.shape[2]
    only = range(q.shape[2]) if only is None else only
    tiles = -(-n // block_n)
    per_split = tiles_per_split(n, block_n, splits)
    states = tuple(
        torch.empty(q.shape[0] * q.shape[1], len(only), tiles, dtype=torch.float64, device=q.device) for _ in range(3)
    )
    m_tile, m_running, l_running = states
    for index, (b, h, h_kv) in enumerate(_heads(q, k)):
        for rows, scores in _score_chunks(q[b, h], k[b, h_kv], causal, scale, chunk_bytes, only):
            padded = torch.nn.functional.pad(scores, (0, tiles * block_n - n), value=NEVER)
            by_tile = padded.view(-1, tiles, block_n)
            m_tile[index, rows] = by_tile.amax(dim=2)
            sums = torch.logsumexp(by_tile, dim=2)
            for first in range(0, tiles, per_split):
                part = slice(first, first + per_split)
                m = m_tile[index, rows, part].cummax(dim=1).values
                # l after tile i is the sum of exp(s - m_i) over all keys so far: a running log-sum-exp, less m_i.
                so_far = torch.logcumsumexp(sums[:, part], dim=1)
                m_running[index, rows, part] = m
                l_running[index, rows, part] = torch.where(m == NEVER, 0.0, torch.exp(so_far - m))
    return TileTrace(*states)


def _heads(q: torch.Tensor, k: torch.Tensor) -> Iterator[tuple[int, int, int]]:
    """Every (batch, query head, key head)."""
    group = q.shape[1] // k.shape[1]
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            yield b, h, h // group


def _score_chunks(
    q: torch.Tensor, k: torch.Tensor, causal: bool, scale: float | None, chunk_bytes: int, only: range | None = None
) -> Iterator[tuple[slice, torch.Tensor]]:
    """Slices of the query rows in `only` with their scaled float64 scores, each [rows, N], -inf where masked.

    The slices count from the first of those rows, which follow each other.
    """
    wide_k = k.double()
    m, n = q.shape[0], k.shape[0]
    factor = q.shape[1] ** -0.5 if scale is None else scale
    keys = torch.arange(n, device=q.device)
    # Softmax and the padded copy of the states hold about three arrays of the scores' size at once.
    rows = max(1, chunk_bytes // (3 * 8 * n))
    first, end = (0, m) if only is None else (only.start, only.stop)
    for start in range(first, end, rows):
        stop = min(start + rows, end)
        scores = q[start:stop].double() @ wide_k.T * factor
        if causal:
            last_seen = torch.arange(start, stop, device=q.device) + (n - m)
            scores.masked_fill_(keys > last_seen[:, None], NEVER)
        yield slice(start - first, stop - first), scores
