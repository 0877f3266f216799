"""Starting and stopping runs: from the form, by Run or by itself after a change, with a question before a long one."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal
from PyQt6.QtWidgets import QMessageBox, QWidget

from workbench.analysis.estimate import ASK_ABOVE_SECONDS, measured_seconds_per_tile
from workbench.analysis.numbers import duration_text
from workbench.run.events import Measured, RunEvent, Started
from workbench.run.request import RunRequest
from workbench.ui.form.controls import Controls
from workbench.ui.window.actions import Actions
from workbench.ui.worker import RunWorker

AUTO_RUN_PAUSE_MS = 300


class RunControl(QObject):
    """Hands the form's requests to the engine's thread, and keeps the commands for it enabled as they make sense.

    `submitted` comes with every request that is handed over; `said` carries a line for the user.
    """

    submitted = pyqtSignal()
    said = pyqtSignal(str)

    def __init__(self, window: QWidget, controls: Controls, worker: RunWorker, commands: Actions) -> None:
        super().__init__(window)
        self._window = window
        self._controls = controls
        self._worker = worker
        self._commands = commands
        self.is_running = False  # also while a run waits
        self._pause = QTimer(self)
        self._pause.setInterval(AUTO_RUN_PAUSE_MS)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._auto_run)
        self._run_tip = commands["run"].toolTip()
        commands["stop"].setEnabled(False)
        controls.requestChanged.connect(self._on_request_changed)

    def run(self) -> None:
        """Run what the form says, after a question if that will take long."""
        request = self._controls.request()
        if self._controls.faults():
            self.said.emit(self._controls.faults()[0].message)
            return
        seconds = self._controls.predicted_seconds()
        if seconds > ASK_ABOVE_SECONDS:
            _ask_before(self._window, seconds, lambda: self.submit(request))
        else:
            self.submit(request)

    def submit(self, request: RunRequest) -> None:
        """Run `request` next."""
        self.show_running(True)
        self.submitted.emit()
        self._worker.submit(request)

    def stop(self) -> None:
        """Stop the run; what it has measured stays."""
        self._pause.stop()
        self._worker.stop()

    def set_auto(self, on: bool) -> None:
        """Run by itself after every change of the form from now on, and at once; or no longer."""
        if on:
            self._auto_run()
        else:
            self._pause.stop()

    def take(self, event: RunEvent) -> None:
        """See a run begin, and learn from the interpreter's own times how long the next one will take."""
        if isinstance(event, Started):
            self.show_running(True)
        if isinstance(event, Measured):
            measurement = event.measurement
            if measurement.role == "kernel" and measurement.latency.clock == "host":
                self._controls.set_seconds_per_tile(measured_seconds_per_tile(measurement))

    def _on_request_changed(self, request: RunRequest | None) -> None:
        if self._commands["auto"].isChecked() and request is not None:
            self._pause.start()
        run, faults = self._commands["run"], self._controls.faults()
        run.setEnabled(request is not None)
        run.setToolTip(f"Cannot run: {faults[0].message}" if faults else self._run_tip)

    def _auto_run(self) -> None:
        """Run without a question: what would take long waits for a press of Run."""
        request = self._controls.request()
        if self._controls.faults():
            return
        seconds = self._controls.predicted_seconds()
        if seconds > ASK_ABOVE_SECONDS:
            about = duration_text(seconds)
            self.said.emit(f"Auto-run waits: about {about} on the interpreter. Press Run to start it.")
        else:
            self.submit(request)

    def show_running(self, on: bool) -> None:
        """Stop works while a run goes on, and while one waits behind it."""
        self.is_running = on
        self._commands["stop"].setEnabled(on)


def _ask_before(parent: QWidget, seconds: float, go_on: Callable[[], None]) -> None:
    """Ask whether to begin a run of about `seconds` on the interpreter; `go_on` is called if so."""
    box = QMessageBox(parent)
    box.setObjectName("long_run")
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle("A long run")
    box.setText(f"This will take about {duration_text(seconds)} on the interpreter.")
    box.setInformativeText("A smaller M or N, or larger tiles, take less. You can stop the run at any time.")
    run = box.addButton("Run anyway", QMessageBox.ButtonRole.AcceptRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.buttonClicked.connect(lambda button: go_on() if button is run else None)
    box.open()
