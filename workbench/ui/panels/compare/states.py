"""The states and errors of the compared runs against the reference: by key position, and by query row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from workbench.analysis.state_differences import Apart, apart
from workbench.run.record import RunRecord
from workbench.run.session import SessionError
from workbench.stats.arrays import FloatArray
from workbench.ui.panels.compare.shares import COLORS
from workbench.ui.panels.compare.texts import Lines
from workbench.ui.plots.axes import IndexAxis, ValueAxis, name_height, side_width
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.plots.scale import plain_scale
from workbench.ui.plots.themed import make_plot, style_plot
from workbench.ui.text.cards import swatch
from workbench.ui.text.spans import colored
from workbench.ui.theme import Theme
from workbench.words.comparing import run_titles
from workbench.words.state_differences import apart_text

MOST_POINTS = 2000  # of a line: more lie within a pixel of each other
LINES = "solid: m; dashed: l, relative; each the largest of all rows"
BY_KEY = ("largest difference of all rows", "largest difference", "difference")
BY_ROW = ("largest error less the reference's", "error less reference's", "error")


@dataclass(frozen=True)
class Beside:
    """A run by its place among those that are compared, its title, and what of it is apart from the reference."""

    place: int
    title: str
    found: Apart


class StatesView(QWidget):
    """Lines of m (solid) and l (dashed) by key position, and beside them of the errors by query row."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[Beside, ...] = ()
        self.text = Lines()
        self.graphics = PlotArea()
        self.keys = _plot(theme, "key position")
        self.rows = _plot(theme, "query row")
        for plot in (self.keys, self.rows):
            self.graphics.addItem(plot)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.text)
        layout.addWidget(self.graphics, 1)
        self.apply_theme(theme)

    def show_reading(self) -> None:
        """Say that the runs are being read."""
        self.show_apart(())
        self.text.set_text("Reading the states.")

    def show_apart(self, shown: Sequence[Beside]) -> None:
        """Show what was found of each run."""
        self._shown = tuple(shown)
        color = self._theme.color
        said = (
            f"{swatch(one.title, color(COLORS[one.place]).name())}: {escape(apart_text(one.found))}" for one in shown
        )
        lines = [*said, colored(LINES, self._theme.muted)] if shown else []
        self.text.set_text("<br>".join(lines))
        solid, dashed = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
        states = [(one.place, one.found.states) for one in shown if one.found.states is not None]
        states_lines = [(place, solid, s.m_by_key.at, s.m_by_key.largest) for place, s in states]
        states_lines += [(place, dashed, s.l_by_key.at, s.l_by_key.largest) for place, s in states]
        self._draw(self.keys, states_lines)
        errors = [(one.place, one.found.errors) for one in shown if one.found.errors is not None]
        self._draw(self.rows, [(place, solid, np.arange(len(e.by_row)), e.by_row) for place, e in errors])

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        self.graphics.setBackground(theme.surface)
        for plot in (self.keys, self.rows):
            style_plot(plot, theme, grid=True)
        self.show_apart(self._shown)

    def _draw(self, plot: Any, lines: Sequence[tuple[int, Qt.PenStyle, Any, FloatArray]]) -> None:
        """Draw `lines` of the runs at their places, over one axis with the power of ten that they share."""
        for item in list(plot.items):
            plot.removeItem(item)
        values = [float(v) for *_, y in lines if len(y) for v in (y.min(), y.max())]
        names = BY_KEY if plot is self.keys else BY_ROW
        scale = plain_scale(values or [0.0], "", log=False)
        for place, style, x, y in lines:
            pen = pg.mkPen(self._theme.color(COLORS[place]), width=1.4, style=style)
            plot.addItem(pg.PlotCurveItem(*thinned(x, scale.to_axis(y)), pen=pen), ignoreBounds=True)
        unit = scale.unit
        plot.getAxis("left").set_names(*(", ".join(filter(None, (name, unit))) for name in names))
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        plot.setYRange(*scale.to_axis([min(low, 0.0), high if high > low else low + scale.size]), padding=0.06)
        ends = [float(end) for _, _, x, _ in lines if len(x) for end in (x[0], x[-1])]
        plot.setXRange(min(ends, default=0.0), max(ends, default=1.0), padding=0.02)


def _plot(theme: Theme, bottom: str) -> Any:
    plot = make_plot(theme, {"left": ValueAxis("left"), "bottom": IndexAxis("bottom")}, left="", bottom=bottom)
    plot.setMouseEnabled(x=True, y=False)
    plot.getAxis("left").setWidth(side_width("−00.0"))
    plot.getAxis("bottom").setHeight(name_height())
    return plot


def thinned(x: Any, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A line of few points that has the extremes of all: of each piece of neighbours the least and the greatest."""
    x = np.asarray(x, dtype=np.float64)
    step = -(-2 * len(x) // MOST_POINTS)
    if step <= 2:
        return x, y
    starts = range(0, len(x), step)
    kept = sorted({s + int(pick(y[s : s + step])) for s in starts for pick in (np.argmin, np.argmax)})
    return x[kept], y[kept]


def all_apart(runs: Sequence[RunRecord], reference: int, load: Callable[[RunRecord], RunRecord]) -> tuple[Beside, ...]:
    """Each of `runs` against the one at `reference`, two of them read by `load` at a time: whole runs may be large."""
    try:
        held = load(runs[reference])
    except SessionError as error:
        return tuple(_unread(runs, place, error) for place in range(len(runs)) if place != reference)
    found = []
    for place, title in enumerate(run_titles(runs)):
        if place == reference:
            continue
        try:
            found.append(Beside(place, title.replace("\n", ", "), apart(load(runs[place]), held)))
        except SessionError as error:
            found.append(_unread(runs, place, error))
    return tuple(found)


def _unread(runs: Sequence[RunRecord], place: int, error: SessionError) -> Beside:
    title = run_titles(runs)[place].replace("\n", ", ")
    return Beside(place, title, Apart(why_no_states=str(error), why_no_errors=str(error)))
