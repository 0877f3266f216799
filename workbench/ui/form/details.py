"""What stands behind the names of an open list: there is room for it there, and not in the closed field."""

from __future__ import annotations

from collections.abc import Mapping

from PyQt6.QtCore import QLocale, QObject
from PyQt6.QtWidgets import QStyledItemDelegate


class Details(QStyledItemDelegate):
    """Writes each name of a list with its detail after it."""

    def __init__(self, details: Mapping[str, str], parent: QObject) -> None:
        super().__init__(parent)
        self._details = details

    def displayText(self, value: object, locale: QLocale) -> str:
        """The name, then what it stands for."""
        detail = self._details.get(str(value), "")
        return f"{value}   {detail}" if detail else str(value)
