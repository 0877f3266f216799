"""How a workspace's docks are put into the window: its rows and cells as splits and tabs, and the room of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from PyQt6.QtCore import QRect, Qt
from PyQt6.QtWidgets import QDockWidget, QMainWindow

from workbench.ui.window.layout.shares import Tiles
from workbench.ui.window.layout.workspaces import FilledRow

FORM_WIDTH = 280
LEFT, RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


def place_docks(window: QMainWindow, docks: Mapping[str, QDockWidget], form: str, rows: Sequence[FilledRow]) -> None:
    """Put the docks of `rows` into `window`, with that called `form` left of them; "" leaves it out.

    All others are closed, as tabs of the last cell: that is where they open.
    """
    take_out(window, docks)
    if form:
        window.addDockWidget(LEFT, docks[form])
        docks[form].show()
    fronts = [[docks[names[0]] for _, names in cells] for _, cells in rows]
    _split(window, fronts)
    placed = {form} if form else set()
    for _, cells in rows:
        for _, names in cells:
            placed |= set(names)
            for name in names[1:]:
                window.tabifyDockWidget(docks[names[0]], docks[name])
                docks[name].show()
    for name, dock in docks.items():
        if name not in placed:
            window.tabifyDockWidget(fronts[-1][-1], dock)
            dock.hide()
    for row in fronts:
        for dock in row:
            dock.raise_()


def take_out(window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
    """Take every dock out of the window's layout; none is seen until it is put back."""
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)


def _split(window: QMainWindow, fronts: Sequence[Sequence[QDockWidget]]) -> None:
    """Put rows of docks below one another at the right."""
    for i, row in enumerate(fronts):
        if i:
            window.splitDockWidget(fronts[i - 1][0], row[0], DOWN)
        else:
            window.addDockWidget(RIGHT, row[0])
    for row in fronts:
        for left, right in pairwise(row):
            window.splitDockWidget(left, right, ACROSS)
        for dock in row:
            dock.show()  # first: tabs beside a hidden dock would stay in front of it


def tiles_of(rows: Sequence[FilledRow], form: str, area: QRect) -> Tiles:
    """The room in `area` of each cell, under the name of its first dock, and of the form, if it has a name."""
    left = area.left() + (FORM_WIDTH if form else 0)
    tiles = {form: QRect(area.left(), area.top(), FORM_WIDTH, area.height())} if form else {}
    top = float(area.top())
    for row_share, cells in rows:
        x, height = float(left), row_share * area.height()
        for share, names in cells:
            width = share * (area.right() + 1 - left)
            tiles[names[0]] = QRect(round(x), round(top), round(x + width) - round(x), round(top + height) - round(top))
            x += width
        top += height
    return tiles
