"""Small framed words beside a result: what must be known about it, each with its whole sentence as tooltip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QSize
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QWidget

from workbench.ui.text.elided import Badge
from workbench.ui.text.fit import longest
from workbench.ui.theme import Theme
from workbench.words.times import counted

SPACE = 6  # px between chips
GROUND = 38  # alpha of a chip's colour behind its text


@dataclass(frozen=True)
class Chip:
    """What a chip says: a few words, the sentence behind them, and the theme's colour of its frame."""

    text: str
    tooltip: str
    tone: str = "warn"


class ChipRow(QWidget):
    """Chips side by side, each whole; those that do not fit are counted in a last one, whose tooltip has them all."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: tuple[Chip, ...] = ()
        self._labels: list[Badge] = []
        self._more = Badge(GROUND, self)
        self._more.hide()

    def set_chips(self, chips: Sequence[Chip]) -> None:
        """Show `chips`, the most important first; nothing where there are none."""
        self._chips = tuple(chips)
        while len(self._labels) < len(chips):
            self._labels.append(Badge(GROUND, self))
        self.apply_theme(self._theme)
        self.setVisible(bool(chips))

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        for label, chip in zip(self._labels, self._chips, strict=False):
            label.set_text(chip.text, theme.color(chip.tone), chip.tooltip)
        self._place()

    def texts(self) -> tuple[str, ...]:
        """What all chips say, also those that have no room."""
        return tuple(chip.text for chip in self._chips)

    def shown(self) -> list[Badge]:
        """The chips that are seen, from left to right."""
        return [label for label in (*self._labels, self._more) if not label.isHidden()]

    def width_of(self, whole: bool) -> int:
        """Pixels for every chip, or for one that counts them all; 0 for none."""
        return self._width(len(self._chips) if whole else 0) if self._chips else 0

    def sizeHint(self) -> QSize:
        """Room for every chip."""
        return QSize(self.width_of(True), self.fontMetrics().height() + 4)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        super().resizeEvent(a0)
        self._place()

    def _place(self) -> None:
        """Lay out as many chips as there is room for, in their order."""
        fitting = longest(range(len(self._chips), -1, -1), self.width(), self._width)
        hidden = self._chips[fitting:]
        if hidden:
            tips = "\n".join(chip.tooltip for chip in hidden)
            self._more.set_text(self._more_text(len(hidden)), self._theme.color(hidden[0].tone), tips)
        x = 0
        for i, label in enumerate((*self._labels, self._more)):
            label.setVisible(bool(hidden) if label is self._more else i < fitting)
            if not label.isHidden():
                label.setGeometry(x, 0, min(label.width_of(True), max(0, self.width() - x)), self.sizeHint().height())
                x += label.width() + SPACE

    def _width(self, fitting: int) -> int:
        """Pixels that the first `fitting` chips take, with the one that counts the others."""
        texts = list(self.texts()[:fitting])
        if fitting < len(self._chips):
            texts.append(self._more_text(len(self._chips) - fitting))
        return sum(map(self._more.room_for, texts)) + SPACE * max(0, len(texts) - 1)

    def _more_text(self, left: int) -> str:
        if left < len(self._chips):
            return f"+{left}"
        return counted(left, "note" if all(chip.tone == "muted" for chip in self._chips) else "warning")
