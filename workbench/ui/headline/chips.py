"""Small framed words beside a result: what must be known about it, each with its whole sentence as tooltip."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from PyQt6.QtCore import QSize
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QWidget

from workbench.analysis.numbers import counted
from workbench.ui.text.elided import Badge
from workbench.ui.text.fit import longest
from workbench.ui.theme import Theme
from workbench.words.remarks import Remark

SPACE = 6  # px between chips
GROUND = 38  # alpha of a chip's colour behind its text


class ChipRow(QWidget):
    """Chips side by side, each whole; those that do not fit are counted in a last one, whose tooltip has them all."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chips: tuple[Remark, ...] = ()
        self._labels = [Badge(GROUND, self)]

    def set_chips(self, chips: Sequence[Remark]) -> None:
        """Show `chips`, the most important first; nothing where there are none."""
        self._chips = tuple(chips)
        self._place()
        self.setVisible(bool(chips))

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        self._place()

    def texts(self) -> tuple[str, ...]:
        """What all chips say, also those that have no room."""
        return tuple(chip.text for chip in self._chips)

    def shown(self) -> list[Badge]:
        """The chips that are seen, from left to right."""
        return [label for label in self._labels if not label.isHidden()]

    def width_of(self, whole: bool) -> int:
        """Pixels for every chip, or for one that counts them all; 0 for none."""
        return self._width(self._with_count(len(self._chips) if whole else 0))

    def sizeHint(self) -> QSize:
        """Room for every chip."""
        return QSize(self.width_of(True), self.fontMetrics().height() + 4)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        super().resizeEvent(a0)
        self._place()

    def _place(self) -> None:
        """Lay out as many chips as there is room for, in their order."""
        versions = [self._with_count(whole) for whole in range(len(self._chips), -1, -1)]
        chips = longest(versions, self.width(), self._width)
        self._labels += [Badge(GROUND, self) for _ in chips[len(self._labels) :]]
        x = 0
        for label, chip in zip_longest(self._labels, chips):
            label.setVisible(chip is not None)
            if chip is not None:
                label.set_text(chip.text, self._theme.color(chip.tone), chip.tooltip)
                label.setGeometry(x, 0, min(label.width_of(True), max(0, self.width() - x)), self.sizeHint().height())
                x += label.width() + SPACE

    def _with_count(self, whole: int) -> list[Remark]:
        """The first `whole` chips, and one that counts the others."""
        left = self._chips[whole:]
        if not left:
            return list(self._chips)
        kind = "note" if all(chip.tone == "muted" for chip in self._chips) else "warning"
        text = f"+{len(left)}" if whole else counted(len(left), kind)
        return [*self._chips[:whole], Remark(text, "\n".join(chip.tooltip for chip in left), left[0].tone)]

    def _width(self, chips: Sequence[Remark]) -> int:
        return sum(self._labels[0].room_for(chip.text) + SPACE for chip in chips) - (SPACE if chips else 0)
