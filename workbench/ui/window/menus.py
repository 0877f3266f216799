"""The window's menus and tool bar, made of its commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QWidget

from workbench.ui.places import Docked
from workbench.ui.window.actions import Actions
from workbench.ui.window.docks import Docks

SEPARATOR, DOCKS, PANEL_PICTURES = "separator", "docks", "panel pictures"
MENUS = {
    "&File": ("open", "save", "record", "export", SEPARATOR, "screenshot", PANEL_PICTURES, SEPARATOR, "quit"),
    "&Edit": ("undo", "redo"),
    "&Run": ("run", "stop", "auto", SEPARATOR, "best", "ceilings"),
    "&View": (DOCKS, SEPARATOR, "theme", "reset"),
    "&Help": ("keys", "about"),
}
TOOLS = ("run", "stop", "auto")


def build_tool_bar(window: QMainWindow, commands: Actions, headline: QWidget) -> None:
    """The commands of a run, and `headline` in the room beside them."""
    bar = QToolBar("Run")
    bar.setObjectName("tool_bar")
    bar.setMovable(False)
    bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
    for name in TOOLS:
        bar.addAction(commands[name])
    bar.addSeparator()
    bar.addWidget(headline)
    headline.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    window.addToolBar(bar)


def build_menus(
    window: QMainWindow,
    commands: Actions,
    docks: Docks,
    contents: Sequence[Docked],
    save_picture: Callable[[Docked], None],
) -> None:
    """The menu bar; `contents` are those whose pictures can be saved."""
    bar = window.menuBar()
    assert bar is not None
    for title, names in MENUS.items():
        menu = bar.addMenu(title)
        assert menu is not None
        for name in names:
            if name == SEPARATOR:
                menu.addSeparator()
            elif name == DOCKS:
                for dock in docks.all():
                    menu.addAction(dock.toggleViewAction())
            elif name == PANEL_PICTURES:
                _add_pictures(menu, contents, save_picture)
            else:
                menu.addAction(commands[name])


def _add_pictures(menu: QMenu, contents: Sequence[Docked], save_picture: Callable[[Docked], None]) -> None:
    pictures = menu.addMenu("Picture of a panel")
    assert pictures is not None
    for widget in contents:
        pictures.addAction(f"{widget.title}…", partial(save_picture, widget))
