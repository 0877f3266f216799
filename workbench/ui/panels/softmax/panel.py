"""SoftmaxPanel: the online softmax inside the kernel, per query row and key tile."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PyQt6.QtWidgets import QComboBox, QHBoxLayout

from workbench.run.events import TileStates
from workbench.ui.panels.bases.maps import MapPanel
from workbench.ui.panels.softmax.lines import StateLines
from workbench.ui.panels.softmax.states import (
    MASKED,
    MASKED_TEXT,
    NOT_RUN_TEXT,
    SPLITS_TEXTS,
    UNSEEN,
    UNSEEN_TEXT,
    HeadStates,
    MapFacts,
    captions,
    pooled_texts,
    rows_texts,
)
from workbench.ui.places import Place
from workbench.ui.plots.axes import name_height, side_width
from workbench.ui.plots.heatmap import GAP, HeatmapView
from workbench.ui.text.cards import Empty
from workbench.ui.text.spans import Span, SpanLine, swatch_spans
from workbench.ui.theme import Theme
from workbench.words.names import head_text

EMPTY = Empty(
    "Press Run (F5) to see m and l in every tile of the kernel.",
    "Running. The softmax states appear here once the kernel is traced.",
    "This run has no trace of its softmax states.",
)
NOT_KEPT_TEXT = "The softmax states of this run were not kept."
HINT = "Point at a cell to read it, click to hold its row. Wheel zooms, drag pans, double-click shows all."
FIELDS = {"running max m": "m", "running denominator l": "l", "tile max": "tile max"}
BAR_LABELS = {
    "m": ("m, scaled score", "m"),
    "l": ("l, Σ exp(score − m)", "l"),
    "tile max": ("tile max, scaled score", "tile max"),
}
MAP_SHARE = 0.67  # of the height of both plots
MOST_LINES_HEIGHT = 220.0  # px; what is more helps the map only
LEAST_BLOCK_PIXELS = 10.0  # program borders closer than this would hide the cells
LEAST_SPLIT_PIXELS = 4.0


class SoftmaxPanel(MapPanel):
    """A map of m, l or the tile maximum over query rows and key tiles, and one row of it as lines below."""

    name = "softmax"
    title = "Softmax state per tile"
    place = Place.UPPER_RIGHT
    reads = (TileStates,)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, HeatmapView(theme, "query row", ""))
        self.lines = StateLines(theme)
        self.borders = pg.PlotCurveItem(connect="pairs", antialias=False)
        self.split_borders = pg.PlotCurveItem(connect="pairs", antialias=False)
        self.field_box = QComboBox()
        self.field_box.addItems(list(FIELDS))
        self.field_box.setAccessibleName("State")
        self.part, self.legend, self.readout, self.caption = SpanLine(), SpanLine(), SpanLine(), SpanLine()
        self._shown: HeadStates | None = None
        self._facts: MapFacts | None = None
        self._lay_out_plots()
        self._lay_out()
        self._connect()
        self.begin()
        self.apply_theme(theme)

    def _lay_out_plots(self) -> None:
        for z, item in ((5, self.borders), (6, self.split_borders)):
            self.view.plot.addItem(item, ignoreBounds=True)
            item.setZValue(z)
        below = self.view.plot.getAxis("bottom")  # the tiles' numbers and name are under the lines, which share them
        below.setStyle(showValues=False)
        below.setHeight(1)
        right = self.view.insert_bar(self.view.plot)
        self.lines.plot.getAxis("right").setWidth(right)
        self.lines.plot.getAxis("bottom").setHeight(name_height())
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
        top.addWidget(self.head_box)
        top.addStretch(1)
        self.fill(top, self.part, self.legend, self.view, self.readout, self.caption, growing=self.view)

    def _connect(self) -> None:
        self.view.hovered.connect(self._on_hover)
        self.view.clicked.connect(self._on_click)
        self.view.pooled.connect(self._name_row)
        self.field_box.currentIndexChanged.connect(self.redraw)

    def begin(self) -> None:
        """Forget the row that was held."""
        self._row = 0
        self._tile: int | None = None
        self.pinned = False

    @property
    def states(self) -> TileStates | None:
        """Those of the run that is shown, as far as they have come."""
        return self.run.states if self.run is not None else None

    def draw(self) -> None:
        """Show the chosen state and the row under the mouse."""
        states = self.states
        if states is None or states.m_running is None:
            self._show_reason(states)
            return
        if self.changed or self._facts is None:
            self.changed = False
            self._shown = None
            name = FIELDS[self.field_box.currentText()]
            self._facts = MapFacts(self._head_states(states, states.m_running.shape[0]), name)
        if self._shown is None:
            if not self._facts.advance(self.budget_s):
                self.mark_stale()  # goes on with the next frame
                return
            self._shown = self._facts.shown
            self._show_states(self._facts)
        self.view.refresh()
        self._draw_row(self._shown)
        self._draw_borders(self._shown)
        self.stack.show_plots()

    def _show_reason(self, states: TileStates | None) -> None:
        if states is not None:
            self.stack.show_text(states.skipped or NOT_KEPT_TEXT)
        else:
            self.stack.show_reason(EMPTY, self.run)

    def _head_states(self, states: TileStates, count: int) -> HeadStates:
        index = self.head_box.show_heads(self.problem, states.heads, count, *self.wanted_heads())
        title = head_text(self.problem, self.head_box.number()) if self.problem.total_heads > 1 else ""
        return HeadStates(self.problem, states, index, title)

    def _show_states(self, facts: MapFacts) -> None:
        shown, name = facts.shown, facts.name
        states = shown.states
        data = shown.named[name]
        self._row = min(self._row, shown.rows - 1)
        if self._tile is not None and self._tile >= shown.tiles:
            self._tile = None
        self.view.set_colors(self.theme, self._nan_color(states))
        self.view.plot.getAxis("left").numbers = shown.row_numbers if states.row_blocks else None
        self.view.set_data(data, facts.levels, BAR_LABELS[name], shown.ends)
        self._show_legend(facts)
        self.lines.plot.getAxis("bottom").set_names(f"key tile, {states.block_n} keys each", "key tile")
        color = self.theme.bad if states.bit_equal is False else self.theme.text
        self.caption.set_spans(*([Span(text, color)] for text in captions(states)))
        whole, short = rows_texts(shown)
        self.part.set_spans([Span(whole, self.theme.warn)], [Span(short, self.theme.warn)])
        self.part.setVisible(bool(whole))

    def _show_legend(self, facts: MapFacts) -> None:
        """What the map's colours beside those of the bar mean."""
        shown = facts.shown
        not_run = NOT_RUN_TEXT if not shown.states.complete else "NaN"
        kinds = (
            ("masked", MASKED_TEXT, MASKED, self.theme.border),
            ("unseen", UNSEEN_TEXT, UNSEEN, self.theme.minus_inf),
            ("nan", not_run, not_run, self._nan_color(shown.states)),
        )
        contents = facts.contents
        found = [(text, word, color) for kind, text, word, color in kinds if kind in contents]
        whole, short = ([(texts[i], color) for *texts, color in found] for i in (0, 1))
        self.legend.set_spans(_legend(whole), _legend(short), tooltip="\n".join(text for text, _ in whole))
        self.legend.setVisible(bool(found))

    def _nan_color(self, states: TileStates | None) -> str:
        """A tile that has not run is quiet; a NaN in a finished trace is a fault, but for tiles that are masked."""
        return self.theme.no_data if states is not None and not states.complete else self.theme.bad

    def _draw_borders(self, shown: HeadStates) -> None:
        """Draw the borders between programs and between key splits, where they are far enough apart to help."""
        top, end, left, right = self.view.visible()
        block_m, step = shown.states.block_m, shown.states.split_tiles
        at = np.arange(-(-max(top, 1) // block_m) * block_m, end, block_m) - 0.5
        if block_m * self.view.plot.vb.height() / max(1, end - top) < LEAST_BLOCK_PIXELS or block_m == 1:
            at = at[:0]
        self.borders.setData(np.tile([left - 0.5, right - 0.5], len(at)), np.repeat(at, 2))
        at = shown.borders - 0.5
        if step * self.view.plot.vb.width() / max(1, right - left) < LEAST_SPLIT_PIXELS:
            at = at[:0]
        self.split_borders.setData(np.repeat(at, 2), np.tile([top - 0.5, end - 0.5], len(at)))
        self.lines.show_borders(at)

    def _draw_row(self, shown: HeadStates) -> None:
        row = self._row
        m_tile, m_running, l_running = (shown.named[name][row] for name in ("tile max", "m", "l"))
        self.lines.show(m_tile, m_running, l_running, shown.borders)
        self.lines.point(self._tile)
        self.view.point(None if self._tile is None else (row, self._tile))
        self._name_row()
        if self._tile is None:
            self.hover.hide()
        else:
            at = (row, self._tile)
            self.hover.show_at(self.view.place_of(at), shown.hover_lines(*at))

    def _name_row(self) -> None:
        """Say what the lines are, and what a row of the map is: in a picture finer than the screen, of fewer rows."""
        shown = self._shown
        if shown is None:
            return
        pooled = pooled_texts(FIELDS[self.field_box.currentText()], *self.view.steps)
        versions = (self._line_legend(shown, *texts) for texts in zip(SPLITS_TEXTS, pooled, strict=True))
        self.readout.set_spans(*versions, tooltip=HINT)

    def _line_legend(self, shown: HeadStates, splits: str, pooled: str) -> list[Span]:
        """Which row the lines are of, and which line is which; then what the map's rows are where it is `pooled`."""
        row = f"row {shown.row_numbers[self._row]:,}" + (" (held)" if self.pinned else "")
        legend = [Span(f"{row}:  ")]
        marks = self.lines.legend()
        if len(shown.borders):
            marks = (*marks, (splits, self.theme.text, "│"))
        for name, color, mark in marks:
            legend += [Span(f"{mark} ", color), Span(f"{name}   ")]
        return legend + ([Span(pooled, self.theme.muted)] if pooled else [])

    def _on_hover(self, cell: tuple[int, int] | None) -> None:
        if cell is not None and not self.pinned:
            self._row = cell[0]
        self._tile = None if cell is None else cell[1]
        self.mark_stale()

    def _on_click(self, row: int, tile: int) -> None:
        self.pinned = not self.pinned
        self._row, self._tile = row, tile
        self.mark_stale()

    def apply_theme(self, theme: Theme) -> None:
        super().apply_theme(theme)
        self.view.set_colors(theme, self._nan_color(self.states))
        self.lines.apply_theme(theme)
        self.borders.setPen(pg.mkPen((255, 255, 255, 70), width=1))
        self.split_borders.setPen(pg.mkPen("w", width=1))
        self.split_borders.setShadowPen(pg.mkPen((0, 0, 0, 150), width=3))


def _legend(marks: list[tuple[str, str]]) -> list[Span]:
    spans: list[Span] = []
    for text, color in marks:
        spans += [Span("   ")] if spans else []
        spans += swatch_spans(text, color)
    return spans
