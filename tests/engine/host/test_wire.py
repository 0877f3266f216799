"""What crosses between the processes arrives as it was sent, whatever its arrays."""

from __future__ import annotations

import pickle
import threading
from dataclasses import dataclass
from multiprocessing import Pipe

import numpy as np
import pytest

from workbench.engine.host import wire


@dataclass(frozen=True)
class Told:
    name: str
    arrays: tuple[np.ndarray, ...]


LARGE = wire.APART_BYTES // 4
ARRAYS = {
    "none": (),
    "small": (np.arange(3.0),),
    "large": (np.arange(LARGE, dtype=np.float32),),
    "larger than any pipe": (np.arange(3 * 2**20, dtype=np.float32).reshape(3, 1024, 1024),),
    "several": (np.zeros((0, 5)), np.arange(LARGE, dtype=np.float32), np.ones(LARGE + 1), np.arange(4)),
    "not contiguous": (np.arange(4 * LARGE, dtype=np.float32).reshape(2, -1)[:, ::2],),
    "the same twice": (lambda a: (a, a))(np.arange(LARGE, dtype=np.float64)),
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("duplex", [True, False])
def test_events_arrive_in_order_and_whole(kind: str, duplex: bool) -> None:
    theirs, ours = Pipe(duplex)
    events = [Told("first", ARRAYS[kind]), Told("second", ()), Told("third", ARRAYS[kind])]

    def send() -> None:
        for event in events:
            wire.send(ours, event)

    sender = threading.Thread(target=send)
    sender.start()
    arrived = [wire.receive(theirs) for _ in events]
    sender.join()
    for event, found in zip(events, arrived, strict=True):
        assert found.name == event.name and len(found.arrays) == len(event.arrays)
        for sent, got in zip(event.arrays, found.arrays, strict=True):
            assert got.dtype == sent.dtype and got.shape == sent.shape and np.array_equal(got, sent)


@pytest.mark.parametrize("sent", [0, 1, 10**6])
def test_a_sender_that_dies_in_the_middle_is_the_end(sent: int) -> None:
    theirs, ours = Pipe()
    size = 2 * 10**6
    message = pickle.dumps(([size], b""))
    ours.send_bytes(message)

    def die() -> None:
        import os

        for _ in range(sent // 1000):
            os.write(ours.fileno(), bytes(1000))
        os.write(ours.fileno(), bytes(sent % 1000))
        ours.close()

    sender = threading.Thread(target=die)
    sender.start()
    with pytest.raises((EOFError, ConnectionResetError)):
        wire.receive(theirs)
    sender.join()


def test_nothing_is_sent_of_what_cannot_be_pickled() -> None:
    theirs, ours = Pipe()
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
        wire.send(ours, (np.ones(LARGE), threading.Lock()))
    assert not theirs.poll()
