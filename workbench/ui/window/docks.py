"""The window's docks: where each stands at first, and how the layout is kept between launches."""

from __future__ import annotations

from PyQt6.QtCore import QByteArray, QEvent, QObject, QSettings, Qt, QTimer
from PyQt6.QtWidgets import QApplication, QDockWidget, QMainWindow, QStyle, QWidget

LAYOUT_VERSION = 1
FORM = "controls"
CONTROLS_WIDTH = 280
LEFT_SHARE = 0.6  # of the width beside the form: the table of runs has many columns
UPPER_SHARE = 0.55
# Docks with a place of their own; the others are tabs beside the runs.
ARRANGED = ("controls", "latency", "softmax", "error", "results")
# Those of programs that did not keep their docks' names with a layout.
FIRST_DOCKS = ("controls", "latency", "softmax", "error", "log", "results")


class Docks(QObject):
    """Gives widgets a dock each, arranges them, and saves and restores where the user put them.

    The form keeps its width when the window takes another: what grows and shrinks are the plots.
    """

    def __init__(self, window: QMainWindow, settings: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._form_width = CONTROLS_WIDTH
        self._window_width = 0  # with which the form had that width
        self._settings = settings
        self._docks: dict[str, QDockWidget] = {}
        window.setDockNestingEnabled(True)
        # Everything is a dock, so the middle of the window has nothing of its own.
        middle = QWidget()
        middle.setMaximumSize(0, 0)
        window.setCentralWidget(middle)
        window.installEventFilter(self)

    def add(self, name: str, title: str, widget: QWidget) -> QDockWidget:
        """A new dock for `widget`; `name` is what a saved layout knows it by."""
        dock = QDockWidget(title, self._window)
        dock.setObjectName(f"dock_{name}")
        # Without it a widget made in Python leaves out the background that the style sheet gives it.
        widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        dock.setWidget(widget)
        self._docks[name] = dock
        if name == FORM:
            dock.installEventFilter(self)
        return dock

    def dock(self, name: str) -> QDockWidget:
        """The dock called `name`."""
        return self._docks[name]

    def all(self) -> tuple[QDockWidget, ...]:
        """Every dock, in the order in which they were added."""
        return tuple(self._docks.values())

    def arrange(self) -> None:
        """The layout of a first launch: the form at the left, times and states above, runs and errors below.

        What has no place of its own is a tab behind the runs.
        """
        for dock in self._docks.values():
            dock.setFloating(False)
            self._window.removeDockWidget(dock)
        controls, latency, softmax, error, results = (self._docks[name] for name in ARRANGED)
        self._window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, controls)
        self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, latency)
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self._window.splitDockWidget(latency, results, vertical)
        self._window.splitDockWidget(latency, softmax, horizontal)
        self._window.splitDockWidget(results, error, horizontal)
        for name in ARRANGED:
            self._docks[name].show()  # first: tabs beside a hidden dock would stay in front of it
        for name, dock in self._docks.items():
            if name not in ARRANGED:
                self._window.tabifyDockWidget(results, dock)
                dock.show()
        results.raise_()
        width, height = self._window.width(), self._window.height()
        left = int((width - CONTROLS_WIDTH) * LEFT_SHARE)
        sizes = [CONTROLS_WIDTH, left, width - CONTROLS_WIDTH - left]
        for row in ([controls, latency, softmax], [controls, results, error]):
            self._window.resizeDocks(row, sizes, horizontal)
        above = int(height * UPPER_SHARE)
        self._window.resizeDocks([latency, results], [above, height - above], vertical)
        self._form_width, self._window_width = CONTROLS_WIDTH, width

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Note how wide the user makes the form, and give it that width again in a window of another width."""
        if event is None or event.type() not in (QEvent.Type.Show, QEvent.Type.Resize) or FORM not in self._docks:
            return False
        form, width = self._docks[FORM], self._window.width()
        if watched is self._window and event.type() == QEvent.Type.Show:
            QTimer.singleShot(0, self._note_form_width)  # once the layout has been applied
        elif watched is form and event.type() == QEvent.Type.Resize:
            # Only what is dragged: what the layout rounds would add up over the many steps of a window's change.
            if width == self._window_width and QApplication.mouseButtons() != Qt.MouseButton.NoButton:
                self._note_form_width()
        elif watched is self._window and event.type() == QEvent.Type.Resize and width != self._window_width:
            self._window_width = width
            self._keep_form_width(form, width)
        return False

    def _note_form_width(self) -> None:
        self._form_width, self._window_width = self._docks[FORM].width(), self._window.width()

    def _keep_form_width(self, form: QDockWidget, width: int) -> None:
        """Give the form its width in a window `width` wide; what stands right of it shares the rest as it does now."""
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        others = [dock for dock in self._docks.values() if self._stands(dock, right)]
        if not self._stands(form, left) or not others:
            return
        style = self._window.style()
        assert style is not None
        borders = 2 * style.pixelMetric(QStyle.PixelMetric.PM_DockWidgetSeparatorExtent, None, self._window)
        share = (width - self._form_width - borders) / max(1, width - form.width() - borders)
        widths = [self._form_width, *(int(dock.width() * share) for dock in others)]
        self._window.resizeDocks([form, *others], widths, Qt.Orientation.Horizontal)

    def _stands(self, dock: QDockWidget, area: Qt.DockWidgetArea) -> bool:
        """Whether `dock` is seen in that part of the window."""
        return dock.isVisible() and not dock.isFloating() and self._window.dockWidgetArea(dock) == area

    def save(self) -> None:
        """Keep the window's place and the docks' for the next launch."""
        self._settings.setValue("geometry", self._window.saveGeometry())
        self._settings.setValue("layout", self._window.saveState(LAYOUT_VERSION))
        self._settings.setValue("docks", list(self._docks))

    def restore(self) -> bool:
        """Bring back what was kept; False if there is nothing, or it is of another version of the layout."""
        geometry, layout = self._settings.value("geometry"), self._settings.value("layout")
        if not isinstance(geometry, QByteArray) or not isinstance(layout, QByteArray):
            return False
        self._window.restoreGeometry(geometry)
        restored = self._window.restoreState(layout, LAYOUT_VERSION)
        if restored:
            self._place_new(self._settings.value("docks", list(FIRST_DOCKS)))
        return restored

    def _place_new(self, known: object) -> None:
        """Docks that the saved layout does not know, as an older program's, become tabs beside the runs, behind them.

        Left to itself, Qt hides some of them and floats others.
        """
        names = known if isinstance(known, list) else [known]  # QSettings makes a single string of a list of one
        results = self._docks["results"]
        new = [dock for name, dock in self._docks.items() if name not in names]
        for dock in new:
            self._window.removeDockWidget(dock)
            self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
            if not results.isFloating():
                self._window.tabifyDockWidget(results, dock)
            dock.show()
        if new and not results.isHidden():
            results.raise_()
