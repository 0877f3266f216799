"""ErrorPanel: where and by how much an output differs from float64 attention."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PyQt6.QtGui import QPainterPath, QResizeEvent
from PyQt6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton

from workbench.run.events import Checked, Rechecked
from workbench.run.measurement import Role
from workbench.run.record import RunRecord
from workbench.stats.arrays import FloatArray
from workbench.ui.panels.bases.maps import MapPanel
from workbench.ui.panels.error.profiles import Profiles
from workbench.ui.panels.error.words import LEFT_OUT_TEXT, details_text, judgement_spans, summary_spans
from workbench.ui.places import Place
from workbench.ui.plots.heatmap import HeatmapView
from workbench.ui.text.cards import Empty, PlotStack, baseline_title, kernel_title
from workbench.ui.text.fit import text_height
from workbench.ui.text.spans import Span, SpanLine, swatch_spans
from workbench.ui.theme import Theme
from workbench.words.names import OTHER_BASELINES, head_text

EMPTY = Empty(
    "Press Run (F5) to compare the kernel's output with float64 attention.",
    "Running. The error appears here once the output is compared with float64.",
    "This run's output was not compared with float64.",
)
NO_MAP_TEXT = "The map of this error was not kept."
HINT = "Point at a cell to read it. Wheel zooms, drag pans, double-click shows all."
BAR_LABELS = ("|out − float64|", "|error|", "")
JUDGEMENT_WIDTH = 62  # px of PASS or FAIL, which is never cut


class ErrorPanel(MapPanel):
    """A map of |out - float64| with its row and column maxima, for the kernel or SDPA, and the judgement above."""

    name = "error"
    title = "Error against float64"
    place = Place.LOWER_RIGHT
    reads = (Checked, Rechecked)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, HeatmapView(theme, "query row", "feature column"))
        self.view.plot.getAxis("bottom").set_names("feature column", "column")
        self.profiles = Profiles(theme, self.view)
        self.halo = pg.ScatterPlotItem(size=24, brush=None, symbol=_aim(), useCache=False)
        self.ring = pg.ScatterPlotItem(size=24, brush=None, symbol=_aim(), useCache=False)
        self.judgement, self.stats, self.legend = SpanLine(), SpanLine(), SpanLine()
        self.judgement.setMinimumWidth(JUDGEMENT_WIDTH)
        self.kernel_button, self.baseline_button = QPushButton("Kernel"), QPushButton("SDPA")
        self.map_stack = PlotStack(theme, self.view)
        for item in (self.halo, self.ring):
            item.setZValue(10)
            self.view.plot.addItem(item, ignoreBounds=True)
        self._lay_out()
        self._connect()
        self.begin()
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(4)
        top.addWidget(self.judgement, 1)
        top.addWidget(self.head_box)
        self.buttons = QButtonGroup(self)
        for button in (self.kernel_button, self.baseline_button):
            button.setCheckable(True)
            self.buttons.addButton(button)
            top.addWidget(button)
        self.kernel_button.setChecked(True)
        self.fill(top, self.stats, self.legend, self.map_stack, growing=self.map_stack)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Give the map the room of the profiles where there is little."""
        super().resizeEvent(a0)
        words = self.kernel_button.sizeHint().height() + self.stats.sizeHint().height() + 3 * text_height() + 30
        self.profiles.fit(self.width() - 16, self.height() - words)

    def _connect(self) -> None:
        self.view.hovered.connect(self._on_hover)
        self.buttons.buttonToggled.connect(self.redraw)

    def begin(self) -> None:
        """Forget the last map."""
        self._left_out = 0  # first rows of the map that were not compared

    @property
    def role(self) -> Role:
        """Whose error is shown: what is asked for, else what there is."""
        asked: Role = "baseline" if self.baseline_button.isChecked() else "kernel"
        there = [check.role for check in self.run.checked] if self.run is not None else []
        return asked if asked in there or not there else there[0]

    def draw(self) -> None:
        """Show the chosen output's error."""
        run = self.run
        checked = run.check(self.role) if run is not None else None
        if run is None or checked is None:
            self.stack.show_reason(EMPTY, run)
            return
        if self.changed:
            self.changed = False
            self._show_checked(run, checked)
        self.view.refresh()
        self.stack.show_plots()

    def _show_checked(self, run: RunRecord, checked: Checked) -> None:
        baseline = run.check("baseline")
        beside = run.check("kernel") if checked is baseline else baseline
        request = run.started.request
        is_kernel = checked.role == "kernel"
        title = kernel_title(request) if is_kernel else baseline_title(request, checked.backend)
        self.judgement.set_spans(*judgement_spans(checked, run.recheck(checked.role), title, self.theme))
        tip = f"{details_text(checked, beside, self.problem)}\n\n{HINT}"
        self.stats.set_spans(*summary_spans(checked, beside, self.problem), tooltip=tip)
        self.kernel_button.setEnabled(run.check("kernel") is not None)
        self.baseline_button.setEnabled(baseline is not None)
        self.baseline_button.setText(_button_text(run, baseline))
        self._show_legend(checked)
        if checked.error_map is None:
            self.head_box.hide()
            self.view.set_data(None, (0, 1), BAR_LABELS)
            self.map_stack.show_text(NO_MAP_TEXT)
            return
        worst = checked.error.worst
        wanted = self.wanted_heads(checked.role)
        index = self.head_box.show_heads(self.problem, checked.heads, checked.error_map.shape[0], *wanted)
        self.map_stack.show_plots()
        here = worst[1:] if self.head_box.number() == worst[0] else None
        self._show_map(checked.error_map[index], checked.error.rows_left_out, here)

    def _show_legend(self, checked: Checked) -> None:
        """What the map's colours beside those of the bar mean."""
        marks = [("NaN or infinite", self.theme.bad)] if checked.error.non_finite else []
        marks += [(LEFT_OUT_TEXT, self.theme.border)] if checked.error.rows_left_out else []
        self.legend.set_spans([span for mark in marks for span in (*swatch_spans(*mark), Span("  "))])
        self.legend.setVisible(checked.error_map is not None and bool(marks))

    def _show_map(self, errors: FloatArray, left_out: int, worst: tuple[int, int] | None) -> None:
        self._left_out = left_out
        ends = None
        if left_out:
            errors = errors.copy()
            errors[:left_out] = np.nan
            ends = np.where(np.arange(len(errors)) < left_out, 0, errors.shape[1])
        row_max = errors.max(axis=1)
        column_max = np.maximum.reduce(errors[left_out:], axis=0)
        largest = _largest_finite(row_max, column_max, errors)
        self.view.set_data(errors, (0.0, largest), BAR_LABELS, ends)
        self.profiles.draw(row_max, column_max, largest)
        for item in (self.halo, self.ring):
            item.setData([worst[1]] if worst else [], [worst[0]] if worst else [])
        self._on_hover(None)

    def _on_hover(self, cell: tuple[int, int] | None) -> None:
        self.view.point(cell)
        if cell is None:
            self.hover.hide()
            return
        row, column = cell
        lines = [head_text(self.problem, self.head_box.number())] if self.problem.total_heads > 1 else []
        lines.append(f"row {row} · column {column}")
        lines.append(LEFT_OUT_TEXT if row < self._left_out else f"|error| <b>{self.view.value(row, column)}</b>")
        self.hover.show_at(self.view.place_of(cell), lines)

    def apply_theme(self, theme: Theme) -> None:
        super().apply_theme(theme)
        self.view.set_colors(theme, theme.bad)
        self.profiles.apply_theme(theme)
        self.halo.setPen(pg.mkPen("k", width=4))
        self.ring.setPen(pg.mkPen("w", width=1.6))
        # Which one is on must not look like which has the focus.
        for button in (self.kernel_button, self.baseline_button):
            button.setStyleSheet(f"QPushButton:checked {{ background: {theme.accent}; color: {theme.on_accent}; }}")
        self.map_stack.card.apply_theme(theme)


def _aim() -> QPainterPath:
    """A ring with four short lines pointing at its middle, as a symbol of size 1."""
    path = QPainterPath()
    path.addEllipse(-0.3, -0.3, 0.6, 0.6)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        path.moveTo(0.3 * x, 0.3 * y)
        path.lineTo(0.5 * x, 0.5 * y)
    return path


def _largest_finite(row_max: FloatArray, column_max: FloatArray, errors: FloatArray) -> float:
    """The largest finite error, to colour by; where NaN stands in every row, that of a sample."""
    for values in (row_max, column_max, errors[:: max(1, errors.shape[0] // 512)]):
        finite = values[np.isfinite(values)]
        if finite.size:
            return float(finite.max())
    return 0.0


def _button_text(run: RunRecord, baseline: Checked | None) -> str:
    """What the button that shows the baseline's error is called, in a word."""
    if run.started.request.rival is not None:
        return "Rival"
    return baseline.backend if baseline is not None and baseline.backend in OTHER_BASELINES else "SDPA"
