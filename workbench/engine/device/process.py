"""The process that reads the device while a run goes on. Started by `device_monitor`; knows neither torch nor Qt.

It answers requests from its pipe and sends nothing unasked, so that nobody has to empty the pipe inside a timed region.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import sys
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

import numpy as np

from workbench.engine.device.nvml import NvmlSource
from workbench.engine.host.parent import die_with_parent
from workbench.run.device_state import COLUMNS, DeviceFacts, Missing, Process
from workbench.stats.arrays import FloatArray

# The list of processes costs NVML much more than a clock does, and changes seldom.
PROCESSES_PERIOD_S = 0.5
NICENESS = 10


@dataclass(frozen=True)
class Opened:
    """The first message, once the device can be read."""


@dataclass(frozen=True)
class Begin:
    """Read every `period_s` seconds from now on; the processes `own` are the program's own."""

    period_s: float
    own: tuple[int, ...]


@dataclass(frozen=True)
class Ask:
    """Wants a Report that carries `number`; `ends` stops the reading."""

    number: int
    ends: bool


@dataclass(frozen=True)
class Report:
    """The readings since the last report, [readings, 7]: times are of time.monotonic, which all processes share."""

    number: int
    rows: FloatArray
    processes: tuple[Process, ...]
    facts: DeviceFacts
    missing: tuple[Missing, ...]


class Recorder:
    """Reads a source while a run goes on, and keeps what it read until it is asked for."""

    def __init__(self, source: NvmlSource) -> None:
        self._source = source
        self.begin(())

    def begin(self, own: tuple[int, ...]) -> None:
        """Forget the last run; `own` are the program's processes."""
        self._own = own
        self._rows: list[tuple[float, ...]] = []
        self._processes: dict[int, Process] = {}
        self._own_seen = self._any_seen = False
        self._processes_due = 0.0
        self._facts: DeviceFacts | None = None

    def read(self) -> None:
        """Take one reading, and the list of processes where that is due."""
        self._rows.append((time.monotonic(), *self._source.read()))
        if time.monotonic() >= self._processes_due:
            self.read_processes()

    def read_processes(self) -> None:
        """Note which processes are there now."""
        now = time.monotonic()
        self._processes_due = now + PROCESSES_PERIOD_S
        for tenant in self._source.tenants():
            self._any_seen = True
            if tenant.pid in self._own:
                self._own_seen = True
                continue
            known = self._processes.get(tenant.pid, Process(tenant.pid, tenant.name, float("nan"), now, now))
            memory = float(np.fmax(known.memory_bytes, tenant.memory_bytes))
            self._processes[tenant.pid] = replace(known, memory_bytes=memory, last_s=now)

    def report(self, number: int) -> Report:
        """What was read since the last report, and the processes of the whole run."""
        rows, self._rows = np.array(self._rows, dtype=np.float64).reshape(-1, len(COLUMNS)), []
        self._facts = self._facts or self._source.facts()
        missing = dict(self._source.missing)
        if self._own and not self._own_seen:  # another container's numbers, or a list that is kept from this one
            listed = "none of this program's own" if self._any_seen else "none at all"
            missing.setdefault("processes", f"NVML lists {listed}, so others cannot be told")
        known = () if "processes" in missing else tuple(self._processes.values())
        return Report(number, rows, known, self._facts, tuple(Missing(*item) for item in missing.items()))


def serve(connection: Connection, recorder: Recorder) -> None:
    """Answer requests until `connection` closes, reading as often as asked in between."""
    period, due = 0.0, float("inf")
    while True:
        wait = None if due == float("inf") else max(0.0, due - time.monotonic())
        if connection.poll(wait):
            match connection.recv():
                case Begin(period_s, own):
                    recorder.begin(own)
                    period, due = period_s, time.monotonic()
                case Ask(number, ends):
                    if ends:
                        recorder.read_processes()
                        due = float("inf")
                    connection.send(recorder.report(number))
                case other:
                    raise TypeError(f"not a request: {other!r}")
        elif due <= time.monotonic():
            recorder.read()
            due = max(due + period, time.monotonic())  # a reading that was missed is not made up for


def main() -> None:
    """Serve a pipe, as the command line says: its descriptor, the parent's number, the source, and its argument.

    The source is the import path of what opens it, "module:name", and the argument is pickled, in hexadecimal. The
    first message is Opened, or Missing where nothing can be read (no NVML, no such GPU): then the process ends.
    """
    descriptor, parent, source_path, argument = sys.argv[1:]
    die_with_parent(int(parent))
    # Ctrl+C in a terminal reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    connection = Connection(int(descriptor))
    module, _, name = source_path.partition(":")
    with contextlib.suppress(EOFError, OSError):  # the parent has closed its end: there is nobody left to read for
        try:
            source = getattr(importlib.import_module(module), name)(pickle.loads(bytes.fromhex(argument)))
        except Exception as error:
            connection.send(Missing("device state", f"{type(error).__name__}: {error}"))
            return
        connection.send(Opened())
        serve(connection, Recorder(source))
