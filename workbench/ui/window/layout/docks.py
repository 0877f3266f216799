"""The window's docks: each workspace's arrangement of them, and how both are kept between launches."""

from __future__ import annotations

import json

from PyQt6.QtCore import QByteArray, QObject, QRect, QSettings, Qt, pyqtSignal
from PyQt6.QtWidgets import QDockWidget, QMainWindow, QWidget

from workbench.ui.places import Docked, Place
from workbench.ui.window.layout.floating import Floating
from workbench.ui.window.layout.placing import RIGHT, place_docks, take_out, tiles_of
from workbench.ui.window.layout.shares import Shares, Tiles
from workbench.ui.window.layout.workspaces import WORKSPACES, FilledRow, Workspace, filled_rows, find_workspace

LAYOUT_VERSION = 1
# Those of programs that did not keep their docks' names with a layout.
FIRST_DOCKS = ("controls", "latency", "softmax", "error", "log", "results")
LAYOUT, DOCKS, SHARES = "layout", "docks", "shares"  # what is kept of a workspace


class Docks(QObject):
    """Gives widgets a dock each, arranges them by workspace, and saves and restores where the user put them.

    `entered` says which workspace is shown. The form keeps its width when the window takes another: what grows and
    shrinks are the plots.
    """

    entered = pyqtSignal(object)  # Workspace

    def __init__(self, window: QMainWindow, settings: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._docks: dict[str, QDockWidget] = {}
        self._places: dict[str, Place] = {}
        self.workspace = WORKSPACES[0]
        self.shares = Shares(window, self._docks)
        self._floating = Floating(window, self._docks)
        window.setDockNestingEnabled(True)
        # Everything is a dock, so the middle of the window has nothing of its own.
        middle = QWidget()
        middle.setMaximumSize(0, 0)
        window.setCentralWidget(middle)

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
            self.shares.fixed = widget.name
        self.shares.watch(dock)
        return dock

    def dock(self, name: str) -> QDockWidget:
        """The dock called `name`."""
        return self._docks[name]

    def all(self) -> tuple[QDockWidget, ...]:
        """Every dock, in the order in which they were added."""
        return tuple(self._docks.values())

    def named(self) -> dict[str, QDockWidget]:
        """Every dock by its name, in the same order."""
        return dict(self._docks)

    def enter(self, workspace: Workspace) -> None:
        """Show `workspace` as it was left, and keep the one that is shown now as it is."""
        if workspace is not self.workspace:
            self._keep()
            self.workspace = workspace
            # The keyboard would go from what is closed to whatever comes next, which then shows that it has it.
            self._window.setFocus(Qt.FocusReason.OtherFocusReason)
            if not self._restore_kept():
                self.arrange()
        self.entered.emit(workspace)

    def arrange(self) -> None:
        """Put every dock where the workspace has it at first."""
        with self.shares.own_change():
            rows = self._rows()
            form = self.shares.fixed if self.workspace.has_form else ""
            place_docks(self._window, self._docks, form, rows)
            self._lay_out(tiles_of(rows, form, QRect(0, 0, self._window.width(), self._window.height())))

    def save(self) -> None:
        """Keep the window's place and the docks' for the next launch."""
        self._settings.setValue("geometry", self._window.saveGeometry())
        self._settings.setValue("workspace", self.workspace.name)
        self._keep()

    def restore(self) -> bool:
        """Bring back what was kept; False if there is nothing, or it is of another version of the layout."""
        geometry = self._settings.value("geometry")
        if isinstance(geometry, QByteArray):
            self._window.restoreGeometry(geometry)
        self.workspace = find_workspace(self._settings.value("workspace"))
        restored = self._restore_kept()
        if not restored:
            self.arrange()
        self.entered.emit(self.workspace)
        return restored

    def _rows(self) -> list[FilledRow]:
        return filled_rows(self.workspace, self._places)

    def _lay_out(self, tiles: Tiles) -> None:
        layout = self._window.layout()
        assert layout is not None
        layout.activate()  # what the docks have now is what their shares are reckoned in
        self.shares.set_noted(tiles)

    def _key(self, kept: str) -> str:
        return f"workspaces/{self.workspace.name}/{kept}"

    def _keep(self) -> None:
        self._settings.setValue(self._key(LAYOUT), self._window.saveState(LAYOUT_VERSION))
        self._settings.setValue(self._key(DOCKS), list(self._docks))
        tiles = {name: list(tile.getRect()) for name, tile in self.shares.noted.items()}
        self._settings.setValue(self._key(SHARES), json.dumps(tiles))

    def _kept(self, what: str, default: object = None) -> object:
        """What was kept of this workspace; an older program kept one arrangement, which is the first one's."""
        older = self._settings.value(what, default) if self.workspace is WORKSPACES[0] else default
        return self._settings.value(self._key(what), older)

    def _restore_kept(self) -> bool:
        """Bring back this workspace as it was left; False if it never was, or by another version of the layout."""
        layout = self._kept(LAYOUT)
        if not isinstance(layout, QByteArray):
            return False
        with self.shares.own_change():
            take_out(self._window, self._docks)  # or else the tabs of what was shown stay over what is restored
            restored = self._window.restoreState(layout, LAYOUT_VERSION)
            if restored:
                self._place_new(self._kept(DOCKS, list(FIRST_DOCKS)))
                self._lay_out(read_tiles(self._kept(SHARES)))
        self._floating.bring_back()
        return restored

    def _place_new(self, known: object) -> None:
        """Docks that the saved layout does not know, as an older program's, become tabs beside the runs, behind them.

        Left to itself, Qt hides some of them and floats others. Those that the workspace does not show stay closed.
        """
        names = known if isinstance(known, list) else [known]  # QSettings makes a single string of a list of one
        lower = next(self._docks[name] for name, place in self._places.items() if place is Place.LOWER)
        new = {name: dock for name, dock in self._docks.items() if name not in names}
        shown = {name for _, cells in self._rows() for _, cell in cells for name in cell}
        for name, dock in new.items():
            self._window.removeDockWidget(dock)
            self._window.addDockWidget(RIGHT, dock)
            if not lower.isFloating():
                self._window.tabifyDockWidget(lower, dock)
            dock.setVisible(name in shown)
        if new and not lower.isHidden():
            lower.raise_()


def read_tiles(text: object) -> Tiles:
    """The tiles that were kept as `text`; none where that is damaged, or was never kept."""
    try:
        found = json.loads(text) if isinstance(text, str) else {}
        return {str(name): QRect(*(int(part) for part in tile)) for name, tile in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
