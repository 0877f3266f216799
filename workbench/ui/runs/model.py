"""The runs as a Qt model, in the order and the choice in which they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QFont, QGuiApplication

from workbench.analysis.listing.filter import Filter
from workbench.run.kept.marks import NO_MARKS, Marks
from workbench.run.record import RunKey, RunRecord
from workbench.ui.runs.cells import Cell
from workbench.ui.runs.columns import COLUMNS
from workbench.ui.runs.listed import Listed, Order
from workbench.ui.runs.shared import Shared, Sharing, common_start
from workbench.ui.text.fit import ELLIPSIS
from workbench.ui.text.whole_words import SHORTER
from workbench.ui.theme import Theme

Role = Qt.ItemDataRole
SAMPLE = 64  # rows by which the columns are fitted before others are looked at: to read a run takes a millisecond
MOST_CELLS = 2000  # rows whose cells are held


class RunsModel(QAbstractTableModel):
    """The runs that a filter leaves, sorted by the values of a column; a run is read when its row is looked at.

    Cells are made once per run, as they are read often. `reshaped` says that the columns, or how all of their cells are
    said, may have changed; `chosen` that other runs are shown than before.
    """

    reshaped = pyqtSignal()
    chosen = pyqtSignal()

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._listed = Listed()
        self._filter = Filter()
        self._sorted_by = (0, Qt.SortOrder.DescendingOrder)
        self._order: list[int] = []  # the places of the rows that are shown
        self._cells: dict[RunKey, list[Cell]] = {}
        self._sharing = Sharing(self._listed)
        self.shared = Shared()
        self._texts: list[dict[str, bool]] = [{} for _ in COLUMNS]  # what a column says, and whether in bold
        self._fresh: list[dict[str, bool]] = [{} for _ in COLUMNS]  # those of them that nobody has asked for yet
        self._starts: dict[int, str] = {}  # what all the cells of a column begin with
        self._grown = QTimer(self)  # a row that is painted cannot change its column's width at once
        self._grown.setSingleShot(True)
        self._grown.timeout.connect(self.reshaped)
        self.wording = 0  # another number each time that all cells are said anew

    def records(self) -> Sequence[RunRecord]:
        """All runs, in the order in which they came, whatever is shown of them."""
        return self._listed.records()

    @property
    def marks(self) -> Mapping[RunKey, Marks]:
        """What is said of runs."""
        return self._listed.marks

    def count(self) -> int:
        """How many runs there are, whatever is shown of them."""
        return len(self._listed)

    def record(self, row: int) -> RunRecord:
        """The run in a row."""
        return self._listed.record(self._order[row])

    def key(self, row: int) -> RunKey:
        """What the run in a row is called."""
        return self._listed.keys[self._order[row]]

    def texts(self, column: int) -> dict[str, bool]:
        """What the cells of a column say, and whether in bold, as far as they were looked at."""
        return self._texts[column]

    def take_fresh(self, column: int) -> dict[str, bool]:
        """What the cells of a column say since this was asked last, or since `wording` became another."""
        fresh, self._fresh[column] = self._fresh[column], {}
        return fresh

    def row_of(self, key: RunKey) -> int | None:
        """The row of the run `key`, or None where it is not shown."""
        place = self._listed.place_of(key)
        return self._order.index(place) if place is not None and place in self._order else None

    def set_records(self, records: Sequence[RunRecord]) -> None:
        """Replace all runs; of two with the same key the later one counts."""
        self.beginResetModel()
        self._listed = Listed(records)
        self._cells.clear()
        self._sharing = Sharing(self._listed)
        self._order = self._sort()
        self.shared = self._sharing.shared()
        self._note_all()
        self.endResetModel()
        self.reshaped.emit()
        self.chosen.emit()

    def set_marks(self, marks: Mapping[RunKey, Marks]) -> None:
        """Take what is said of runs from now on."""
        self._listed.set_marks(marks)
        self._cells.clear()
        self._rearrange()
        self._note_all()
        self._tell_all_changed()
        self.reshaped.emit()

    def set_filter(self, asked: Filter) -> None:
        """Show the runs that are asked for, and no others."""
        self._filter = asked
        self.beginResetModel()
        self._order = self._sort()
        self.endResetModel()
        self.chosen.emit()

    def upsert(self, record: RunRecord) -> None:
        """Add a run, or replace the one with its key."""
        known = self._listed.place_of(record.key)
        if known is not None:
            self._sharing.drop(known)
            self._cells.pop(record.key, None)
        place = self._listed.put(record)
        self._sharing.take(place)
        if known is not None:
            self._rearrange()
            row = self.row_of(record.key)
            if row is not None:
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))
        elif self._filter.admits(self._listed, place):
            row = self._ordering().row_for(place, self._order)
            self.beginInsertRows(QModelIndex(), row, row)
            self._order.insert(row, place)
            self.endInsertRows()
        self._follow(record.key)

    def _follow(self, key: RunKey) -> None:
        """A run has come or changed: the cells of all may say something else than before."""
        shared = self._sharing.shared()
        if shared != self.shared:
            self.shared = shared
            self._note_all()
            self._tell_all_changed()
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(COLUMNS) - 1)
        elif (row := self.row_of(key)) is not None:
            self._note(self._cells_of(row))
        self.reshaped.emit()
        self.chosen.emit()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by the values of a column; runs without one come last in both directions."""
        self._sorted_by = max(0, column), order
        self._rearrange()

    def _sort(self) -> list[int]:
        return self._ordering().sorted(self._filter.places(self._listed))

    def _ordering(self) -> Order:
        column, order = self._sorted_by
        return Order(self._listed, COLUMNS[column].by, order == Qt.SortOrder.DescendingOrder)

    def _rearrange(self) -> None:
        """Put the rows in their order and choice anew; what is selected stays so."""
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        places = [self._order[index.row()] for index in before]
        self._order = self._sort()
        rows = {place: row for row, place in enumerate(self._order)} if before else {}
        after = [
            self.index(rows[place], index.column()) if place in rows else QModelIndex()
            for place, index in zip(places, before, strict=True)
        ]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _cells_of(self, row: int) -> list[Cell]:
        """The cells of a row."""
        key = self.key(row)
        found = self._cells.get(key)
        if found is None:
            record, marks = self.record(row), self._listed.marks.get(key, NO_MARKS)
            found = [column.of(record, marks) for column in COLUMNS]
            if len(self._cells) >= MOST_CELLS:
                self._cells.clear()
            self._cells[key] = found
            if self._note(found):
                self._grown.start(0)
        return found

    def _note_all(self) -> None:
        """Learn anew what the columns say, by the rows that are seen first."""
        self.wording += 1
        self._texts, self._fresh = [{} for _ in COLUMNS], [{} for _ in COLUMNS]
        self._starts.clear()
        for row in range(min(SAMPLE, len(self._order))):
            self._note(self._cells_of(row))
        self._grown.stop()

    def _note(self, cells: Sequence[Cell]) -> bool:
        """Keep what the cells of one run say, each text once; says whether one is new."""
        is_new = False
        for column, (cell, texts) in enumerate(zip(cells, self._texts, strict=True)):
            text = cell.among(self.shared)
            if text not in texts:
                self._starts.pop(column, None)
                is_new = True
            if text not in texts or cell.bold > texts[text]:
                texts[text] = self._fresh[column][text] = cell.bold
        return is_new

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
        if self._order:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._order) - 1, len(COLUMNS) - 1))

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._order)

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
        cell = self._cells_of(index.row())[index.column()]
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


def _alignment(is_number: bool) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
