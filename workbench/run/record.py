"""A run as it is kept, and how its events add up to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from workbench.run.environment import DeviceInfo
from workbench.run.events import (
    Checked,
    Comparison,
    DeviceState,
    Failed,
    Finished,
    Measured,
    Rechecked,
    RunEvent,
    Samples,
    Started,
    TileStates,
)
from workbench.run.measurement import ROLES, ErrorStats, Measurement, Role
from workbench.run.request import RunRequest
from workbench.stats.arrays import FloatArray


@dataclass(frozen=True)
class RunRecord:
    """A run as it is kept: everything measured, also when the run ended early.

    `partial` holds samples of a role whose measurement was never completed. `source` is "" for a run of this
    session, else the file name of the recording it came from.
    """

    run_id: int
    started: Started
    checked: tuple[Checked, ...] = ()
    partial: tuple[Samples, ...] = ()
    measured: tuple[Measured, ...] = ()
    states: TileStates | None = None
    end: Finished | Failed | None = None
    source: str = ""
    comparison: Comparison | None = None
    rechecked: tuple[Rechecked, ...] = ()
    device_state: DeviceState | None = None

    def events(self) -> tuple[RunEvent, ...]:
        """The events that show this run again in a panel, in the order of a live run."""
        kept: list[RunEvent] = [self.started, *self.checked]
        for measured in self.measured:
            kept += [Samples(measured.measurement.role, measured.measurement.latency.samples), measured]
        kept += self.partial
        if self.comparison is not None:
            kept.append(self.comparison)
        kept += self.rechecked
        kept += [event for event in (self.device_state, self.states, self.end) if event is not None]
        return tuple(kept)

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

    def recheck(self, role: Role) -> Rechecked | None:
        """What was found when the output of `role` was checked again after timing, or None."""
        return next((r for r in self.rechecked if r.role == role), None)

    def measurement(self, role: Role) -> Measurement | None:
        """The completed measurement of `role`, or None."""
        return next((m.measurement for m in self.measured if m.measurement.role == role), None)

    def check(self, role: Role) -> Checked | None:
        """The comparison with float64 of `role`, or None."""
        return next((c for c in self.checked if c.role == role), None)


class RunBuilder:
    """Collects a run's events into its record, also while it goes on and when the engine never started it.

    The session gives the record its number when it keeps it; until then that is 0.
    """

    def __init__(self, request: RunRequest) -> None:
        nowhere = DeviceInfo("no device", "cuda" if request.device == "cuda" else "interpreter", "", "", "", 0)
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        self._record = RunRecord(0, Started(request, nowhere, now))
        self._samples: dict[Role, list[FloatArray]] = {}

    def take(self, event: RunEvent) -> None:
        """Add `event`, if it is one that is kept."""
        match event:
            case Samples(role, values):
                self._samples.setdefault(role, []).append(values)
            case Measured(measurement):
                self._samples.pop(measurement.role, None)
            case _:
                pass
        self._record = with_event(self._record, event)

    def record(self) -> RunRecord:
        """The run so far."""
        partial = tuple(Samples(role, np.concatenate(parts)) for role, parts in self._samples.items())
        return replace(self._record, partial=partial)


def with_event(record: RunRecord, event: RunEvent) -> RunRecord:
    """`record` with what `event` adds to it; the very same where that is nothing. Samples are left to who keeps them.

    A check that is made once more takes the place of the one before.
    """
    match event:
        case Started():
            return replace(record, started=event)
        case Checked():
            others = tuple(check for check in record.checked if check.role != event.role)
            return replace(record, checked=(*others, event))
        case Measured():
            return replace(record, measured=_with(record.measured, event))
        case Comparison():
            return replace(record, comparison=event)
        case Rechecked():
            rest = tuple(recheck for recheck in record.rechecked if recheck.role != event.role)
            return replace(record, rechecked=(*rest, event))
        case DeviceState():
            return replace(record, device_state=event)
        case TileStates():
            return replace(record, states=event)
        case Finished() | Failed():
            return replace(record, end=event)
        case _:
            return record


def _with(measured: tuple[Measured, ...], event: Measured) -> tuple[Measured, ...]:
    """`measured` with `event`, in the place of an earlier one of its role if there is: it is that one amended."""
    by_role = {one.measurement.role: one for one in measured}
    return tuple((by_role | {event.measurement.role: event}).values())
