"""The line above the table: what all of its runs share."""

from __future__ import annotations

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QPainter, QPaintEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.text.fit import ELLIPSIS, SEPARATOR, ever_shorter, fitted

MARGIN = 6  # px at both sides
BEFORE = "all: "


class SharedLine(QWidget):
    """Says parts in a line, from the end without those that have no room; the tooltip has all of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()

    def set_parts(self, parts: tuple[str, ...]) -> None:
        """Say `parts`; without any the line takes no room."""
        self._parts = parts
        self.setToolTip("\n".join(("All runs of the table:", *parts)) if parts else "")
        self.setAccessibleName(BEFORE + SEPARATOR.join(parts) if parts else "")
        self.setVisible(bool(parts))
        self.update()

    def shown_text(self) -> str:
        """The line as it is painted."""
        whole, *shorter = (BEFORE + text for text in ever_shorter(self._parts))
        versions = [whole, *(f"{text}{SEPARATOR}{ELLIPSIS}" for text in shorter)]
        return fitted(versions, self.width() - 2 * MARGIN, self.font())

    def sizeHint(self) -> QSize:
        """The height of a line; any width will do."""
        return QSize(0, self.fontMetrics().height() + MARGIN)

    def paintEvent(self, _: QPaintEvent | None) -> None:
        if self._parts:
            painter = QPainter(self)
            painter.setPen(self.palette().windowText().color())
            room = self.rect().adjusted(MARGIN, 0, -MARGIN, 0)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, self.shown_text())
            painter.end()
