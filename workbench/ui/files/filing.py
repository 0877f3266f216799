"""What the window does with files: sessions, recordings, pictures. What goes wrong is said, never raised."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QFileDialog, QWidget

from workbench.run.session import SUFFIX, SessionError
from workbench.ui.files.pictures import copy_picture
from workbench.ui.files.recent import FileKind, Recent
from workbench.ui.files.taking import PictureWriter
from workbench.ui.notices.notice import Kind, Notice, Topic
from workbench.ui.theme import ASSETS


class Filing:
    """Asks for files beside `parent`. `say` takes what went well, `tell` what stands in the way of a file."""

    def __init__(
        self, parent: QWidget, recent: Recent, say: Callable[[str], None], tell: Callable[[Notice | Topic], None]
    ) -> None:
        self._parent = parent
        self._recent = recent
        self._say = say
        self._tell = tell
        self._writer = PictureWriter(parent)
        self._writer.written.connect(self._on_written)

    def choose(self, kind: FileKind, first: Path, open_file: Callable[[Path], object]) -> None:
        """Ask for a session or a recording, where the last one was or in `first`, and open it."""
        start = self._recent.folder(kind, first if kind is FileKind.SESSION else ASSETS / "recordings")
        path = ask_what_to_open(self._parent, f"Open {kind.value}", start, f"Tilescope {kind.value}s (*{SUFFIX})")
        if path is not None:
            self._recent.keep_folder(kind, path)
            self.do(lambda: open_file(path))

    def save_runs(self, kind: FileKind, name: str, save: Callable[[Path], object]) -> None:
        """Ask where to, and write the session's runs as a `kind` of file; `save` returns how many."""
        kinds = f"Tilescope {kind.value}s (*{SUFFIX})"
        path = self._where(kind, f"Save {kind.value}", f"{name}{SUFFIX}", kinds)
        if path is not None and self.do(lambda: self._say(f"Saved {save(path)} to {path}")):
            self._tell(Topic.KEEPING)  # what was only in memory is in that file
            self._recent.add(path)

    def save_picture(self, image: QImage, name: str) -> None:
        """The clipboard first: whoever cancels the file dialog has the picture all the same."""
        copy_picture(image)
        self._say("The picture is on the clipboard")
        path = self._where(FileKind.PICTURE, "Save picture", name, "Pictures (*.png *.jpg)")
        if path is not None:
            self._writer.write(image, path)

    def _on_written(self, path: Path, problem: str) -> None:
        if problem:
            self._tell(Notice(Kind.ERROR, Topic.FILE, problem))
        else:
            self._tell(Topic.FILE)
            self._say(f"The picture is on the clipboard and in {path}")

    def do(self, action: Callable[[], object]) -> bool:
        """Do `action`, which makes what was said of another file old; if a file stands in its way, say so."""
        try:
            action()
        except SessionError as error:
            self._tell(Notice(Kind.ERROR, Topic.FILE, str(error)))
            return False
        self._tell(Topic.FILE)
        return True

    def _where(self, kind: FileKind, title: str, name: str, kinds: str) -> Path | None:
        path = ask_where_to_save(self._parent, title, str(self._recent.folder(kind, Path.home()) / name), kinds)
        if path is not None:
            self._recent.keep_folder(kind, path)
        return path


def ask_what_to_open(parent: QWidget, title: str, folder: Path, kinds: str) -> Path | None:
    """A file to open, first those in `folder`; None if the user cancels."""
    name, _ = QFileDialog.getOpenFileName(parent, title, str(folder), kinds)
    return Path(name) if name else None


def ask_where_to_save(parent: QWidget, title: str, suggestion: str, kinds: str) -> Path | None:
    """A file to write; None if the user cancels. The dialog itself asks before it names one that is there.

    The suffix is the dialog's own doing, so that what it asks about is what is written.
    """
    dialog = QFileDialog(parent, title, suggestion, kinds)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(suggestion).suffix)
    if dialog.exec() != QFileDialog.DialogCode.Accepted:
        return None
    return Path(dialog.selectedFiles()[0])
