"""The table's columns as a person has them: which are seen, how wide, in which order, and by which the runs are sorted.

They are kept by their titles, so that columns of another version of the program find their places.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from PyQt6.QtCore import QObject, QPoint, QSettings, Qt
from PyQt6.QtGui import QFont, QFontMetrics
from PyQt6.QtWidgets import QHeaderView, QMenu, QTableView

from workbench.ui.runs.columns import COLUMNS, PLACES
from workbench.ui.runs.model import RunsModel

PADDING = 13  # px: of a cell, both sides; the arrow that marks the sorting stands above the title
LEAST, MOST = 30, 4000  # px of a column
KEPT = "runs/columns"
ORDERS = {"ascending": Qt.SortOrder.AscendingOrder, "descending": Qt.SortOrder.DescendingOrder}
FIRST_SORT = ("Run", "descending")


class Header(QObject):
    """Fits the columns of `view` to what `runs` say, as far as the user has not chosen otherwise."""

    def __init__(self, view: QTableView, runs: RunsModel) -> None:
        super().__init__(view)
        self._view = view
        self._runs = runs
        self._fitting = False
        self._widths: dict[str, int] = {}  # px, of columns whose width the user has chosen
        self._wanted: dict[str, bool] = {}  # those that the user has chosen to see, and not to see
        self._wording = runs.wording
        self._widest = [0] * len(COLUMNS)  # px of what the cells of each say; it does not shrink as one is replaced
        bold = QFont(view.font())
        bold.setBold(True)
        self._metrics = {False: QFontMetrics(view.font()), True: QFontMetrics(bold)}
        header = view.horizontalHeader()
        assert header is not None
        self._header: QHeaderView = header
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setMinimumSectionSize(LEAST)
        header.sectionResized.connect(self._on_resized)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_menu)
        self._sort(*FIRST_SORT)
        runs.reshaped.connect(self.fit)
        self.fit()

    def fit(self) -> None:
        """Make each column as wide as its title and cells need, words up to its most, if the user has not sized it.

        Hidden are those that wait to be asked for, those in which every run says the usual, and those that the line
        above the table says whole.
        """
        self._fitting = True
        self._measure()
        for i, column in enumerate(COLUMNS):
            texts = self._runs.texts(i)
            is_said = self._runs.shared.has_all_of(column.title) or (
                bool(column.usual) and texts.keys() <= {column.usual}
            )
            self._view.setColumnHidden(i, not self._wanted.get(column.title, column.at_first and not is_said))
            widest = self._widest[i] if column.is_number else min(self._widest[i], column.most * self._width("0"))
            needed = max(widest, self._width(column.heading(self._runs.shared.unit))) + PADDING
            self._view.setColumnWidth(i, self._widths.get(column.title, needed))
        self._fitting = False

    def _measure(self) -> None:
        """Measure what was not said before; all of it where all is said anew."""
        if self._wording != self._runs.wording:
            self._wording, self._widest = self._runs.wording, [0] * len(COLUMNS)
        for i in range(len(COLUMNS)):
            widths = (self._width(text, bold) for text, bold in self._runs.take_fresh(i).items())
            self._widest[i] = max([self._widest[i], *widths])

    def _width(self, text: str, bold: bool = False) -> int:
        """Pixels of `text`."""
        return self._metrics[bold].horizontalAdvance(text)

    def reset(self) -> None:
        """As at a first launch: the order, the widths, which are seen, and the newest run first."""
        self._widths.clear()
        self._wanted.clear()
        for place in range(len(COLUMNS)):
            self._header.moveSection(self._header.visualIndex(place), place)
        self._sort(*FIRST_SORT)
        self.fit()

    def kept(self) -> dict[str, Any]:
        """What the user has chosen, by the columns' titles."""
        order = [COLUMNS[self._header.logicalIndex(place)].title for place in range(len(COLUMNS))]
        section, way = self._header.sortIndicatorSection(), self._header.sortIndicatorOrder()
        sort = [COLUMNS[section].title, next(name for name, order in ORDERS.items() if order == way)]
        return {"order": order, "widths": dict(self._widths), "seen": dict(self._wanted), "sort": sort}

    def take(self, kept: object) -> None:
        """Bring back what `kept` said; what of it is damaged, or of columns that are no more, is passed over."""
        if not isinstance(kept, dict):
            return
        for name, sizes, is_sound in (("widths", self._widths, _is_width), ("seen", self._wanted, _is_choice)):
            sizes.update(_sound(kept.get(name), is_sound))
        self._arrange(kept.get("order"))
        match kept.get("sort"):
            case [str(title), str(way)] if title in PLACES and way in ORDERS:
                self._sort(title, way)
        self.fit()

    def save(self, settings: QSettings) -> None:
        """Keep it for the next launch."""
        settings.setValue(KEPT, json.dumps(self.kept()))

    def restore(self, settings: QSettings) -> None:
        """Bring back what was kept; nothing happens where that is damaged."""
        try:
            self.take(json.loads(settings.value(KEPT, "null")))
        except (TypeError, ValueError, RecursionError):
            return

    def _arrange(self, order: object) -> None:
        """Put the columns into an order; those it does not name come after the one that is before them at first."""
        if not isinstance(order, list):
            return
        titles = list(dict.fromkeys(title for title in order if isinstance(title, str) and title in PLACES))
        for place, column in enumerate(COLUMNS):
            if column.title not in titles:
                titles.insert(titles.index(COLUMNS[place - 1].title) + 1 if place else 0, column.title)
        for place, title in enumerate(titles):
            self._header.moveSection(self._header.visualIndex(PLACES[title]), place)

    def _sort(self, title: str, way: str) -> None:
        self._view.sortByColumn(PLACES[title], ORDERS[way])

    def _on_resized(self, section: int, _: int, width: int) -> None:
        if not self._fitting and width:  # a hidden one has none
            self._widths[COLUMNS[section].title] = width

    def _want(self, title: str, wanted: bool) -> None:
        """Show or hide a column from now on."""
        self._wanted[title] = wanted
        self.fit()

    def _open_menu(self, position: QPoint) -> None:
        """Offer every column to be shown or hidden, but for the number of the run: its header has this menu."""
        menu = QMenu(self._view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for i, column in enumerate(COLUMNS[1:], 1):
            action = menu.addAction(column.title)
            assert action is not None
            action.setToolTip(column.tooltip)
            action.setCheckable(True)
            action.setChecked(not self._view.isColumnHidden(i))
            action.toggled.connect(partial(self._want, column.title))
        menu.addSeparator()
        reset = menu.addAction("Reset columns")
        assert reset is not None
        reset.triggered.connect(lambda: self.reset())
        menu.setToolTipsVisible(True)
        menu.popup(self._header.mapToGlobal(position))


def _sound(values: object, is_sound: Callable[[object], bool]) -> dict[str, Any]:
    """Those of `values` that are of a column, and sound."""
    if not isinstance(values, dict):
        return {}
    return {title: value for title, value in values.items() if title in PLACES and is_sound(value)}


def _is_width(value: object) -> bool:
    return type(value) is int and LEAST <= value <= MOST


def _is_choice(value: object) -> bool:
    return type(value) is bool
