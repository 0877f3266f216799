"""The window's docks: where each stands at first, and how the layout is kept between launches."""

from __future__ import annotations

from PyQt6.QtCore import QByteArray, QEvent, QObject, QSettings, Qt, QTimer
from PyQt6.QtWidgets import QApplication, QDockWidget, QMainWindow, QStyle, QWidget

from workbench.ui.places import Docked, Place

LAYOUT_VERSION = 1
CONTROLS_WIDTH = 280
LEFT_SHARE = 0.6  # of the width beside the form: the table of runs has many columns
UPPER_SHARE = 0.55
FRONTS = (Place.LEFT, Place.UPPER, Place.UPPER_RIGHT, Place.LOWER, Place.LOWER_RIGHT)
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
        self._places: dict[str, Place] = {}
        self._form: QDockWidget | None = None
        window.setDockNestingEnabled(True)
        # Everything is a dock, so the middle of the window has nothing of its own.
        middle = QWidget()
        middle.setMaximumSize(0, 0)
        window.setCentralWidget(middle)
        window.installEventFilter(self)

    def add(self, widget: Docked) -> QDockWidget:
        """A new dock for `widget`, which is a QWidget too."""
        assert isinstance(widget, QWidget)
        dock = QDockWidget(widget.title, self._window)
        dock.setObjectName(f"dock_{widget.name}")
        # Without it a widget made in Python leaves out the background that the style sheet gives it.
        widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        dock.setWidget(widget)
        self._docks[widget.name] = dock
        self._places[widget.name] = widget.place
        if widget.place is Place.LEFT:
            self._form = dock
            dock.installEventFilter(self)
        return dock

    def dock(self, name: str) -> QDockWidget:
        """The dock called `name`."""
        return self._docks[name]

    def all(self) -> tuple[QDockWidget, ...]:
        """Every dock, in the order in which they were added."""
        return tuple(self._docks.values())

    def arrange(self) -> None:
        """The layout of a first launch: the form at the left, times and states above, runs and errors below."""
        for dock in self._docks.values():
            dock.setFloating(False)
            self._window.removeDockWidget(dock)
        fronts = [next(name for name, place in self._places.items() if place is front) for front in FRONTS]
        form, upper, upper_right, lower, lower_right = front_docks = [self._docks[name] for name in fronts]
        self._window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, form)
        self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, upper)
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self._window.splitDockWidget(upper, lower, vertical)
        self._window.splitDockWidget(upper, upper_right, horizontal)
        self._window.splitDockWidget(lower, lower_right, horizontal)
        for dock in front_docks:
            dock.show()  # first: tabs beside a hidden dock would stay in front of it
        for name, place in self._places.items():
            if name not in fronts:
                front = Place.LOWER if place is Place.BEHIND_LOWER else place
                self._window.tabifyDockWidget(front_docks[FRONTS.index(front)], self._docks[name])
                self._docks[name].show()
        for dock in front_docks:
            dock.raise_()
        width, height = self._window.width(), self._window.height()
        left = int((width - CONTROLS_WIDTH) * LEFT_SHARE)
        sizes = [CONTROLS_WIDTH, left, width - CONTROLS_WIDTH - left]
        for row in ([form, upper, upper_right], [form, lower, lower_right]):
            self._window.resizeDocks(row, sizes, horizontal)
        above = int(height * UPPER_SHARE)
        self._window.resizeDocks([upper, lower], [above, height - above], vertical)
        self._form_width, self._window_width = CONTROLS_WIDTH, width

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Note how wide the user makes the form, and give it that width again in a window of another width."""
        if event is None or event.type() not in (QEvent.Type.Show, QEvent.Type.Resize) or self._form is None:
            return False
        form, width = self._form, self._window.width()
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
        assert self._form is not None
        self._form_width, self._window_width = self._form.width(), self._window.width()

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
        lower = next(self._docks[name] for name, place in self._places.items() if place is Place.LOWER)
        new = [dock for name, dock in self._docks.items() if name not in names]
        for dock in new:
            self._window.removeDockWidget(dock)
            self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
            if not lower.isFloating():
                self._window.tabifyDockWidget(lower, dock)
            dock.show()
        if new and not lower.isHidden():
            lower.raise_()
