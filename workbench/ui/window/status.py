"""The line at the foot of the window: where things run, what the engine does, and for how long."""

from __future__ import annotations

import time

from PyQt6.QtWidgets import QLabel, QProgressBar, QStatusBar, QWidget

from workbench.analysis.numbers import duration_text
from workbench.run.environment import DeviceInfo
from workbench.run.events import CeilingsMeasured, Failed, Finished, Progress, Ready, RunEvent, Started
from workbench.words.times import steps_text


class StatusBar(QStatusBar):
    """Takes the engine's events; `tick` moves the elapsed time on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status")
        self._state = QLabel("The engine has not been started")
        self._progress = QProgressBar()
        self._progress.setFixedWidth(150)
        self._progress.setTextVisible(False)
        self._progress.hide()
        self._elapsed = QLabel()
        self._device = QLabel()
        self._versions = QLabel()
        for widget in (self._state, self._progress, self._elapsed):
            self.addWidget(widget)
        for widget in (self._device, self._versions):
            self.addPermanentWidget(widget)
        self._since: float | None = None

    def take(self, event: RunEvent) -> None:
        """Show what `event` says of the engine; most events are of the run alone."""
        match event:
            case Ready():
                self._show_device(event.device)
                self._rest("Ready")
            case Started():
                self.show_busy("Running")
            case Progress():
                self._show_progress(event)
            case Finished(seconds):
                self._rest(f"Finished in {duration_text(seconds)}")
            case Failed(kind):
                self._rest("Stopped" if kind == "cancelled" else "Failed")
            case CeilingsMeasured():
                self._rest("Measured the ceilings")

    def show_busy(self, text: str) -> None:
        """Say what goes on from now on, and count for how long."""
        self._since = time.monotonic()
        self._state.setText(text)

    def show_down(self) -> None:
        """The engine could not be started."""
        self._rest("The engine could not start; the log says why")

    def tick(self) -> None:
        """Move the elapsed time on."""
        if self._since is not None:
            self._elapsed.setText(f"{time.monotonic() - self._since:.1f} s")

    def text(self) -> str:
        """All that is shown, for tests."""
        return "  ".join(label.text() for label in (self._state, self._elapsed, self._device, self._versions))

    def _rest(self, text: str) -> None:
        self._state.setText(text)
        self._since = None
        self._elapsed.clear()
        self._progress.hide()

    def _show_progress(self, progress: Progress) -> None:
        steps = steps_text(progress)
        self._state.setText(progress.phase.capitalize() + (f": {steps}" if steps else ""))
        self._progress.setMaximum(progress.total)  # 0 of 0 shows a bar that moves without a measure
        self._progress.setValue(progress.done)
        self._progress.show()

    def _show_device(self, device: DeviceInfo) -> None:
        self._device.setText(f"{device.name}  ·  {device.mode_label}")
        self._versions.setText(f"torch {device.torch}  ·  triton {device.triton}")
