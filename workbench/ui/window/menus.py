"""The window's menus and tool bar, made of its commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QActionGroup
from PyQt6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QVBoxLayout, QWidget

from workbench.ui.places import Docked
from workbench.ui.window.actions import WORKSPACE_COMMANDS, Actions, workspace_command
from workbench.ui.window.layout.docks import Docks
from workbench.ui.window.layout.workspaces import WORKSPACES, Workspace

SEPARATOR, DOCKS, PANEL_PICTURES = "separator", "docks", "panel pictures"
MENUS = {
    "&File": (
        "new",
        "open_session",
        "open",
        "recent",
        "close_recording",
        SEPARATOR,
        "save",
        "record",
        "export",
        SEPARATOR,
        "screenshot",
        PANEL_PICTURES,
        SEPARATOR,
        "quit",
    ),
    "&Edit": ("undo", "redo", SEPARATOR, "copy_line", "paste_line", SEPARATOR, "filter", "deleted"),
    "&Run": ("run", "stop", "auto", SEPARATOR, "best", "ceilings"),
    "&View": (
        *(command.name for command in WORKSPACE_COMMANDS),
        "reset",
        SEPARATOR,
        DOCKS,
        SEPARATOR,
        "next_area",
        "previous_area",
        SEPARATOR,
        "theme",
    ),
    "&Help": ("keys", "about"),
}
TOOLS = ("run", "stop", "auto")


def build_tool_bar(window: QMainWindow, commands: Actions, headline: QWidget, notices: QWidget) -> None:
    """The commands of a run, and in the room beside them `headline` with `notices` below it."""
    bar = QToolBar("Run")
    bar.setObjectName("tool_bar")
    bar.setMovable(False)
    bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
    for name in TOOLS:
        bar.addAction(commands[name])
    bar.addSeparator()
    # Not in a bar of their own: a saved layout would hide messages, or show a bar without any.
    lines = QWidget()
    lines.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    layout = QVBoxLayout(lines)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    for line in (headline, notices):
        line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        layout.addWidget(line)
    bar.addWidget(lines)
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


def join_workspaces(commands: Actions, docks: Docks) -> None:
    """Have one of the workspaces' commands checked: that of the workspace shown."""
    group = QActionGroup(docks)

    def enter(workspace: Workspace) -> Callable[[], None]:
        return lambda: docks.enter(workspace)

    for workspace in WORKSPACES:
        action = commands[workspace_command(workspace)]
        group.addAction(action)
        action.triggered.connect(enter(workspace))
    docks.entered.connect(lambda workspace: commands[workspace_command(workspace)].setChecked(True))


def _add_pictures(menu: QMenu, contents: Sequence[Docked], save_picture: Callable[[Docked], None]) -> None:
    pictures = menu.addMenu("Picture of a panel")
    assert pictures is not None
    for widget in contents:
        pictures.addAction(f"{widget.title}…", partial(save_picture, widget))
