"""Opening and closing: a session to go on with, and recordings beside it. The title says which session it is."""

from __future__ import annotations

import os
import tempfile
from datetime import datetime
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QEvent, QObject, QStandardPaths, pyqtSignal
from PyQt6.QtGui import QDragEnterEvent, QDropEvent
from PyQt6.QtWidgets import QMainWindow, QMenu

from workbench.run.library import Library
from workbench.run.record import RunRecord
from workbench.run.session import SUFFIX, Session
from workbench.ui.files.filing import Filing
from workbench.ui.files.recent import FileKind, Recent
from workbench.ui.window.actions import Actions
from workbench.ui.window.shown import ShownRun
from workbench.ui.window.voice import Voice
from workbench.ui.worker import RunWorker


def sessions_folder() -> Path:
    """The user's folder for sessions, which is made; a temporary one where it cannot be."""
    base = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    folder = Path(base, "tilescope", "sessions")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="tilescope-"))
    return folder


def new_session_path(folder: Path) -> Path:
    """A file in `folder` that is not there; nothing is written before the first run has ended."""
    name = f"{datetime.now():%Y-%m-%d-%H%M%S}-{os.getpid()}"
    path, number = folder / f"{name}{SUFFIX}", 1
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}{SUFFIX}"
    return path


class OpenFiles(QObject):
    """What the File menu opens and closes, and what is dropped on the window. `left` follows a change of session."""

    left = pyqtSignal()

    def __init__(
        self,
        window: QMainWindow,
        library: Library,
        worker: RunWorker,
        shown: ShownRun,
        filing: Filing,
        recent: Recent,
        voice: Voice,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._library = library
        self._worker = worker
        self._shown = shown
        self._filing = filing
        self._recent = recent
        self._voice = voice
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def connect(self, commands: Actions) -> None:
        """Give the commands of files their slots and menus."""
        commands.connect(
            new=lambda: self._filing.do(self.new),
            open_session=lambda: self._choose(FileKind.SESSION),
            open=lambda: self._choose(FileKind.RECORDING),
        )
        for name, fill in (("recent", self._fill_recent), ("close_recording", self._fill_recordings)):
            menu = QMenu(self._window)
            menu.setToolTipsVisible(True)
            menu.aboutToShow.connect(partial(fill, menu))
            commands[name].setMenu(menu)

    def new(self) -> None:
        """Go on with a new session. Raises SessionError while runs of this one are in no file."""
        self._use(Session(new_session_path(sessions_folder())))

    def open(self, path: Path) -> None:
        """Go on with a session, or show a recording: the file says which it is. Raises SessionError."""
        if Session(path).is_sealed():
            self.open_recording(path)
        else:
            self._use(Session(path))

    def open_recording(self, path: Path) -> RunRecord:
        """Show the runs of a file beside the session's, without a change to it. Raises SessionError."""
        record = self._shown.open_recording(path)
        self._recent.add(path)
        self._voice.say(f"Opened {path.name}, which is only read")
        return record

    def close_recording(self, source: str) -> None:
        """Take the runs of a recording out of the window."""
        self._shown.close_recording(source)
        self._voice.say(f"Closed {source}; its file is as it was")

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Take files that are dropped on the window."""
        if isinstance(event, QDragEnterEvent | QDropEvent) and _files(event):
            event.acceptProposedAction()
            if event.type() == QEvent.Type.Drop:
                for path in _files(event):
                    self._filing.do(partial(self.open, path))
            return True
        return False

    def _use(self, session: Session) -> None:
        before = self._library.session.path
        if session.path.resolve() == before.resolve():
            self._voice.say(f"{session.path.name} is the session of this window already")
            return
        self._library.use(session)
        self._worker.use_session(session)
        for path in (before, session.path):
            if path.exists():
                self._recent.add(path)
        self.left.emit()
        self._shown.show_session()
        going_on = f"; the run that goes on is kept in {before.name}" if self._worker.is_busy else ""
        self._voice.say(f"Runs are kept in {session.path} from now on{going_on}")

    def _choose(self, kind: FileKind) -> None:
        action = self.open if kind is FileKind.SESSION else self.open_recording
        self._filing.choose(kind, self._library.session.path.parent, action)

    def _fill_recent(self, menu: QMenu) -> None:
        menu.clear()
        paths = self._recent.paths(without=self._library.session.path)
        for path in paths:
            action = menu.addAction(_named(path, paths), partial(self._filing.do, partial(self.open, path)))
            assert action is not None
            action.setToolTip(str(path))
        _say_if_empty(menu, "Nothing was opened yet")

    def _fill_recordings(self, menu: QMenu) -> None:
        menu.clear()
        for source, path in self._library.recordings().items():
            action = menu.addAction(source.replace("&", "&&"), partial(self.close_recording, source))
            assert action is not None
            action.setToolTip(str(path))
        _say_if_empty(menu, "No recording is open")


def _files(event: QDragEnterEvent | QDropEvent) -> list[Path]:
    """The local files that are dragged."""
    data = event.mimeData()
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()] if data is not None else []


def _named(path: Path, among: list[Path]) -> str:
    """A file's name, with its folder where another one has that name."""
    is_alone = sum(other.name == path.name for other in among) == 1
    return (path.stem if is_alone else f"{path.stem} ({path.parent})").replace("&", "&&")


def _say_if_empty(menu: QMenu, text: str) -> None:
    if menu.isEmpty():
        action = menu.addAction(text)
        assert action is not None
        action.setEnabled(False)
