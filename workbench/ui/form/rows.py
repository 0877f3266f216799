"""How the form's fields are laid out: rows of one field or of several, each with the line of its fault or hint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PyQt6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QWidget

from workbench.analysis.validate import Fault
from workbench.ui.form.fields import Choice, Field, Flag, NumberField, set_property

COLUMNS = 3  # label, field, unit
LEAST_FIELD = 54  # px of a field beside others: three digits and the arrows

TITLE_GAP = 5  # px above a title that has a button beside it


@dataclass(frozen=True)
class Row:
    """A field of the form with its label, its unit, and the lines that say what is wrong with it or new about it.

    A Flag is named by its own text, and its label is empty.
    """

    field: Field
    label: QLabel
    unit: QLabel
    fault: QLabel
    hint: QLabel
    tip: str

    def show_fault(self, message: str) -> None:
        """Mark the field and say why, or clear the mark with an empty `message`."""
        self.fault.setText(message)
        self.fault.setVisible(bool(message))
        self.field.setAccessibleDescription(message)
        set_property(self.field, "invalid", bool(message))

    def show_hint(self, text: str) -> None:
        """Say something about the field's value that is no fault; nothing with an empty `text`."""
        self.hint.setText(text)
        self.hint.setVisible(bool(text))

    def allow(self, reason: str) -> None:
        """Disable the field and give `reason` as its tooltip, or enable it with an empty one."""
        self.field.setEnabled(not reason)
        for widget in (self.field, self.label, self.unit):
            widget.setToolTip(reason or self.tip)


def make_row(field: Field, name: str, label: str, unit: str, tip: str) -> Row:
    """A row for the request's field `name`, the label being the field's buddy."""
    field.setObjectName(name)
    field.setAccessibleName(f"{label}, {unit}" if unit else label)
    caption = QLabel("" if isinstance(field, Flag) else label)
    caption.setBuddy(field)
    suffix = QLabel(unit)
    suffix.setObjectName(f"{name}_unit")
    suffix.setProperty("role", "unit")
    fault, hint = _line(f"{name}_fault", "fault"), _line(f"{name}_hint", "hint")
    row = Row(field, caption, suffix, fault, hint, tip)
    row.allow("")
    return row


def _line(name: str, role: str) -> QLabel:
    line = QLabel()
    line.setObjectName(name)
    line.setProperty("role", role)
    line.setWordWrap(True)
    line.hide()
    return line


def add_rows(grid: QGridLayout, rows: Sequence[Row]) -> None:
    """One line of the form: label, field and unit, or several of them side by side.

    The lines for faults and hints are below it, and take no room while hidden.
    """
    line = grid.rowCount()
    if len(rows) == 1:
        _add_single(grid, line, rows[0])
    else:
        grid.addWidget(rows[0].label, line, 0)
        grid.addLayout(_side_by_side(rows), line, 1, 1, COLUMNS - 1)
    for row in rows:
        for below in (row.fault, row.hint):
            grid.addWidget(below, grid.rowCount(), 0, 1, COLUMNS)


def _add_single(grid: QGridLayout, line: int, row: Row) -> None:
    grid.addWidget(row.label, line, 0)
    if row.unit.text():
        grid.addWidget(row.field, line, 1)
        grid.addWidget(row.unit, line, 2)
    else:
        grid.addWidget(row.field, line, 1, 1, COLUMNS - 1)


def _side_by_side(rows: Sequence[Row]) -> QHBoxLayout:
    """Fields of a line share its width, the labels of all but the first between them."""
    layout = QHBoxLayout()
    layout.setSpacing(6)
    for i, row in enumerate(rows):
        if i and row.label.text():
            layout.addWidget(row.label)
        # Names need more room than numbers of few digits.
        layout.addWidget(row.field, 0 if isinstance(row.field, Flag) else 8 if isinstance(row.field, Choice) else 5)
        if not isinstance(row.field, Flag):
            row.field.setMinimumWidth(LEAST_FIELD)
            row.field.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    return layout


def add_title(grid: QGridLayout, text: str, beside: QWidget | None = None) -> None:
    """A group's title, with `beside` at its right."""
    title = QLabel(text)
    title.setProperty("role", "group")
    line = grid.rowCount()
    if beside is None:
        grid.addWidget(title, line, 0, 1, COLUMNS)
        return
    layout = QHBoxLayout()
    layout.setContentsMargins(0, TITLE_GAP, 0, 0)
    layout.addWidget(title, 1)
    layout.addWidget(beside)
    grid.addLayout(layout, line, 0, 1, COLUMNS)


def unreadable(rows: Mapping[str, Row]) -> tuple[Fault, ...]:
    """Fields whose text is no number, by name; without them 0 would pass for a seed or a tolerance."""
    numbers = ((name, row, row.field) for name, row in rows.items() if isinstance(row.field, NumberField))
    return tuple(
        Fault(name, f"{row.label.text()} is {field.text() or 'empty'}", f"allowed are {field.allowed}")
        for name, row, field in numbers
        if not field.is_number()
    )
