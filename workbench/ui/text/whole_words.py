"""Table cells that never show half a number: what has no room is left out and not cut."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QModelIndex, Qt
from PyQt6.QtGui import QFont, QPainter
from PyQt6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.ui.text.fit import ELLIPSIS, ever_shorter, longest, text_width

SHORTER = Qt.ItemDataRole.UserRole + 1  # a model's list of versions of a cell for less room, the longest first


def fitting(text: str, room: int, font: QFont, is_number: bool, versions: Sequence[str] = ()) -> str:
    """As many whole words of `text` as `room` px hold, of a number all or none; an ellipsis stands for the rest.

    Whole `versions` of it, from the longest to the shortest, go before that. A first word that is too long is left to
    be cut, if it holds no digit. Nothing is shown in less room than the ellipsis takes.
    """
    words = [text] if is_number else text.split(" ")
    shorter = [f"{some} {ELLIPSIS}" for some in ever_shorter(words, " ")[1:]]
    last = ELLIPSIS if is_number or any(sign.isdigit() for sign in words[0]) else text
    if text_width(ELLIPSIS, font) > room:
        return ""
    return longest([text, *versions, *shorter, last], room, lambda version: text_width(version, font))


class WholeWords(QStyledItemDelegate):
    """Paints cells by `fitting`, into the part of each that is seen: the edge of the view cuts no number either.

    `numbers` are the columns that hold one number with its unit.
    """

    def __init__(self, numbers: frozenset[int], parent: QAbstractItemView) -> None:
        super().__init__(parent)
        self._view = parent
        self._numbers = numbers

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        viewport = self._view.viewport()
        seen = QStyleOptionViewItem(option)
        if viewport is not None:
            seen.rect = option.rect & viewport.rect()
        super().paint(painter, seen, index)

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        """As the base class, with the text that fits; that asks it for the width of a cell gives no rectangle."""
        super().initStyleOption(option, index)
        if option is not None and option.rect.width() > 0:
            is_number = index.column() in self._numbers
            option.text = fitting(
                option.text or "", self._room(option), option.font, is_number, index.data(SHORTER) or ()
            )

    def _room(self, option: QStyleOptionViewItem) -> int:
        """Pixels that the style leaves for the text of a cell, one less than it says: it rounds widths up."""
        style = self._view.style()
        assert style is not None
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, self._view) + 1
        place = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, self._view)
        return place.width() - 2 * margin - 1
