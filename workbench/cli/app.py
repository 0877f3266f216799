"""Composition root: makes the application, the session, the engine's thread and the window, and joins them."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from workbench.analysis.listing.fields import INDEX
from workbench.analysis.presets import Preset
from workbench.asking.usage import UsageError
from workbench.cli.doctor import QT_LIBRARIES, X11_LIBRARIES, install_text, missing_libraries
from workbench.cli.exits import EXIT_FAILED, EXIT_PASSED, EXIT_WRONG, check_writable, refusing
from workbench.cli.exporting import spans_text
from workbench.cli.output import note, on_interrupt
from workbench.run.events import Failed
from workbench.run.kept.marks import NO_MARKS
from workbench.run.library import Library
from workbench.run.record import RunRecord
from workbench.run.request import RunRequest
from workbench.run.session import SUFFIX, Session, SessionError
from workbench.ui.sizes import DEFAULT_SIZE

if TYPE_CHECKING:
    from PyQt6.QtCore import QSettings
    from PyQt6.QtWidgets import QApplication

    from workbench.ui.window.main import MainWindow

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg")
NO_DISPLAY = (
    "there is no display to open a window on (DISPLAY and WAYLAND_DISPLAY are not set); "
    "run, screenshot, export, presets, kernels, ceilings and doctor work without one"
)


def open_window(
    preset: Preset | None,
    session: Path | None,
    size: tuple[int, int] | None,
    theme: str | None,
    file: Path | None = None,
) -> int:
    """Open the window and stay until it is closed. Raises UsageError where no window can be opened.

    `session` is gone on with, and made if it is not there; `file` must be there. Either may be a recording, whose runs
    are shown beside a new session.
    """
    if not _has_display():
        raise UsageError(NO_DISPLAY)
    _check_libraries()
    from PyQt6.QtCore import QSettings

    from workbench.ui.collector import spare_the_collector

    app = make_application()
    settings = QSettings("Tilescope", "Tilescope")
    theme = theme or str(settings.value("theme", "dark"))
    asked = file or session
    with refusing(SessionError):  # now, and not after the first run
        is_recording = asked is not None and (asked is file or asked.exists()) and Session(asked).is_sealed()
        if asked is not None and not is_recording:
            Session(asked).check()
    kept_in = Session(asked if asked and not is_recording else _default_session())
    window = make_window(kept_in, settings, theme, engine_ahead=True)
    _survive_errors(window)
    if size is not None:
        window.resize(*size)
    signal.signal(signal.SIGINT, lambda number, frame: window.close())  # Ctrl+C in the terminal
    window.show()
    spare_the_collector()
    if asked is not None and is_recording:
        with refusing(SessionError):
            window.open_recording(asked)
    window.start(RunRequest(preset.problem, preset.tile, rtol=preset.rtol, atol=preset.atol) if preset else None)
    status = app.exec()
    _destroy(window)
    return status


def take_screenshot(request: RunRequest, options: argparse.Namespace, hints: Sequence[str] = ()) -> int:
    """Run `request`, or open the recording that `--session` names, and save a picture; needs no display.

    `hints` are said once it is known that it can run. Raises UsageError for a file that cannot be written or read, and
    for an unknown panel.
    """
    output: Path = options.output
    if output.suffix.lower() not in PICTURE_SUFFIXES:
        raise UsageError(f"{output} is no picture's name; allowed are names that end in {', '.join(PICTURE_SUFFIXES)}")
    check_writable(output)
    if not 0.5 <= options.scale <= 4:
        raise UsageError(f"scale is {options.scale:g}; allowed are 0.5 to 4")
    if not _has_display():
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    _check_libraries()
    from PyQt6.QtCore import QSettings

    app = make_application()
    with tempfile.TemporaryDirectory() as folder:
        # A picture must not depend on where its maker left the docks, nor add runs to their session.
        settings = QSettings(str(Path(folder, "settings.ini")), QSettings.Format.IniFormat)
        window = make_window(Session(Path(folder, f"picture{SUFFIX}")), settings, options.theme or "dark")
        window.resize(*(options.size or DEFAULT_SIZE))
        window.docks.arrange()
        window.show()
        try:
            if options.panel is not None and options.panel not in window.widget_names():
                raise UsageError(f"panel is {options.panel!r}; allowed are {', '.join(window.widget_names())}")
            # What runs here, and that nothing does, is nothing of a run that was recorded elsewhere.
            window.status.setVisible(options.session is None)
            record = _record_for(window, request, options.session, options.run, options.panel)
            if options.compare is not None:
                _compare(window, options.session, options.compare)
            status = _picture(app, window, record, options)
            for line in hints:
                note(line)
            return status
        finally:
            window.close()
            _destroy(window)


def make_application() -> QApplication:
    """The one QApplication, named so that its settings and data have their own folders, collecting its own garbage."""
    from PyQt6.QtCore import qInstallMessageHandler
    from PyQt6.QtGui import QIcon
    from PyQt6.QtWidgets import QApplication

    from workbench.ui.collector import Collector
    from workbench.ui.text.tips import WrappedTips
    from workbench.ui.theme import ASSETS

    qInstallMessageHandler(_on_qt_message)
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    if app.findChild(Collector) is None:
        Collector(app)
        WrappedTips(app)
    app.setApplicationName("Tilescope")
    app.setWindowIcon(QIcon(str(ASSETS / "icons" / "app.svg")))
    return app


def make_window(
    session: Session, settings: QSettings, theme_name: str, device: str = "auto", engine_ahead: bool = False
) -> MainWindow:
    """A window with its engine's thread, started only with `engine_ahead`, as where a run is sure to follow.

    Raises UsageError if the session cannot be used.
    """
    from PyQt6.QtWidgets import QApplication

    from workbench.ui.worker import RunWorker

    session.index = INDEX
    with refusing(SessionError):
        library = Library(session)
    worker = RunWorker(session, device)
    if engine_ahead:
        worker.start_ahead()  # torch is imported there while the window is imported and made here
    from workbench.ui.theme import THEME_NAMES, apply_theme, load_theme
    from workbench.ui.window.main import MainWindow

    theme = load_theme(theme_name if theme_name in THEME_NAMES else "dark")
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, theme)
    return MainWindow(library, worker, settings, theme)


def _destroy(window: MainWindow) -> None:
    """Take a closed window apart while its application lives.

    Left to the end of Python, its parts go in any order, and Qt may then reach for one that is gone.
    """
    from PyQt6 import sip
    from PyQt6.QtCore import QCoreApplication, QEvent

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    sip.delete(window)
    gc.collect()


def _record_for(
    window: MainWindow, request: RunRequest, recording: Path | None, run_id: int | None, panel: str | None
) -> RunRecord:
    """The run to picture, once it has ended: a new one, or the recording's `run_id` (None: its last finished one)."""
    from PyQt6.QtCore import QEventLoop

    from workbench.ui.panels.memory.panel import MemoryPanel

    if recording is not None:
        with refusing(SessionError):
            record = window.open_recording(recording)
            if run_id is not None:
                record = _recorded_run(recording, run_id)
                window.results.select(record.key)
                window.show_record(record)
            Session(recording, read_only=True).load(record.run_id)  # the window only says that its maps are damaged
        window.controls.set_request(record.started.request)  # the form belongs to the picture
        if panel == MemoryPanel.name and record.started.kernel is None:
            _name_kernels(window)
        return record
    ended: list[RunRecord] = []
    window.settled.connect(ended.append)
    loop = QEventLoop()  # not the application's: its quit() would close the window
    interrupted: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupted.append(number)
        loop.quit()

    window.settled.connect(loop.quit)
    with on_interrupt(interrupt):
        window.start(request)
        loop.exec()
    if interrupted:
        raise KeyboardInterrupt
    return ended[0]


def _name_kernels(window: MainWindow) -> None:
    """Let the memory panel know the kernels: of those of an older run its file says nothing, and an engine has to."""
    from workbench.cli.commands import announcement
    from workbench.ui.panels.memory.panel import MemoryPanel

    memory, ready = window.widget(MemoryPanel.name), announcement("interpreter")
    assert isinstance(memory, MemoryPanel)
    if isinstance(ready, Failed):
        note(f"what the kernel requests is not known: {ready.message}")
    else:
        memory.hear(ready)


def _compare(window: MainWindow, recording: Path, spans: Sequence[tuple[int, int]]) -> None:
    """Let the compare panel show the recording's runs in `spans`. Raises UsageError if one is not there."""
    from workbench.analysis.comparison import LEAST_RUNS, MOST_RUNS
    from workbench.ui.panels.compare.panel import ComparePanel

    numbers = list(dict.fromkeys(number for first, last in spans for number in range(first, last + 1)))
    if not LEAST_RUNS <= len(numbers) <= MOST_RUNS:
        raise UsageError(f"--compare names {len(numbers)} runs; allowed are {LEAST_RUNS} to {MOST_RUNS}")
    panel = window.widget(ComparePanel.name)
    assert isinstance(panel, ComparePanel)
    with refusing(SessionError):
        panel.choose([_recorded_run(recording, number) for number in numbers])


def _recorded_run(recording: Path, run_id: int) -> RunRecord:
    """The recording's run of that number, without its maps. Raises UsageError if there is none, SessionError."""
    session = Session(recording, read_only=True)
    marks, numbers = session.marks(), session.numbers()
    if run_id in numbers and marks.get(run_id, NO_MARKS).deleted:
        raise UsageError(f"run {run_id} of {recording.name} was deleted; Edit > Deleted runs in the window restores it")
    if run_id not in numbers:
        seen = [number for number in numbers if not marks.get(number, NO_MARKS).deleted]
        raise UsageError(f"run is {run_id}; {recording.name} has {spans_text(set(seen))}")
    return session.summary(run_id)


def _picture(app: QApplication, window: MainWindow, record: RunRecord, options: argparse.Namespace) -> int:
    """Save the picture and say, as `run` does, how the run ended."""
    from workbench.ui.files.pictures import PictureError, save_picture

    if isinstance(record.end, Failed) and record.end.kind == "invalid":
        raise UsageError(record.end.message)
    widget = window if options.panel is None else window.widget(options.panel)
    for _ in range(3):  # layouts settle in a few rounds of events
        app.processEvents()
        window.flush()
    with refusing(PictureError):
        save_picture(window.picture_of(widget, options.scale), options.output)
    if options.session is not None:
        return EXIT_PASSED  # a picture of a recorded run, however that ended
    if isinstance(record.end, Failed):
        note(record.end.message)
        return EXIT_FAILED
    return EXIT_PASSED if record.passed else EXIT_WRONG


def _on_qt_message(kind: object, context: object, message: str | None) -> None:
    """Qt's own complaints go to stderr, less one that every offscreen window makes at each change of its layout."""
    if message and "propagateSizeHints" not in message and sys.stderr is not None:
        print(f"Qt: {message}", file=sys.stderr)


def _default_session() -> Path:
    """A new file in the user's data folder."""
    from workbench.ui.window.sessions.opening import new_session_path, sessions_folder

    folder = sessions_folder()
    if folder.name != "sessions":
        note(f"the user's data folder cannot be written; this session's runs are kept in {folder}")
    return new_session_path(folder)


def _has_display() -> bool:
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return sys.platform != "linux" or any(os.environ.get(name) for name in names)


def _check_libraries() -> None:
    """Name the packages of missing libraries; Qt itself would abort without a word that helps."""
    packages = missing_libraries(QT_LIBRARIES)
    if not os.environ.get("QT_QPA_PLATFORM") and not os.environ.get("WAYLAND_DISPLAY"):
        packages += missing_libraries(X11_LIBRARIES)
    if packages:
        raise UsageError(f"Qt needs libraries that are not installed; install them: {install_text(packages)}")


def _survive_errors(window: MainWindow) -> None:
    """Log an error in a slot instead of aborting, which is what PyQt does by default: no run may be lost to it."""

    def on_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        text = "".join(traceback.format_exception(kind, error, trace))
        if sys.__stderr__ is not None:
            sys.__stderr__.write(text)
        line = f"An error in the window: {error}. The log has its traceback; what was measured is kept."
        window.troubled.emit(text, line)  # a signal: the error may be in another thread, and widgets are not

    sys.excepthook = on_error
