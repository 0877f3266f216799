"""Whether an output is still right after timing, and whether equal inputs give equal bits."""

from __future__ import annotations

from collections.abc import Callable

import torch

from workbench.engine.checking.compare import same_bits
from workbench.run.events import Rechecked
from workbench.run.measurement import ErrorStats, Role
from workbench.words.results import NOT_LAUNCHED_AGAIN

SUSPECT_A_RACE = "changed while timing: suspect a race"
CHANGED_AFTERWARDS = "launched again after timing it gives another output: suspect a race"
NOT_DETERMINISTIC = "two launches on equal inputs differ"


def recheck(
    role: Role,
    before: torch.Tensor,
    error: ErrorStats,
    after: torch.Tensor,
    error_of: Callable[[torch.Tensor], ErrorStats],
    again: Callable[[], torch.Tensor] | None,
) -> Rechecked:
    """Compare `after`, the output that the timing left, and the outputs of two more launches with `before`.

    All are [B, H, M, D]; `before` is a copy that no launch writes to, and `error` what was found of it.
    `again` launches once and gives a new output, filled with NaN before where that can be done; None where it would
    take too long. Rows that were left out of the check are left out here. The output failed if it changed although
    the two launches agree with each other, or if it was within the tolerance and any of these is not. Bits that differ
    for another order of additions are reported, and are no failure.
    """
    later = [after] if again is None else [after, again(), again()]
    same = [_same(before, out, error.rows_left_out) for out in later]
    errors = [error if is_same else error_of(out) for is_same, out in zip(same, later, strict=True)]
    deterministic = None if again is None else _same(later[1], later[2], error.rows_left_out)
    got_worse = error.passed and not all(later_error.passed for later_error in errors)
    failed = got_worse or (deterministic is True and not all(same))
    worst = max(later_error.max_abs for later_error in errors)
    text = _text(same[0], deterministic, failed, error.passed)
    return Rechecked(role, error.max_abs, worst, same[0], deterministic, text, failed)


def _same(one: torch.Tensor, other: torch.Tensor, left_out: int) -> bool:
    return same_bits(one[..., left_out:, :].contiguous(), other[..., left_out:, :].contiguous())


def _text(equal: bool, deterministic: bool | None, failed: bool, passed: bool) -> str:
    """What was found; `equal` are the bits after timing to those before, which `passed` their check."""
    if failed:
        found = CHANGED_AFTERWARDS if equal else SUSPECT_A_RACE
        more = {None: f"; {NOT_LAUNCHED_AGAIN}", False: f"; {NOT_DETERMINISTIC} as well", True: ""}
        return found + more[deterministic]
    within = ", within the tolerance as before" if passed else ""
    after = "the same bits after timing" if equal else f"other bits after timing{within}"
    if deterministic is False:
        why = "as additions by atomics do; of a kernel without them, suspect a race"
        return f"not deterministic: {NOT_DETERMINISTIC}, {why}; {after}"
    return f"{after}; {NOT_LAUNCHED_AGAIN}" if deterministic is None else f"{after}, and in two more launches"
