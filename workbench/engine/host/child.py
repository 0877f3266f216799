"""The child's loop: says that it is ready, then answers each request with events until its parent goes away.

It knows no torch: the module that does the work is named by its import path, so that tests can put another there.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Protocol, cast

from workbench.engine.host import wire
from workbench.engine.host.parent import die_with_parent
from workbench.engine.host.stopping import StopFlag
from workbench.run.events import CeilingsRequest, Failed, Progress, Ready, Send
from workbench.run.request import RunRequest

# The interpreter takes all the CPU there is; at this niceness the window beside it still gets its turn in time.
YIELDING = 10
# Nobody has asked for anything this long: who explores asks sooner.
REST_S = 3.0


class Job(Protocol):
    """What the job module offers."""

    def prepare(self, wanted_device: str) -> Ready: ...

    def run(self, request: RunRequest, send: Send, stop: StopFlag) -> None: ...

    def measure_ceilings(self, send: Send, stop: StopFlag) -> None: ...

    def use_rest(self, send: Send) -> None: ...

    def describe_failure(self, error: BaseException) -> Failed: ...

    def is_broken(self) -> bool: ...


@dataclass(frozen=True)
class Leaving:
    """Sent before a last Failed: this process cannot go on and must be replaced."""


def serve(connection: Connection, log: Connection, job_path: str, device: str, parent: int) -> None:
    """Answer requests from `connection` until it closes. `log` receives this process's stdout and stderr."""
    die_with_parent(parent)
    _redirect_output(log)
    # Ctrl+C in a terminal reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the host had it blocked until here
    stop = StopFlag()
    stop.install()
    lock = threading.Lock()

    def send(event: object) -> None:
        with lock:
            wire.send(connection, event)

    job = _start(job_path, device, send)
    while job is not None:
        try:
            if not connection.poll(REST_S):
                job.use_rest(send)
            request = connection.recv()
        except (EOFError, OSError):
            return
        if not _answer(job, request, send, stop):
            return


def _start(job_path: str, device: str, send: Callable[[object], None]) -> Job | None:
    """Import the job and announce it; None after a failure that the parent has been told."""
    try:
        send(Progress("starting the engine: importing torch"))
        job = cast(Job, importlib.import_module(job_path))
    except Exception as error:
        remedy = "python main.py doctor names what is missing and how to install it."
        send(Leaving())
        send(Failed("launch", f"the engine could not start: {type(error).__name__}: {error}", remedy))
        return None
    try:
        send(Progress("starting the engine: looking at the device, importing Triton"))
        ready = job.prepare(device)
        if ready.device.mode == "interpreter":
            os.nice(YIELDING)
        send(ready)
    except Exception as error:
        send(Leaving())
        send(job.describe_failure(error))
        return None
    return job


def _answer(job: Job, request: RunRequest | CeilingsRequest, send: Callable[[object], None], stop: StopFlag) -> bool:
    """Run one request; False if this process must not take another."""
    stop.clear()
    try:
        if isinstance(request, CeilingsRequest):
            job.measure_ceilings(send, stop)
        else:
            job.run(request, send, stop)
    except BaseException as error:
        failure = job.describe_failure(error)
        broken = job.is_broken()
        if broken:
            send(Leaving())
        sys.stdout.flush()
        sys.stderr.flush()
        send(failure)
        return not broken
    return True


def _redirect_output(log: Connection) -> None:
    """Send everything written to stdout or stderr, by Python or by a compiler's C++, into the log pipe."""
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
