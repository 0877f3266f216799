"""A run as it is kept, and how its events add up to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, TypeVar

import numpy as np

from kernels.plain.tiles import TileConfig
from workbench.run import events
from workbench.run.environment import DeviceInfo
from workbench.run.measurement import ROLES, ErrorStats, Measurement, Role
from workbench.run.request import Problem, RunRequest
from workbench.stats.arrays import FloatArray

Told = TypeVar("Told", events.Checked, events.Measured, events.Rechecked)

FIRST_ROOM = 256  # launch times
NOWHERE = DeviceInfo("no device", "unknown", "", "", "", 0)


class RunKey(NamedTuple):
    """What tells runs apart, everywhere: the recording that a run is from ("" for this session), and its number there.

    Numbers above 0 are those in a file. What is in none yet has one below 0, or 0 where only one run is looked at.
    """

    source: str
    number: int


@dataclass(frozen=True)
class RunRecord:
    """A run as it is kept, and as it grows: everything measured, also when it ended early or never began.

    `partial` holds samples of a role whose measurement is not, or was never, completed. `source` is "" for a run of
    this session, else the file name of the recording it came from.
    """

    run_id: int
    started: events.Started
    checked: tuple[events.Checked, ...] = ()
    partial: tuple[events.Samples, ...] = ()
    measured: tuple[events.Measured, ...] = ()
    states: events.TileStates | None = None
    end: events.Finished | events.Failed | None = None
    source: str = ""
    comparison: events.Comparison | None = None
    rechecked: tuple[events.Rechecked, ...] = ()
    device_state: events.DeviceState | None = None

    @property
    def key(self) -> RunKey:
        """The run's identity; a run that is put into a file gets the number that it has there."""
        return RunKey(self.source, self.run_id)

    @property
    def is_live(self) -> bool:
        """Whether it goes on; a run in a file that lacks its end does not."""
        return self.end is None and self.run_id <= 0 and not self.source

    def is_wrong(self, role: Role | None = None) -> bool:
        """Whether the output of `role` (None: of any) did not pass its check, or was another one after timing."""
        asked = ROLES if role is None else (role,)
        checked = any(not c.error.passed for c in self.checked if c.role in asked)
        measured = any(not m.measurement.error.passed for m in self.measured if m.measurement.role in asked)
        return checked or measured or any(r.failed for r in self.rechecked if r.role in asked)

    @property
    def passed(self) -> bool:
        """Whether every output that was checked is right, and none changed while it was timed."""
        return not self.is_wrong()

    def error(self, role: Role) -> ErrorStats | None:
        """The error of the output of `role` before it was timed, or None while it is not known."""
        check, measured = self.check(role), self.measurement(role)
        return check.error if check is not None else measured.error if measured is not None else None

    def recheck(self, role: Role) -> events.Rechecked | None:
        """What was found when the output of `role` was checked again after timing, or None."""
        return next((r for r in self.rechecked if r.role == role), None)

    def measurement(self, role: Role) -> Measurement | None:
        """The completed measurement of `role`, or None."""
        return next((m.measurement for m in self.measured if m.measurement.role == role), None)

    def check(self, role: Role) -> events.Checked | None:
        """The comparison with float64 of `role`, or None."""
        return next((c for c in self.checked if c.role == role), None)

    @property
    def launched_tile(self) -> TileConfig:
        """The tile with the key splits that were made, where the run came so far; else the request's."""
        kernel = self.measurement("kernel")
        return kernel.tile if kernel is not None and kernel.tile is not None else self.started.request.tile

    def samples(self, role: Role) -> FloatArray:
        """All launch times of `role`, us, in launch order: a completed measurement's, else those that have arrived."""
        measurement = self.measurement(role)
        if measurement is not None:
            return measurement.latency.samples
        return next((part.values for part in self.partial if part.role == role), np.empty(0))

    @property
    def backend(self) -> str:
        """What the baseline really took, "" while that is not known."""
        known = self.measurement("baseline") or self.check("baseline")
        return known.backend if known is not None else ""

    @property
    def has_begun(self) -> bool:
        """Whether an engine has taken it up, which says what it works with."""
        return bool(self.started.device.torch)

    @property
    def has_nothing(self) -> bool:
        """Whether nothing of it can be shown but how far it came: it has not begun, or its file is damaged."""
        refused = isinstance(self.end, events.Failed) and self.end.kind in ("invalid", "damaged")
        return refused or not self.has_begun

    @property
    def found_nothing(self) -> bool:
        """Whether it was stopped before any output was checked: there is nothing to keep or to print."""
        return isinstance(self.end, events.Failed) and self.end.kind == "cancelled" and not self.checked

    @property
    def is_unreadable(self) -> bool:
        """Whether its file does not even tell what was asked for: its problem has no size."""
        return self.started.request.problem.m < 1

    @classmethod
    def unreadable(cls, run_id: int, why: events.Failed) -> RunRecord:
        """A run of which a file has the number, and nothing else that can be read."""
        return cls(run_id, events.Started(RunRequest(Problem(0, 0, 0)), NOWHERE, ""), end=why)

    def without_result(self, why: events.Failed) -> RunRecord:
        """The same run with nothing of what was measured, as one that cannot be shown for the reason `why`."""
        return RunRecord(self.run_id, self.started, end=why, source=self.source)


class RunBuilder:
    """Puts a run's events together, the one place where that is done; a run that the engine never started is one too.

    `number` is the run's as long as no file has given it one.
    """

    def __init__(self, request: RunRequest, number: int = 0) -> None:
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        self._record = RunRecord(number, events.Started(request, NOWHERE, now))
        self._arrived: dict[Role, _Arrived] = {}

    def take(self, event: events.RunEvent) -> None:
        """Add `event`, if it is one that is kept. One that is told once more takes the place of the one before."""
        record = self._record
        match event:
            case events.Started():
                record = replace(record, started=event)
            case events.Checked():
                record = replace(record, checked=_with(record.checked, event))
            case events.Samples(role, values):
                self._arrived.setdefault(role, _Arrived()).append(values)
                record = replace(record, partial=self._partial())
            case events.Measured(measurement):
                self._arrived.pop(measurement.role, None)
                record = replace(record, partial=self._partial(), measured=_with(record.measured, event))
            case events.Comparison():
                record = replace(record, comparison=event)
            case events.Rechecked():
                record = replace(record, rechecked=_with(record.rechecked, event))
            case events.DeviceState():
                record = replace(record, device_state=event)
            case events.TileStates():
                record = replace(record, states=event)
            case events.Finished() | events.Failed():
                record = replace(record, end=event)
        self._record = record

    def record(self) -> RunRecord:
        """The run so far: the very same as long as nothing has been added."""
        return self._record

    def _partial(self) -> tuple[events.Samples, ...]:
        return tuple(events.Samples(role, arrived.values) for role, arrived in self._arrived.items())


class _Arrived:
    """Launch times as they come. What was given out stays as it was, though nothing is copied: only room is added."""

    def __init__(self) -> None:
        self._room: FloatArray = np.empty(FIRST_ROOM)
        self._count = 0

    def append(self, values: FloatArray) -> None:
        end = self._count + len(values)
        if end > len(self._room):
            self._room = np.concatenate([self.values, np.empty(max(end, 2 * self._count) - self._count)])
        self._room[self._count : end] = values
        self._count = end

    @property
    def values(self) -> FloatArray:
        return self._room[: self._count]


def _with(told: tuple[Told, ...], event: Told) -> tuple[Told, ...]:
    """`told` with `event`, in the place of an earlier one of its role if there is."""
    return tuple(({_role_of(one): one for one in told} | {_role_of(event): event}).values())


def _role_of(event: events.Checked | events.Measured | events.Rechecked) -> Role:
    return event.measurement.role if isinstance(event, events.Measured) else event.role
