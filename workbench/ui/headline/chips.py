"""Small framed words beside a result: what must be known about it, each with its whole sentence as tooltip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from workbench.analysis.numbers import counted
from workbench.ui.text.elided import ElidedLabel
from workbench.ui.theme import Theme

SPACE = 6  # px between chips
PADDING = 7  # px beside a chip's text


@dataclass(frozen=True)
class Chip:
    """What a chip says: a few words, the sentence behind them, and the theme's colour of its frame."""

    text: str
    tooltip: str
    tone: str = "warn"


class ChipLabel(ElidedLabel):
    """One chip as it is painted: text in its colour on a faint ground of the same."""

    def shown_text(self) -> str:
        room = self.width() - 2 * PADDING
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)

    def sizeHint(self) -> QSize:
        """Room for the text and its frame."""
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 2 * PADDING + 2, self.fontMetrics().height())

    def paintEvent(self, _: QPaintEvent | None) -> None:
        color, ground = self.color(), QColor(self.color())
        ground.setAlpha(38)
        frame = QRectF(0.5, 0.5, self.width() - 1, self.height() - 1)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(color)
        painter.setBrush(ground)
        painter.drawRoundedRect(frame, 4, 4)
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, self.shown_text())
        painter.end()


class ChipRow(QWidget):
    """Chips side by side, each whole; those that do not fit are counted in a last one, whose tooltip has them all."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: tuple[Chip, ...] = ()
        self._labels: list[ChipLabel] = []
        self._more = ChipLabel(parent=self)
        self._more.hide()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def set_chips(self, chips: Sequence[Chip]) -> None:
        """Show `chips`, the most important first; nothing where there are none."""
        if tuple(chips) != self._chips:
            self._chips = tuple(chips)
            while len(self._labels) < len(chips):
                self._labels.append(ChipLabel(parent=self))
            self.updateGeometry()
        self._write()
        self._place()
        self.setVisible(bool(chips))

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        self._write()
        self._place()

    def texts(self) -> tuple[str, ...]:
        """What all chips say, also those that have no room."""
        return tuple(chip.text for chip in self._chips)

    def shown(self) -> list[ChipLabel]:
        """The chips that are seen, from left to right."""
        return [label for label in (*self._labels, self._more) if not label.isHidden()]

    def sizeHint(self) -> QSize:
        """Room for every chip."""
        widths = [label.sizeHint().width() for label in self._labels[: len(self._chips)]]
        return QSize(sum(widths) + SPACE * max(0, len(widths) - 1), self._height())

    def minimumSizeHint(self) -> QSize:
        """Room for one that counts the others."""
        return QSize(self.least_width(), self._height())

    def least_width(self) -> int:
        """Room for one that counts them all, px; 0 where there are none."""
        return self._width_of(0) if self._chips else 0

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        super().resizeEvent(a0)
        self._place()

    def _height(self) -> int:
        return self.fontMetrics().height() + 4

    def _write(self) -> None:
        for label, chip in zip(self._labels, self._chips, strict=False):
            label.set_text(chip.text, self._theme.color(chip.tone), chip.tooltip)

    def _place(self) -> None:
        """Lay out as many chips as there is room for, in their order."""
        labels = self._labels[: len(self._chips)]
        fitting = next((n for n in range(len(labels), -1, -1) if self._width_of(n) <= self.width()), 0)
        left = len(labels) - fitting
        x = 0
        for i, label in enumerate(self._labels):
            label.setVisible(i < fitting)
            if i < fitting:
                label.setGeometry(x, 0, label.sizeHint().width(), self._height())
                x += label.width() + SPACE
        self._more.setVisible(left > 0)
        if left:
            hidden = self._chips[fitting:]
            self._more.set_text(
                self._more_text(left), self._theme.color(hidden[0].tone), "\n".join(chip.tooltip for chip in hidden)
            )
            self._more.setGeometry(x, 0, min(self._more.sizeHint().width(), max(0, self.width() - x)), self._height())

    def _width_of(self, fitting: int) -> int:
        """Pixels that the first `fitting` chips take, with the one that counts the others."""
        widths = [label.sizeHint().width() for label in self._labels[:fitting]]
        left = len(self._chips) - fitting
        if left:
            advance = self.fontMetrics().horizontalAdvance(self._more_text(left))
            widths.append(advance + 2 * PADDING + 2)
        return sum(widths) + SPACE * max(0, len(widths) - 1)

    def _more_text(self, left: int) -> str:
        if left < len(self._chips):
            return f"+{left}"
        return counted(left, "note" if all(chip.tone == "muted" for chip in self._chips) else "warning")
