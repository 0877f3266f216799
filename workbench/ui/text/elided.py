"""Text that never overflows: it ends in an ellipsis where it does not fit, and its tooltip has the whole."""

from __future__ import annotations

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QFont, QPainter, QPaintEvent
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

LEAST_CHARACTERS = 9
WHOLE_CHARACTERS = 30  # average ones: a value as long as "interpreter, not GPU time" in bold is never cut


class ElidedLabel(QWidget):
    """One line of text in one colour. It asks for the room of the whole text and takes less."""

    def __init__(self, scale: float = 1.0, bold: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = self._short = ""
        self._color = QColor(Qt.GlobalColor.gray)
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * scale)
        font.setBold(bold)
        self.setFont(font)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """The whole text."""
        return self._text

    def color(self) -> QColor:
        """The colour of the text."""
        return self._color

    def shown_text(self) -> str:
        """The text as it is painted: whole, in its shorter version, or elided to the width there is."""
        text = self._text if not self._short or self._fits(self._text) else self._short
        return self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, self.width())

    def set_text(self, text: str, color: QColor, tooltip: str = "", short: str = "") -> None:
        """Show `text` in `color`, or `short` where there is less room; `tooltip` is the text itself unless given."""
        if (text, short) != (self._text, self._short):
            self._text, self._short = text, short
            self.setAccessibleName(text)
            self.updateGeometry()
        self._color = color
        self.setToolTip(tooltip or text)
        self.update()

    def sizeHint(self) -> QSize:
        """Room for the whole text."""
        return QSize(self.fontMetrics().horizontalAdvance(self._text) + 2, self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        """Room for its first few characters."""
        least = self.fontMetrics().averageCharWidth() * LEAST_CHARACTERS
        return QSize(min(self.sizeHint().width(), least), self.fontMetrics().height())

    def _fits(self, text: str) -> bool:
        return self.fontMetrics().horizontalAdvance(text) <= self.width()

    def paintEvent(self, _: QPaintEvent | None) -> None:
        painter = QPainter(self)
        painter.setPen(self._color)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, self.shown_text())
        painter.end()


class Badge(ElidedLabel):
    """A framed label, at the right that takes only the room that is left."""

    PADDING = 8

    def shown_text(self) -> str:
        room = self.width() - 2 * self.PADDING
        return self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, room)

    def sizeHint(self) -> QSize:
        """As little as possible, so that the results keep their room."""
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:
        least = self.fontMetrics().averageCharWidth() * 2 * LEAST_CHARACTERS
        return QSize(least, self.fontMetrics().height() + self.PADDING)

    def whole_width(self) -> int:
        """Room for the whole text in its frame, px."""
        return self.fontMetrics().horizontalAdvance(self._text) + 2 * self.PADDING + 2

    def paintEvent(self, _: QPaintEvent | None) -> None:
        text = self.shown_text()
        width = self.fontMetrics().horizontalAdvance(text) + 2 * self.PADDING
        frame = QRectF(self.width() - width + 0.5, 0.5, width - 1, self.height() - 1)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._color)
        painter.drawRoundedRect(frame, 4, 4)
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, text)
        painter.end()


class Note(ElidedLabel):
    """A line with a shorter version of itself, for where the whole does not fit; half a number would mislead."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)

    def set_texts(self, text: str, short: str, color: QColor, tooltip: str = "") -> None:
        """Show `text` or, where there is little room, `short`."""
        self.set_text(text, color, tooltip, short)

    def shown_text(self) -> str:
        return next((text for text in (self._text, self._short) if self._fits(text)), "")

    def width_of(self, whole: bool) -> int:
        """Room for the whole text or for its shorter version, px; 0 for none."""
        text = self._text if whole else self._short or self._text
        return self.fontMetrics().horizontalAdvance(text) + 2 if text else 0

    def minimumSizeHint(self) -> QSize:
        """None: it goes before the value is cut."""
        return QSize(0, self.fontMetrics().height())


class Block(QWidget):
    """A small caption above a large value, with a small note beside the value."""

    def __init__(self, scale: float = 1.55, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.caption = ElidedLabel()
        self.value = ElidedLabel(scale, bold=scale > 1)
        self.note = Note()
        self.note.hide()
        beside = QHBoxLayout()
        beside.setSpacing(5)
        beside.addWidget(self.value)
        beside.addWidget(self.note)
        beside.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        layout.addStretch()
        layout.addWidget(self.caption)
        layout.addLayout(beside)
        layout.addStretch()

    def set_value(self, text: str, color: QColor, tooltip: str = "", short: str = "") -> None:
        """Show `text` or `short`, of which as much as WHOLE_CHARACTERS keeps its room longer than all else."""
        self.value.set_text(text, color, tooltip, short)
        self.value.setMinimumWidth(self._least())

    def set_note(self, text: str, short: str, color: QColor, tooltip: str = "") -> None:
        """Show `text` or its `short` version beside the value; nothing with an empty one."""
        self.note.set_texts(text, short, color, tooltip)
        self.note.setVisible(bool(text))

    def minimumSizeHint(self) -> QSize:
        """The value keeps its room longer than the caption."""
        return QSize(self._least(), super().minimumSizeHint().height())

    def _least(self) -> int:
        whole = self.value.fontMetrics().averageCharWidth() * WHOLE_CHARACTERS
        return min(self.value.sizeHint().width(), whole)
