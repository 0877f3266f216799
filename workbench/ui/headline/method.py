"""The headline's second line: how the times were obtained, what to know beside them, and which recording it is."""

from __future__ import annotations

from PyQt6.QtCore import QSize
from PyQt6.QtGui import QColor, QResizeEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.headline.chips import ChipRow
from workbench.ui.headline.findings import Method
from workbench.ui.text.elided import Badge, ElidedLabel
from workbench.ui.text.fit import longest
from workbench.ui.theme import Theme

GAP = 10  # px between parts
# Of ending, chips and badge, in the order in which they give way: whole (2), as little as says something (1), nothing.
GIVING_WAY = ((2, 2, 2), (2, 2, 1), (1, 2, 2), (1, 2, 1), (2, 1, 1), (1, 1, 1), (1, 1, 0), (0, 1, 0))


class MethodRow(QWidget):
    """Protocol, how well the times are known, chips, and at the right the recording.

    A layout would squeeze all of them a little where room is short. Here the protocol is always whole, and the others
    become shorter one after the other: the recording's name, how well the times are known, then the chips.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.protocol, self.ending = ElidedLabel(bold=True, parent=self), ElidedLabel(cuts=False, parent=self)
        self.chips, self.badge = ChipRow(theme, self), Badge(parent=self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_method(self, method: Method, color: QColor) -> None:
        """Say how the times were obtained; nothing where nothing is known."""
        self.protocol.set_text(method.figure, color, method.details)
        self.ending.set_text(method.known, color, method.details, method.short)

    def show_source(self, text: str, color: QColor) -> None:
        """Name the recording; nothing for ""."""
        self.badge.set_text(text, color)

    def place(self) -> None:
        """Give each part its room; to be called when what they say has changed."""
        parts = (self.ending, self.chips, self.badge)
        widths = [(0, part.width_of(False), part.width_of(True)) for part in parts]
        room = self.width() - _taken(self.protocol.width_of(True))
        tries = [[width[i] for width, i in zip(widths, kept, strict=True)] for kept in GIVING_WAY]
        ending, chips, badge = longest(tries, room, lambda tried: sum(map(_taken, tried)))
        if 0 < chips < widths[1][-1]:  # as many of them as there is room for
            chips = min(widths[1][-1], room - _taken(ending) - _taken(badge) - GAP)
        if 0 < badge < widths[2][-1]:
            badge = min(widths[2][-1], room - _taken(ending) - _taken(chips) - GAP)
        self._set(ending, chips, badge)

    def sizeHint(self) -> QSize:
        """As high as the highest part, and no width: it takes what there is."""
        return QSize(0, max(self.badge.sizeHint().height(), self.chips.sizeHint().height()))

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        super().resizeEvent(a0)
        self.place()

    def _set(self, ending: int, chips: int, badge: int) -> None:
        x, protocol = 0, min(self.width(), self.protocol.width_of(True))
        for part, width in ((self.protocol, protocol), (self.ending, ending), (self.chips, chips), (self.badge, badge)):
            part.setVisible(width > 0)
            height = part.sizeHint().height()
            left = x if part is not self.badge else self.width() - width
            part.setGeometry(left, (self.height() - height) // 2, max(0, width), height)
            x += _taken(width)


def _taken(width: int) -> int:
    return width + GAP if width else 0
