"""How events cross from the engine's process: large arrays by themselves, so that nobody else's thread stands still.

Unpickled in one piece, the 192 MiB of a large trace keep the interpreter's lock for a tenth of a second, in which no
frame is drawn. Here they are read straight into the memory that the array will have, without the lock.
"""

from __future__ import annotations

import os
import pickle
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

# Smaller buffers are part of the message.
APART_BYTES = 64 * 1024


def send(connection: Connection, event: object) -> None:
    """Send `event`, which `receive` gives on the other end. Raises what pickling it raises, before anything is sent."""
    apart: list[memoryview] = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        """Whether it is part of the message."""
        raw = buffer.raw()
        if raw.nbytes < APART_BYTES:
            return True
        apart.append(raw)
        return False

    message = pickle.dumps(event, protocol=5, buffer_callback=keep)
    connection.send_bytes(pickle.dumps(([raw.nbytes for raw in apart], message)))
    for raw in apart:
        sent = 0
        while sent < raw.nbytes:
            sent += os.write(connection.fileno(), raw[sent:])


def receive(connection: Connection) -> Any:
    """The next event. Raises EOFError where the other end has gone, OSError where the connection is broken."""
    sizes, message = pickle.loads(connection.recv_bytes())
    return pickle.loads(message, buffers=[_read(connection.fileno(), size) for size in sizes])


def _read(source: int, size: int) -> memoryview:
    made: Any = np.empty(size, dtype=np.uint8)  # unlike a bytearray it is not filled with zeros first
    room = memoryview(made)
    taken = 0
    while taken < size:
        read = os.readv(source, [room[taken:]])
        if not read:
            raise EOFError
        taken += read
    return room
