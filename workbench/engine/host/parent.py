"""What a process of the engine owes the one that started it: to end with it, and to leave Ctrl+C to it."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Ask Linux to end this process when the thread that started it ends, however that happens.

    `parent` is that process's number: this one ends at once if it is gone already.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before we asked
        os._exit(1)


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Let a process that is started in this block be deaf to Ctrl+C from its first moment on.

    In a terminal that reaches the whole group, and a child that is importing would print its traceback. What a thread
    blocks, its children begin with. The tracker comes first, because starting it would unblock the signal.
    """
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
