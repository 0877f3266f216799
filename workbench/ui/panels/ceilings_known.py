"""The ceilings that the window knows: the engine's own, and those kept on disk for devices of recorded runs."""

from __future__ import annotations

from workbench.ceilings import Ceilings, load_ceilings
from workbench.model import CeilingsMeasured, DeviceInfo, Ready

Key = tuple[str, str, str]


class KnownCeilings:
    """Ceilings by device, driver and torch; the file is read once for each."""

    def __init__(self) -> None:
        self._known: dict[Key, Ceilings | None] = {}

    def take(self, event: Ready | CeilingsMeasured) -> None:
        """Learn what the engine says."""
        if event.ceilings is not None:
            self._known[event.ceilings.key] = event.ceilings

    def of(self, device: DeviceInfo) -> Ceilings | None:
        """The ceilings of `device`, or None where none are kept, as for an interpreter."""
        if device.mode != "cuda":
            return None
        key = (device.name, device.driver, device.torch)
        if key not in self._known:
            self._known[key] = load_ceilings(*key)
        return self._known[key]
