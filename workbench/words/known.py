"""What is known of the circumstances of a run, and what was not recorded."""

from __future__ import annotations

from workbench.run.device_state import DeviceReadings
from workbench.run.events import Failed
from workbench.run.record import RunRecord

UNKNOWN = {
    "device state": "clocks, power, throttling and other processes on the device: whether it was steady is not known",
    "source": "revision and hash of the kernel's source: whether it is the kernel of today is not known",
    "recheck": "a check of the output after timing: whether the timed launches gave the right one is not known",
}
WATCHED = "the device was watched while launches were timed: nothing is known that would have changed the times"


def no_readings_text(readings: DeviceReadings) -> str:
    """Why there are no readings, in a line; "" where there are some."""
    if len(readings.t):
        return ""
    reasons = "; ".join(f"{missing.reading}: {missing.reason}" for missing in readings.missing)
    return f"no {reasons}" if reasons else "no device state was recorded"


def not_recorded(record: RunRecord) -> tuple[str, ...]:
    """What a run that was measured keeps nothing of, since the program that made it did not: keys of UNKNOWN."""
    if record.end is None or not record.measured:
        return ()
    was_rechecked = record.rechecked or isinstance(record.end, Failed)
    found = {
        "device state": record.device_state is not None,
        "source": record.started.provenance.source_sha256 != "",
        "recheck": bool(was_rechecked),
    }
    return tuple(name for name, is_kept in found.items() if not is_kept)


def not_recorded_tip(missing: tuple[str, ...]) -> str:
    """The same in sentences, a line each."""
    return "\n".join(f"not recorded: {UNKNOWN[one]}" for one in missing)


def watched_text(record: RunRecord) -> str:
    """Why nothing has to be said beside a run's times: it was watched, it has none, or nobody can tell."""
    if not record.measured:
        return "no times were taken" if record.end is not None else "no times yet"
    state = record.device_state
    return (no_readings_text(state.readings) if state is not None else "no device state yet") or WATCHED
