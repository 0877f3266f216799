"""Whether an output is still right after timing, and whether equal inputs give equal bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from workbench.engine.compare import same_bits
from workbench.model import ErrorStats, Rechecked, Role

SUSPECT_A_RACE = "changed while timing: suspect a race"


@dataclass(frozen=True)
class Before:
    """What the output was before timing: [B, H, M, D], a copy that no launch writes to, and its error."""

    out: torch.Tensor
    error: ErrorStats


def recheck(
    role: Role,
    before: Before,
    after: torch.Tensor,
    error_of: Callable[[torch.Tensor], ErrorStats],
    again: Callable[[], torch.Tensor] | None,
) -> Rechecked:
    """Compare `after`, the output that the timing left, with `before`; and two more launches with each other.

    `again` launches once and gives a new output; None where that would take too long. Rows that were left out of the
    check are left out here. The output failed if it changed although launches are deterministic, or if it was within
    the tolerance and is not now. Bits that differ for another order of additions are reported, and are no failure.
    """
    left_out = before.error.rows_left_out
    equal = _same(before.out, after, left_out)
    error = before.error if equal else error_of(after)
    deterministic = None if again is None else _same(again(), again(), left_out)
    got_worse = before.error.passed and not error.passed
    failed = not equal and (deterministic is True or got_worse)
    return Rechecked(
        role, before.error.max_abs, error.max_abs, equal, deterministic, _text(equal, deterministic, failed), failed
    )


def _same(one: torch.Tensor, other: torch.Tensor, left_out: int) -> bool:
    return same_bits(one[..., left_out:, :].contiguous(), other[..., left_out:, :].contiguous())


def _text(equal: bool, deterministic: bool | None, failed: bool) -> str:
    if failed:
        return SUSPECT_A_RACE
    if deterministic is False:
        after = "the same bits after timing" if equal else "other bits after timing, within the tolerance as before"
        return f"not deterministic: two launches on equal inputs differ; {after}"
    if deterministic is None:
        return "the same bits after timing" if equal else "other bits after timing; not launched again"
    return "the same bits after timing, and in two more launches"
