"""Jobs for the host's tests: the request's kernel names what goes wrong. No torch, so that a child starts fast."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from tests.samples import INTERPRETER
from workbench.engine.host.stopping import StopFlag, StoppedError
from workbench.run.ceilings import Ceilings
from workbench.run.environment import BaselineInfo
from workbench.run.events import CeilingsMeasured, Failed, Finished, Progress, Ready, RunEvent, Started
from workbench.run.request import RunRequest

CEILINGS = Ceilings(INTERPRETER.name, "", INTERPRETER.torch, "2026-01-01T00:00:00", 1e12, fp32=1e13)

_broken = False


def prepare(wanted_device: str) -> Ready:
    """Ready at once; the device "cuda" is not there."""
    if wanted_device == "cuda":
        raise LookupError("no cuda here")
    return Ready(INTERPRETER, (), (BaselineInfo("auto", ("fp32",)),))


def run(request: RunRequest, send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    """Behave as `request.kernel` says, then finish."""
    send(Started(request, INTERPRETER, "2026-01-01T00:00:00"))
    _ACTIONS[request.kernel](send, stop)
    send(Finished(0.0))


def measure_ceilings(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    """Ceilings of a device that there is not."""
    send(Progress("measuring", 0, 1))
    stop.check()
    send(CeilingsMeasured(CEILINGS))
    send(Finished(0.0))


def use_rest(send: Callable[[RunEvent], None]) -> None:
    """There is nothing that a later run would wait for."""


def describe_failure(error: BaseException) -> Failed:
    """What the real job does, without torch."""
    if isinstance(error, StoppedError):
        return Failed("cancelled", "stopped on request")
    return Failed("launch", f"{type(error).__name__}: {error}")


def is_broken() -> bool:
    """True after "sticky"."""
    return _broken


def _fine(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    send(Progress("working", 1, 1))


def _raises(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    raise ValueError("something is wrong")


def _sticky(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    global _broken
    _broken = True
    raise RuntimeError("CUDA error: an illegal memory access was encountered")


def _aborts(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    os.write(2, b"LLVM ERROR: Cannot select\n")
    os.abort()


def _exits(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    os._exit(7)


def _hangs(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    send(Progress("hanging"))
    time.sleep(3600)


def _deaf(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    """Hangs and ignores a stop, as a compiler in C++ does."""
    send(Progress("compiling"))
    while True:
        time.sleep(0.05)


def _polite(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    send(Progress("sampling"))
    while True:
        stop.check()
        time.sleep(0.05)


def _python_loop(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    send(Progress("interpreting"))
    with stop.interruptible():
        time.sleep(3600)


def _unpicklable(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    send(Progress(lambda: "a closure"))  # type: ignore[arg-type]


def _talks(send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    print("from Python")
    print("also to stderr", file=sys.stderr)
    os.write(1, b"from C\n")
    os.write(2, b"x" * 200_000 + b"\n")


_ACTIONS = {
    "fine": _fine,
    "raises": _raises,
    "sticky": _sticky,
    "aborts": _aborts,
    "exits": _exits,
    "hangs": _hangs,
    "deaf": _deaf,
    "polite": _polite,
    "python loop": _python_loop,
    "unpicklable": _unpicklable,
    "talks": _talks,
}
