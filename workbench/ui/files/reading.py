"""Large runs are read from their file in a thread: the window goes on meanwhile."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from PyQt6.QtCore import QObject, pyqtSignal

from workbench.run.record import RunRecord

# Bytes in the file that are read within a frame, compressed or not.
AT_ONCE_BYTES = 2**19


class RunReader(QObject):
    """Reads runs by `load` and hands each to `take` in the window's thread; of several only the last asked for.

    `load` must not raise. What takes no longer than a frame, by `bytes_of`, is read at once.
    """

    _arrived = pyqtSignal()

    def __init__(
        self,
        load: Callable[[RunRecord], RunRecord],
        bytes_of: Callable[[RunRecord], int],
        take: Callable[[RunRecord], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._load, self._bytes_of, self._take = load, bytes_of, take
        self._wanted = 0  # which of the askings counts
        self._source = ""  # of the run that was asked for last
        self._thread: threading.Thread | None = None
        self._found: deque[tuple[int, RunRecord]] = deque()
        self._arrived.connect(self._deliver)  # from a thread: delivered in the window's

    def ask(self, record: RunRecord) -> bool:
        """Read `record`, the summary of a run, and hand it over; whether that is done already."""
        self.forget()
        self._source = record.source
        if self._bytes_of(record) <= AT_ONCE_BYTES:
            self._take(self._load(record))
            return True
        # Not a daemon: one that is cut off at the end of the process aborts it.
        self._thread = threading.Thread(target=self._read, args=(self._wanted, record), name="run-reader")
        self._thread.start()
        return False

    def forget(self, source: str | None = None) -> None:
        """Hand over nothing that was asked for before; with a `source`, nothing of that."""
        if source is None or source == self._source:
            self._wanted += 1

    def finish(self) -> None:
        """Wait for what was asked for last, and hand it over."""
        if self._thread is not None:
            self._thread.join()
        self._deliver()

    def _read(self, number: int, record: RunRecord) -> None:
        self._found.append((number, self._load(record)))
        with suppress(RuntimeError):  # the window was closed meanwhile, and this object with it
            self._arrived.emit()

    def _deliver(self) -> None:
        while self._found:
            number, record = self._found.popleft()
            if number == self._wanted:
                self._thread = None
                self._take(record)
