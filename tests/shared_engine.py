"""An engine that tests share: its child has imported torch and Triton once, and hosts take it over in turn.

Only for tests of what comes after the engine has started: what starts, loses or kills one has an engine of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from workbench.engine.host.log import ChildLog
from workbench.engine.host.process import JOB, KernelHost

DEVICE = "interpreter"
# What a host knows of its child; all else in it is of one window or one command, and begins anew with each.
OF_THE_CHILD = ("_process", "_connection", "_log", "ready")


class SharedEngine:
    """Owns a child on the interpreter, which does `job`, and lends it to one host at a time."""

    def __init__(self, job: str = JOB) -> None:
        self._job = job
        self._keeper = KernelHost(DEVICE, job)

    def warm(self) -> None:
        """Have a child, which need not be ready yet.

        Linux ends it with the thread that started it, so this is for one that outlives all hosts: pytest's own.
        """
        with one_thread():
            self._keeper.start()

    def host(self, device: str = "auto", job: str = JOB) -> KernelHost:
        """In the place of `KernelHost(device, job)`: takes over the child if that is for this device and job."""
        return _Borrower(self._keeper, job) if (device, job) == (DEVICE, self._job) else KernelHost(device, job)

    def close(self) -> None:
        """End the child."""
        self._keeper.close()


@pytest.fixture(scope="package")
def shared_engine() -> Iterator[SharedEngine]:
    """An engine that has started, or starts at its first use."""
    engine = SharedEngine()
    yield engine
    engine.close()


class _Borrower(KernelHost):
    """A new host that takes over the keeper's child when it needs one, and gives it back, alive, when it is closed.

    What it starts itself, after the end of that child or for another device, it ends itself.
    """

    def __init__(self, keeper: KernelHost, job: str) -> None:
        super().__init__(DEVICE, job)
        self._keeper = keeper
        self._borrowed: int | None = None

    def start(self) -> None:
        """Take over the child if it lives and nobody has it; else as any host."""
        if not self.is_alive() and self.device == DEVICE and self._keeper.is_alive():
            self._discard()
            _hand_over(self._keeper, self)
            self._borrowed = self.pid
        super().start()

    def close(self) -> None:
        """Give back the child if it waits for a request; else as any host."""
        idle = self.is_alive() and self.ready is not None and not self._running
        if idle and self.pid == self._borrowed and self._log is not None and self._log.pipe is not None:
            while self._log.read():  # those words were meant for this host
                pass
            self._log = ChildLog(self._log.pipe)
            _hand_over(self, self._keeper)
        super().close()


def _hand_over(giver: KernelHost, taker: KernelHost) -> None:
    for name in OF_THE_CHILD:
        setattr(taker, name, getattr(giver, name))
        setattr(giver, name, None)


@contextmanager
def one_thread() -> Iterator[None]:
    """Engines that are started in this block find no trace of how tests run, and have one thread for torch's operators.

    On the tests' small tensors more of them only wait for each other, a third of the whole time.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TRITON_INTERPRET", raising=False)
        patch.setenv("OMP_NUM_THREADS", "1")
        yield
