"""What work costs, whatever the machine and its load: CPU time of the thread, beside that of a fixed piece of work."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

YARDSTICK_MS = 4.2
"""What the fixed piece takes on the machine that the tests' limits were found on, alone, of one of its cores."""
ROUNDS = 7


def cost_ms(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Milliseconds of CPU that `action` takes of this thread, as on the machine of the limits: the least of `rounds`.

    The fixed piece takes turns with it, so that what slows the one, a slow machine or a cold cache, slows the other.
    """
    ours, fixed = [], []
    for _ in range(rounds):
        fixed.append(thread_ms(_fixed_piece))
        ours.append(thread_ms(action))
    return min(ours) / min(fixed) * YARDSTICK_MS


def slowness() -> float:
    """How much slower than the machine of the limits this one is now; 1 where it is not."""
    return max(1.0, min(thread_ms(_fixed_piece) for _ in range(ROUNDS)) / YARDSTICK_MS)


def thread_ms(action: Callable[[], object]) -> float:
    """CPU time of this thread alone: other processes and threads do not lengthen it."""
    begin = time.thread_time()
    action()
    return (time.thread_time() - begin) * 1e3


def _fixed_piece() -> int:
    """Python's own work and NumPy's, about half each."""
    np.sort(np.arange(200_000, dtype=float)[::-1].copy())
    return sum(i % 7 for i in range(40_000)) + len("".join(str(i) for i in range(20_000)))
