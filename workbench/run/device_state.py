"""What the GPU did while a run was timed, and what about it must be said beside the result.

Plain data and judgement: who reads it is `engine.device.monitor`. Only what lies within the timed spans counts, since a
device that idles before and after does so without harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import FloatArray

# What the device did, and from "inputs" on what the request asked and the host was busy with: see `caveats`.
WarningKind = Literal[
    "clocks",
    "power",
    "heat",
    "hardware",
    "sync",
    "shared",
    "unread",
    "inputs",
    "tolerance",
    "precision",
    "splits",
    "cpu",
]

# NVML's clock event reasons, without those that hold nothing back: idle, and clocks set on purpose.
SW_POWER_CAP = 0x4
HW_SLOWDOWN = 0x8
SYNC_BOOST = 0x10
SW_THERMAL_SLOWDOWN = 0x20
HW_THERMAL_SLOWDOWN = 0x40
HW_POWER_BRAKE_SLOWDOWN = 0x80

# Bit, NVML's name for it, and the warning it belongs to.
_THROTTLES: tuple[tuple[int, str, WarningKind], ...] = (
    (SW_POWER_CAP, "SwPowerCap", "power"),
    (HW_POWER_BRAKE_SLOWDOWN, "HwPowerBrakeSlowdown", "power"),
    (SW_THERMAL_SLOWDOWN, "SwThermalSlowdown", "heat"),
    (HW_THERMAL_SLOWDOWN, "HwThermalSlowdown", "heat"),
    (HW_SLOWDOWN, "HwSlowdown", "hardware"),
    (SYNC_BOOST, "SyncBoost", "sync"),
)
_CAUSES: dict[WarningKind, str] = {
    "power": "power",
    "heat": "heat",
    "hardware": "the hardware",
    "sync": "the clocks of other GPUs",
}
# HwSlowdown is set with these two as well, which say more.
_SAYS_MORE = HW_THERMAL_SLOWDOWN | HW_POWER_BRAKE_SLOWDOWN

# The software's power cap comes and goes in single readings near the limit, trimming the clock by one step of 15 MHz;
# a median does not see a twentieth of the time. What the hardware does halves the clock at once: one reading is enough.
SHARE_OF_TIME = 0.05
LASTING = SW_POWER_CAP | SYNC_BOOST
# A run is to know its median to 1%, and a kernel's time goes with the clock: a range of 2% is as much as half of that
# to each side. One step of 15 MHz in 1980 is 0.8%, two are 1.5%, and pass.
CLOCK_RANGE = 0.02
# Fewer readings than these say nothing of clocks that were steady.
LEAST_TIMED = 3
UNREAD = "device state while timed"


@dataclass(frozen=True)
class Process:
    """Another process with a compute context on the device: its memory in bytes, NaN if unknown, and when it was seen.

    `first_s` and `last_s` are seconds since the run started.
    """

    pid: int
    name: str
    memory_bytes: float
    first_s: float
    last_s: float

    @property
    def text(self) -> str:
        """Its number, name and memory as people read them."""
        memory = f", {self.memory_bytes / 2**20:.0f} MiB" if np.isfinite(self.memory_bytes) else ""
        return f"{self.name or 'unnamed'} (pid {self.pid}{memory})"


@dataclass(frozen=True)
class DeviceFacts:
    """What does not change during a run. Numbers are NaN, texts "" where the device does not say.

    `app_sm_mhz` and `app_mem_mhz` are the application clocks, `ecc` "on" or "off".
    """

    name: str = ""
    uuid: str = ""
    driver: str = ""
    power_limit_w: float = float("nan")
    max_sm_mhz: float = float("nan")
    max_mem_mhz: float = float("nan")
    app_sm_mhz: float = float("nan")
    app_mem_mhz: float = float("nan")
    ecc: str = ""


@dataclass(frozen=True)
class Missing:
    """A reading that could not be had, and why."""

    reading: str
    reason: str


@dataclass(frozen=True)
class DeviceSample:
    """One reading: `t` in seconds since the run started, `reasons` NVML's bit mask; NaN where there is no reading."""

    t: float
    sm_mhz: float
    mem_mhz: float
    temperature_c: float
    power_w: float
    reasons: float
    utilisation: float

    @property
    def throttles(self) -> tuple[str, ...]:
        """NVML's names of what held the clocks back; none for an idle device or for clocks set on purpose."""
        bits = np.array([int(self.reasons) if np.isfinite(self.reasons) else 0], dtype=np.int64)
        return tuple(name for bit, name, _ in _THROTTLES if _is_held(bits, bit)[0])


COLUMNS = tuple(field.name for field in fields(DeviceSample))


@dataclass(frozen=True)
class DeviceReadings:
    """The readings of a run as columns, each [samples] float64, NaN where a reading is missing; see DeviceSample.

    `timed` are the spans in which launches were timed, in seconds since the run started. `processes` are others than
    the program's own.
    """

    t: FloatArray
    sm_mhz: FloatArray
    mem_mhz: FloatArray
    temperature_c: FloatArray
    power_w: FloatArray
    reasons: FloatArray
    utilisation: FloatArray
    processes: tuple[Process, ...] = ()
    timed: tuple[tuple[float, float], ...] = ()
    facts: DeviceFacts = DeviceFacts()
    missing: tuple[Missing, ...] = ()

    @classmethod
    def of_rows(cls, rows: FloatArray, **others: object) -> DeviceReadings:
        """Rows [samples, 7], whose columns are the fields of DeviceSample; `others` are further fields."""
        return cls(*np.reshape(rows, (-1, len(COLUMNS))).T, **others)  # type: ignore[arg-type]

    def sample(self, index: int) -> DeviceSample:
        """One reading."""
        return DeviceSample(*(float(getattr(self, name)[index]) for name in COLUMNS))

    @classmethod
    def without(cls, reason: str) -> DeviceReadings:
        """No readings, with the reason."""
        return cls.of_rows(np.zeros((0, len(COLUMNS))), missing=(Missing("device state", reason),))

    @cached_property
    def is_timed(self) -> npt.NDArray[np.bool_]:
        """Which readings tell of a timed span: one stands for the time since the one before it.

        A span is often shorter than the time between two readings, which then would all lie beside it.
        """
        since = np.nextafter(self.t[:-1], np.inf)  # that moment itself belongs to the one before
        return self.is_timed_between(np.concatenate((self.t[:1], since)), self.t)

    def is_timed_between(self, begins: FloatArray, ends: FloatArray) -> npt.NDArray[np.bool_]:
        """Whether a timed span and each of the spans from `begins` to `ends`, [spans], have a moment in common.

        Takes no longer for a thousand timed spans than for ten: a run of minutes has as many.
        """
        timed_begins, timed_ends = self._timed_edges
        begun = np.searchsorted(timed_begins, ends, side="right")
        over = np.searchsorted(timed_ends, begins, side="left")
        return np.asarray(begun > over)

    @cached_property
    def _timed_edges(self) -> tuple[FloatArray, FloatArray]:
        """The begins of the timed spans in ascending order, and their ends."""
        spans = np.array(self.timed, dtype=np.float64).reshape(-1, 2)
        return np.sort(spans[:, 0]), np.sort(spans[:, 1])


@dataclass(frozen=True)
class DeviceWarning:
    """Something that must be said beside the result: `label` in a few words, which `text` need not begin with."""

    kind: WarningKind
    text: str
    label: str

    @classmethod
    def of(cls, kind: WarningKind, label: str, more: str) -> DeviceWarning:
        """A warning that begins with its label."""
        return cls(kind, f"{label}: {more}", label)


def find_warnings(readings: DeviceReadings) -> tuple[DeviceWarning, ...]:
    """What about the device may have changed the times; empty where nothing did, or nothing could be read."""
    return (*_clock_warnings(readings), *_throttle_warnings(readings), *_process_warnings(readings))


def judged(readings: DeviceReadings) -> tuple[DeviceReadings, tuple[DeviceWarning, ...]]:
    """What is to be kept of all readings, and said of them: for the end of a run, where none is yet to come.

    Where launches were timed and hardly a reading lies among them, nothing is known of the device: that is a reading
    that is missing, and a warning, since silence would look like a device that was steady.
    """
    warnings = find_warnings(readings)
    count = int(np.count_nonzero(readings.is_timed))
    if not readings.timed or count >= LEAST_TIMED:
        return readings, warnings
    had = f"{count} reading{'s' * (count != 1)}" if count else "no reading"
    why = "".join(f"; {missing.reason}" for missing in readings.missing if not len(readings.t))
    reason = f"{had} while launches were timed, and {LEAST_TIMED} are the fewest that tell steady clocks{why}"
    missing = (*readings.missing, Missing(UNREAD, reason))
    return replace(readings, missing=missing), (*warnings, DeviceWarning.of("unread", "device state not known", reason))


def _clock_warnings(readings: DeviceReadings) -> Iterator[DeviceWarning]:
    """A clock that moves by more than CLOCK_RANGE of its greatest value, without the rarest twentieth at either end."""
    timed = readings.is_timed
    for title, column in (("", readings.sm_mhz), ("memory ", readings.mem_mhz)):
        clocks = _known(column[timed])
        if not len(clocks):
            continue
        low, high = np.quantile(clocks, [SHARE_OF_TIME, 1 - SHARE_OF_TIME], method="nearest")
        if high - low > CLOCK_RANGE * high:
            seen = f"from {clocks.min():.0f} to {clocks.max():.0f} MHz while timed"
            yield DeviceWarning.of("clocks", f"{title}clocks not steady", seen)


def _throttle_warnings(readings: DeviceReadings) -> Iterator[DeviceWarning]:
    known = _known(readings.reasons[readings.is_timed]).astype(np.int64)
    if not len(known):
        return
    for kind, cause in _CAUSES.items():
        named = []
        for bit, name, belongs in _THROTTLES:
            share = float(_is_held(known, bit).mean())
            if belongs == kind and share > (SHARE_OF_TIME if bit & LASTING else 0):
                named.append(f"{name} in {share:.0%}" if share >= 0.01 else f"{name} in under 1%")
        if named:
            shares = f"{', '.join(named)} of the timed readings{_figures(readings, kind)}"
            yield DeviceWarning.of(kind, f"throttled by {cause}", shares)


def _is_held(reasons: npt.NDArray[np.int64], bit: int) -> npt.NDArray[np.bool_]:
    """Which of the bit masks name `bit`, and nothing that says more about it."""
    held: npt.NDArray[np.bool_] = reasons & bit != 0
    if bit == HW_SLOWDOWN:
        held &= reasons & _SAYS_MORE == 0
    return held


def _figures(readings: DeviceReadings, kind: WarningKind) -> str:
    """The reading that belongs to a cause, with its limit if there is one."""
    timed = readings.is_timed
    power, heat = _known(readings.power_w[timed]), _known(readings.temperature_c[timed])
    if kind == "power" and len(power):
        limit = readings.facts.power_limit_w
        return f", up to {power.max():.0f} W" + (f" of {limit:.0f} W" if np.isfinite(limit) else "")
    if kind == "heat" and len(heat):
        return f", up to {heat.max():.0f} °C"
    return ""


def _process_warnings(readings: DeviceReadings) -> Iterator[DeviceWarning]:
    spans = np.array([(p.first_s, p.last_s) for p in readings.processes], dtype=np.float64).reshape(-1, 2)
    together = readings.is_timed_between(spans[:, 0], spans[:, 1])
    here = [process for process, is_there in zip(readings.processes, together, strict=True) if is_there]
    if len(here) == 1:
        yield DeviceWarning.of("shared", "another process uses this GPU", here[0].text)
    elif here:
        yield DeviceWarning.of("shared", "other processes use this GPU", ", ".join(p.text for p in here))


def _known(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]
