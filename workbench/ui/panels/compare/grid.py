"""The table of a comparison: a column a run, a row for what differs and for each figure."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor, QFont
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from workbench.ui.theme import Theme
from workbench.words.comparing import Compared, Entry

WIDEST = 200  # px: of a column; longer entries take several lines


class ComparisonGrid(QTableWidget):
    """Shows a `Compared`, the reference's column in bold."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: Compared | None = None
        self.setAccessibleName("Runs beside each other")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(True)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            assert header is not None
            header.setHighlightSections(False)
            header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
            header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def show_compared(self, found: Compared) -> None:
        """Show `found` in place of what was there."""
        self._shown = found
        self.setUpdatesEnabled(False)
        self.clear()
        self.setColumnCount(len(found.titles))
        self.setRowCount(len(found.rows))
        for place, title in enumerate(found.titles):
            self.setHorizontalHeaderItem(place, self._titled(title, place == found.reference))
        for line, row in enumerate(found.rows):
            head = QTableWidgetItem(row.title)
            head.setToolTip(row.tip)
            self.setVerticalHeaderItem(line, head)
            for place, entry in enumerate(row.entries):
                self.setItem(line, place, self._item(entry, row.is_setting))
        self.resizeColumnsToContents()
        for place in range(self.columnCount()):
            self.setColumnWidth(place, min(WIDEST, self.columnWidth(place) + 10))
        self.resizeRowsToContents()
        self.setUpdatesEnabled(True)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        if self._shown is not None:
            self.show_compared(self._shown)

    def _titled(self, title: str, is_reference: bool) -> QTableWidgetItem:
        item = QTableWidgetItem(title)
        item.setFont(self._font(is_reference))
        item.setToolTip(f"{title}\nthe reference" if is_reference else title)
        return item

    def _item(self, entry: Entry, is_setting: bool) -> QTableWidgetItem:
        item = QTableWidgetItem(entry.text)
        item.setToolTip(entry.tip)
        item.setFont(self._font(is_setting))
        if entry.tone:
            item.setForeground(QColor(getattr(self._theme, entry.tone)))
        return item

    def _font(self, is_bold: bool) -> QFont:
        font = QFont(self.font())
        font.setBold(is_bold)
        return font
