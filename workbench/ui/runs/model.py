"""The runs as a Qt model, and the order they are shown in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, QSortFilterProxyModel, Qt, pyqtSignal
from PyQt6.QtGui import QFont, QGuiApplication

from workbench.run.record import RunKey, RunRecord
from workbench.ui.runs.cells import Cell
from workbench.ui.runs.columns import COLUMNS
from workbench.ui.runs.shared import Shared, Sharing, common_start
from workbench.ui.text.fit import ELLIPSIS
from workbench.ui.text.whole_words import SHORTER
from workbench.ui.theme import Theme

Role = Qt.ItemDataRole


class RunsModel(QAbstractTableModel):
    """RunRecords in the order in which they came; cells are made once per record, as they are read often.

    `reshaped` says that the columns, or how all of their cells are said, may have changed.
    """

    reshaped = pyqtSignal()

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._records: list[RunRecord] = []
        self._cells: list[list[Cell]] = []
        self._rows: dict[RunKey, int] = {}
        self._sharing = Sharing()
        self.shared = Shared()
        self._texts: list[dict[str, bool]] = [{} for _ in COLUMNS]  # what a column says, and whether in bold
        self._fresh: list[dict[str, bool]] = [{} for _ in COLUMNS]  # those of them that nobody has asked for yet
        self._starts: dict[int, str] = {}  # what all the cells of a column begin with
        self.wording = 0  # another number each time that all cells are said anew

    def records(self) -> tuple[RunRecord, ...]:
        """All runs."""
        return tuple(self._records)

    def texts(self, column: int) -> dict[str, bool]:
        """What the cells of a column say, and whether in bold; those replaced since may be among them."""
        return self._texts[column]

    def take_fresh(self, column: int) -> dict[str, bool]:
        """What the cells of a column say since this was asked last, or since `wording` became another."""
        fresh, self._fresh[column] = self._fresh[column], {}
        return fresh

    def row_of(self, key: RunKey) -> int | None:
        """The row of the run `key`, or None."""
        return self._rows.get(key)

    def set_records(self, records: Sequence[RunRecord]) -> None:
        """Replace all runs; of two with the same key the later one counts."""
        self.beginResetModel()
        self._records = list({record.key: record for record in records}.values())
        self._cells = [[column.cell(record) for column in COLUMNS] for record in self._records]
        self._rows = {record.key: row for row, record in enumerate(self._records)}
        self._sharing = Sharing(self._records)
        self._say_anew()
        self.endResetModel()
        self.reshaped.emit()

    def upsert(self, record: RunRecord) -> None:
        """Add a run, or replace the one with its key."""
        row = self._rows.get(record.key)
        cells = [column.cell(record) for column in COLUMNS]
        if row is not None:
            self._sharing.count(self._records[row], -1)
            self._records[row], self._cells[row] = record, cells
        self._sharing.count(record)
        if row is not None:
            self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))
        else:
            row = len(self._records)
            self.beginInsertRows(QModelIndex(), row, row)
            self._records.append(record)
            self._cells.append(cells)
            self._rows[record.key] = row
            self.endInsertRows()
        if self._sharing.shared() != self.shared:
            self._say_anew()
            self._tell_all_changed()
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(COLUMNS) - 1)
        else:
            self._note(cells)
        self.reshaped.emit()

    def _say_anew(self) -> None:
        """All cells may say something else than before."""
        self.shared = self._sharing.shared()
        self.wording += 1
        self._texts, self._fresh = [{} for _ in COLUMNS], [{} for _ in COLUMNS]
        self._starts.clear()
        for cells in self._cells:
            self._note(cells)

    def _note(self, cells: Sequence[Cell]) -> None:
        """Keep what the cells of one run say, each text once."""
        for column, (cell, texts) in enumerate(zip(cells, self._texts, strict=True)):
            text = cell.among(self.shared)
            if text not in texts:
                self._starts.pop(column, None)
            if text not in texts or cell.bold > texts[text]:
                texts[text] = self._fresh[column][text] = cell.bold

    def _shorter(self, cell: Cell, column: int) -> list[str]:
        """Versions of a cell for less room: its own, or else without what is no different in any other."""
        if cell.shorter:
            return list(cell.shorter)
        if column not in self._starts:
            self._starts[column] = "" if COLUMNS[column].is_number else common_start(self._texts[column])
        start, text = self._starts[column], cell.among(self.shared)
        return [ELLIPSIS + text.removeprefix(start)] if start else []

    def apply_theme(self, theme: Theme) -> None:
        """Colour the cells by `theme`."""
        self.theme = theme
        self._tell_all_changed()

    def _tell_all_changed(self) -> None:
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
                return column.heading(self.shared.unit)
            case Role.ToolTipRole:
                return column.tooltip
            case Role.TextAlignmentRole:
                return _alignment(column.is_number)
        return None

    def data(self, index: QModelIndex, role: int = Role.DisplayRole) -> Any:
        cell = self._cells[index.row()][index.column()]
        match role:
            case Role.DisplayRole:
                return cell.among(self.shared)
            case Role.ToolTipRole:
                return cell.tooltip or cell.text
            case _ if role == SHORTER:
                return self._shorter(cell, index.column())
            case Role.TextAlignmentRole:
                return _alignment(COLUMNS[index.column()].is_number)
            case Role.ForegroundRole if cell.tone:
                return self.theme.color(cell.tone)
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
