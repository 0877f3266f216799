"""What can be taken back: one group of stacks for the window, each for what one of its widgets changes."""

from __future__ import annotations

from dataclasses import replace

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QAction, QUndoCommand, QUndoGroup, QUndoStack
from PyQt6.QtWidgets import QApplication, QWidget

from workbench.ui.form.controls import Controls
from workbench.ui.form.state import FormState, FormStep

MOST_STEPS = 500


class Undo(QObject):
    """The window's Undo and Redo. They are for the stack that was pushed to last, or whose widget has the focus.

    To make changes of a widget undoable: `stack = undo.add_stack(widget)`, then `stack.push(command)` for each of them,
    a QUndoCommand whose text completes "Undo …". Qt calls its `redo` at once.
    """

    def __init__(self, parent: QObject, undo: QAction, redo: QAction) -> None:
        super().__init__(parent)
        self._group = QUndoGroup(self)
        self._stacks: list[tuple[QUndoStack, QWidget]] = []
        self._undo, self._redo = undo, redo
        for action, run in ((undo, self._group.undo), (redo, self._group.redo)):
            action.setEnabled(False)
            action.triggered.connect(run)
        self._group.canUndoChanged.connect(undo.setEnabled)
        self._group.canRedoChanged.connect(redo.setEnabled)
        self._group.undoTextChanged.connect(self._name_undo)
        self._group.redoTextChanged.connect(self._name_redo)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus)

    def add_stack(self, widget: QWidget) -> QUndoStack:
        """A new stack for changes of `widget`."""
        stack = _Stack(self)
        stack.setUndoLimit(MOST_STEPS)
        self._group.addStack(stack)
        self._stacks.append((stack, widget))
        return stack

    def _name_undo(self, text: str) -> None:
        self._undo.setText(f"Undo {text}".rstrip())

    def _name_redo(self, text: str) -> None:
        self._redo.setText(f"Redo {text}".rstrip())

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        for stack, widget in self._stacks:
            if new is not None and (new is widget or widget.isAncestorOf(new)):
                self._group.setActiveStack(stack)


class _Stack(QUndoStack):
    """A stack that is active once something was pushed to it."""

    def push(self, cmd: QUndoCommand | None) -> None:
        self.setActive()
        super().push(cmd)


class FormUndo(QObject):
    """Makes each change of the form a step. What is typed into a field is one step until `seal` or until it is left."""

    def __init__(self, undo: Undo, controls: Controls) -> None:
        super().__init__(undo)
        self._controls = controls
        self._stack = undo.add_stack(controls)
        self._writing = 0  # counts the times that somebody has begun to type
        controls.stepped.connect(self._on_step)
        controls.rested.connect(self.seal)

    def seal(self) -> None:
        """Let what is typed from now on be a step of its own."""
        self._writing += 1

    def show(self, state: FormState) -> None:
        """Go to another state of the form."""
        if self._controls.state() != state:
            self.seal()
            self._controls.restore(state)

    def _on_step(self, step: FormStep) -> None:
        self._stack.push(_FormChange(self, step, self._writing))


class _FormChange(QUndoCommand):
    """One step of the form; those of a field that is being typed in become one."""

    def __init__(self, form: FormUndo, step: FormStep, writing: int) -> None:
        super().__init__(step.text)
        self._form = form
        self._step = step
        self._writing = writing

    def undo(self) -> None:
        self._form.show(self._step.before)

    def redo(self) -> None:
        self._form.show(self._step.after)

    def id(self) -> int:
        return 1

    def mergeWith(self, other: QUndoCommand | None) -> bool:
        if not isinstance(other, _FormChange) or not self._step.field:
            return False
        if (other._step.field, other._writing) != (self._step.field, self._writing):
            return False
        self._step = replace(self._step, after=other._step.after, text=other._step.text)
        self.setText(self._step.text)
        self.setObsolete(self._step.after == self._step.before)
        return True
