"""How a run is asked to stop: a signal sets a flag, and breaks into Python code that says it may be broken."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNAL = signal.SIGUSR1


class StoppedError(BaseException):
    """The run was asked to stop. Not an Exception, so that no library's own handler swallows it."""


class StopFlag:
    """Set by STOP_SIGNAL; checked between samples.

    Inside `interruptible()` the signal raises at once: that is for the interpreter's launches, which take seconds
    of pure Python. Sending an event must never be broken off, so it is not used there.
    """

    def __init__(self) -> None:
        self._set = False
        self._may_raise = False

    def install(self) -> None:
        """Listen for STOP_SIGNAL in this process's main thread."""
        signal.signal(STOP_SIGNAL, self._on_signal)

    def clear(self) -> None:
        """Forget a stop that came too late for the last run."""
        self._set = False

    def check(self) -> None:
        """Raise StoppedError if a stop was asked for."""
        if self._set:
            raise StoppedError

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let the signal raise StoppedError anywhere in this block."""
        self.check()
        self._may_raise = True
        try:
            yield
        finally:
            self._may_raise = False

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._set = True
        if self._may_raise:
            self._may_raise = False
            raise StoppedError
