"""The kernel of variant `hopper`, in Gluon. Imported at its first launch: older Tritons have none, nor the interpreter.

A program has two roles. One warp, the producer, loads Q, K and V tiles through the tensor memory accelerator into
shared memory; two or three warpgroups, the consumers, own 64 of the program's query rows each. A consumer issues the
scores of the next key tile and the product with V of the last one together, and computes the softmax of the one while
the tensor cores do the other. Three consumers take turns in issuing, so that one's softmax runs beside another's
products.
"""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

# Renamed after Triton 3.6.
load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared

ROWS = gl.constexpr(64)  # query rows of a consumer: the least that its four warps multiply at once
LN2 = gl.constexpr(0.6931471805599453)
NEVER = gl.constexpr(float("-inf"))


@gluon.jit
def _place(tile, heads, n_m, together, CAUSAL: gl.constexpr):
    """The head and the query block of a program's tile: for a causal mask the longest first, of `together` heads.

    Heads that run at one time share the L2 cache for their K and V.
    """
    if CAUSAL:
        first = tile // (together * n_m) * together
        together = gl.minimum(together, heads - first)
        rank = tile - first * n_m
        i_m = n_m - 1 - rank // together
        i_h = first + rank % together
    else:
        i_h = tile // n_m
        i_m = tile % n_m
    return i_h, i_m


@gluon.jit
def _nth_tile(turn, total, BALANCED: gl.constexpr):
    """The program's tile at `turn`: one in every round of all programs.

    BALANCED reverses every other round, so that with tiles sorted by length each program gets about the same sum.
    """
    programs = gl.num_programs(0)
    i = gl.program_id(0)
    if BALANCED:
        i = gl.where(turn % 2 == 0, i, programs - 1 - i)
    return turn * programs + i


@gluon.jit
def _key_tiles(i_m, M, N, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, CAUSAL: gl.constexpr):
    """Key tiles that a query block reads: at least one, so that a block that sees no key needs no case of its own."""
    seen = N
    if CAUSAL:
        seen = gl.minimum(N, (i_m + 1) * BLOCK_M + N - M)
    return gl.maximum(1, gl.cdiv(seen, BLOCK_N))


@gluon.jit
def _produce(
    q_desc, k_desc, v_desc, tiles, bars, shape,
    CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, STAGES: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    BLOCK_M: gl.constexpr = ROWS * CONSUMERS
    b_q, b_k, b_v = tiles
    q_full, q_empty, k_full, k_empty, v_full, v_empty = bars
    M, N, H, GROUP, heads, n_m, together, scale = shape
    done = 0
    turn = 0
    tile = _nth_tile(0, heads * n_m, CAUSAL)
    while tile < heads * n_m:
        i_h, i_m = _place(tile, heads, n_m, together, CAUSAL)
        i_b = i_h // H
        i_kv = (i_h % H) // GROUP
        for which in gl.static_range(CONSUMERS):
            mbarrier.wait(q_empty.index(which), (turn & 1) ^ 1)
            mbarrier.expect(q_full.index(which), q_desc.block_type.nbytes)
            row = i_m * BLOCK_M + which * ROWS
            load_tile(q_desc, [i_b, i_h % H, row, 0], q_full.index(which), b_q.index(which))
        for j in range(_key_tiles(i_m, M, N, BLOCK_M, BLOCK_N, CAUSAL)):
            stage = done % STAGES
            phase = (done // STAGES) & 1
            mbarrier.wait(k_empty.index(stage), phase ^ 1)
            mbarrier.expect(k_full.index(stage), k_desc.block_type.nbytes)
            load_tile(k_desc, [i_b, i_kv, j * BLOCK_N, 0], k_full.index(stage), b_k.index(stage))
            mbarrier.wait(v_empty.index(stage), phase ^ 1)
            mbarrier.expect(v_full.index(stage), v_desc.block_type.nbytes)
            load_tile(v_desc, [i_b, i_kv, j * BLOCK_N, 0], v_full.index(stage), b_v.index(stage))
            done += 1
        turn += 1
        tile = _nth_tile(turn, heads * n_m, CAUSAL)


@gluon.jit
def _softmax(s, m, l, scale, row, first_key, M, N, CAUSAL: gl.constexpr, MASKED: gl.constexpr):
    """One update of m and l by a tile of raw scores; m is in base 2. Returns p, alpha, the tile's maximum, m and l."""
    if MASKED:
        key = first_key + gl.arange(0, s.shape[1], layout=gl.SliceLayout(0, s.type.layout))
        last = gl.full_like(row, N - 1)
        if CAUSAL:
            last = gl.minimum(last, row + (N - M))
        s = gl.where(key[None, :] <= last[:, None], s, NEVER)
    m_tile = gl.max(s, axis=1) * scale
    m_new = gl.maximum(m, m_tile)
    # A row that has seen no key yet has m = -inf, and -inf minus -inf is NaN.
    m_safe = gl.where(m_new == NEVER, 0.0, m_new)
    alpha = gl.exp2(m - m_safe)
    p = gl.exp2(s * scale - m_safe[:, None])
    return p, alpha, m_tile, m_new, l * alpha + gl.sum(p, axis=1)


@gluon.jit
def _pack(p, DTYPE: gl.constexpr):
    """fp32 weights as 16-bit pairs in one integer each.

    Carried round the loop as single values, they would be packed anew in every iteration: a tenth of its instructions.
    """
    even, odd = gl.split(p.reshape([p.shape[0], p.shape[1] // 2, 2]))
    code: gl.constexpr = "cvt.rn.bf16x2.f32 $0, $2, $1;" if gl.bfloat16 == DTYPE else "cvt.rn.f16x2.f32 $0, $2, $1;"
    return gl.inline_asm_elementwise(code, "=r,r,r", [even, odd], dtype=gl.int32, is_pure=True, pack=1)


@gluon.jit
def _unpack(pairs, DTYPE: gl.constexpr, LAYOUT: gl.constexpr):
    """The weights of `_pack` as the left operand of a product."""
    even = (pairs & 0xFFFF).to(gl.int16).to(DTYPE, bitcast=True)
    odd = (pairs >> 16).to(gl.int16).to(DTYPE, bitcast=True)
    p = gl.join(even, odd).reshape([pairs.shape[0], pairs.shape[1] * 2])
    return gl.convert_layout(p, LAYOUT)


@gluon.jit
def _store_states(states, i_h, j, row, M, n_tiles, m_tile, m, l):
    """m in natural-log units: the kernel's own is in base 2."""
    m_tile_out, m_out, l_out = states
    at = (i_h.to(gl.int64) * n_tiles + j) * M + row
    inside = row < M
    gl.store(m_tile_out + at, m_tile * LN2, mask=inside)
    gl.store(m_out + at, m * LN2, mask=inside)
    gl.store(l_out + at, l, mask=inside)


@gluon.jit
def _step(
    b_q, b_k, b_v, k_full, k_empty, v_full, v_empty, my_turn, next_turn, pairs, acc, m, l, done, j, i_h, row,
    shape, states,
    BLOCK_N: gl.constexpr, BLOCK_D: gl.constexpr, STAGES: gl.constexpr, CAUSAL: gl.constexpr, TURNS: gl.constexpr,
    MASKED: gl.constexpr, TRACE: gl.constexpr, S_LAYOUT: gl.constexpr, P_LAYOUT: gl.constexpr,
):  # fmt: skip
    """Absorb key tile `j`: its scores and the product of the last tile's p with V run at one time."""
    M, N, H, GROUP, heads, n_m, together, scale = shape
    # Unpacked before the first product is issued, and pinned there by a wait for nothing: registers written between two
    # products would make the assembler run them one after the other.
    p = _unpack(pairs, b_q.dtype, P_LAYOUT)
    p = warpgroup_mma_wait(0, deps=[p])
    at = done + j
    stage = at % STAGES
    mbarrier.wait(k_full.index(stage), (at // STAGES) & 1)
    if TURNS:
        mbarrier.wait(my_turn, at & 1)
    zero = gl.zeros([ROWS, BLOCK_N], gl.float32, S_LAYOUT)
    b_kt = b_k.index(stage).reshape([BLOCK_N, BLOCK_D]).permute((1, 0))
    s = warpgroup_mma(b_q.reshape([ROWS, BLOCK_D]), b_kt, zero, use_acc=False, is_async=True)

    before = at - 1
    last = before % STAGES
    mbarrier.wait(v_full.index(last), (before // STAGES) & 1)
    acc = warpgroup_mma(p, b_v.index(last).reshape([BLOCK_N, BLOCK_D]), acc, is_async=True)
    if TURNS:
        mbarrier.arrive(next_turn, count=1)

    s = warpgroup_mma_wait(1, deps=[s])
    mbarrier.arrive(k_empty.index(stage), count=1)
    p_new, alpha, m_tile, m, l = _softmax(s, m, l, scale, row, j * BLOCK_N, M, N, CAUSAL, MASKED)
    if TRACE:
        _store_states(states, i_h, j, row, M, gl.cdiv(N, BLOCK_N), m_tile, m, l)
    pairs = _pack(p_new, b_q.dtype)

    acc, p = warpgroup_mma_wait(0, deps=[acc, p])
    mbarrier.arrive(v_empty.index(last), count=1)
    alpha = gl.convert_layout(alpha, gl.SliceLayout(1, acc.type.layout))
    return pairs, acc * alpha[:, None], m, l


@gluon.jit
def _consume(
    which: gl.constexpr, tiles, bars, turns, target, shape, CONSUMERS: gl.constexpr, D: gl.constexpr,
    BLOCK_N: gl.constexpr, BLOCK_D: gl.constexpr, STAGES: gl.constexpr, CAUSAL: gl.constexpr, TURNS: gl.constexpr,
    LSE: gl.constexpr, TRACE: gl.constexpr,
):  # fmt: skip
    BLOCK_M: gl.constexpr = ROWS * CONSUMERS
    b_qs, b_k, b_v = tiles
    q_full, q_empty, k_full, k_empty, v_full, v_empty = bars
    out, strides, lse, states = target
    M, N, H, GROUP, heads, n_m, together, scale = shape
    S_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    O_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_D, 16])
    P_LAYOUT: gl.constexpr = gl.DotOperandLayout(0, O_LAYOUT, 2)
    b_q = b_qs.index(which)
    dtype: gl.constexpr = b_q.dtype
    o_row = gl.arange(0, ROWS, layout=gl.SliceLayout(1, S_LAYOUT))
    my_turn = turns.index(which)
    next_turn = turns.index((which + 1) % CONSUMERS)
    if TURNS and which == 0:
        mbarrier.arrive(my_turn, count=1)
    done = 0
    turn = 0
    tile = _nth_tile(0, heads * n_m, CAUSAL)
    while tile < heads * n_m:
        i_h, i_m = _place(tile, heads, n_m, together, CAUSAL)
        n_tiles = _key_tiles(i_m, M, N, BLOCK_M, BLOCK_N, CAUSAL)
        start = i_m * BLOCK_M + which * ROWS
        row = start + o_row
        whole = N // BLOCK_N  # key tiles that need no mask
        if CAUSAL:
            whole = gl.minimum(whole, gl.maximum(0, start + 1 + N - M) // BLOCK_N)

        stage = done % STAGES
        mbarrier.wait(q_full.index(which), turn & 1)
        mbarrier.wait(k_full.index(stage), (done // STAGES) & 1)
        if TURNS:
            mbarrier.wait(my_turn, done & 1)
        zero = gl.zeros([ROWS, BLOCK_N], gl.float32, S_LAYOUT)
        b_kt = b_k.index(stage).reshape([BLOCK_N, BLOCK_D]).permute((1, 0))
        s = warpgroup_mma(b_q.reshape([ROWS, BLOCK_D]), b_kt, zero, use_acc=False, is_async=True)
        if TURNS:
            mbarrier.arrive(next_turn, count=1)
        s = warpgroup_mma_wait(0, deps=[s])
        mbarrier.arrive(k_empty.index(stage), count=1)
        m = gl.full([ROWS], NEVER, gl.float32, gl.SliceLayout(1, S_LAYOUT))
        l = gl.zeros([ROWS], gl.float32, gl.SliceLayout(1, S_LAYOUT))
        p32, alpha, m_tile, m, l = _softmax(s, m, l, scale, row, 0, M, N, CAUSAL, True)
        if TRACE:
            _store_states(states, i_h, 0, row, M, gl.cdiv(N, BLOCK_N), m_tile, m, l)
        pairs = _pack(p32, dtype)
        acc = gl.zeros([ROWS, BLOCK_D], gl.float32, O_LAYOUT)

        middle = gl.maximum(1, gl.minimum(whole, n_tiles))
        for j in range(1, middle):
            pairs, acc, m, l = _step(
                b_q, b_k, b_v, k_full, k_empty, v_full, v_empty, my_turn, next_turn, pairs, acc, m, l, done, j, i_h,
                row, shape, states, BLOCK_N, BLOCK_D, STAGES, CAUSAL, TURNS, False, TRACE, S_LAYOUT, P_LAYOUT,
            )  # fmt: skip
        for j in range(middle, n_tiles):
            pairs, acc, m, l = _step(
                b_q, b_k, b_v, k_full, k_empty, v_full, v_empty, my_turn, next_turn, pairs, acc, m, l, done, j, i_h,
                row, shape, states, BLOCK_N, BLOCK_D, STAGES, CAUSAL, TURNS, True, TRACE, S_LAYOUT, P_LAYOUT,
            )  # fmt: skip
        mbarrier.arrive(q_empty.index(which), count=1)

        last = done + n_tiles - 1
        stage = last % STAGES
        mbarrier.wait(v_full.index(stage), (last // STAGES) & 1)
        p = _unpack(pairs, dtype, P_LAYOUT)
        acc = warpgroup_mma(p, b_v.index(stage).reshape([BLOCK_N, BLOCK_D]), acc, is_async=True)
        acc, p = warpgroup_mma_wait(0, deps=[acc, p])
        mbarrier.arrive(v_empty.index(stage), count=1)

        l_safe = gl.where(l == 0.0, 1.0, l)
        norm = gl.convert_layout(1.0 / l_safe, gl.SliceLayout(1, O_LAYOUT))
        o = acc * norm[:, None]
        stride_b, stride_h, stride_m, stride_d = strides
        o_m = start + gl.arange(0, ROWS, layout=gl.SliceLayout(1, O_LAYOUT))
        o_d = gl.arange(0, BLOCK_D, layout=gl.SliceLayout(0, O_LAYOUT))
        base = out + (i_h // H).to(gl.int64) * stride_b + (i_h % H).to(gl.int64) * stride_h
        at = o_m.to(gl.int64)[:, None] * stride_m + o_d[None, :] * stride_d
        gl.store(base + at, o.to(out.dtype.element_ty), mask=(o_m < M)[:, None] & (o_d < D)[None, :])
        if LSE:
            gl.store(lse + i_h.to(gl.int64) * M + row, (m + gl.log2(l_safe)) * LN2, mask=row < M)
        done += n_tiles
        turn += 1
        tile = _nth_tile(turn, heads * n_m, CAUSAL)


@gluon.jit(do_not_specialize=["M", "N", "H", "GROUP", "heads", "n_m", "together"])
def hopper_kernel(
    q_desc, k_desc, v_desc, out, lse, m_tile_out, m_out, l_out,
    stride_ob, stride_oh, stride_om, stride_od, M, N, H, GROUP, heads, n_m, together, scale,
    CONSUMERS: gl.constexpr, D: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_D: gl.constexpr, STAGES: gl.constexpr,
    CAUSAL: gl.constexpr, TURNS: gl.constexpr, LSE: gl.constexpr, TRACE: gl.constexpr, num_warps: gl.constexpr,
):  # fmt: skip
    b_q = gl.allocate_shared_memory(q_desc.dtype, [CONSUMERS, 1, 1, ROWS, BLOCK_D], q_desc.layout)
    b_k = gl.allocate_shared_memory(k_desc.dtype, [STAGES, 1, 1, BLOCK_N, BLOCK_D], k_desc.layout)
    b_v = gl.allocate_shared_memory(v_desc.dtype, [STAGES, 1, 1, BLOCK_N, BLOCK_D], v_desc.layout)
    q_full = gl.allocate_shared_memory(gl.int64, [CONSUMERS, 1], mbarrier.MBarrierLayout())
    q_empty = gl.allocate_shared_memory(gl.int64, [CONSUMERS, 1], mbarrier.MBarrierLayout())
    turns = gl.allocate_shared_memory(gl.int64, [CONSUMERS, 1], mbarrier.MBarrierLayout())
    k_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    k_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    v_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    v_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(CONSUMERS):
        mbarrier.init(q_full.index(i), count=1)
        mbarrier.init(q_empty.index(i), count=1)
        mbarrier.init(turns.index(i), count=1)
    for i in gl.static_range(STAGES):
        mbarrier.init(k_full.index(i), count=1)
        mbarrier.init(k_empty.index(i), count=CONSUMERS)
        mbarrier.init(v_full.index(i), count=1)
        mbarrier.init(v_empty.index(i), count=CONSUMERS)
    fence_async_shared()

    shape = (M, N, H, GROUP, heads, n_m, together, scale)
    strides = (stride_ob, stride_oh, stride_om, stride_od)
    states = (m_tile_out, m_out, l_out)
    tiles = (b_q, b_k, b_v)
    bars = (q_full, q_empty, k_full, k_empty, v_full, v_empty)
    target = (out, strides, lse, states)
    # The last list is the registers a thread: those that the producer gives back go to the consumers.
    if CONSUMERS == 2:
        gl.warp_specialize(
            [
                (_consume, (0, tiles, bars, turns, target, shape,
                            CONSUMERS, D, BLOCK_N, BLOCK_D, STAGES, CAUSAL, TURNS, LSE, TRACE)),
                (_consume, (1, tiles, bars, turns, target, shape,
                            CONSUMERS, D, BLOCK_N, BLOCK_D, STAGES, CAUSAL, TURNS, LSE, TRACE)),
                (_produce, (q_desc, k_desc, v_desc, tiles, bars, shape, CONSUMERS, BLOCK_N, STAGES, CAUSAL)),
            ],
            [4, 1],
            [240, 24],
        )  # fmt: skip
    else:
        gl.warp_specialize(
            [
                (_consume, (0, tiles, bars, turns, target, shape,
                            CONSUMERS, D, BLOCK_N, BLOCK_D, STAGES, CAUSAL, TURNS, LSE, TRACE)),
                (_consume, (1, tiles, bars, turns, target, shape,
                            CONSUMERS, D, BLOCK_N, BLOCK_D, STAGES, CAUSAL, TURNS, LSE, TRACE)),
                (_consume, (2, tiles, bars, turns, target, shape,
                            CONSUMERS, D, BLOCK_N, BLOCK_D, STAGES, CAUSAL, TURNS, LSE, TRACE)),
                (_produce, (q_desc, k_desc, v_desc, tiles, bars, shape, CONSUMERS, BLOCK_N, STAGES, CAUSAL)),
            ],
            [4, 4, 1],
            [160, 160, 24],
        )  # fmt: skip
