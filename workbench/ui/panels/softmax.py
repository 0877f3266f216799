"""SoftmaxPanel: the online softmax inside the kernel, per query row and key tile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSpinBox, QVBoxLayout, QWidget

from workbench.model import Failed, Finished, FloatArray, RunEvent, Started, TileStates
from workbench.ui.axes import side_width, text_height
from workbench.ui.cards import Empty, HoverCard, PlotStack
from workbench.ui.heatmap import GAP, HeatmapView
from workbench.ui.panels.panel import Panel
from workbench.ui.panels.softmax_lines import StateLines
from workbench.ui.spans import Span, SpanLine, swatch_spans
from workbench.ui.theme import Theme
from workbench.ui.words import number

EMPTY = Empty(
    "Press Run (F5) to see m and l in every tile of the kernel.",
    "Running. The softmax states appear here once the kernel is traced.",
    "This run has no trace of its softmax states.",
)
NOT_KEPT_TEXT = "The softmax states of this run were not kept."
HINT = "Point at a cell to read it, click to hold its row. Wheel zooms, drag pans, double-click shows all."
FIELDS = {"running max m": "m_running", "running denominator l": "l_running", "tile max": "m_tile"}
BAR_LABELS = {
    "running max m": ("m, scaled score", "m"),
    "running denominator l": ("l, Σ exp(score − m)", "l"),
    "tile max": ("tile max, scaled score", "tile max"),
}
MAP_SHARE = 0.67  # of the height of both plots
MOST_LINES_HEIGHT = 220.0  # px; what is more helps the map only
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
        self.legend, self.readout, self.caption = SpanLine(elides=False), SpanLine(), SpanLine()
        self.hover = HoverCard(theme, self.view.graphics)
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
        below = self.view.plot.getAxis("bottom")  # the tiles' numbers and name are under the lines, which share them
        below.setStyle(showValues=False)
        below.setHeight(1)
        right = self.view.insert_bar(self.view.plot)
        self.lines.plot.getAxis("right").setWidth(right)
        self.lines.plot.getAxis("bottom").setHeight(2 * text_height() + 6)
        for plot in (self.view.plot, self.lines.plot):
            plot.getAxis("left").setWidth(side_width("00,000"))
        self.view.graphics.addItem(self.lines.plot, 2, 0)
        self.lines.attach()
        self.lines.plot.setXLink(self.view.plot)
        self.lines.plot.vb.reset_asked.connect(self.view.reset_view)
        self.view.resized.connect(self._share_height)

    def _share_height(self) -> None:
        """Split the plots' height, but for the axis below them, between the map and the lines."""
        axis = self.lines.plot.getAxis("bottom").height()
        lines = (1 - MAP_SHARE) * max(0.0, self.view.height() - axis - 2 * GAP)
        self.view.graphics.ci.layout.setRowFixedHeight(2, axis + min(lines, MOST_LINES_HEIGHT))

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.field_box)
        top.addWidget(self.head_label)
        top.addWidget(self.head_box)
        top.addStretch(1)
        top.addWidget(self.legend)
        inner = QVBoxLayout(self.content)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(2)
        inner.addLayout(top)
        inner.addWidget(self.view, 1)
        inner.addWidget(self.readout)
        inner.addWidget(self.caption)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 4)
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
        else:
            self.stack.show_reason(EMPTY, self._started, self._end)

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
        self.lines.plot.getAxis("bottom").set_names(f"key tile, {states.block_n} keys each", "key tile")
        color = self.theme.bad if states.bit_equal is False else self.theme.text
        whole, *shorter = ([Span(text, color)] for text in _captions(states))
        self.caption.set_spans(whole, shorter=shorter)

    def _show_heads(self, heads: int) -> None:
        for widget in (self.head_label, self.head_box):
            widget.setVisible(heads > 1)
        blocked = self.head_box.blockSignals(True)
        self.head_box.setRange(0, heads - 1)
        self.head_box.blockSignals(blocked)

    def _show_legend(self, states: TileStates, data: FloatArray) -> None:
        marks: list[Span] = []
        sample = data[:: max(1, data.shape[0] // 1024)]
        if np.isneginf(sample).any():
            marks += swatch_spans("−inf", self.theme.minus_inf)
        if np.isnan(sample).any():
            marks += [Span("   ")] if marks else []
            marks += swatch_spans("not run yet" if not states.complete else "NaN", self._nan_color(states))
        self.legend.set_spans(marks)
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
        self.readout.set_spans(self._line_legend(), HINT)
        self._show_hover(states, head)

    def _line_legend(self) -> list[Span]:
        """Which row the lines are of, and which line is which."""
        row = f"row {self._row}" + (" (held)" if self.pinned else "")
        legend = [Span(f"{row}:  ")]
        for name, color, mark in self.lines.legend():
            legend += [Span(f"{mark} ", color), Span(f"{name}   ")]
        return legend

    def _show_hover(self, states: TileStates, head: int) -> None:
        """What is under the mouse, and what is there."""
        if self._tile is None:
            self.hover.hide()
            return
        start = self._tile * states.block_n
        at = (head, self._row, self._tile)
        keys = f"keys [{start}, {min(states.n, start + states.block_n)})"
        lines = [" · ".join((f"row {self._row}", f"tile {self._tile}", keys))]
        named = (("m", states.m_running), ("l", states.l_running), ("tile max", states.m_tile))
        lines += [f"{name} <b>{self._value(states, array, at)}</b>" for name, array in named]
        self.hover.show_at(self.view.place_of(at[1:]), lines)

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
        self.hover.apply_theme(theme)
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


def _captions(states: TileStates) -> list[str]:
    """Where the states are from and how right they are, and the same in fewer words."""
    if not states.complete:
        return ["Captured from the instrumented kernel, still running", "Instrumented kernel, still running"]
    bits = "" if states.bit_equal is None else f"{'' if states.bit_equal else 'NOT '}bit-equal to the timed output"
    errors = [e for e in (states.m_error, states.l_error) if e is not None]
    within = f"m, l within {number(float(np.max(errors)), 2)} of float64" if errors else ""
    versions = (
        ("Captured from the instrumented kernel", bits, within),
        ("Instrumented kernel", bits.replace("the ", ""), within),
        ("Instrumented", bits.partition(" to ")[0], within),
        ("Traced", bits.partition(" to ")[0], within.replace(" of float64", "")),
    )
    return ["; ".join(filter(None, parts)) for parts in versions]
