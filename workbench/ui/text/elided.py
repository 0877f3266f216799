"""Labels that never overflow: what has no room is left out or ends in an ellipsis, and the tooltip has the whole."""

from __future__ import annotations

from typing import ClassVar

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QFont, QPainter, QPaintEvent
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.ui.text.fit import fitted, text_width

SPARE = 2  # px beyond a text's own
WHOLE_CHARACTERS = 30  # average ones: a value as long as "interpreter, not GPU time" in bold is never cut


class ElidedLabel(QWidget):
    """One line of text in one colour. It asks for the room of the whole text and takes less.

    Where that is too little for its shorter version too, it cuts that; unless it `cuts` nothing, as half a number would
    mislead: then it shows none.
    """

    AROUND: ClassVar = QSize(SPARE, 0)  # px that it takes and its text does not
    LEAST_CHARACTERS: ClassVar = 9

    def __init__(
        self, scale: float = 1.0, bold: bool = False, cuts: bool = True, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._text = self._short = ""
        self._cuts = cuts
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
        """The text as it is painted: whole, in its shorter version, or what is left of that."""
        versions = (self._text, self._short or self._text, *([] if self._cuts else [""]))
        return fitted(versions, self.width() - self.AROUND.width() + SPARE, self.font())

    def set_text(self, text: str, color: QColor, tooltip: str = "", short: str = "") -> None:
        """Show `text` in `color`, or `short` where there is less room; `tooltip` is the text itself unless given."""
        if (text, short) != (self._text, self._short):
            self._text, self._short = text, short
            self.setAccessibleName(text)
            self.updateGeometry()
        self._color = color
        self.setToolTip(tooltip or text)
        self.update()

    def room_for(self, text: str) -> int:
        """Pixels that the label takes to show `text`."""
        return round(text_width(text, self.font())) + self.AROUND.width()

    def width_of(self, whole: bool) -> int:
        """Pixels for the whole text, or for the least of it that says something; 0 for none."""
        if not self._text:
            return 0
        if whole or not self._cuts:
            return self.room_for(self._text if whole else self._short or self._text)
        return min(self.room_for(self._text), self.fontMetrics().averageCharWidth() * self.LEAST_CHARACTERS)

    def sizeHint(self) -> QSize:
        """Room for the whole text."""
        return QSize(self.width_of(True), self.fontMetrics().height() + self.AROUND.height())

    def minimumSizeHint(self) -> QSize:
        """Room for its first few characters; none for what goes before anything beside it is cut."""
        return QSize(self.width_of(False) if self._cuts else 0, self.sizeHint().height())

    def paintEvent(self, _: QPaintEvent | None) -> None:
        painter = QPainter(self)
        painter.setPen(self._color)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, self.shown_text())
        painter.end()


class Badge(ElidedLabel):
    """A label in a frame that is as wide as what is shown, at the right; `ground` is the alpha of its colour in it."""

    AROUND = QSize(16, 8)
    LEAST_CHARACTERS = 18

    def __init__(self, ground: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._ground = ground

    def paintEvent(self, _: QPaintEvent | None) -> None:
        text, ground = self.shown_text(), QColor(self._color)
        ground.setAlpha(self._ground)
        width = min(self.room_for(text), self.width())
        frame = QRectF(self.width() - width + 0.5, 0.5, width - 1, self.height() - 1)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._color)
        painter.setBrush(ground)
        painter.drawRoundedRect(frame, 4, 4)
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, text)
        painter.end()


class Block(QWidget):
    """A small caption above a large value, with a small note beside the value."""

    def __init__(self, scale: float = 1.55, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.caption, self.value, self.note = ElidedLabel(), ElidedLabel(scale, bold=scale > 1), ElidedLabel(cuts=False)
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
        most = self.value.fontMetrics().averageCharWidth() * WHOLE_CHARACTERS
        self.value.setMinimumWidth(min(self.value.width_of(True), most))

    def set_note(self, text: str, short: str, color: QColor, tooltip: str = "") -> None:
        """Show `text` or its `short` version beside the value; nothing with an empty one."""
        self.note.set_text(text, color, tooltip, short)
        self.note.setVisible(bool(text))

    def minimumSizeHint(self) -> QSize:
        """The value keeps its room longer than the caption."""
        return QSize(self.value.minimumWidth(), super().minimumSizeHint().height())
