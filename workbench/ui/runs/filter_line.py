"""The line over the table in which a person asks for some of the runs."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from workbench.analysis.listing.filter import allowed_text, parse_filter
from workbench.analysis.numbers import counted
from workbench.ui.theme import Theme

EXAMPLE = "kernel:flash time<100us tile:64x32 -failed"


class FilterEdit(QLineEdit):
    """A line that Esc clears, before the window takes it for Stop, and from which Down goes to the runs."""

    cleared = pyqtSignal()
    left = pyqtSignal()

    def event(self, a0: QEvent | None) -> bool:
        """Keep Esc for this line."""
        if isinstance(a0, QKeyEvent) and a0.type() == QEvent.Type.ShortcutOverride and a0.key() == Qt.Key.Key_Escape:
            a0.accept()
            return True
        return super().event(a0)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        match a0.key() if a0 is not None else None:
            case Qt.Key.Key_Escape:
                self.cleared.emit()
            case Qt.Key.Key_Down | Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.left.emit()
            case _:
                super().keyPressEvent(a0)


class FilterLine(QWidget):
    """Says what it does not understand and how many runs there are; hidden until it is asked for.

    `asked` carries a Filter; `left` says that the focus belongs to the runs again.
    """

    asked = pyqtSignal(object)
    left = pyqtSignal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.edit = FilterEdit()
        self.count, self.fault = QLabel(), QLabel()
        self._close = QToolButton()
        self.edit.setPlaceholderText(f"Filter: {EXAMPLE}")
        self.edit.setAccessibleName("Filter of the runs")
        self.edit.setToolTip(allowed_text())
        self.fault.setToolTip(allowed_text())
        self.fault.setWordWrap(True)
        self.fault.hide()
        self._close.setText("✕")
        self._close.setAutoRaise(True)
        self._close.setAccessibleName("Clear the filter")
        self._close.setToolTip("Show all runs (Esc)")
        self._lay_out()
        self.edit.textChanged.connect(self._on_text)
        self.edit.left.connect(self.left)
        self.edit.cleared.connect(self.close_line)
        self._close.clicked.connect(self.close_line)
        self.apply_theme(theme)
        self.hide()

    def open_line(self) -> None:
        """Show it, ready to be typed in."""
        self.show()
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.edit.selectAll()

    def close_line(self) -> None:
        """Ask for all runs, and go."""
        self.edit.clear()
        self.hide()
        self.left.emit()

    def show_count(self, shown: int, of: int) -> None:
        """Say how many runs there are, of how many."""
        is_asked = bool(self.edit.text().strip())
        self.count.setText(f"{shown:,} of {counted(of, 'run')}, in the trend too" if is_asked else counted(of, "run"))

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self.fault.setStyleSheet(f"color: {theme.color('warn').name()}")

    def _on_text(self, text: str) -> None:
        found = parse_filter(text)
        self.fault.setText(found.faults[0] if found.faults else "")
        self.fault.setVisible(bool(found.faults))
        self.asked.emit(found)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.edit, 1)
        row.addWidget(self.count)
        row.addWidget(self._close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 2)
        layout.setSpacing(2)
        layout.addLayout(row)
        layout.addWidget(self.fault)
