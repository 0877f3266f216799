"""SoftmaxPanel: the online softmax inside the kernel, per query row and key tile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSpinBox, QVBoxLayout, QWidget

from workbench.model import Failed, Finished, FloatArray, RunEvent, Started, TileStates
from workbench.ui.cards import PlotStack, swatch, text_label, unbroken
from workbench.ui.heatmap import HeatmapView
from workbench.ui.panels.panel import Panel
from workbench.ui.panels.softmax_lines import StateLines
from workbench.ui.plotting import label_axis, number, text_height, text_width
from workbench.ui.theme import Theme

EMPTY_TEXT = "Press Run (F5) to see m and l in every tile of the kernel."
WAITING_TEXT = "Running. The softmax states appear here once the kernel is traced."
NOTHING_TEXT = "This run has no trace of its softmax states."
NOT_KEPT_TEXT = "The softmax states of this run were not kept."
HINT = "Point at a cell to read it, click to hold its row. Wheel zooms, drag pans, double-click shows all."
FIELDS = {"running max m": "m_running", "running denominator l": "l_running", "tile max": "m_tile"}
BAR_LABELS = {
    "running max m": "m, scaled score",
    "running denominator l": "l, Σ exp(score − m)",
    "tile max": "tile max, scaled score",
}
LEAST_BLOCK_PIXELS = 10.0  # program borders closer than this would hide the cells


class SoftmaxPanel(Panel):
    """A map of m, l or the tile maximum over query rows and key tiles, and one row of it as lines below."""

    name = "softmax"
    title = "Softmax state per tile"

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.view = HeatmapView(theme, "query row", "", "first")
        self.lines = StateLines(theme)
        self.borders = pg.PlotCurveItem(connect="pairs", antialias=False)
        self.field_box = QComboBox()
        self.field_box.addItems(list(FIELDS))
        self.head_label, self.head_box = QLabel("Head"), QSpinBox()
        self.legend, self.readout, self.caption = text_label(wrap=False), text_label(), text_label()
        self.content = QWidget()
        self.stack = PlotStack(theme, self.content)
        self._lay_out_plots()
        self._lay_out()
        self._connect()
        self._forget(None)
        self.apply_theme(theme)

    def _lay_out_plots(self) -> None:
        self.view.plot.addItem(self.borders, ignoreBounds=True)
        self.borders.setZValue(5)
        self.view.plot.getAxis("bottom").setHeight(text_height() + 6)
        right = self.view.insert_bar(self.view.plot)
        self.lines.plot.getAxis("right").setWidth(right)
        for plot in (self.view.plot, self.lines.plot):
            plot.getAxis("left").setWidth(text_width("00,000") + text_height() + 12)
        self.view.graphics.addItem(self.lines.plot, 1, 0)
        self.lines.attach()
        self.lines.plot.setXLink(self.view.plot)
        self.lines.plot.vb.reset_asked.connect(self.view.reset_view)
        grid = self.view.graphics.ci.layout
        grid.setRowStretchFactor(0, 3)
        grid.setRowStretchFactor(1, 1)
        self.view.plot.setPreferredHeight(300)
        self.lines.plot.setPreferredHeight(120)
        self.lines.plot.setMinimumHeight(7 * text_height())

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.field_box)
        top.addWidget(self.head_label)
        top.addWidget(self.head_box)
        top.addStretch(1)
        top.addWidget(self.legend)
        inner = QVBoxLayout(self.content)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(4)
        inner.addLayout(top)
        inner.addWidget(self.view, 1)
        inner.addWidget(self.readout)
        inner.addWidget(self.caption)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.addWidget(self.stack)

    def _connect(self) -> None:
        self.view.hovered.connect(self._on_hover)
        self.view.clicked.connect(self._on_click)
        self.view.moved.connect(self.mark_stale)
        self.field_box.currentIndexChanged.connect(self._choose)
        self.head_box.valueChanged.connect(self._choose)

    def _forget(self, started: Started | None) -> None:
        self._started = started
        self._states: TileStates | None = None
        self._end: Finished | Failed | None = None
        self._row = 0
        self._tile: int | None = None
        self.pinned = False
        self._changed = True

    def take(self, event: RunEvent) -> None:
        """Keep the states."""
        match event:
            case Started():
                self._forget(event)
            case TileStates():
                self._states = event
            case Finished() | Failed():
                self._end = event
            case _:
                return
        self._changed = True
        self.mark_stale()

    def draw(self) -> None:
        """Show the chosen state and the row under the mouse."""
        states = self._states
        if states is None or states.m_running is None:
            self._show_reason(states)
            return
        if self._changed:
            self._changed = False
            self._show_states(states)
        self.view.refresh()
        self._draw_borders(states.block_m)
        self._draw_row(states)
        self.stack.show_plots()

    def _show_reason(self, states: TileStates | None) -> None:
        if states is not None:
            self.stack.show_text(states.skipped or NOT_KEPT_TEXT)
        elif isinstance(self._end, Failed):
            self.stack.show_failure(self._end)
        elif self._started is None:
            self.stack.show_text(EMPTY_TEXT)
        else:
            self.stack.show_text(WAITING_TEXT if self._end is None else NOTHING_TEXT)

    def _show_states(self, states: TileStates) -> None:
        field = self.field_box.currentText()
        values = getattr(states, FIELDS[field])
        heads = values.shape[0]
        self._show_heads(heads)
        data = values[self.head_box.value()]
        self._row = min(self._row, data.shape[0] - 1)
        if self._tile is not None and self._tile >= data.shape[1]:
            self._tile = None
        self.view.set_colors(self.theme, self._nan_color(states))
        self.view.set_data(data, _levels(data, from_zero=field == "running denominator l"), BAR_LABELS[field])
        self._show_legend(states, data)
        label_axis(self.lines.plot.getAxis("bottom"), f"key tile, {states.block_n} keys each")
        self.caption.setText(_caption(states))

    def _show_heads(self, heads: int) -> None:
        for widget in (self.head_label, self.head_box):
            widget.setVisible(heads > 1)
        blocked = self.head_box.blockSignals(True)
        self.head_box.setRange(0, heads - 1)
        self.head_box.blockSignals(blocked)

    def _show_legend(self, states: TileStates, data: FloatArray) -> None:
        marks = []
        sample = data[:: max(1, data.shape[0] // 1024)]
        if np.isneginf(sample).any():
            marks.append(swatch("−inf", self.theme.minus_inf))
        if np.isnan(sample).any():
            marks.append(swatch("not run yet" if not states.complete else "NaN", self._nan_color(states)))
        self.legend.setText(" &nbsp; ".join(marks))
        self.legend.setVisible(bool(marks))

    def _nan_color(self, states: TileStates) -> str:
        """A tile that has not run is quiet; a NaN in a finished trace is a fault."""
        return self.theme.no_data if not states.complete else self.theme.bad

    def _draw_borders(self, block_m: int) -> None:
        """Draw the borders between programs, where they are far enough apart to help."""
        top, end, left, right = self.view.visible()
        pixels = self.view.plot.vb.height() / max(1, end - top)
        at = np.arange(-(-max(top, 1) // block_m) * block_m, end, block_m) - 0.5
        if block_m * pixels < LEAST_BLOCK_PIXELS or block_m == 1:
            at = at[:0]
        self.borders.setData(np.tile([left - 0.5, right - 0.5], len(at)), np.repeat(at, 2))

    def _draw_row(self, states: TileStates) -> None:
        head = self.head_box.value()
        assert states.m_tile is not None and states.m_running is not None and states.l_running is not None
        row = self._row
        self.lines.show(states.m_tile[head, row], states.m_running[head, row], states.l_running[head, row])
        self.lines.point(self._tile)
        self.view.point(None if self._tile is None else (row, self._tile))
        self.readout.setText(self._readout(states, head))

    def _readout(self, states: TileStates, head: int) -> str:
        row = f"row {self._row}" + (" (held)" if self.pinned else "")
        if self._tile is None:
            return f"{unbroken(row)} below: m, l, • tile max. {HINT}"
        start = self._tile * states.block_n
        at = (head, self._row, self._tile)
        named = (("m", states.m_running), ("l", states.l_running), ("• tile max", states.m_tile))
        values = [f"{name} {self._value(states, array, at)}" for name, array in named]
        keys = f"keys [{start}, {min(states.n, start + states.block_n)})"
        return " · ".join(map(unbroken, (row, f"tile {self._tile}", keys, *values)))

    def _value(self, states: TileStates, array: FloatArray | None, at: tuple[int, int, int]) -> str:
        assert array is not None
        value = float(array[at])
        return "not run yet" if np.isnan(value) and not states.complete else number(value, 5)

    def _on_hover(self, cell: tuple[int, int] | None) -> None:
        if cell is not None and not self.pinned:
            self._row = cell[0]
        self._tile = None if cell is None else cell[1]
        self.mark_stale()

    def _on_click(self, row: int, tile: int) -> None:
        self.pinned = not self.pinned
        self._row, self._tile = row, tile
        self.mark_stale()

    def _choose(self, *_: Any) -> None:
        self._changed = True
        self.mark_stale()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the plots."""
        super().apply_theme(theme)
        incomplete = self._states is not None and not self._states.complete
        self.view.set_colors(theme, theme.no_data if incomplete else theme.bad)
        self.lines.apply_theme(theme)
        self.borders.setPen(pg.mkPen((255, 255, 255, 70), width=1))
        self.stack.card.apply_theme(theme)
        self._changed = True


def _levels(data: FloatArray, from_zero: bool) -> tuple[float, float]:
    """Smallest and largest finite value, of a sample of rows where there are very many."""
    sample = data[:: max(1, data.size // (1024 * 1024))]
    finite = sample[np.isfinite(sample)]
    if not finite.size:
        return 0.0, 1.0
    return 0.0 if from_zero else float(finite.min()), float(finite.max())


def _caption(states: TileStates) -> str:
    if not states.complete:
        return "Captured from the instrumented kernel, still running."
    parts = ["Captured from the instrumented kernel"]
    if states.bit_equal is not None:
        parts.append(f"traced output bit-equal to the timed one: {'yes' if states.bit_equal else 'NO'}")
    errors = [e for e in (states.m_error, states.l_error) if e is not None]
    if errors:
        parts.append(f"m,&nbsp;l differ from float64 by at most {number(max(errors), 2)} relative")
    return "; ".join(parts) + "."
