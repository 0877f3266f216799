"""A source of readings that replays a recorded trace, for a monitor without a GPU."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.engine.device.nvml import READINGS, Tenant
from workbench.run.device_state import DeviceFacts

TRACES = Path(__file__).resolve().parents[2] / "traces"
# In a recording these stand for the number of the process that launches kernels.
OWN = "own"
SAY_HANGING = "TILESCOPE_TEST_HANGS"
# NVML's units, and what to multiply them by.
SCALES = {"power_w": ("power_mw", 1e-3)}


@dataclass(frozen=True)
class Replay:
    """Which trace to replay; `launcher` stands for the recorded process.

    `lacks` is a reading without value, or "facts", for which there is no answer.
    """

    name: str
    launcher: int
    lacks: str = ""


class RecordedSource:
    """Gives the readings of a trace one after the other, and the last one ever after."""

    def __init__(self, replay: Replay) -> None:
        self.missing: dict[str, str] = {}
        self._replay = replay
        self._data = load(replay.name)
        self._next = 0

    def facts(self) -> DeviceFacts:
        if self._replay.lacks == "facts":
            time.sleep(3600)  # a driver that stops answering
        return facts_of(self._data)

    def read(self) -> tuple[float, ...]:
        columns = columns_of(self._data)
        at = min(self._next, len(columns["t"]) - 1)
        self._next += 1
        if self._replay.lacks:
            self.missing[self._replay.lacks] = "Not Supported"
        return tuple(float("nan") if name == self._replay.lacks else columns[name][at] for name in READINGS)

    def tenants(self) -> tuple[Tenant, ...]:
        return tuple(
            Tenant(self._replay.launcher if p["pid"] == OWN else p["pid"], p["name"], float(p["used_bytes"]))
            for p in self._data["processes"]
        )


def load(name: str) -> dict[str, Any]:
    """A recorded trace as it lies on disk: columns in NVML's own units, times in seconds since the run started."""
    return dict(json.loads((TRACES / f"{name}.json").read_text(encoding="utf-8")))


def columns_of(data: dict[str, Any]) -> dict[str, list[float]]:
    """The columns of a DeviceReadings."""
    readings = data["readings"]
    named = {name: SCALES.get(name, (name, 1.0)) for name in ("t", *READINGS)}
    return {name: [value * scale for value in readings[key]] for name, (key, scale) in named.items()}


def facts_of(data: dict[str, Any]) -> DeviceFacts:
    """What did not change while it was recorded."""
    facts = dict(data["facts"])
    return DeviceFacts(power_limit_w=facts.pop("power_limit_mw") / 1e3, **facts)


def open_trace(replay: Replay) -> RecordedSource:
    """What the monitor's process calls."""
    return RecordedSource(replay)


def fail_to_open(message: str) -> RecordedSource:
    """A device that is not there."""
    raise OSError(message)


def open_and_hang(replay: Replay) -> RecordedSource:
    """A driver that does not answer; the file that SAY_HANGING names says that it has begun not to."""
    if path := os.environ.get(SAY_HANGING):
        Path(path).touch()
    time.sleep(3600)
    raise AssertionError


def open_and_die(replay: Replay) -> RecordedSource:
    """A library that ends the process."""
    os._exit(9)
