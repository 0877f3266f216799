"""ChildLog: what the child process wrote to its stdout and stderr, as text."""

from __future__ import annotations

import codecs
import os
from collections import deque
from multiprocessing.connection import Connection

CHUNK = 65536
CHUNKS = 16
TAIL_LINES = 3


class ChildLog:
    """Reads the pipe that one child writes into, and remembers the last lines."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe: Connection | None = pipe  # None once the child has closed its end
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        # Keeps a character that was cut at the end of what was read for the next read.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self) -> str:
        """What waits in the pipe; of a flood only so much at a time that events are not held up."""
        pieces: list[bytes] = []
        while self.pipe is not None and len(pieces) < CHUNKS and self.pipe.poll():
            try:
                chunk = os.read(self.pipe.fileno(), CHUNK)
            except OSError:
                break
            if not chunk:
                self.close()
                break
            pieces.append(chunk)
        text = self._decoder.decode(b"".join(pieces))
        self._tail.extend(line.strip() for line in text.splitlines() if line.strip())
        return text

    def last_words(self) -> str:
        """The last lines that were read, as a clause; "" where there were none."""
        return f"; its last words: {' | '.join(self._tail)}" if self._tail else ""

    def close(self) -> None:
        """Read no more."""
        if self.pipe is not None:
            self.pipe.close()
            self.pipe = None
