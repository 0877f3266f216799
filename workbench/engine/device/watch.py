"""Watches the device around the timing of one run, and tells what it did."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from workbench.analysis.caveats import FLATTERING
from workbench.engine.device.monitor import DeviceMonitor
from workbench.run.device_state import DeviceReadings, DeviceWarning, find_warnings, judged
from workbench.run.events import DeviceState, Send
from workbench.run.request import Problem

# All readings are sent, and the less often the more there are: after a fiftieth of the time since the beginning.
TELL_EVERY_S, TELL_EVERY_SHARE = 0.5, 0.02
NOTHING_TO_READ = "the interpreter runs on the CPU, whose clocks are not read"


class Watch:
    """Sends DeviceState events: partial ones now and then, the complete one at the end."""

    def __init__(
        self,
        monitor: DeviceMonitor | None,
        problem: Problem,
        send: Send,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without a monitor there are no readings, and they say why."""
        self._monitor = monitor
        flattery = FLATTERING.get(problem.inputs)
        self._always: tuple[DeviceWarning, ...] = () if flattery is None else (flattery,)
        self._send = send
        self._now = now
        self._began = self._told_at = 0.0
        self._is_open = False

    def say(self, warnings: tuple[DeviceWarning, ...]) -> None:
        """Say these too, with whatever the device does."""
        self._always += warnings

    def begin(self) -> None:
        """Read from now on."""
        self._began = self._told_at = self._now()
        self._is_open = True
        if self._monitor is not None:
            self._monitor.begin()

    def timed(self) -> AbstractContextManager[None]:
        """To be entered around each timed region."""
        return nullcontext() if self._monitor is None else self._monitor.timed()

    def tell(self) -> None:
        """Send the readings until now, if the last ones were sent some time ago. Not for inside a timed region."""
        now = self._now()
        due = max(TELL_EVERY_S, TELL_EVERY_SHARE * (now - self._began))
        if self._monitor is not None and now - self._told_at >= due:
            self._told_at = now
            readings = self._monitor.so_far()
            self._tell(readings, find_warnings(readings))

    def end(self) -> None:
        """Stop reading, and send all readings; does nothing a second time."""
        if self._is_open:
            self._is_open = False
            nothing = DeviceReadings.without(NOTHING_TO_READ)
            self._tell(*judged(nothing if self._monitor is None else self._monitor.end()))

    def _tell(self, readings: DeviceReadings, found: tuple[DeviceWarning, ...]) -> None:
        self._send(DeviceState(readings, (*self._always, *found)))
