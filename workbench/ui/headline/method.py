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
        wholes, leasts = ([part.width_of(whole) for part in parts] for whole in (True, False))
        room = self.width() - _taken(self.protocol.width_of(True))
        tries = (
            wholes,
            (*wholes[:2], leasts[2]),
            (leasts[0], *wholes[1:]),
            (leasts[0], wholes[1], leasts[2]),
            (wholes[0], *leasts[1:]),
            leasts,
            (*leasts[:2], 0),
            (0, leasts[1], 0),
        )
        ending, chips, badge = longest(tries, room, lambda widths: sum(map(_taken, widths)))
        if 0 < chips < wholes[1]:  # as many of them as there is room for
            chips = min(wholes[1], room - _taken(ending) - _taken(badge) - GAP)
        if 0 < badge < wholes[2]:
            badge = min(wholes[2], room - _taken(ending) - _taken(chips) - GAP)
        self._set(ending, chips, badge)

    def sizeHint(self) -> QSize:
        """As high as the highest part, and no width: it takes what there is."""
        return QSize(0, max(self.badge.sizeHint().height(), self.chips.sizeHint().height()))

    def minimumSizeHint(self) -> QSize:
        """As the size hint."""
        return self.sizeHint()

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
