"""The whole window, redrawn without a pause while it runs what it is given: the busiest that it can be for a run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtCore import QEvent, QEventLoop, QObject, QSettings, Qt, QTimer
from PyQt6.QtWidgets import QApplication, QWidget

from workbench.cli.app import make_application, make_window
from workbench.run.record import RunRecord
from workbench.run.request import RunRequest
from workbench.run.session import Session
from workbench.ui.collector import spare_the_collector
from workbench.ui.sizes import DEFAULT_SIZE

FRAME_MS = 16
RUN_MS = 60_000


class RefusedError(Exception):
    """The form says that the request cannot run on this device; its line is the message."""


@dataclass(frozen=True)
class WindowRun:
    """A run in the window, with how often the whole window was asked for and painted from its start to its end."""

    record: RunRecord
    frames: int
    repaints: int
    seconds: float

    @property
    def rate(self) -> float:
        """Repaints a second."""
        return self.repaints / self.seconds


class Paints(QObject):
    """Counts the paint events that a widget really gets."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:  # noqa: N802
        """Let every event pass."""
        self.count += a1 is not None and a1.type() == QEvent.Type.Paint
        return False


class RedrawnWindow:
    """The window in its usual size, which paints all of itself 60 times a second; its files are in `folder`.

    A run may take `run_ms`.
    """

    def __init__(self, folder: Path, device: str, run_ms: int = RUN_MS) -> None:
        self._run_ms = run_ms
        self._app = make_application()
        settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
        self.window = make_window(Session(folder / "redrawn.tilescope"), settings, "dark", device)
        self.window.resize(*DEFAULT_SIZE)
        self.window.show()
        spare_the_collector()  # as open_window does
        # The panel lies deep in the window: that it is painted shows that more than the frame around it was.
        self._paints = Paints(self.window.widget("latency"))
        self._frames = QTimer()
        self._frames.setTimerType(Qt.TimerType.PreciseTimer)
        self._frames.timeout.connect(self._ask)
        self._asked = 0

    def run(self, request: RunRequest) -> WindowRun:
        """Run `request` as a person does: by the form, with Best tile where it leaves the tile open, and Run.

        Raises RefusedError where the form refuses it, and TimeoutError for a run without an end,
        after which the window is good for nothing more.
        """
        if self.window._worker.isRunning():
            self._fill_in(request)
        began, before, self._asked = time.perf_counter(), self._paints.count, 0
        self._frames.start(FRAME_MS)
        try:
            record = self._to_the_end(request)
        finally:
            self._frames.stop()
        return WindowRun(record, self._asked, self._paints.count - before, time.perf_counter() - began)

    def close(self) -> None:
        """End the window and its engine."""
        self._frames.stop()
        self.window.close()
        self.window.deleteLater()
        QApplication.processEvents()

    def _ask(self) -> None:
        self._asked += 1
        self.window.update()

    def _fill_in(self, request: RunRequest) -> None:
        self.window.controls.set_request(request)
        if request.auto_tile:
            self.window.command("best").trigger()
        faults = self.window.controls.faults()
        if faults:
            raise RefusedError(faults[0].message)

    def _to_the_end(self, request: RunRequest) -> RunRecord:
        ended: list[RunRecord] = []
        loop = QEventLoop()
        self.window.settled.connect(ended.append)
        self.window.settled.connect(loop.quit)
        QTimer.singleShot(self._run_ms, loop.quit)
        try:
            if self.window._worker.isRunning():
                self.window.run()
            else:
                self.window.start(request)
            loop.exec()
        finally:
            self.window.settled.disconnect(ended.append)
            self.window.settled.disconnect(loop.quit)
        if not ended:
            raise TimeoutError(f"no end after {self._run_ms / 1e3:.0f} s: {self.window.status.text()}")
        return ended[0]
