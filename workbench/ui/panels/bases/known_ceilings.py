"""The ceilings that the window knows: the engine's own, and those kept on disk for devices of recorded runs."""

from __future__ import annotations

from workbench.run.ceilings import Ceilings, best_fit, kept_ceilings
from workbench.run.environment import DeviceInfo
from workbench.run.events import CeilingsMeasured, Ready
from workbench.run.record import RunRecord

Name = tuple[str, str, str]


class KnownCeilings:
    """Ceilings for the GPU of the shown run; the file is read once for each name, driver and torch."""

    def __init__(self) -> None:
        self._told: list[Ceilings] = []
        self._kept: dict[Name, tuple[Ceilings, ...]] = {}
        # Of the shown run's GPU, "" and None where the run does not say: uuid, power limit, and the ceilings it knew.
        self._shown: tuple[str, float | None, Ceilings | None] = ("", None, None)
        self._here: DeviceInfo | None = None  # the engine's device

    def learn(self, event: Ready | CeilingsMeasured) -> None:
        """Take what the engine knows of its device."""
        self._here = event.device if isinstance(event, Ready) else self._here
        self._told += [event.ceilings] if event.ceilings is not None else []

    def look_at(self, run: RunRecord) -> bool:
        """Learn which GPU the shown run is of; whether that was new."""
        started, state = run.started, run.device_state
        uuid = state.readings.facts.uuid if state is not None else ""
        was, self._shown = self._shown, (uuid, started.provenance.power_limit_w, started.ceilings)
        return self._shown != was

    def can_measure(self, device: DeviceInfo) -> bool:
        """Whether the engine is on that very device, and it has rates to measure."""
        return self._here is not None and device.mode == "cuda" and self._here.name == device.name

    def of(self, device: DeviceInfo) -> Ceilings | None:
        """The ceilings of `device` as the shown run had it, or None where none are known, as for an interpreter."""
        if device.mode != "cuda":
            return None
        name = (device.name, device.driver, device.torch)
        if name not in self._kept:
            self._kept[name] = kept_ceilings(*name)
        told = [entry for entry in reversed(self._told) if entry.key[:3] == name]
        uuid, limit, recorded = self._shown
        # What the engine says is of the GPU that is here, and what it measured last is the newest.
        return best_fit(told, uuid, limit) or best_fit(self._kept[name], uuid, limit) or recorded
