"""What a person says of the selected runs: a star, a name, a note, that one is seen no more; each can be undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QUndoCommand, QUndoStack
from PyQt6.QtWidgets import QInputDialog, QWidget

from workbench.analysis.numbers import counted
from workbench.run.kept.marks import Marks
from workbench.run.library import Library
from workbench.run.record import RunKey
from workbench.run.session import SessionError

Change = Mapping[RunKey, Marks]


class Marking(QObject):
    """The commands for the runs that `selected` gives; each change is a step on `stack`.

    `changed` says that marks are others now, and whether other runs are hidden by it; `said` carries a line.
    """

    changed = pyqtSignal(bool)
    said = pyqtSignal(str)

    def __init__(
        self, library: Library, stack: QUndoStack, table: QWidget, selected: Callable[[], Sequence[RunKey]]
    ) -> None:
        super().__init__(table)
        self._library = library
        self._stack = stack
        self._table = table
        self._selected = selected
        self.actions = (
            self._action("Star", "Ctrl+D", self.star),
            self._action("Name…", "F2", self.ask_name),
            self._action("Note…", "Shift+F2", self.ask_note),
            self._action("Delete", "Del", self.delete),
        )

    def _action(self, text: str, keys: str, do: Callable[[], object]) -> QAction:
        action = QAction(text, self._table)
        action.setShortcut(keys)
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(lambda: do())
        self._table.addAction(action)
        return action

    def refresh(self) -> None:
        """Name and enable the commands by what is selected, before they are offered."""
        keys = self._selected()
        all_starred = bool(keys) and all(self._library.marks(key).starred for key in keys)
        self.actions[0].setText("Remove star" if all_starred else "Star")
        for action in self.actions:
            action.setEnabled(bool(keys))

    def star(self) -> None:
        """Give the selected runs a star, or take it where all of them have one."""
        keys = self._selected()
        give = not all(self._library.marks(key).starred for key in keys)
        self._push(
            "star" if give else "remove star of", {k: replace(self._library.marks(k), starred=give) for k in keys}
        )

    def ask_name(self) -> None:
        """Ask what the selected runs are to be called."""
        self._ask("Name", "name", multiline=False)

    def ask_note(self) -> None:
        """Ask for a note of the selected runs."""
        self._ask("Note", "note", multiline=True)

    def delete(self) -> None:
        """Hide the selected runs; nothing that was measured is lost."""
        keys = self._selected()
        done = self._push("delete", {key: replace(self._library.marks(key), deleted=True) for key in keys})
        if done:
            self.said.emit(f"{_runs(keys)} deleted. Undo, or Edit > Deleted runs…, brings it back.")

    def restore(self, keys: Sequence[RunKey]) -> None:
        """Show deleted runs again."""
        self._push("restore", {key: replace(self._library.marks(key), deleted=False) for key in keys})

    def apply(self, change: Change) -> bool:
        """Keep marks; whether that could be done, else says why."""
        was = {key: self._library.marks(key).deleted for key in change}
        try:
            self._library.mark(change)
        except SessionError as error:
            self.said.emit(str(error))
            return False
        self.changed.emit(any(was[key] != marks.deleted for key, marks in change.items()))
        return True

    def _push(self, what: str, after: Change) -> bool:
        before = {key: self._library.marks(key) for key in after}
        if before == after:
            return False
        step = _Step(self, f"{what} {_runs(list(after)).lower()}", before, after)
        self._stack.push(step)
        return self._library.marks(next(iter(after))) == next(iter(after.values()))

    def _ask(self, title: str, field: str, multiline: bool) -> None:
        keys = self._selected()
        if not keys:
            return
        dialog = QInputDialog(self._table)
        dialog.setObjectName(f"ask_{field}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(title)
        dialog.setLabelText(f"{title} of {_runs(keys).lower()}:")
        dialog.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput, multiline)
        dialog.setTextValue(str(getattr(self._library.marks(keys[0]), field)))
        dialog.textValueSelected.connect(lambda text: self._say_of(keys, field, text.strip()))
        dialog.open()

    def _say_of(self, keys: Sequence[RunKey], field: str, text: str) -> None:
        change = {key: replace(self._library.marks(key), **{field: text}) for key in keys}  # type: ignore[arg-type]
        self._push(f"{field} of", change)


class _Step(QUndoCommand):
    """One change of marks; one that cannot be kept is no step."""

    def __init__(self, marking: Marking, text: str, before: Change, after: Change) -> None:
        super().__init__(text)
        self._marking = marking
        self._before, self._after = before, after

    def undo(self) -> None:
        self._marking.apply(self._before)

    def redo(self) -> None:
        self.setObsolete(not self._marking.apply(self._after))


def _runs(keys: Sequence[RunKey]) -> str:
    """Runs in a word or two: "Run 7", "3 runs"."""
    return f"Run {keys[0].number}" if len(keys) == 1 else counted(len(keys), "run")
