"""The online softmax, shared by the kernels: one update of (m, l, acc) by one tile of scores."""

import triton
import triton.language as tl

# exp(x) is 2 to the x log2(e): the hardware has only the power of two. Kernels that use it keep m in base 2.
LOG2E = 1.4426950408889634
LN2 = tl.constexpr(0.6931471805599453)
NEVER = tl.constexpr(float("-inf"))


@triton.jit
def absorb_tile(m, l, acc, s, v, PRECISION: tl.constexpr):
    """Absorb one tile of scaled scores into the running state of each query row, as the article does.

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


@triton.jit
def weigh_tile(m, l, s, scale):
    """The weights of one tile of raw scores, in base 2, safe for rows that have seen no key yet.

    m, l are [BLOCK_M], s is [BLOCK_M, BLOCK_N] with -inf where masked; `scale`, [BLOCK_M] and positive, times s is the
    score in base 2. The product is fused into the exponent, so a large score loses nothing to a rounded product.
    Returns p [BLOCK_M, BLOCK_N], the factor alpha for what was summed before, the tile's own maximum, and new m and l.
    """
    m_tile = tl.max(s, axis=1) * scale
    m_new = tl.maximum(m, m_tile)
    m_safe = tl.where(m_new == NEVER, 0.0, m_new)  # -inf minus -inf would be NaN
    alpha = tl.exp2(m - m_safe)
    p = tl.exp2(s * scale[:, None] - m_safe[:, None])
    return p, alpha, m_tile, m_new, l * alpha + tl.sum(p, axis=1)


@triton.jit
def mask_scores(s, row, key, M, N, CAUSAL: tl.constexpr):
    """-inf where there is no key, and with CAUSAL where the row's last visible key, row + N - M, lies before it."""
    seen = (key < N)[None, :]
    if CAUSAL:
        seen = seen & (key[None, :] <= row[:, None] + (N - M))
    return tl.where(seen, s, NEVER)


@triton.jit
def key_range(start, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    """For the query block that begins at row `start`: the key tiles it sees, and how many of those need no mask."""
    seen = N
    whole = N // BLOCK_N
    if CAUSAL:
        seen = tl.maximum(0, tl.minimum(N, start + BLOCK_M + N - M))
        whole = tl.minimum(whole, tl.maximum(0, start + 1 + N - M) // BLOCK_N)
    return tl.cdiv(seen, BLOCK_N), whole


@triton.jit
def store_states(m_tile_out, m_out, l_out, at, inside, m_tile, m, l):
    """Write one tile's states at the offsets `at`; m in natural-log units, the kernel's own being in base 2."""
    tl.store(m_tile_out + at, m_tile * LN2, mask=inside)
    tl.store(m_out + at, m * LN2, mask=inside)
    tl.store(l_out + at, l, mask=inside)


@triton.jit
def normalized(acc, l):
    """acc / l by rows; 0 for a row that has seen no key."""
    return acc * (1.0 / tl.where(l == 0.0, 1.0, l))[:, None]


@triton.jit
def log_sum_exp(m, l):
    """The log-sum-exp of each row's scores, in natural-log units; -inf for a row that has seen no key."""
    return (m + tl.log2(tl.where(l == 0.0, 1.0, l))) * LN2
