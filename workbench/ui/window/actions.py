"""The window's commands: each has one action, shown in a menu, with its key and where useful in the tool bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import QMainWindow

from workbench.ui.theme import Theme, icon
from workbench.ui.window.layout.workspaces import WORKSPACES, Workspace


def workspace_command(workspace: Workspace) -> str:
    """The name of the command that shows `workspace`."""
    return f"workspace_{workspace.name}"


@dataclass(frozen=True)
class Command:
    """One command: its name in code, its text, its keys, its icon ("" for none) and what it is for."""

    name: str
    text: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    tip: str = ""
    checkable: bool = False


WORKSPACE_COMMANDS = tuple(
    Command(workspace_command(workspace), workspace.title, (f"Ctrl+{number}",), "", workspace.purpose, True)
    for number, workspace in enumerate(WORKSPACES, 1)
)
COMMANDS = (
    Command("run", "Run", ("Ctrl+R", "F5"), "run", "Run the kernel and SDPA with the values of the form"),
    Command("stop", "Stop", ("Esc",), "stop", "Stop the run; what it has measured stays"),
    Command("auto", "Auto-run", ("Ctrl+Shift+R",), "auto", "Run again after every change of the form", True),
    Command("best", "Best tile", ("Ctrl+B",), "", "Set the tile to the best one known for the problem and the kernel"),
    Command("ceilings", "Measure ceilings", tip="How fast the GPU copies and multiplies, for the roofline: about 3 s"),
    Command("new", "New session", ("Ctrl+N",), tip="Keep the next runs in a new file"),
    Command("open_session", "Open session…", ("Ctrl+Shift+O",), tip="Go on with a session: runs are added to it"),
    Command("open", "Open recording…", ("Ctrl+O",), "open", "Show runs recorded elsewhere, read-only"),
    Command("recent", "Open recent", tip="Sessions and recordings that were opened lately"),
    Command("close_recording", "Close recording", tip="Take a recording's runs out of the window"),
    Command("save", "Save session as…", ("Ctrl+S",), "save", "Write this session's runs to a file"),
    Command("record", "Save as recording…", tip="Write this session's runs to a file that is only read, to hand on"),
    Command("export", "Export runs…", tip="For other programs: the runs selected in the table, or all where one is"),
    Command(
        "screenshot", "Picture of the window…", ("Ctrl+Shift+S",), "screenshot", "To the clipboard and a file, at 2x"
    ),
    Command("deleted", "Deleted runs…", tip="Bring back runs of this session that were deleted"),
    Command(
        "filter", "Filter runs", ("Ctrl+F",), tip="Show the runs that words and terms ask for: kernel:flash time<100us"
    ),
    Command("quit", "Quit", ("Ctrl+Q",)),
    Command("undo", "Undo", ("Ctrl+Z",), tip="Take back the last change"),
    Command("redo", "Redo", ("Ctrl+Shift+Z", "Ctrl+Y"), tip="Make the change that was taken back"),
    Command("copy_line", "Copy as command line", ("Ctrl+Shift+C",), tip="The command that makes the run of the form"),
    Command("paste_line", "Paste command line", ("Ctrl+V",), tip="Put a copied python main.py run … into the form"),
    *WORKSPACE_COMMANDS,
    Command("reset", "Reset layout", (), "reset", "Put the docks of this workspace back to their first places"),
    Command("next_area", "Next area", ("F6",), "", "Take the keyboard to the next of form, headline, panels and table"),
    Command("previous_area", "Previous area", ("Shift+F6",), "", "Take the keyboard to the one before"),
    Command("theme", "Light theme", ("Ctrl+T",), "theme", "Change between dark and light", True),
    Command("keys", "Keys and mouse", ("F1",), "help"),
    Command("about", "About Tilescope"),
)


class Actions:
    """The QActions of COMMANDS, by name."""

    def __init__(self, window: QMainWindow, theme: Theme) -> None:
        self._actions: dict[str, QAction] = {}
        for command in COMMANDS:
            action = QAction(command.text, window)
            action.setObjectName(f"action_{command.name}")
            action.setShortcuts([QKeySequence(keys) for keys in command.keys])
            action.setCheckable(command.checkable)
            keys = f" ({', '.join(command.keys)})" if command.keys else ""
            action.setToolTip(f"{command.tip or command.text}{keys}")
            self._actions[command.name] = action
            window.addAction(action)
        self.apply_theme(theme)

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def connect(self, **slots: Callable[..., object]) -> None:
        """Connect each named command to its slot."""
        for name, slot in slots.items():
            self._actions[name].triggered.connect(slot)

    def apply_theme(self, theme: Theme) -> None:
        """Draw the icons in the theme's colours: green to run, red to stop."""
        colors = {"run": theme.good, "stop": theme.bad}
        for command in COMMANDS:
            if command.icon:
                self._actions[command.name].setIcon(icon(command.icon, colors.get(command.name, theme.text)))
