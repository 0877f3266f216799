"""Work that takes longer than a frame, done beside the window."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Work(Generic[T]):
    """Does one thing after another in a thread, of those that wait only the last; `taken` gives what came of it.

    What is asked for must not touch the window. A failure of it is raised where the result is taken.
    """

    def __init__(self) -> None:
        self._done: SimpleQueue[tuple[int, T | Exception]] = SimpleQueue()
        self._asked = 0
        self._waiting: Callable[[], T] | None = None
        self._is_busy = False

    @property
    def is_busy(self) -> bool:
        """Whether something that was asked for has not been taken."""
        return self._is_busy or self._waiting is not None

    def ask(self, job: Callable[[], T]) -> None:
        """Do `job` next; what was asked for before is nobody's any more."""
        self._asked += 1
        self._waiting = job
        self._begin()

    def forget(self) -> None:
        """Nothing is wanted any more."""
        self._asked += 1
        self._waiting = None

    def taken(self) -> T | None:
        """What came of the last that was asked for, once; None while that goes on. Raises what it raised."""
        try:
            number, result = self._done.get_nowait()
        except Empty:
            return None
        self._is_busy = False
        self._begin()
        if number != self._asked:
            return None
        if isinstance(result, Exception):
            raise result
        return result

    def _begin(self) -> None:
        if self._is_busy or self._waiting is None:
            return
        job, self._waiting, self._is_busy = self._waiting, None, True
        Thread(target=_work, args=(self._asked, job, self._done), name="beside the window", daemon=True).start()


def _work(number: int, job: Callable[[], T], done: SimpleQueue[tuple[int, T | Exception]]) -> None:
    try:
        done.put((number, job()))
    except Exception as error:
        done.put((number, error))
