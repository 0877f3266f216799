"""Pictures of the window, or of one thing in it whose run is said below."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QMainWindow, QWidget

from workbench.ui.files.names import picture_name
from workbench.ui.files.pictures import DEFAULT_SCALE, exhausted, picture_steps
from workbench.ui.files.taking import PictureTaker, Steps
from workbench.ui.panels.bases.panel import Panel
from workbench.ui.places import Docked
from workbench.ui.runs.table import ResultsTable
from workbench.ui.window.stage import Stage

MOST_DRAWS = 50  # before a picture is taken: of a run that goes on there is ever more to draw


class Pictures:
    """Takes pictures of `window` and of what stands in it; `frames` rests while one is taken in steps.

    `save` takes each that was asked for, and a name that tells its run.
    """

    def __init__(
        self,
        window: QMainWindow,
        stage: Stage,
        results: ResultsTable,
        frames: QTimer,
        save: Callable[[QImage, str], object],
    ) -> None:
        self._window = window
        self._stage = stage
        self._results = results
        self._save = save
        self._taker = PictureTaker(frames, window)

    def of(self, widget: QWidget, scale: float = DEFAULT_SCALE) -> QImage:
        """A picture, at once."""
        return exhausted(self._steps(widget, scale))

    def take(self, widget: Docked | QMainWindow) -> None:
        """Take a picture while the window goes on, and save it."""
        assert isinstance(widget, QWidget)
        name = picture_name(self._stage.run, "" if widget is self._window else widget.objectName())
        self._taker.take(self._steps(widget), lambda image: self._save(image, name))

    def _steps(self, widget: QWidget, scale: float = DEFAULT_SCALE) -> Steps:
        """A picture in steps, of which the first draw what has changed."""
        for _ in range(MOST_DRAWS):
            if not self._stage.draw_next():
                break
            yield
        caption: tuple[str, ...] = ()
        if widget is self._results:
            widget, caption = self._results.whole(scale)
        if isinstance(widget, Panel):
            widget.draw_now()  # it may be behind another tab
            caption = self._stage.caption(widget.name)
        return (yield from picture_steps(widget, scale, caption))
