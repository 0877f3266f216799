"""The runs as a Qt model, and the order they are shown in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, QSortFilterProxyModel, Qt
from PyQt6.QtGui import QFont, QGuiApplication

from workbench.run.record import RunKey, RunRecord
from workbench.ui.runs.cells import Cell
from workbench.ui.runs.columns import COLUMNS
from workbench.ui.theme import Theme

Role = Qt.ItemDataRole


class RunsModel(QAbstractTableModel):
    """RunRecords in the order in which they came; cells are made once per record, as they are read often."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._records: list[RunRecord] = []
        self._cells: list[list[Cell]] = []
        self._rows: dict[RunKey, int] = {}

    def records(self) -> tuple[RunRecord, ...]:
        """All runs."""
        return tuple(self._records)

    def bold_texts(self, column: int) -> set[str]:
        """What the bold cells of a column say."""
        return {cells[column].text for cells in self._cells if cells[column].bold}

    def texts(self, column: int) -> set[str]:
        """What the cells of a column say."""
        return {cells[column].text for cells in self._cells}

    def row_of(self, key: RunKey) -> int | None:
        """The row of the run `key`, or None."""
        return self._rows.get(key)

    def set_records(self, records: Sequence[RunRecord]) -> None:
        """Replace all runs; of two with the same key the later one counts."""
        self.beginResetModel()
        self._records = list({record.key: record for record in records}.values())
        self._cells = [[column.cell(record) for column in COLUMNS] for record in self._records]
        self._rows = {record.key: row for row, record in enumerate(self._records)}
        self.endResetModel()

    def upsert(self, record: RunRecord) -> None:
        """Add a run, or replace the one with its key."""
        row = self._rows.get(record.key)
        cells = [column.cell(record) for column in COLUMNS]
        if row is not None:
            self._records[row], self._cells[row] = record, cells
            self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))
            return
        row = len(self._records)
        self.beginInsertRows(QModelIndex(), row, row)
        self._records.append(record)
        self._cells.append(cells)
        self._rows[record.key] = row
        self.endInsertRows()

    def apply_theme(self, theme: Theme) -> None:
        """Colour the cells by `theme`."""
        self._theme = theme
        if self._records:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._records) - 1, len(COLUMNS) - 1))

    def sort_value(self, index: QModelIndex) -> Any:
        """What the cell at `index` sorts by, None where it has no value."""
        return self._cells[index.row()][index.column()].sort

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._records)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = COLUMNS[section]
        match role:
            case Role.DisplayRole:
                return column.title
            case Role.ToolTipRole:
                return column.tooltip
            case Role.TextAlignmentRole:
                return _alignment(column.is_number)
        return None

    def data(self, index: QModelIndex, role: int = Role.DisplayRole) -> Any:
        cell = self._cells[index.row()][index.column()]
        match role:
            case Role.DisplayRole:
                return cell.text
            case Role.ToolTipRole:
                return cell.tooltip or cell.text
            case Role.TextAlignmentRole:
                return _alignment(COLUMNS[index.column()].is_number)
            case Role.ForegroundRole if cell.tone:
                return self._theme.color(cell.tone)
            case Role.FontRole if cell.bold or cell.struck:
                font = QFont(QGuiApplication.font())
                font.setBold(cell.bold)
                font.setStrikeOut(cell.struck)
                return font
        return None


class RunsProxy(QSortFilterProxyModel):
    """Sorts by value, not by text; runs without a value come last in both directions."""

    def lessThan(self, left: QModelIndex, right: QModelIndex) -> bool:
        runs = self.sourceModel()
        assert isinstance(runs, RunsModel)
        a, b = runs.sort_value(left), runs.sort_value(right)
        descending = self.sortOrder() == Qt.SortOrder.DescendingOrder
        if a is None or b is None:
            # Descending, Qt asks whether `right` comes before `left`: what is missing must be the least then.
            return (a is None and b is not None) if descending else (a is not None)
        return bool(a < b)


def _alignment(is_number: bool) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
