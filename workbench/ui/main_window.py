"""The window: a form, docks of panels, and one headline, fed by the engine's events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QSettings, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QAction, QCloseEvent
from PyQt6.QtWidgets import QApplication, QMainWindow, QMessageBox, QSizePolicy, QToolBar, QWidget

from workbench.estimate import ASK_ABOVE_SECONDS, measured_seconds_per_tile
from workbench.library import Library
from workbench.model import (
    Failed,
    Finished,
    Log,
    Measured,
    Ready,
    RunEvent,
    RunRecord,
    RunRequest,
    Started,
)
from workbench.presets import WELCOME, find_preset
from workbench.session import SUFFIX, SessionError
from workbench.ui import files, help_texts
from workbench.ui.actions import Actions
from workbench.ui.bridge import EngineDown, Kept, Rested, RunWorker
from workbench.ui.controls import Controls
from workbench.ui.docks import Docks
from workbench.ui.panels import PANELS
from workbench.ui.panels.panel import Panel
from workbench.ui.pictures import PictureError, copy_picture, save_picture, take_picture
from workbench.ui.results_table import ResultsTable
from workbench.ui.status_bar import StatusBar
from workbench.ui.theme import Theme, apply_theme, load_theme
from workbench.ui.verdict import Verdict
from workbench.ui.words import duration_text

FRAME_MS = 16  # one panel a frame, so that each is drawn about 20 times a second
AUTO_RUN_PAUSE_MS = 300
DEFAULT_SIZE = (1440, 900)


class MainWindow(QMainWindow):
    """Shows one run at a time: the live one, or one chosen from the table of runs.

    `settled` follows each run that has ended and is kept.
    """

    settled = pyqtSignal(object)  # RunRecord
    troubled = pyqtSignal(str, str)  # details for the log, and a line

    def __init__(self, library: Library, worker: RunWorker, settings: QSettings, theme: Theme) -> None:
        super().__init__()
        self.setWindowTitle("Tilescope")
        self.resize(*DEFAULT_SIZE)
        self._library = library
        self._worker = worker
        self._settings = settings
        self._theme = theme
        self._ready: Ready | None = None
        self._running = False
        self._shown: RunRecord | None = None  # a run chosen from the table; None while the live one is shown
        self._welcome = False
        self._build()
        self._first_request = self.controls.request()
        self._connect()
        self._restore()

    def start(self, request: RunRequest | None) -> None:
        """Start the engine, and a first run: `request`, or None for one that suits the device once it is known."""
        self._welcome = request is None
        self.status.show_starting()
        if request is not None:
            self.controls.set_request(request)
            self._submit(request)
        # After the first frame: the window appears before torch is imported beside it.
        QTimer.singleShot(0, self._worker.start)

    def run(self) -> None:
        """Run what the form says, after a question if that will take long."""
        request = self.controls.request()
        if self.controls.faults():
            self._say(self.controls.faults()[0].message)
            return
        seconds = self.controls.predicted_seconds()
        if seconds > ASK_ABOVE_SECONDS:
            self._ask_before(request, seconds)
        else:
            self._submit(request)

    def stop(self) -> None:
        """Stop the run; what it has measured stays."""
        self._auto_pause.stop()
        self._worker.stop()

    def show_record(self, record: RunRecord) -> None:
        """Show a run of the table in every panel."""
        try:
            whole = self._library.load(record)
        except SessionError as error:
            self._say(str(error))
            return
        self._shown = record
        self._welcome = False
        where = f"recording: {record.source}, {record.started.device.name}, {record.started.started_at[:10]}"
        self._replay(whole.events(), where if record.source else "")

    def open_recording(self, path: Path) -> RunRecord:
        """Add a recording's runs to the table and show its last finished one, else its last.

        Raises SessionError if it cannot be read.
        """
        runs = self._library.open_recording(path)
        self.results.set_records(self._library.records())
        self._tell_history()
        last = next((run for run in reversed(runs) if isinstance(run.end, Finished)), runs[-1])
        self.results.select((last.source, last.run_id))
        self.show_record(last)
        return last

    def widget(self, name: str) -> QWidget:
        """The panel, form or table called `name`, brought to the front. KeyError if there is none."""
        dock = self.docks.dock(name)
        dock.show()
        dock.raise_()
        return self._widgets()[name]

    def command(self, name: str) -> QAction:
        """The action called `name` in COMMANDS."""
        return self._commands[name]

    def is_started(self) -> bool:
        """Whether the engine's thread has been started."""
        return self._worker.isRunning()

    def is_running(self) -> bool:
        """Whether a run goes on or waits."""
        return self._running

    def engine_pid(self) -> int | None:
        """The process id of the engine, None where there is none."""
        return self._worker.engine_pid

    def session_path(self) -> Path:
        """The file in which this session's runs are kept."""
        return self._library.session.path

    def save_session(self, path: Path) -> int:
        """Write this session's runs to `path`; returns their number. Raises SessionError."""
        return self._library.save_copy(path)

    def widget_names(self) -> tuple[str, ...]:
        """The names that `widget` takes."""
        return tuple(self._widgets())

    def report(self, details: str, line: str) -> None:
        """Put `details` into the log and say `line`."""
        self._panels["log"].take(Log(details))
        self._say(line)

    def flush(self) -> None:
        """Draw now what the next frame would draw."""
        while self._ended:
            self._on_kept(self._ended.popleft())
        for panel in self._panels.values():
            panel.tick()
        self.verdict.tick()
        self.status.tick()

    def set_theme(self, theme: Theme) -> None:
        """Change the whole window's colours."""
        self._theme = theme
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, theme)
        self._commands.apply_theme(theme)
        self.verdict.apply_theme(theme)
        self.results.apply_theme(theme)
        for panel in self._panels.values():
            panel.apply_theme(theme)
        self._settings.setValue("theme", theme.name)

    def closeEvent(self, a0: QCloseEvent | None) -> None:
        """Keep the layout, end the engine, and let what goes on be kept."""
        self.docks.save()
        self._frames.stop()
        self._auto_pause.stop()
        self.hide()
        self._worker.close()
        super().closeEvent(a0)

    def _build(self) -> None:
        theme = self._theme
        self._commands = Actions(self, theme)
        self.docks = Docks(self, self._settings)
        self.controls = Controls()
        self.results = ResultsTable(theme)
        self.verdict = Verdict(theme)
        self.status = StatusBar()
        self.setStatusBar(self.status)
        self._panels: dict[str, Panel] = {panel.name: panel(theme) for panel in PANELS}
        titles = {"controls": "Setup", "results": self.results.title, **{p.name: p.title for p in PANELS}}
        for name, widget in self._widgets().items():
            self.docks.add(name, titles[name], widget)
        self._turns = deque(self._panels.values())
        self._ended: deque[Kept] = deque()
        self._build_tool_bar()
        self._build_menus()
        self._frames = QTimer(self)
        self._frames.setInterval(FRAME_MS)
        self._auto_pause = QTimer(self)
        self._auto_pause.setInterval(AUTO_RUN_PAUSE_MS)
        self._auto_pause.setSingleShot(True)
        self.results.set_records(self._library.records())

    def _widgets(self) -> dict[str, QWidget]:
        """Everything that stands in a dock, by the dock's name."""
        return {"controls": self.controls, **self._panels, "results": self.results}

    def _build_tool_bar(self) -> None:
        bar = QToolBar("Run")
        bar.setObjectName("tool_bar")
        bar.setMovable(False)
        bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        for name in ("run", "stop", "auto"):
            bar.addAction(self._commands[name])
        bar.addSeparator()
        bar.addWidget(self.verdict)
        self.verdict.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.addToolBar(bar)

    def _build_menus(self) -> None:
        menus = self.menuBar()
        assert menus is not None
        layout = {
            "&File": ("open", "save", None, "screenshot", "panel pictures", None, "quit"),
            "&Run": ("run", "stop", "auto"),
            "&View": ("docks", None, "theme", "reset"),
            "&Help": ("keys", "about"),
        }
        for title, names in layout.items():
            menu = menus.addMenu(title)
            assert menu is not None
            for name in names:
                if name is None:
                    menu.addSeparator()
                elif name == "docks":
                    for dock in self.docks.all():
                        menu.addAction(dock.toggleViewAction())
                elif name == "panel pictures":
                    pictures = menu.addMenu("Picture of a panel")
                    assert pictures is not None
                    for name, widget in self._widgets().items():
                        pictures.addAction(
                            f"{self.docks.dock(name).windowTitle()}…", partial(self._save_picture_of, widget)
                        )
                else:
                    menu.addAction(self._commands[name])

    def _connect(self) -> None:
        self._commands.connect(
            run=self.run,
            stop=self.stop,
            auto=self._on_auto,
            open=self._choose_recording,
            save=self._save_session,
            screenshot=lambda: self._save_picture_of(self),
            quit=self.close,
            reset=self.docks.arrange,
            theme=lambda light: self.set_theme(load_theme("light" if light else "dark")),
            keys=lambda: help_texts.show_keys(self),
            about=lambda: help_texts.show_about(self, self._ready),
        )
        self._worker.arrived.connect(self._take)
        self.troubled.connect(self.report)
        self.controls.requestChanged.connect(self._on_request_changed)
        self.controls.deviceChanged.connect(self._worker.use_device)
        self.results.recordSelected.connect(self.show_record)
        self.results.settingsRequested.connect(self.controls.set_request)
        self._frames.timeout.connect(self._on_frame)
        self._auto_pause.timeout.connect(self._auto_run)
        self._frames.start()

    def _restore(self) -> None:
        self._commands["theme"].setChecked(self._theme.name == "light")
        self._commands["stop"].setEnabled(False)
        self.docks.arrange()
        self.docks.restore()
        self._tell_history()

    def _take(self, event: RunEvent | Kept | EngineDown | Rested) -> None:
        """One event of the engine; panels only store it, and draw on the next frame."""
        if isinstance(event, Kept):
            self._ended.append(event)
            return
        if isinstance(event, EngineDown):
            self._on_engine_down(event.failure)
            return
        if isinstance(event, Rested):
            self._show_running(False)
            return
        self.status.take(event)
        if isinstance(event, Ready):
            self._on_ready(event)
        if isinstance(event, Log):
            self._panels["log"].take(event)
        elif self._shown is None:
            self._show_event(event)
        self._learn(event)
        if isinstance(event, Started):
            self._show_running(True)

    def _on_frame(self) -> None:
        """Do one thing a frame, in turn: all that a run's end changes, with its painting, would be a visible gap."""
        self.status.tick()
        if self.verdict.tick():
            return
        if self._ended:
            self._on_kept(self._ended.popleft())
            return
        for _ in range(len(self._turns)):
            self._turns.rotate(-1)
            if self._turns[-1].tick():
                return

    def _show_event(self, event: RunEvent) -> None:
        self.verdict.take(event)
        for panel in self._panels.values():
            panel.take(event)

    def _replay(self, events: tuple[RunEvent, ...], source: str) -> None:
        self.verdict.show_source(source)
        for event in events:
            self.verdict.take(event)
            for name, panel in self._panels.items():
                if name != "log":  # the log is of the engine, not of a run
                    panel.take(event)

    def _on_engine_down(self, failure: Failed) -> None:
        """The engine could not start, with no run asked for: what is shown stays."""
        self.status.show_down()
        self.report(f"{failure.traceback}\n", f"{failure.message}. {failure.remedy}".strip())

    def _on_ready(self, ready: Ready) -> None:
        self._ready = ready
        self.controls.set_ready(ready)
        if self._welcome and not self._library.records():
            preset = find_preset(WELCOME[ready.device.mode])
            base = self.controls.request()
            self.controls.set_request(
                RunRequest(preset.problem, preset.tile, device=base.device, rtol=preset.rtol, atol=preset.atol)
            )
            self.run()

    def _on_kept(self, kept: Kept) -> None:
        summary = self._library.add(kept.record, saved=not kept.problem)
        self.results.upsert(summary)
        if self._shown is None:
            self.results.select((summary.source, summary.run_id))
        self._tell_history()
        if kept.problem:
            self._say(f"{kept.problem} The run is held in memory: File > Save session as… keeps it.")
        self.settled.emit(kept.record)

    def _learn(self, event: RunEvent) -> None:
        """The interpreter's own times make the next estimate better."""
        if (
            isinstance(event, Measured)
            and event.measurement.role == "kernel"
            and event.measurement.latency.clock == "host"
        ):
            self.controls.set_seconds_per_tile(measured_seconds_per_tile(event.measurement))

    def _on_request_changed(self, request: RunRequest | None) -> None:
        if self._commands["auto"].isChecked() and request is not None:
            self._auto_pause.start()
        self._welcome = self._welcome and request is not None and request == self._first_request
        self._commands["run"].setEnabled(request is not None)

    def _on_auto(self, on: bool) -> None:
        if on:
            self._auto_run()
        else:
            self._auto_pause.stop()

    def _auto_run(self) -> None:
        """Run without a question: what would take long waits for a press of Run."""
        request = self.controls.request()
        if self.controls.faults():
            return
        seconds = self.controls.predicted_seconds()
        if seconds > ASK_ABOVE_SECONDS:
            self._say(f"Auto-run waits: about {duration_text(seconds)} on the interpreter. Press Run to start it.")
        else:
            self._submit(request)

    def _submit(self, request: RunRequest) -> None:
        self._shown = None
        self._welcome = False
        self._show_running(True)
        self.verdict.show_source("")
        self.status.show_waiting()
        self._worker.submit(request)

    def _show_running(self, on: bool) -> None:
        """Stop works while a run goes on, and while one waits behind it."""
        self._running = on
        self._commands["stop"].setEnabled(on)

    def _ask_before(self, request: RunRequest, seconds: float) -> None:
        box = QMessageBox(self)
        box.setObjectName("long_run")
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("A long run")
        box.setText(f"This will take about {duration_text(seconds)} on the interpreter.")
        box.setInformativeText("A smaller M or N, or larger tiles, take less. You can stop the run at any time.")
        run = box.addButton("Run anyway", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.buttonClicked.connect(lambda button: self._submit(request) if button is run else None)
        box.open()

    def _tell_history(self) -> None:
        for panel in self._panels.values():
            panel.set_history(self._library.records())

    def _choose_recording(self) -> None:
        path = files.ask_for_recording(self)
        if path is not None:
            self._try(lambda: self.open_recording(path))

    def _save_session(self) -> None:
        path = files.ask_where_to_save(self, "Save session", f"session{SUFFIX}", f"Tilescope sessions (*{SUFFIX})")
        if path is not None:
            self._try(lambda: self._say(f"Saved {self.save_session(path)} run(s) to {path}"))

    def _save_picture_of(self, widget: QWidget) -> None:
        """The clipboard first: whoever cancels the file dialog has the picture all the same."""
        self.flush()
        image = take_picture(widget)
        copy_picture(image)
        self._say("The picture is on the clipboard")
        path = files.ask_where_to_save(self, "Save picture", "tilescope.png", "Pictures (*.png *.jpg)")
        if path is not None and self._try(lambda: save_picture(image, path)):
            self._say(f"The picture is on the clipboard and in {path}")

    def _try(self, action: Callable[[], object]) -> bool:
        """Do `action`; if a file stands in its way, say so."""
        try:
            action()
        except (SessionError, PictureError) as error:
            self._say(str(error))
            return False
        return True

    def _say(self, text: str) -> None:
        """A line that is read where the eye already is, and stays in the log."""
        self.status.showMessage(text, 8000)
        self._panels["log"].take(Log(f"{text}\n"))
