"""Fields of the form: they take whatever is typed, step by one keypress, and show when it cannot work."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TypeVar

from PyQt6.QtCore import QEvent, Qt, pyqtSignal
from PyQt6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QStandardItemModel, QValidator, QWheelEvent
from PyQt6.QtWidgets import QAbstractSpinBox, QCheckBox, QComboBox, QLineEdit, QWidget

from workbench.asking.line import is_line

AUTO = "auto"

Number = TypeVar("Number", int, float)


class NumberField(QAbstractSpinBox):
    """A number with steps. Values that are not allowed can be typed, so that the reason can be shown.

    QSpinBox would refuse or correct them (and ends at 31 bits), so this one keeps the text itself.
    """

    changed = pyqtSignal()

    allowed = "numbers"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._edit().textChanged.connect(lambda _: self.changed.emit())

    def is_number(self) -> bool:
        """Whether the text is a number."""
        raise NotImplementedError

    def set_text(self, text: str) -> None:
        """Replace the text, emitting `changed` if it differs."""
        self._edit().setText(text)

    def validate(self, text: str | None, pos: int) -> tuple[QValidator.State, str, int]:
        """Accept every text: to swallow the e of 1e3 would make another number of it; the fault says what is wrong."""
        return QValidator.State.Acceptable, text or "", pos

    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:
        """Both directions: a step that leads nowhere leaves the value."""
        return QAbstractSpinBox.StepEnabledFlag.StepUpEnabled | QAbstractSpinBox.StepEnabledFlag.StepDownEnabled

    def event(self, event: QEvent | None) -> bool:
        """Leave to the window what is for the whole form: undo, redo, and a command line that is pasted."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and _is_for_form(event):
            event.ignore()
            return True
        return super().event(event)

    def keyPressEvent(self, e: QKeyEvent | None) -> None:
        """Nothing to undo in the window is nothing to undo here."""
        if e is not None and _is_undo(e):
            e.ignore()
            return
        super().keyPressEvent(e)

    def wheelEvent(self, e: QWheelEvent | None) -> None:
        """Step only with the focus, so that scrolling the form changes nothing."""
        if e is not None and not self.hasFocus():
            e.ignore()
            return
        super().wheelEvent(e)

    def _edit(self) -> QLineEdit:
        edit = self.lineEdit()
        assert edit is not None
        return edit

    def _step_to(self, text: str) -> None:
        self.set_text(text)
        if self.hasFocus():
            self.selectAll()


class IntField(NumberField):
    """A whole number. It steps through `steps` where given (powers of two), else by one, not below `least`."""

    allowed = "whole numbers of at most 19 digits"

    def __init__(self, steps: Sequence[int] = (), least: int = 1, parent: QWidget | None = None) -> None:
        self._steps = tuple(sorted(steps))
        self._least = least
        super().__init__(parent)

    def set_steps(self, steps: Sequence[int]) -> None:
        """Step through other values from now on."""
        self._steps = tuple(sorted(steps))

    def is_number(self) -> bool:
        return re.fullmatch(r"-?[0-9]{1,19}", self.text()) is not None

    def value(self) -> int:
        """The number in the field; 0 while there is none."""
        return int(self.text()) if self.is_number() else 0

    def set_value(self, value: int) -> None:
        """Show `value`, allowed or not."""
        self.set_text(str(value))

    def stepBy(self, steps: int) -> None:
        """Go `steps` values up or down."""
        value = self.value()
        self._step_to(str(_stepped(self._steps, value, steps) if self._steps else max(self._least, value + steps)))


class AutoField(IntField):
    """A whole number whose 0 reads "auto": a rule chooses it. Both can be typed."""

    allowed = "whole numbers and auto"

    def is_number(self) -> bool:
        return self._is_auto() or super().is_number()

    def value(self) -> int:
        """The number in the field; 0 for auto, and while there is none."""
        return 0 if self._is_auto() else super().value()

    def set_value(self, value: int) -> None:
        self.set_text(str(value) if value else AUTO)

    def _is_auto(self) -> bool:
        return self.text().strip().lower() == AUTO

    def _step_to(self, text: str) -> None:
        super()._step_to(AUTO if text == "0" else text)


class FloatField(NumberField):
    """A tolerance: any number, also as 2e-3. It steps by powers of ten, from 0 to `first`."""

    def __init__(self, first: float = 1e-8, parent: QWidget | None = None) -> None:
        self._first = first
        super().__init__(parent)

    def is_number(self) -> bool:
        try:
            float(self.text())
        except ValueError:
            return False
        return True

    def value(self) -> float:
        """The number in the field; 0 while there is none."""
        return float(self.text()) if self.is_number() else 0.0

    def set_value(self, value: float) -> None:
        """Show `value`, unless the text already says it in another way, as 2e-3 for 0.002."""
        if not self.is_number() or self.value() != value:
            self.set_text(_float_text(value))

    def stepBy(self, steps: int) -> None:
        """Multiply or divide by ten; below `first` comes 0."""
        value = self.value()
        if value <= 0:
            value, steps = (self._first, steps - 1) if steps > 0 else (0.0, 0)
        # Ten is no power of two: without rounding, steps up and down would leave 0.0020000000000000005.
        value = float(f"{value * 10.0**steps:.12g}")
        if isfinite(value):
            self._step_to(_float_text(0.0 if value < self._first else value))


class SecondsField(FloatField):
    """A limit of time in seconds: any number. It steps through round ones."""

    STEPS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0)

    def stepBy(self, steps: int) -> None:
        """Go `steps` round numbers up or down."""
        self._step_to(_float_text(_stepped(self.STEPS, self.value(), steps)))


def _stepped(allowed: Sequence[Number], value: Number, steps: int) -> Number:
    """What is `steps` up or down of `value` in `allowed`, which ascends; from between two first the nearer one."""
    ahead = bisect_right(allowed, value) - 1 if steps > 0 else bisect_left(allowed, value)
    return allowed[min(max(ahead + steps, 0), len(allowed) - 1)]


def _float_text(value: float) -> str:
    """The shortest text that gives `value` back, with 1e-5 rather than 1e-05."""
    mantissa, mark, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent)}" if mark else mantissa.removesuffix(".0")


class Choice(QComboBox):
    """A closed list of names with their tooltips. Those that cannot work are disabled, the reason as tooltip."""

    changed = pyqtSignal()

    def __init__(self, names: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # Without it the longest entry, not the dock, decides how wide the form is.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self._tips: dict[str, str] = {}
        self.set_names(names)
        self.currentIndexChanged.connect(lambda _: self.changed.emit())

    def showPopup(self) -> None:
        """Open the list as wide as its entries are."""
        view = self.view()
        if view is not None:
            bar = view.verticalScrollBar()
            view.setMinimumWidth(view.sizeHintForColumn(0) + (bar.sizeHint().width() if bar is not None else 0))
        super().showPopup()

    def value(self) -> str:
        """The chosen name."""
        return self.currentText()

    def set_value(self, name: str) -> None:
        """Choose `name`; one that is not in the list is added, for the form to say why it cannot work."""
        if self.findText(name) < 0:
            self.addItem(name)
        self.setCurrentIndex(self.findText(name))

    def set_names(self, names: Mapping[str, str]) -> None:
        """Replace the list by `names`, whose values are tooltips; what is chosen stays, without `changed`."""
        chosen = self.value()
        blocked = self.blockSignals(True)
        self.clear()
        self.addItems(list(names))
        if chosen:
            self.set_value(chosen)
        self.blockSignals(blocked)
        self._tips = dict(names)
        self.set_reasons({})

    def set_reasons(self, reasons: Mapping[str, str]) -> None:
        """Disable the names in `reasons`, whose values say why, and enable all others."""
        model = self.model()
        assert isinstance(model, QStandardItemModel)
        for row in range(self.count()):
            name = self.itemText(row)
            item = model.item(row)
            assert item is not None
            item.setEnabled(name not in reasons)
            item.setToolTip(reasons.get(name, self._tips.get(name, "")))

    def wheelEvent(self, e: QWheelEvent | None) -> None:
        """Change only with the focus, so that scrolling the form changes nothing."""
        if e is not None and not self.hasFocus():
            e.ignore()
            return
        super().wheelEvent(e)


class Flag(QCheckBox):
    """Something that is on or off, named by its own text."""

    changed = pyqtSignal()

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.toggled.connect(lambda _: self.changed.emit())

    def value(self) -> bool:
        """Whether it is on."""
        return self.isChecked()

    def set_value(self, value: bool) -> None:
        """Turn it on or off."""
        self.setChecked(value)


Field = IntField | FloatField | Choice | Flag


def _is_undo(event: QKeyEvent) -> bool:
    return any(event.matches(key) for key in (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo))


def _is_for_form(event: QKeyEvent) -> bool:
    if not event.matches(QKeySequence.StandardKey.Paste):
        return _is_undo(event)
    clipboard = QGuiApplication.clipboard()
    return clipboard is not None and is_line(clipboard.text())


def set_property(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet selects by; Qt looks at it again only when polished anew."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    style = widget.style()
    assert style is not None
    style.unpolish(widget)
    style.polish(widget)
