"""Reads clocks, temperature, power and throttling while a run goes on, from a process that disturbs nothing.

A thread would share the interpreter lock with the launches. The process is started once and then waits; readings stay
with it until they are asked for. Nothing here raises: a run whose device cannot be read is as good, and says so.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from workbench.engine.device.process import Ask, Begin, Opened, Report
from workbench.run.device_state import COLUMNS, DeviceFacts, DeviceReadings, Missing, Process
from workbench.stats.arrays import FloatArray

NVML = "workbench.engine.device.nvml:NvmlSource"
# Not as a script: the classes of its messages would then be others than those that are sent.
RUN_MONITOR = "from workbench.engine.device.process import main; main()"
PERIOD_S = 0.02
ANSWER_LIMIT_S = 2.0
START_LIMIT_S = 0.5
CLOSE_LIMIT_S = 1.0


class DeviceMonitor:
    """Reads one device around each run: `begin`, `timed` around every timed region, `end`.

    `argument` (an `nvml.Address`) says which device; `source` is the import path of what opens it. `own` are the
    program's processes, which are not reported as others: at least the one that launches kernels. Belongs to one
    thread, which must live as long as the monitor: Linux ends its process with the thread that started it.
    """

    def __init__(
        self, argument: Any, own: tuple[int, ...] = (), source: str = NVML, period_s: float = PERIOD_S
    ) -> None:
        self._argument = argument
        self._own = own
        self._source = source
        self._period_s = period_s
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._refusal: tuple[Missing, ...] = ()
        self._is_open = False
        self._number = 0
        self._started_at = 0.0
        self._forget()

    @property
    def pid(self) -> int | None:
        """The process that reads, None where there is none."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start the process, which takes some tenths of a second to be ready, without waiting for it.

        Does nothing while it lives, and after it has said that the device cannot be read.
        """
        if self._refusal or (self._process is not None and self._process.poll() is None):
            return
        self.close()
        self._is_open = False
        ours, theirs = Pipe()
        argument = pickle.dumps(self._argument).hex()
        words = [str(theirs.fileno()), str(os.getpid()), self._source, argument]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", RUN_MONITOR, *words],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=_environment(),
            )
        except OSError as error:
            self._refusal = (Missing("device state", f"its process could not be started: {error}"),)
            ours.close()
        else:
            self._connection = ours
        theirs.close()

    def begin(self) -> None:
        """Read from now on. Times of the readings count from here."""
        self.start()
        self._forget()
        self._started_at = time.monotonic()
        self._send(Begin(self._period_s, self._own))

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Mark a timed region: what lies outside of all of them cannot have changed a time."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._timed.append((began, time.monotonic()))

    def so_far(self) -> DeviceReadings:
        """The readings of this run until now. Takes a fraction of a millisecond: not for inside a timed region."""
        return self._ask(ends=False)

    def end(self) -> DeviceReadings:
        """Stop reading; all readings of this run."""
        return self._ask(ends=True)

    def close(self) -> None:
        """End the process."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSE_LIMIT_S)
            self._process.kill()
            self._process.wait()
            self._process = None

    def _forget(self) -> None:
        self._rows: list[FloatArray] = []
        self._processes: tuple[Process, ...] = ()
        self._timed: list[tuple[float, float]] = []
        self._facts = DeviceFacts()
        self._missing = self._refusal

    def _ask(self, ends: bool) -> DeviceReadings:
        self._number += 1
        if self._send(Ask(self._number, ends)):
            self._await_report(ANSWER_LIMIT_S if self._is_open else START_LIMIT_S if ends else 0.0)
        return self._readings()

    def _send(self, message: object) -> bool:
        """Whether the process took `message`."""
        if self._connection is None:
            return False
        try:
            self._connection.send(message)
        except OSError:
            self._await_report(0.0)  # it has gone: why, if it said so
            return False
        return True

    def _await_report(self, seconds: float) -> None:
        """Take in the report that was just asked for, and older ones that nobody waited for to the end.

        A process that starts is left to it, for the next run; one that has read before and is silent now is ended.
        """
        limit = time.monotonic() + seconds
        while self._connection is not None:
            try:
                if not self._connection.poll(max(0.0, limit - time.monotonic())):
                    if self._is_open:
                        self._give_up(f"its process did not answer within {ANSWER_LIMIT_S:g} s")
                    else:
                        self._missing = (Missing("device state", "its process was not ready yet"),)
                    return
                message = self._connection.recv()
            except (EOFError, OSError):
                self._give_up("its process ended during the run")
                return
            if isinstance(message, Missing):
                self._refusal = (message,)
                self._give_up(message.reason)
            elif isinstance(message, Opened):
                self._is_open, limit = True, time.monotonic() + ANSWER_LIMIT_S
            elif isinstance(message, Report):
                self._take(message)
                if message.number == self._number:
                    return

    def _give_up(self, reason: str) -> None:
        self._missing = (Missing("device state", reason),)
        self.close()

    def _take(self, report: Report) -> None:
        self._rows.append(report.rows[report.rows[:, 0] >= self._started_at])
        self._processes, self._facts, self._missing = report.processes, report.facts, report.missing

    def _readings(self) -> DeviceReadings:
        """What was read, with times since the run started."""
        zero = self._started_at
        rows = np.concatenate([np.zeros((0, len(COLUMNS))), *self._rows])
        rows[:, 0] -= zero
        processes = tuple(replace(p, first_s=p.first_s - zero, last_s=p.last_s - zero) for p in self._processes)
        timed = tuple((begin - zero, end - zero) for begin, end in self._timed)
        early = () if len(rows) else (Missing("device state", "the run ended before the first reading"),)
        return DeviceReadings.of_rows(
            rows, processes=processes, timed=timed, facts=self._facts, missing=self._missing or early
        )


def _environment() -> dict[str, str]:
    """This process's environment, with its import path, and one thread for numpy, which does no work there."""
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
