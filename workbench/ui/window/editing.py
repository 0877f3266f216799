"""The Edit menu: what was done to the form is taken back, and what it says is a line of the command line, and back."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QObject, Qt
from PyQt6.QtGui import QGuiApplication

from workbench.asking.line import command_line, read_line
from workbench.asking.rivals import rival_words
from workbench.asking.usage import UsageError
from workbench.run.request import RunRequest
from workbench.ui.form.controls import Controls
from workbench.ui.window.actions import Actions
from workbench.ui.window.undo import FormUndo, Undo

COMMANDS = ("undo", "redo", "copy_line", "paste_line")


class Editing(QObject):
    """Does what the Edit menu offers; `say` takes a line for the user. `undo` is the window's one history."""

    def __init__(self, parent: QObject, commands: Actions, controls: Controls, say: Callable[[str], None]) -> None:
        super().__init__(parent)
        self._controls = controls
        self._say = say
        self.undo = Undo(self, commands["undo"], commands["redo"])
        self._form = FormUndo(self.undo, controls)
        commands.connect(copy_line=self.copy_line, paste_line=self.paste_line)
        controls.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        for name in COMMANDS:
            controls.addAction(commands[name])

    def on_submitted(self) -> None:
        """A run begins: what is typed from now on is another step."""
        self._form.seal()

    def use_settings(self, request: RunRequest) -> None:
        """Put the settings of a run into the form."""
        self._controls.set_request(request, "settings of a run")
        if request.rival is not None:
            self._say(f"Without the rival, {rival_words(request.rival)}, which the form has not")

    def copy_line(self) -> None:
        """Put the line that makes the run of the form on the clipboard."""
        if self._controls.state().typed:
            self._say(f"Not copied: {self._controls.faults()[0].message}")
            return
        line = command_line(self._controls.request())
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None:
            clipboard.setText(line)
            self._say(f"Copied: {line}")

    def paste_line(self) -> None:
        """Put what the line on the clipboard asks for into the form, where it is judged as if it was typed."""
        clipboard = QGuiApplication.clipboard()
        try:
            read = read_line(clipboard.text() if clipboard is not None else "")
        except UsageError as error:
            self._say(f"Not pasted: {error}")
            return
        self._controls.set_request(read.request, "pasted command line")
        left_out = (*read.left_out, *(["--rival"] if read.request.rival is not None else []))
        if left_out:
            self._say(f"Pasted without {', '.join(left_out)}, which the form has not")
