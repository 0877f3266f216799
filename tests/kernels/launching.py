"""One launch of a variant, plain and traced, held to everything that is promised of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

import pytest
import torch

import kernels.variants.split_kv.launch
from kernels import KernelVariant, TileConfig, TileTrace
from kernels.common.checks import sm_count
from kernels.plain.tiles import resolved_splits
from tests.kernels.cases import GUARD, NAN, Case, Draw, Inputs, Placed, place
from tests.kernels.limits import Expected, check_lse, check_output, check_states, expect

# Key tiles of this many elements and more are split into parts by a kernel that runs before: always, and never.
PARTS_BEFORE = {True: 0, False: 2**62}


@contextmanager
def parts_before(before: bool) -> Iterator[None]:
    """Whether `split_kv` splits K and V into parts in a kernel that runs before, whatever the problem's size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels.variants.split_kv.launch, "SPLIT_BEFORE_FROM", PARTS_BEFORE[before])
        yield


def gives_lse(variant: KernelVariant) -> bool:
    """Whether its launcher takes room for the log-sum-exp of each row's scores."""
    return "lse" in signature(variant.launch).parameters


def check_launch(
    variant: KernelVariant,
    case: Case,
    tile: TileConfig,
    precision: str,
    draw: Draw,
    device: str,
    inputs: Inputs | None = None,
) -> torch.Tensor:
    """Launch `variant` on `inputs`, or on fresh ones for `case`, and return its output, contiguous.

    Fails unless output, log-sum-exp and traced states are float64's within their limits, the traced output is the same
    to the bit, and nothing around the output or the states was written.
    """
    about = f"TILESCOPE_SEED={draw.seed}, {variant.name} {precision}, {case}, {tile}"
    x = inputs or draw.inputs(case, device)
    expected = expect(x, case.causal, precision)
    plain, more = place_like(x.q, case, device), {}
    if gives_lse(variant):
        more["lse"] = torch.full(x.q.shape[:3], NAN, dtype=torch.float32, device=device)
    launch(variant, x, plain.view, tile, precision, case, **more)
    out = plain.view.clone(memory_format=torch.contiguous_format)
    check_output(out, expected, about)
    assert plain.untouched_outside(), f"written outside the output; {about}"
    if more:
        check_lse(more["lse"], expected, precision, about)
    check_traced(variant, x, out, expected, case, tile, precision, device, about)
    return out


def check_traced(
    variant: KernelVariant,
    x: Inputs,
    out: torch.Tensor,
    expected: Expected,
    case: Case,
    tile: TileConfig,
    precision: str,
    device: str,
    about: str,
) -> None:
    """Fail unless a traced launch gives the bits of `out` and float64's states."""
    trace, guards = guarded_trace(case, tile.block_n, device)
    traced = place_like(x.q, case, device)
    launch(variant, x, traced.view, tile, precision, case, trace=trace)
    bits = torch.int32 if out.dtype == torch.float32 else torch.int16
    same = torch.equal(traced.view.contiguous().view(bits), out.view(bits))
    assert same, f"tracing changed the output; {about}"
    assert traced.untouched_outside(), f"the traced launch wrote outside the output; {about}"
    splits = resolved_splits(case, tile, sm_count(x.q.device)) if variant.spec.splits else 1
    check_states(trace, x, tile.block_n, case.causal, splits, expected, precision, about)
    assert all(guard.untouched_outside() for guard in guards), f"written outside the trace; {about}"


def place_like(q: torch.Tensor, case: Case, device: str) -> Placed:
    """NaN-filled room for the output of `q`, laid out as `case` says."""
    batch, heads, m, d = q.shape
    return place((batch, heads, m, d), case.layout, q.dtype, device)


def launch(
    variant: KernelVariant, x: Inputs, out: torch.Tensor, tile: TileConfig, precision: str, case: Case, **more: Any
) -> None:
    """Launch; variants without a causal mask are not told of one."""
    variant.launch(x.q, x.k, x.v, out, tile=tile, precision=precision, causal=case.causal, **more)


def guarded_trace(case: Case, block_n: int, device: str) -> tuple[TileTrace, list[Placed]]:
    """NaN-filled buffers for a trace, in memory as `TileTrace.unwritten` has them, with NaN around them."""
    heads, tiles = case.batch * case.heads, -(-case.n // block_n)
    placed = []
    for _ in range(3):
        storage = torch.full((heads * tiles * case.m + 2 * GUARD,), NAN, device=device)
        placed.append(Placed(storage[GUARD:-GUARD].view(heads, tiles, case.m).transpose(1, 2), storage))
    m_tile, m_running, l_running = (p.view for p in placed)
    assert m_tile.stride() == TileTrace.unwritten(heads, case.m, case.n, block_n, torch.device("cpu")).m_tile.stride()
    return TileTrace(m_tile, m_running, l_running), placed
