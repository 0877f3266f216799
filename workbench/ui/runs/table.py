"""The table of all runs, newest first: what was right and how fast it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from PyQt6.QtCore import QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QGuiApplication, QKeySequence, QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QVBoxLayout, QWidget

from workbench.analysis.listing.filter import Filter
from workbench.asking.line import command_line
from workbench.export.files import tsv_text
from workbench.run.kept.marks import Marks
from workbench.run.record import RunKey, RunRecord
from workbench.ui.places import Place
from workbench.ui.runs.choice import Choice
from workbench.ui.runs.columns import COLUMNS
from workbench.ui.runs.filter_line import FilterLine
from workbench.ui.runs.header import Header
from workbench.ui.runs.line import SharedLine
from workbench.ui.runs.marking import Marking
from workbench.ui.runs.model import RunsModel
from workbench.ui.text.whole_words import WholeWords
from workbench.ui.theme import Theme

EMPTY_ROWS = 2  # of the height of a picture in which there are none
NOTHING_YET, NONE_MEETS = "No runs yet", "No run meets the filter: Esc in it shows all"
MOST_PIXELS = 30_000  # of a picture's height: Qt paints none that are higher than 32,767


class RunsView(QTableView):
    """A table that says when it is empty, and when the current row is clicked once more."""

    clickedAgain = pyqtSignal()
    empty = NOTHING_YET

    def mousePressEvent(self, e: QMouseEvent | None) -> None:
        """See a click on the row that is current already: no signal of Qt tells it from a first click."""
        before = self.currentIndex().row()
        super().mousePressEvent(e)
        if e is not None and e.button() == Qt.MouseButton.LeftButton:
            pressed = self.indexAt(e.position().toPoint())
            if pressed.isValid() and pressed.row() == before:
                self.clickedAgain.emit()

    def paintEvent(self, e: QPaintEvent | None) -> None:
        """Say what will be here while there is nothing."""
        super().paintEvent(e)
        model, viewport = self.model(), self.viewport()
        if viewport is not None and model is not None and not model.rowCount():
            painter = QPainter(viewport)
            painter.setPen(self.palette().placeholderText().color())
            painter.drawText(viewport.rect(), Qt.AlignmentFlag.AlignCenter, self.empty)
            painter.end()


class ResultsTable(QWidget):
    """All runs, one per row, below a line of what all of them share. `header` has what the user chose of its columns.

    `recordSelected` carries the RunRecord that the user has chosen by mouse or keyboard, not one chosen by
    `select`; `settingsRequested` the RunRequest of a run that is to be used again. `filterChanged` says that other runs
    are asked for than before, by `asked`.
    """

    name: ClassVar[str] = "results"
    title: ClassVar[str] = "Runs"
    place: ClassVar[Place] = Place.LOWER

    recordSelected = pyqtSignal(object)  # RunRecord
    settingsRequested = pyqtSignal(object)  # RunRequest
    filterChanged = pyqtSignal()
    exportRequested = pyqtSignal()
    recordsChosen = pyqtSignal(object)  # tuple[RunRecord, ...], in the order of choosing
    referenceRequested = pyqtSignal(object)  # RunRecord

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(self.name)
        self._runs = RunsModel(theme, self)
        self._view = RunsView()
        self._selecting = False
        self._line = SharedLine()
        self.filter = FilterLine(theme)
        self.asked = Filter()
        self.marking: Marking | None = None  # where there is a file that marks can be kept in
        self._build()
        self.header = Header(self._view, self._runs)
        self._runs.reshaped.connect(lambda: self._line.set_parts(self._runs.shared.parts))
        self._runs.chosen.connect(lambda: self.filter.show_count(self._runs.rowCount(), self._runs.count()))
        self.filter.asked.connect(self._on_asked)
        self.filter.left.connect(self._view.setFocus)

    def records(self) -> Sequence[RunRecord]:
        """All runs, in the order in which they came, whatever is shown of them."""
        return self._runs.records()

    def set_records(self, records: Sequence[RunRecord]) -> None:
        """Replace all runs; the selected one stays selected if it is among them."""
        selected = self.selected()
        self._runs.set_records(records)
        if selected is not None:
            self.select(selected.key)

    def upsert(self, record: RunRecord) -> None:
        """Add a run, or replace the one with its (source, run_id)."""
        self._runs.upsert(record)

    def set_marks(self, marks: Mapping[RunKey, Marks]) -> None:
        """Take what is said of runs from now on."""
        self._runs.set_marks(marks)

    def selected_keys(self) -> list[RunKey]:
        """The runs that are selected, in the order shown."""
        return [self._runs.key(row) for row in self._selected_rows()]

    def _on_asked(self, asked: Filter) -> None:
        selected = self.selected()
        self.asked = asked
        self._view.empty = NONE_MEETS if asked.terms else NOTHING_YET
        self._runs.set_filter(asked)
        if selected is not None:
            self.select(selected.key)
        self.filterChanged.emit()

    def select(self, key: RunKey) -> None:
        """Select the run (source, run_id) and bring it into view; nothing happens if there is none."""
        row = self._runs.row_of(key)
        if row is None:
            return
        index = self._runs.index(row, 0)
        self._selecting = True
        self._view.setCurrentIndex(index)
        self._selecting = False
        self._view.scrollTo(index)

    def selected(self) -> RunRecord | None:
        """The current run, or None."""
        index = self._view.currentIndex()
        return self._runs.record(index.row()) if index.isValid() else None

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._runs.apply_theme(theme)
        self.filter.apply_theme(theme)

    def whole(self, scale: float) -> tuple[ResultsTable, tuple[str, ...]]:
        """A table for a picture with `scale` pixels per unit: all columns and rows at their full size, no scroll bars.

        Beside it what the picture must say: where there are more rows than fit into one, it has the first of them.
        """
        count = self._runs.rowCount()
        other = ResultsTable(self._runs.theme)
        other.header.take(self.header.kept())
        rows, header = other._view.verticalHeader(), other._view.horizontalHeader()
        assert rows is not None and header is not None
        above = other._line.sizeHint().height() + header.sizeHint().height()
        most = max(1, int(MOST_PIXELS / scale - above) // rows.defaultSectionSize())
        other.set_records([self._runs.record(row) for row in range(min(most, count))])
        other.set_marks(self._runs.marks)
        for way in (other._view.setHorizontalScrollBarPolicy, other._view.setVerticalScrollBarPolicy):
            way(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        frame = 2 * other._view.frameWidth()
        line = other._line.sizeHint().height() if other._runs.shared.parts else 0
        height = line + header.sizeHint().height() + max(EMPTY_ROWS * rows.defaultSectionSize(), rows.length()) + frame
        other.resize(max(header.length() + frame, self.width()), height)
        left_out = (f"the first {most:,} of {count:,} runs, as sorted",) if count > most else ()
        return other, left_out

    def copy_selected(self) -> None:
        """Put the selected runs on the clipboard as tab-separated text with a header."""
        self._copy(self._selected_rows())

    def copy_all(self) -> None:
        """Put all runs on the clipboard, in the order shown."""
        self._copy(range(self._runs.rowCount()))

    def chosen(self) -> list[RunRecord]:
        """The runs that are selected, in the order shown; all where no more than one is, which is shown anyway."""
        rows = self._selected_rows()
        return self._in_rows(rows if len(rows) > 1 else range(self._runs.rowCount()))

    def _selected_rows(self) -> list[int]:
        selection = self._view.selectionModel()
        return sorted(index.row() for index in selection.selectedRows()) if selection is not None else []

    def _in_rows(self, rows: Sequence[int]) -> list[RunRecord]:
        """The runs in these rows of what is shown."""
        return [self._runs.record(row) for row in rows]

    def _copy(self, rows: Sequence[int]) -> None:
        clipboard = QGuiApplication.clipboard()
        if rows and clipboard is not None:
            clipboard.setText(tsv_text(self._in_rows(rows)))

    def copy_lines(self) -> None:
        """Put the commands that repeat the selected runs on the clipboard, a line each."""
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None:
            clipboard.setText(
                "\n".join(command_line(record.started.request) for record in self._in_rows(self._selected_rows()))
            )

    def _build(self) -> None:
        view = self._view
        view.setAccessibleName(self.title)
        view.setModel(self._runs)
        view.setSortingEnabled(True)
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setAlternatingRowColors(True)
        view.setShowGrid(False)
        view.setWordWrap(False)
        view.setTextElideMode(Qt.TextElideMode.ElideRight)
        view.setItemDelegate(WholeWords(frozenset(i for i, column in enumerate(COLUMNS) if column.is_number), view))
        view.setTabKeyNavigation(False)
        view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._open_menu)
        view.clickedAgain.connect(self._announce)
        selection = view.selectionModel()
        assert selection is not None
        selection.currentRowChanged.connect(self._announce)
        Choice(view, lambda row: self._in_rows([row])[0]).changed.connect(self.recordsChosen)
        self._style_rows()
        self._make_actions()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.filter)
        layout.addWidget(self._line)
        layout.addWidget(view)

    def _style_rows(self) -> None:
        rows = self._view.verticalHeader()
        assert rows is not None
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(self.fontMetrics().height() + 8)

    def _make_actions(self) -> None:
        self._use, self._refer, self._copy_some, self._copy_all, self._export = (
            QAction(text, self) for text in ("Use these settings", "Set as reference", "Copy", "Copy all", "Export…")
        )
        self._refer.triggered.connect(lambda: self.referenceRequested.emit(self.selected()))
        self._export.triggered.connect(self.exportRequested)
        self._copy_line = QAction("Copy as command line", self)
        self._copy_line.triggered.connect(self.copy_lines)
        self._use.triggered.connect(self._request_settings)
        self._copy_some.triggered.connect(self.copy_selected)
        self._copy_some.setShortcut(QKeySequence.StandardKey.Copy)
        self._copy_some.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._copy_all.triggered.connect(self.copy_all)
        self.addAction(self._copy_some)

    def _announce(self) -> None:
        record = self.selected()
        if record is not None and not self._selecting:
            self.recordSelected.emit(record)

    def _request_settings(self) -> None:
        record = self.selected()
        if record is not None:
            self.settingsRequested.emit(record.started.request)

    def _open_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._use.setEnabled(self.selected() is not None)
        for action in (self._refer, self._copy_some, self._copy_line):
            action.setEnabled(self.selected() is not None)
        for action in (self._copy_all, self._export):
            action.setEnabled(self._runs.rowCount() > 0)
        menu.addActions([self._use, self._refer, self._copy_line, self._copy_some, self._copy_all, self._export])
        if self.marking is not None:
            self.marking.refresh()
            menu.addSeparator()
            menu.addActions(self.marking.actions)
        viewport = self._view.viewport()
        assert viewport is not None
        menu.popup(viewport.mapToGlobal(position))
