"""Pictures while the window goes on: drawn a part at a time, and written by a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

from PyQt6.QtCore import QObject, QTimer, pyqtSignal
from PyQt6.QtGui import QImage

from workbench.ui.files.pictures import PictureError, save_picture

Steps = Generator[None, None, QImage]


class PictureTaker(QObject):
    """Takes one picture at a time, a step of it in each turn of the event loop; `frames` rests meanwhile.

    What is shown then does not change from one part of the picture to the next.
    """

    def __init__(self, frames: QTimer, parent: QObject) -> None:
        super().__init__(parent)
        self._frames = frames
        self._steps: Steps | None = None
        self._rests = False  # the timer, for this picture
        self._done: Callable[[QImage], object] = lambda image: None

    def take(self, steps: Steps, done: Callable[[QImage], object]) -> None:
        """Take the picture that `steps` draws, and give it to `done`; nothing happens while another one is taken."""
        if self._steps is not None:
            return
        self._steps, self._done = steps, done
        self._rests = self._frames.isActive()
        self._frames.stop()
        QTimer.singleShot(0, self._step)

    def _step(self) -> None:
        steps = self._steps
        assert steps is not None
        try:
            next(steps)
        except StopIteration as end:
            self._rest()
            self._done(end.value)
        except BaseException:
            self._rest()
            raise
        else:
            QTimer.singleShot(0, self._step)

    def _rest(self) -> None:
        self._steps = None
        if self._rests:
            self._frames.start()


class PictureWriter(QObject):
    """Writes pictures in a thread; `written` follows with the path, and what stood in its way, "" for nothing."""

    written = pyqtSignal(object, str)  # Path

    def write(self, image: QImage, path: Path) -> threading.Thread:
        """Write `image` in the format of the name of `path`; returns the thread that does."""
        # Not a daemon: a window that is closed meanwhile leaves no half of a picture.
        thread = threading.Thread(target=self._write, args=(image, path), name="picture-writer")
        thread.start()
        return thread

    def _write(self, image: QImage, path: Path) -> None:
        problem = ""
        try:
            save_picture(image, path)
        except PictureError as error:
            problem = str(error)
        except Exception as error:  # whatever it was, somebody waits for the file
            problem = f"{path} cannot be written: {type(error).__name__}: {error}"
        with suppress(RuntimeError):  # the window was closed meanwhile, and this object with it
            self.written.emit(path, problem)
