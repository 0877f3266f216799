"""KernelHost: owns the child process, iterates its events, and replaces it when it dies, hangs or is broken."""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from workbench.analysis.estimate import SILENCE_LIMIT_S, time_limit
from workbench.engine.host import wire
from workbench.engine.host.child import Leaving, serve
from workbench.engine.host.log import ChildLog
from workbench.engine.host.parent import deaf_to_interrupts
from workbench.engine.host.stopping import STOP_SIGNAL
from workbench.run.events import CeilingsMeasured, CeilingsRequest, Failed, Finished, Log, Progress, Ready, RunEvent
from workbench.run.request import RunRequest

JOB = "workbench.engine.job"
START_LIMIT_S = 120.0
STOP_GRACE_S = 2.0
TICK_S = 0.05

TRY_AGAIN = "The engine was replaced and the next run works. The log has its last words."
FREE_SOME = "Run again once other programs have ended: memory or the number of processes is used up."
TRY_SMALLER = "Try a smaller tile or problem; the interpreter and large tiles can take minutes."


class KernelHost:
    """Runs requests in a warm child process.

    `run` iterates the events of one request and ends in exactly one Finished or Failed, whatever happens to the
    child. `stop` may be called from any thread; everything else belongs to one thread, which must live as long as
    the child: Linux ends the child when the thread that started it ends. `job` is the import path of the module
    that does the work.
    """

    def __init__(self, device: str = "auto", job: str = JOB) -> None:
        self.device = device
        self.ready: Ready | None = None
        self._job = job
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._log: ChildLog | None = None
        self._running = False
        self._stop_at: float | None = None
        self._abandoned = threading.Event()
        self._leaving = False

    def start(self) -> None:
        """Start the child without waiting for it; does nothing while it lives. Raises OSError if none can be made."""
        if self.is_alive():
            return
        self._discard()
        context = mp.get_context("spawn")
        self._connection, theirs = context.Pipe()
        log, log_writer = context.Pipe(duplex=False)
        self._log = ChildLog(log)
        self._process = context.Process(
            target=serve,
            args=(theirs, log_writer, self._job, self.device, os.getpid()),
            name="tilescope-engine",
            daemon=True,
        )
        try:
            with deaf_to_interrupts():
                self._process.start()
        except BaseException:  # whatever it was: a child that was never there cannot be joined
            self._process = None
            self._discard()
            raise
        finally:
            theirs.close()
            log_writer.close()

    def use(self, device: str) -> None:
        """Work on `device` from now on; a child that was started for another is ended."""
        if device != self.device:
            self.device = device
            self._discard()

    def is_alive(self) -> bool:
        """Whether the child runs."""
        return self._process is not None and self._process.is_alive()

    @property
    def pid(self) -> int | None:
        """The child's process id, None where there is none."""
        return self._process.pid if self._process is not None else None

    def wait_ready(self) -> Iterator[RunEvent]:
        """Start the child if needed; ends in Ready, or in Failed if it cannot start."""
        try:
            self.start()
        except OSError as error:
            yield Failed("died", f"no process can be made for the engine: {error.strerror or error}", FREE_SOME)
            return
        if self.ready is not None:
            yield self.ready
            return
        for event in self._relay("starting the engine", START_LIMIT_S):
            yield event
            if isinstance(event, Ready | Failed):
                return

    def run(self, request: RunRequest) -> Iterator[RunEvent]:
        """Run `request` on its device; the last event is the only Finished or Failed."""
        return self._to_the_end(request)

    def measure_ceilings(self) -> Iterator[RunEvent]:
        """Measure the rates of the device that is in use, as `run` runs: a CeilingsMeasured comes before Finished."""
        return self._to_the_end(CeilingsRequest())

    def _to_the_end(self, request: RunRequest | CeilingsRequest) -> Iterator[RunEvent]:
        if not self._running:
            self.announce_run()
        finished = False
        try:
            for event in self._run(request):
                finished = isinstance(event, Finished | Failed)
                yield event
        finally:
            self._running = False
            if not finished:  # the caller went away in the middle of a run
                self._discard()

    def announce_run(self) -> None:
        """Say that a run is about to begin: a stop that comes before `run` is then for it."""
        self._stop_at = None
        self._running = True

    def abandon_start(self) -> None:
        """Give up waiting for a child that has not said that it is ready. May be called from any thread."""
        self._abandoned.set()

    def stop(self) -> None:
        """Ask the running request to stop; the child is killed if it has not within two seconds."""
        process = self._process
        if not self._running or self._stop_at is not None:
            return
        self._stop_at = time.monotonic()
        if self.ready is not None and process is not None:
            with contextlib.suppress(ProcessLookupError, ValueError):  # ended, or closed by its own thread, just now
                if process.pid is not None:
                    os.kill(process.pid, STOP_SIGNAL)

    def idle_log(self) -> Iterator[Log]:
        """What the child wrote since it was last asked."""
        text = self._log.read() if self._log is not None else ""
        if text:
            yield Log(text)

    def close(self) -> None:
        """End the child: ask by closing its connection, then kill."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        process = self._process
        if process is not None and not self._running:
            process.join(0.5)
        self._discard()

    def _run(self, request: RunRequest | CeilingsRequest) -> Iterator[RunEvent]:
        if isinstance(request, RunRequest):
            self.use(request.device)
        if not self.is_alive() or self.ready is None:
            for event in self.wait_ready():
                yield event
                if isinstance(event, Failed):
                    return
        assert self._connection is not None
        if self._stop_at is not None:
            yield Failed("cancelled", "stopped before it began")
            return
        try:
            self._connection.send(request)
        except OSError:
            yield self._died("taking the request")
            return
        assert self.ready is not None
        limit_s = time_limit(request, self.ready.device.mode) if isinstance(request, RunRequest) else SILENCE_LIMIT_S
        for event in self._relay("starting the run", limit_s):
            yield event
            if isinstance(event, Finished | Failed):
                return

    def _relay(self, phase: str, limit_s: float) -> Iterator[RunEvent]:
        """Events as they come; ends itself with a Failed when the child dies, is silent too long or must stop."""
        heard = time.monotonic()
        while True:
            assert self._connection is not None and self._log is not None and self._process is not None
            log = self._log.pipe
            ends = (self._connection, self._process.sentinel, log)
            ready = wait([end for end in ends if end is not None], TICK_S)
            if log in ready:
                yield from self.idle_log()
            if self._connection in ready:
                try:
                    event = wire.receive(self._connection)
                except (EOFError, OSError):
                    yield from self._last_words(phase)
                    return
                heard = time.monotonic()
                if isinstance(event, Progress):
                    phase = event.phase
                yield from self._settle(event)
            elif self._process.sentinel in ready:
                yield from self._last_words(phase)
                return
            elif (failure := self._why_end(phase, time.monotonic() - heard, limit_s)) is not None:
                self._discard()
                yield failure
                return

    def _why_end(self, phase: str, silent_s: float, limit_s: float) -> Failed | None:
        """Why a child that lives and says nothing must be ended now; None while it may go on."""
        if self._abandoned.is_set() and self.ready is None:
            return Failed("cancelled", f"given up while {phase}")
        if self._stop_at is not None and time.monotonic() - self._stop_at > STOP_GRACE_S:
            return Failed("cancelled", f"stopped while {phase}; the engine had to be ended")
        if silent_s > limit_s:
            return Failed(
                "timeout", f"no sign of life for {limit_s:g} s while {phase}; the engine was ended", TRY_SMALLER
            )
        return None

    def _settle(self, event: RunEvent | Leaving) -> Iterator[RunEvent]:
        """Learn from `event` and pass it on; before a failure, all that the child wrote; after a last one, its end."""
        if isinstance(event, Leaving):
            self._leaving = True
            return
        if isinstance(event, Ready):
            self.ready = event
        if isinstance(event, CeilingsMeasured) and self.ready is not None:
            self.ready = replace(self.ready, ceilings=event.ceilings)
        if isinstance(event, Failed):
            yield from self.idle_log()
            if self._leaving:
                self._discard()
        yield event

    def _last_words(self, phase: str) -> Iterator[RunEvent]:
        assert self._process is not None and self._log is not None
        self._process.join(STOP_GRACE_S)
        while text := self._log.read():
            yield Log(text)
        yield self._died(phase)

    def _died(self, phase: str) -> Failed:
        """The child is gone without a word of its own."""
        process = self._process
        code = process.exitcode if process is not None else None
        how = _exit_text(code)
        words = self._log.last_words() if self._log is not None else ""
        self._discard()
        if self._stop_at is not None:
            return Failed("cancelled", f"stopped while {phase}; the engine had to be ended")
        return Failed("died", f"the engine ended {how} while {phase}{words}", TRY_AGAIN)

    def _discard(self) -> None:
        """Kill the child if it lives and forget it."""
        if self._process is not None:
            if self._process.is_alive():
                self._process.kill()
            self._process.join()
            self._process.close()
        for end in (self._connection, self._log):
            if end is not None:
                end.close()
        self._process = self._connection = self._log = self.ready = None
        self._leaving = False


def _exit_text(code: int | None) -> str:
    if code is None:
        return "without a word"
    if code < 0:
        return f"by signal {signal.Signals(-code).name}"
    return f"with exit status {code}"
