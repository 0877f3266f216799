"""How tests wait: for an event, with one limit, so long that only what never comes reaches it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

LIMIT_S = 300.0
LIMIT_MS = int(LIMIT_S * 1e3)


def wait_until(reached: Callable[[], bool]) -> None:
    """Return once `reached` says so; fail if it never does."""
    end = time.monotonic() + LIMIT_S
    while not reached():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)


def is_alive(pid: int) -> bool:
    """Whether the process runs: one that has ended may still be listed until its parent asks."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
