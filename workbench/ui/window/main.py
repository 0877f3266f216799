"""The window: a form, docks of panels, and one headline, fed by the engine's events."""

from __future__ import annotations

from collections import deque
from functools import partial
from pathlib import Path
from typing import assert_never

from PyQt6.QtCore import QSettings, QTimer, pyqtSignal
from PyQt6.QtGui import QAction, QCloseEvent, QImage
from PyQt6.QtWidgets import QApplication, QMainWindow, QWidget

from workbench.run.events import Failed, Log, Progress, Ready, Started
from workbench.run.library import Copied, Library
from workbench.run.record import RunRecord
from workbench.run.request import RunRequest
from workbench.ui.files.exporting import Exporting
from workbench.ui.files.filing import Filing
from workbench.ui.files.pictures import DEFAULT_SCALE
from workbench.ui.files.recent import FileKind, Recent
from workbench.ui.form.controls import Controls
from workbench.ui.notices.bar import NoticeBar
from workbench.ui.notices.notice import Topic
from workbench.ui.places import Docked
from workbench.ui.runs.table import ResultsTable
from workbench.ui.sizes import DEFAULT_SIZE, LEAST_SIZE
from workbench.ui.theme import Theme, apply_theme, load_theme
from workbench.ui.window import help as help_texts
from workbench.ui.window.actions import Actions
from workbench.ui.window.ceilings import CeilingsControl
from workbench.ui.window.comparing import Comparing
from workbench.ui.window.control import RunControl
from workbench.ui.window.editing import Editing
from workbench.ui.window.first_run import FirstRun
from workbench.ui.window.layout.areas import Areas
from workbench.ui.window.layout.docks import Docks
from workbench.ui.window.marks import MarksControl
from workbench.ui.window.menus import build_menus, build_tool_bar, join_workspaces
from workbench.ui.window.pictures import Pictures
from workbench.ui.window.sessions.opening import OpenFiles
from workbench.ui.window.sessions.resume import Resume
from workbench.ui.window.shown import ShownRun
from workbench.ui.window.stage import Stage
from workbench.ui.window.status import StatusBar
from workbench.ui.window.voice import Voice
from workbench.ui.worker import EngineDown, Grown, Kept, OfCeilings, Rested, RunWorker

FRAME_MS = 16  # one panel a frame, so that each is drawn about 20 times a second


class MainWindow(QMainWindow):
    """Shows one run at a time: the live one, or one chosen from the table of runs.

    `settled` follows each run that has ended and is kept.
    """

    settled = pyqtSignal(object)  # RunRecord
    troubled = pyqtSignal(str, str)  # details for the log, and a line

    def __init__(self, library: Library, worker: RunWorker, settings: QSettings, theme: Theme) -> None:
        super().__init__()
        self.setMinimumSize(*LEAST_SIZE)
        self.resize(*DEFAULT_SIZE)
        self._library = library
        self._worker = worker
        self._settings = settings
        self._theme = theme
        self._ready: Ready | None = None
        self._build()
        self._connect()
        self._restore()

    def start(self, request: RunRequest | None) -> None:
        """Start the engine, and a first run: `request`, or None for one that suits the device once it is known."""
        self.status.show_busy("Starting the engine…")
        if request is not None:
            self._first.start(request)
        elif self._library.records().where(source=""):
            self._shown.show_last()
        else:
            self._first.go_on(self._resume, lambda path: self._filing.do(partial(self._files.open, path)), self._voice)
        # After the first frame: the window is not kept from appearing by what the engine says.
        QTimer.singleShot(0, self._worker.speak)

    def run(self) -> None:
        """Run what the form says, after a question if that will take long."""
        self._runs.run()

    def show_record(self, record: RunRecord) -> None:
        """Show a run of the table in every panel."""
        self._shown.show(record)

    def open_recording(self, path: Path) -> RunRecord:
        """Add a recording's runs to the table and show its last finished one, else its last.

        Raises SessionError if it cannot be read.
        """
        return self._files.open_recording(path)

    def open_file(self, path: Path) -> None:
        """Go on with a session, or show a recording: the file says which it is. Raises SessionError."""
        self._files.open(path)

    def widget(self, name: str) -> QWidget:
        """The panel, form or table called `name`, brought to the front. KeyError if there is none."""
        dock = self.docks.dock(name)
        dock.show()
        dock.raise_()
        widget = dock.widget()
        assert widget is not None
        return widget

    def command(self, name: str) -> QAction:
        """The action called `name` in COMMANDS."""
        return self._commands[name]

    def is_running(self) -> bool:
        """Whether a run goes on or waits."""
        return self._runs.is_running

    def engine_pid(self) -> int | None:
        """The process id of the engine, None where there is none."""
        return self._worker.engine_pid

    def session_path(self) -> Path:
        """The file in which this session's runs are kept."""
        return self._library.session.path

    def save_session(self, path: Path, as_recording: bool = False) -> Copied:
        """Write this session's runs to `path`; returns how many. Raises SessionError."""
        return self._library.save_copy(path, sealed=as_recording)

    def widget_names(self) -> tuple[str, ...]:
        """The names that `widget` takes."""
        return tuple(widget.name for widget in self._contents())

    def flush(self) -> None:
        """Draw now what the next frame would draw."""
        self._shown.finish()
        while self._ended:
            self._on_kept(self._ended.popleft())
        self._stage.flush()
        self.status.tick()

    def set_theme(self, theme: Theme) -> None:
        """Change the whole window's colours."""
        self._theme = theme
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, theme)
        self._commands.apply_theme(theme)
        self._stage.apply_theme(theme)
        self.notices.apply_theme(theme)
        self.results.apply_theme(theme)
        self._settings.setValue("theme", theme.name)

    def closeEvent(self, a0: QCloseEvent | None) -> None:
        """Keep the layout, end the engine, and let what goes on be kept."""
        self.docks.save()
        self._resume.keep(self.controls.request())
        self.results.header.save(self._settings)
        self._frames.stop()
        self._runs.set_auto(False)
        self.hide()
        self._worker.close()
        super().closeEvent(a0)

    def _build(self) -> None:
        theme = self._theme
        self._commands = Actions(self, theme)
        self.docks = Docks(self, self._settings)
        self.controls = Controls()
        self.results = ResultsTable(theme)
        self._stage = Stage(theme)
        self.headline = self._stage.headline
        self.status = StatusBar()
        self.setStatusBar(self.status)
        self.notices = NoticeBar(theme)
        self._voice = Voice(self.status, self.notices, self._stage)
        for widget in self._contents():
            self.docks.add(widget)
        self._ended: deque[Kept] = deque()
        recent = Recent(self._settings)
        self._filing = Filing(self, recent, self._voice.say, self._voice.tell)
        self._exporting = Exporting(self, recent, self._voice.say, self._voice.tell)
        self._frames = QTimer(self)
        self._frames.setInterval(FRAME_MS)
        self._pictures = Pictures(self, self._stage, self.results, self._frames, self._filing.save_picture)
        build_tool_bar(self, self._commands, self.headline, self.notices)
        build_menus(self, self._commands, self.docks, self._contents(), self._pictures.take)
        join_workspaces(self._commands, self.docks)
        self._areas = Areas(self, self.docks.named(), self.headline)
        self._runs = RunControl(self, self.controls, self._worker, self._commands)
        self._editing = Editing(self, self._commands, self.controls, self._voice.say)
        self._first = FirstRun(self.controls, self._runs, self._library)
        self._ceilings = CeilingsControl(self._worker, self._commands, self._stage, self.status, self._voice.say)
        setup = self.docks.dock(self.controls.name)
        self._resume = Resume(self._settings, self._library, recent)
        self._comparing = Comparing(self.results, self._stage, self.docks, self._runs.submit, self._library.load)
        self._shown = ShownRun(self, self._library, self.results, self._stage, self.controls, setup, self._voice)
        self._files = OpenFiles(self, self._library, self._worker, self._shown, self._filing, recent, self._voice)
        history = self._editing.undo
        marked = (self._library, self.results, self._shown, history, self._commands, self.widget, self._voice.say)
        self._marks = MarksControl(*marked)
        self._files.left.connect(self._marks.forget)

    def _contents(self) -> tuple[Docked, ...]:
        """Everything that stands in a dock, in the order of the View menu."""
        return self.controls, *self._stage.panels.values(), self.results

    def _connect(self) -> None:
        self._commands.connect(
            run=self.run,
            stop=self._runs.stop,
            auto=self._runs.set_auto,
            best=self.controls.use_best_tile,
            ceilings=self._ceilings.measure,
            save=lambda: self._save(FileKind.SESSION),
            record=lambda: self._save(FileKind.RECORDING),
            export=lambda: self._exporting.export(self.results.chosen()),
            screenshot=lambda: self._pictures.take(self),
            quit=self.close,
            reset=self.docks.arrange,
            next_area=self._areas.next,
            previous_area=self._areas.previous,
            theme=lambda light: self.set_theme(load_theme("light" if light else "dark")),
            keys=lambda: help_texts.show_keys(self),
            about=lambda: help_texts.show_about(self, self._ready),
        )
        self._files.connect(self._commands)
        self._worker.arrived.connect(self._take)
        self.troubled.connect(self._voice.report)
        self.controls.requestChanged.connect(self._on_request_changed)
        self.controls.deviceChanged.connect(self._worker.use_device)
        self.results.recordSelected.connect(self.show_record)
        self.results.exportRequested.connect(self._commands["export"].trigger)
        self.results.settingsRequested.connect(self._editing.use_settings)
        for panel in self._stage.panels.values():
            panel.commandRequested.connect(lambda name: self._commands[name].trigger())
            panel.recordChosen.connect(self._shown.choose)
        self._frames.timeout.connect(self._on_frame)
        self._runs.submitted.connect(self._on_submitted)
        self._runs.submitted.connect(self._editing.on_submitted)
        self._runs.said.connect(self._voice.warn_of_form)
        self._frames.start()

    def _restore(self) -> None:
        self._commands["theme"].setChecked(self._theme.name == "light")
        self.docks.restore()
        self.results.header.restore(self._settings)

    def _take(self, told: Grown | Kept | Rested | OfCeilings | EngineDown | Ready | Progress | Log) -> None:
        """What the engine's thread tells."""
        if not isinstance(told, Kept):  # whose turn comes
            self._voice.hear(told)
        match told:
            case Grown():
                self._on_grown(told)
            case Kept():
                self._ended.append(told)
            case Rested():
                self._runs.show_running(False)
            case OfCeilings(event):
                self._ceilings.take(event)
            case EngineDown(failure):  # with no run asked for: what is shown stays
                self.status.show_down()
                self.controls.hear_down(failure)
            case Ready() | Log():
                self._on_engine_says(told)
            case Progress():
                self.status.take(told)
            case _:
                assert_never(told)

    def _on_grown(self, grown: Grown) -> None:
        """A run goes on, or begins."""
        event = grown.event
        if isinstance(event, Ready | Log):  # of an engine that had to be started for it
            self._on_engine_says(event)
            return
        self._shown.take(grown)
        if event is None:
            return
        self.status.take(event)
        self._runs.take(event)
        if isinstance(event, Started | Failed):
            self._stage.hear(event)
        if isinstance(event, Started):
            self._first.on_started(event.request)
            self._shown.compare_form()

    def _on_engine_says(self, event: Ready | Log) -> None:
        self._stage.hear(event)
        if isinstance(event, Ready):
            self.status.take(event)
            self._on_ready(event)

    def _on_frame(self) -> None:
        """Do one thing a frame, in turn: all that a run's end changes, with its painting, would be a visible gap."""
        self.status.tick()
        if self.headline.tick():
            return
        if self._ended:
            self._on_kept(self._ended.popleft())
            return
        self._stage.draw_next()

    def _on_ready(self, ready: Ready) -> None:
        self._ready = ready
        self.controls.set_ready(ready)
        self._ceilings.learn(ready)
        self._first.on_ready(ready)

    def _on_kept(self, kept: Kept) -> None:
        self._shown.add(kept)
        self._voice.hear(kept)
        self._resume.keep(self.controls.request())
        self.settled.emit(kept.record)

    def _on_request_changed(self, request: RunRequest | None) -> None:
        self._voice.tell(Topic.FORM)
        self._first.on_request_changed(request)
        self._shown.compare_form()

    def _on_submitted(self) -> None:
        self._first.waits_for_device = False  # something else runs
        self._voice.tell(Topic.RESUME)
        self._shown.is_live = True
        self.status.show_busy("Waiting for the engine…")

    def picture_of(self, widget: QWidget, scale: float = DEFAULT_SCALE) -> QImage:
        """A picture of this window, or of one panel, whose run is said below it."""
        self.flush()
        return self._pictures.of(widget, scale)

    def _save(self, kind: FileKind) -> None:
        save = partial(self.save_session, as_recording=kind is FileKind.RECORDING)
        self._filing.save_runs(kind, self._library.session.path.stem, save)
