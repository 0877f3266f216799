"""Measuring the device's ceilings: when it can be asked for, and what is said while it goes on."""

from __future__ import annotations

from collections.abc import Callable

from workbench.run.ceilings import NOT_MEASURED
from workbench.run.events import CeilingsMeasured, Failed, Finished, Progress, Ready, RunEvent
from workbench.ui.window.actions import Actions
from workbench.ui.window.stage import Stage
from workbench.ui.window.status import StatusBar
from workbench.ui.worker import RunWorker


class CeilingsControl:
    """Hands the wish to the engine's thread, and its events to the panels. `say` takes a line for the user."""

    def __init__(
        self, worker: RunWorker, commands: Actions, stage: Stage, status: StatusBar, say: Callable[[str], None]
    ) -> None:
        self._worker = worker
        self._command = commands["ceilings"]
        self._stop = commands["stop"]
        self._stage = stage
        self._status = status
        self._say = say
        self._can = False
        self._command.setEnabled(False)
        self._tip = self._command.toolTip()

    def learn(self, ready: Ready) -> None:
        """Offer it on a GPU, and say elsewhere why not."""
        self._can = ready.device.mode == "cuda"
        self._command.setEnabled(self._can)
        self._command.setToolTip(self._tip if self._can else f"Ceilings: {NOT_MEASURED}")
        self._stage.hear(ready)

    def measure(self) -> None:
        """Measure as soon as no run goes on."""
        self._show(True)
        self._worker.measure_ceilings()

    def take(self, event: RunEvent) -> None:
        """One event of the measuring."""
        match event:
            case Progress():
                self._status.take(event)
                self._stage.show_measuring(True, event)
            case CeilingsMeasured(ceilings):
                self._status.take(event)
                self._stage.hear(event)
                noted = f"; {'; '.join(ceilings.notes)}" if ceilings.notes else ""
                self._say(f"The ceilings of {ceilings.device} are measured{noted}")
            case Failed():
                self._show(False)
                self._status.take(event)
                if event.kind == "cancelled":
                    self._say(f"The ceilings were not measured: {event.message}")
            case Finished():
                self._show(False)

    def _show(self, on: bool) -> None:
        self._command.setEnabled(self._can and not on)
        self._stop.setEnabled(on)
        self._stage.show_measuring(on)
