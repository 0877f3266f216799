"""The docks' shares of the window: as someone left them, whatever size the window takes in between.

Qt hands out each step of a resize from where the last one ended, so that its rounding, and what a small window forced,
add up. Here every size is reckoned from the shares that were noted last, which only a person's hand changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from PyQt6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PyQt6.QtWidgets import QDockWidget, QMainWindow, QTabBar

Tiles = dict[str, QRect]
SLACK = 1  # px by which a dock may miss its share: less is not worth a layout


class Shares(QObject):
    """Keeps the shares of `docks`, which grows as docks are added; the one called `fixed` keeps its width instead.

    A tile is the room of one dock or of tabs: who is in front there makes no difference.
    """

    def __init__(self, window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
        super().__init__(window)
        self._window = window
        self._docks = docks
        self.fixed = ""
        self._noted: Tiles = {}
        self._own = 0  # how deep in changes that are no person's
        self._moved = False
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._on_changed)
        window.installEventFilter(self)

    def watch(self, dock: QDockWidget) -> None:
        """Note the shares anew when someone moves, closes or opens `dock`."""
        dock.dockLocationChanged.connect(self._on_moved)
        dock.topLevelChanged.connect(self._on_moved)
        dock.visibilityChanged.connect(lambda *_: self._look_later())

    @property
    def noted(self) -> Tiles:
        """The tiles as they were left: a rectangle for one dock of each, in an area of any size."""
        return dict(self._noted)

    def set_noted(self, tiles: Tiles) -> None:
        """Take these for what someone left, and lay the docks out by them."""
        self._noted = dict(tiles)
        self.apply()

    @contextmanager
    def own_change(self) -> Iterator[None]:
        """Within the block docks are moved by the program, which says what their shares are."""
        self._own += 1
        try:
            yield
        finally:
            self._own -= 1
            self._later.stop()
            self._moved = False

    def note(self) -> None:
        """Take the shares as they are now."""
        self._noted = self._tiles()

    def apply(self) -> None:
        """Give every dock that is seen its share of the room there is."""
        if not self._window.isVisible():
            return
        seen, keys = self._tiles(), self._keys()
        if keys is None or not seen:
            return
        least = self._docks[self.fixed].minimumSizeHint().width() if self.fixed else 0
        targets = scaled(self._noted, _area(seen.values()), self.fixed, least)
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        for orientation in (across, down):
            of = QRect.width if orientation is across else QRect.height
            off = [abs(of(targets[keys[name]]) - of(tile)) > SLACK for name, tile in seen.items()]
            if any(off):
                # A dock is lower than its tile by the tabs below it, for which Qt reckons nothing.
                docks = [self._docks[name] for name in seen]
                self._window.resizeDocks(docks, [of(targets[keys[name]]) for name in seen], orientation)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Follow the window's size, and note what a hand on a border between docks has changed."""
        if event is None or watched is not self.parent():
            return False
        match event.type():
            case QEvent.Type.Resize:
                self.apply()
            case QEvent.Type.Show:
                self.apply()
                QTimer.singleShot(0, self.apply)  # once the layout has been applied
            case QEvent.Type.MouseButtonRelease:
                self._moved = True
                self._look_later()
        return False

    def _on_moved(self, *_: object) -> None:
        if not self._own:
            self._moved = True
            self._look_later()

    def _look_later(self) -> None:
        if not self._own:
            self._later.start(0)

    def _on_changed(self) -> None:
        """Note the shares if a person has changed them; another tab in front is no change."""
        if self._window.isVisible() and (self._moved or self._keys() is None):
            self.note()
        self._moved = False

    def _seen(self) -> list[tuple[str, QDockWidget]]:
        """The docks that stand in the window, not behind another tab: those Qt moves out of it."""
        return [
            (name, dock)
            for name, dock in self._docks.items()
            if dock.isVisible() and not dock.isFloating() and dock.geometry().right() >= 0
        ]

    def _tiles(self) -> Tiles:
        bars = [bar for bar in self._window.findChildren(QTabBar) if bar.parent() is self._window and bar.isVisible()]
        return {name: _with_tabs(dock.geometry(), bars) for name, dock in self._seen()}

    def _keys(self) -> dict[str, str] | None:
        """Under which name the tile of each dock that is seen was noted; None where other tiles were."""
        keys = {}
        for name, dock in self._seen():
            names = [name, *(n for n, d in self._docks.items() if d in self._window.tabifiedDockWidgets(dock))]
            found = [n for n in names if n in self._noted]
            if len(found) != 1:
                return None
            keys[name] = found[0]
        return keys if set(keys.values()) == set(self._noted) else None


def scaled(tiles: Mapping[str, QRect], area: QRect, fixed: str = "", least: int = 0) -> Tiles:
    """`tiles` moved from the area that they fill into `area`.

    The one called `fixed` keeps its width at the left side, and has `least` at least. Edges are moved, not sizes: tiles
    that met still meet.
    """
    old = _area(tiles.values())
    others = [tile.left() for name, tile in tiles.items() if name != fixed]
    stands = fixed in tiles and min(others, default=0) > tiles[fixed].right()
    side = tiles[fixed].right() + 1 if stands else old.left()
    kept = max(least, side - old.left()) if stands else 0

    def across(x: int) -> int:
        if x < side:
            return area.left()
        share = (x - side) / max(1, old.right() + 1 - side)
        return area.left() + kept + round(share * (area.width() - kept))

    def down(y: int) -> int:
        return area.top() + round((y - old.top()) * area.height() / max(1, old.height()))

    moved = {}
    for name, tile in tiles.items():
        left, top = across(tile.left()), down(tile.top())
        moved[name] = QRect(left, top, across(tile.right() + 1) - left, down(tile.bottom() + 1) - top)
    return moved


def _area(tiles: Iterable[QRect]) -> QRect:
    whole = QRect()
    for tile in tiles:
        whole = whole.united(tile)
    return whole


def _with_tabs(tile: QRect, bars: Iterable[QTabBar]) -> QRect:
    """`tile` with the tab bar right below it."""
    for bar in bars:
        below = bar.geometry()
        if abs(below.top() - tile.bottom() - 1) <= SLACK and tile.left() <= below.center().x() <= tile.right():
            return tile.united(QRect(tile.left(), below.top(), tile.width(), below.height()))
    return tile
