"""The online softmax, shared by the kernels: one update of (m, l, acc) by one tile of scores."""

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def absorb_tile(m, l, acc, s, v, PRECISION: tl.constexpr):  # noqa: E741
    """Absorb one tile of scaled scores into the running state of each query row.

    m, l are [BLOCK_M], acc is [BLOCK_M, BLOCK_D], s is [BLOCK_M, BLOCK_N] with -inf where there is no key, v is
    [BLOCK_N, BLOCK_D]. Every row of s needs one finite score: -inf minus -inf would be NaN.
    Returns the tile's own maximum and the new m, l, acc.
    """
    m_tile = tl.max(s, axis=1)  # [BLOCK_M]
    m_new = tl.maximum(m, m_tile)
    alpha = tl.exp(m - m_new)  # 0 at the first tile, where m is -inf
    p = tl.exp(s - m_new[:, None])  # [BLOCK_M, BLOCK_N]
    l_new = alpha * l + tl.sum(p, axis=1)
    acc_new = alpha[:, None] * acc + tl.dot(p, v, input_precision=PRECISION)
    return m_tile, m_new, l_new, acc_new
