"""RunWorker: the one seam between the engine and Qt. It owns the host, and the session file's writes."""

from __future__ import annotations

import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
from PyQt6.QtCore import QObject, QThread, pyqtSignal

from workbench.engine.host.process import JOB, KernelHost
from workbench.run.events import Failed, Finished, Log, Ready, RunEvent, Started
from workbench.run.record import RunBuilder, RunKey, RunRecord
from workbench.run.request import RunRequest
from workbench.run.session import Session, SessionError

IDLE_S = 0.1


@dataclass(frozen=True)
class Grown:
    """A run as far as it has come, and the event that it has grown by; None where it has only been asked for."""

    record: RunRecord
    event: RunEvent | None = None


@dataclass(frozen=True)
class Kept:
    """A run has ended and is in the session file, or `problem` says why it is not; `note` is a word on the file.

    `live` is what it was called while it went on, `session` the file of the session in which it began.
    """

    record: RunRecord
    live: RunKey
    problem: str = ""
    note: str = ""
    session: Path | None = None


@dataclass(frozen=True)
class EngineDown:
    """The engine could not be started between two runs; no run has failed by it."""

    failure: Failed


@dataclass(frozen=True)
class OfCeilings:
    """An event of the measuring of the device's ceilings, which is no run; the last is a Finished or Failed."""

    event: RunEvent


@dataclass(frozen=True)
class Rested:
    """Everything that was asked for has ended."""


class RunWorker(QThread):
    """Runs requests one after another in its thread; of requests that wait, only the newest is run.

    Its one signal carries each run as it grows, after it a Kept, then Rested; what the engine says of itself between
    runs; and the events of measuring the device's ceilings, which wait for the run that goes on, as OfCeilings. It
    cannot be called `event`: QObject has one. The thread lives as long as the window, because the engine's process ends
    with the thread that started it.
    """

    arrived = pyqtSignal(object)  # Grown | Kept | Rested | OfCeilings | EngineDown | Ready | Progress | Log

    def __init__(self, session: Session, device: str = "auto", job: str = JOB, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = self._keeping = session  # of what begins next, and of what goes on
        self._host = KernelHost(device, job)
        self._changed = threading.Condition()
        self._request: RunRequest | None = None
        self._device: str | None = None
        self._ceilings = False  # whether they are to be measured
        self._busy = False
        self._closing = False
        self._numbers = count(-1, -1)  # of runs that no file has numbered
        self._runs = False
        self._may_speak = threading.Event()
        self._may_speak.set()

    def start_ahead(self) -> None:
        """Start the thread and the engine's process at once; what they say waits until `speak` is called.

        The engine imports torch for seconds, in which the window can be made.
        """
        self._may_speak.clear()
        self.start()

    def speak(self) -> None:
        """Pass on what the engine says from now on, and start it if that has not been done."""
        self._may_speak.set()
        if not self.isRunning():
            self.start()

    def submit(self, request: RunRequest) -> None:
        """Run `request` next, in place of one that waits; a run that goes on is asked to stop."""
        with self._changed:
            # Under the lock, so that it reaches the run that goes on and never this one.
            self._host.stop()
            self._request = request
            self._busy = True
            self._changed.notify()

    def use_device(self, device: str) -> None:
        """Start the engine for another device, so that it says what can run there."""
        with self._changed:
            self._device = device
            self._changed.notify()

    def measure_ceilings(self) -> None:
        """Measure the ceilings of the engine's device as soon as nothing runs."""
        with self._changed:
            self._ceilings = self._busy = True
            self._changed.notify()

    def use_session(self, session: Session) -> None:
        """Keep what begins from now on in another file; what goes on is kept where it began."""
        self._session = session

    @property
    def is_busy(self) -> bool:
        """Whether a run goes on."""
        return self._runs

    def stop(self) -> None:
        """Stop what goes on and forget what waits."""
        with self._changed:
            waiting, self._request = self._request, None
            ceilings, self._ceilings = self._ceilings, False
            self._host.stop()
        if ceilings:
            self.arrived.emit(OfCeilings(Failed("cancelled", "stopped before it began")))
        if waiting is not None and not self._runs:  # beside a run that goes on, nobody has seen it
            self._grow(self._builder(waiting), Failed("cancelled", "stopped before it began"))

    def close(self) -> None:
        """End the run, the engine and the thread; what was measured is kept first. Blocks until it is done."""
        with self._changed:
            self._closing = True
            self._request = None
            self._host.stop()
            self._host.abandon_start()
            self._may_speak.set()
            self._changed.notify()
        self.wait()

    @property
    def engine_pid(self) -> int | None:
        """The process id of the engine, None where there is none."""
        return self._host.pid

    def run(self) -> None:
        """The thread: keep the engine warm, take requests, pass on what they give."""
        with suppress(OSError):  # is tried again, and then said
            self._host.start()
        np.percentile([0.0], 20)  # the first one imports a part of numpy: best before there are frames to be late
        self._may_speak.wait()
        try:
            self._prepare()
            while not self._closing:
                self._step()
        finally:
            self._host.close()

    def _step(self) -> None:
        """One thing that was asked for; whatever goes wrong with it, the thread goes on to the next."""
        try:
            request, device, ceilings = self._take_next()
            if device is not None:
                self._host.use(device)
                self._prepare()
            if request is not None:
                self._run(request)
            elif ceilings:
                self._measure_ceilings()
            elif device is None and self._come_to_rest():
                self.arrived.emit(Rested())
            elif device is None:
                for event in self._host.idle_log():
                    self.arrived.emit(event)
        except Exception as error:
            self._host.close()
            self.arrived.emit(EngineDown(_error_here(error)))

    def _take_next(self) -> tuple[RunRequest | None, str | None, bool]:
        """What was asked for, after a short wait if nothing was; ceilings only while no request waits."""
        with self._changed:
            if self._request is None and self._device is None and not self._closing and not self._busy:
                self._changed.wait(IDLE_S)
            request, self._request = self._request, None
            device, self._device = self._device, None
            ceilings = self._ceilings and request is None
            if ceilings:
                self._ceilings = False
            if request is not None or ceilings:
                self._host.announce_run()  # a stop from now on is for this run
        return request, device, ceilings

    def _come_to_rest(self) -> bool:
        """Whether the last of what was asked for has just ended."""
        with self._changed:
            was_busy, self._busy = self._busy, self._request is not None or self._ceilings
            return was_busy and not self._busy

    def _prepare(self) -> None:
        """Start the engine if it is not there, and pass on what it says of itself."""
        if self._closing:
            return
        for event in self._host.wait_ready():
            self.arrived.emit(EngineDown(event) if isinstance(event, Failed) else event)

    def _builder(self, request: RunRequest) -> RunBuilder:
        """A new run, which is told at once."""
        builder = RunBuilder(request, next(self._numbers))
        self.arrived.emit(Grown(builder.record()))
        return builder

    def _grow(self, builder: RunBuilder, event: RunEvent) -> None:
        builder.take(event)
        record = builder.record()
        # The file first: the window that sees the end can then find the run in it.
        kept = self._keep(record) if isinstance(event, Finished | Failed) else None
        self.arrived.emit(Grown(record, event))
        if kept is not None:
            self.arrived.emit(kept)

    def _run(self, request: RunRequest) -> None:
        self._keeping = self._session
        builder, started = self._builder(request), False
        self._runs = True
        try:
            for event in self._host.run(request):
                started = started or isinstance(event, Started)
                self._grow(builder, event)
        except Exception as error:
            self._host.close()
            if builder.record().end is None:
                self._grow(builder, _error_here(error))
        finally:
            self._runs = False
        if started and not self._host.is_alive():
            self._prepare()

    def _measure_ceilings(self) -> None:
        try:
            for event in self._host.measure_ceilings():
                # What the engine says of itself, if it had to be started for this, is of no measuring.
                self.arrived.emit(event if isinstance(event, Ready | Log) else OfCeilings(event))
        except Exception as error:
            self._host.close()
            self.arrived.emit(OfCeilings(_error_here(error)))
        if not self._host.is_alive():
            self._prepare()

    def _keep(self, record: RunRecord) -> Kept | None:
        """Write a run; None for one that was stopped before it measured anything."""
        if record.found_nothing:
            return None
        session = self._keeping
        gone = session.is_gone()
        note = f"{session.path} was taken away; it is made anew, without the earlier runs." if gone else ""
        try:
            return Kept(session.add(record), record.key, note=note, session=session.path)
        except SessionError as error:
            return Kept(record, record.key, str(error), session=session.path)
        except Exception as error:  # whatever it was, the run has ended and is held in memory
            problem = f"The run cannot be written: {type(error).__name__}: {error}."
            return Kept(record, record.key, problem, session=session.path)


def _error_here(error: Exception) -> Failed:
    text = f"the engine's thread met an error: {type(error).__name__}: {error}"
    return Failed("died", text, "Run again; the log has the traceback.", traceback.format_exc())
