"""What the window does with files: recordings, the session, pictures. What goes wrong is said, never raised."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QFileDialog, QWidget

from workbench.run.session import SUFFIX, SessionError
from workbench.ui.files.pictures import PictureError, copy_picture, save_picture
from workbench.ui.theme import ASSETS


class Filing:
    """Asks for files beside `parent`, and tells the outcome by `say`."""

    def __init__(self, parent: QWidget, say: Callable[[str], None]) -> None:
        self._parent = parent
        self._say = say

    def choose_recording(self, open_recording: Callable[[Path], object]) -> None:
        """Ask for a recording and open it."""
        path = ask_for_recording(self._parent)
        if path is not None:
            self._try(lambda: open_recording(path))

    def save_runs(self, kind: str, save: Callable[[Path], object]) -> None:
        """Ask where to, and write the session's runs as a `kind` of file; `save` returns how many."""
        kinds = f"Tilescope {kind}s (*{SUFFIX})"
        path = ask_where_to_save(self._parent, f"Save {kind}", f"{kind}{SUFFIX}", kinds)
        if path is not None:
            self._try(lambda: self._say(f"Saved {save(path)} to {path}"))

    def save_picture(self, image: QImage) -> None:
        """The clipboard first: whoever cancels the file dialog has the picture all the same."""
        copy_picture(image)
        self._say("The picture is on the clipboard")
        path = ask_where_to_save(self._parent, "Save picture", "tilescope.png", "Pictures (*.png *.jpg)")
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


def ask_for_recording(parent: QWidget) -> Path | None:
    """A recording to open, first those that come with the program; None if the user cancels."""
    start = str(ASSETS / "recordings")
    name, _ = QFileDialog.getOpenFileName(parent, "Open recording", start, f"Tilescope recordings (*{SUFFIX})")
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
