"""What the latency plot marks beside the launches: a block's average, intervals of the medians, and two modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyqtgraph as pg
from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QPen
from PyQt6.QtWidgets import QGraphicsRectItem

from workbench.analysis.metrics import interval_of
from workbench.analysis.numbers import TimeUnit
from workbench.run.measurement import Latency, Role
from workbench.stats.modes import Modes
from workbench.ui.panels.latency.figures import block_average
from workbench.ui.plots.scale import Scale
from workbench.ui.plots.themed import DRAWN
from workbench.ui.text.fit import longest, text_width
from workbench.ui.theme import Theme
from workbench.words.times import modes_text

BAND_ALPHA, MODE_ALPHA = 70, 220


class LatencyMarks:
    """A line for a block's average, a band for each 95% interval, two thin lines and their label for two modes.

    Plain rectangles and curves: pyqtgraph's own regions and endless lines cost every frame something, also hidden.
    """

    def __init__(self, plot: Any) -> None:
        self._plot = plot
        self._modes: dict[Role, tuple[float, float]] = {}  # on the axis
        self._texts: dict[Role, tuple[str, ...]] = {}
        self.bands = {role: QGraphicsRectItem() for role in DRAWN}
        self.blocks = {role: pg.PlotCurveItem() for role in DRAWN}
        self.modes = {role: pg.PlotCurveItem(connect="pairs") for role in DRAWN}
        self.labels = {role: pg.TextItem() for role in DRAWN}
        for role in DRAWN:
            self.bands[role].setZValue(-10)
            self.bands[role].setPen(QPen(Qt.PenStyle.NoPen))
            self.labels[role].setZValue(20)
            for item in (self.bands[role], self.blocks[role], self.modes[role], self.labels[role]):
                item.hide()
                plot.addItem(item, ignoreBounds=True)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        for role in DRAWN:
            self.bands[role].setBrush(pg.mkBrush(theme.color(role, BAND_ALPHA)))
            self.blocks[role].setPen(pg.mkPen(theme.color(role), width=1))
            self.modes[role].setPen(pg.mkPen(theme.color(role, MODE_ALPHA), width=1, style=Qt.PenStyle.DotLine))
            self.labels[role].setColor(theme.color(role))
            self.labels[role].fill = pg.mkBrush(theme.color("surface", 215))

    def show(self, latencies: Mapping[Role, Latency], scale: Scale, unit: TimeUnit | None = None) -> None:
        """Mark what is known of finished measurements; `unit` is that of the axis."""
        self._modes = {}
        for role in DRAWN:
            latency = latencies.get(role)
            self._show_band(role, latency, scale)
            self._show_block(role, latency, scale)
            modes = latency.modes if latency is not None else None
            self.modes[role].setVisible(modes is not None)
            self.labels[role].setVisible(modes is not None)
            if latency is not None and modes is not None:
                low, high = scale.to_axis(modes.centres).tolist()
                self._modes[role] = (low, high)
                left, right = _across(latency)
                self.modes[role].setData([left, right, left, right], [low, low, high, high])
                self._texts[role] = (modes_text(modes, unit), *_shorter(modes))

    def _show_band(self, role: Role, latency: Latency | None, scale: Scale) -> None:
        interval = interval_of(latency) if latency is not None else None
        self.bands[role].setVisible(interval is not None)
        if latency is not None and interval is not None:
            low, high = scale.to_axis([interval.low, interval.high]).tolist()
            left, right = _across(latency)
            self.bands[role].setRect(QRectF(left, low, right - left, high - low))

    def _show_block(self, role: Role, latency: Latency | None, scale: Scale) -> None:
        average = block_average(latency)
        self.blocks[role].setVisible(average is not None)
        if latency is not None and average is not None:
            self.blocks[role].setData(list(_across(latency)), [float(scale.to_axis(average))] * 2)

    def place_labels(self) -> None:
        """Put each label at the right, above its two lines; the lower role's below its own, so that they never meet."""
        (_, right), (low, high) = self._plot.vb.viewRange()
        room = float(self._plot.vb.width()) - 8
        for i, role in enumerate(sorted(self._modes, key=lambda role: self._modes[role][1])):
            lower, upper = self._modes[role]
            is_under = i == 0 if len(self._modes) > 1 else upper > low + 0.85 * (high - low)
            is_under = is_under and lower > low + 0.1 * (high - low)
            self.labels[role].setText(longest(self._texts[role], room, text_width))
            self.labels[role].setAnchor((1.0, 0.0 if is_under else 1.0))
            self.labels[role].setPos(right, lower if is_under else upper)


def _across(latency: Latency) -> tuple[float, float]:
    """From left of the first launch to right of the last, also of a plot that has more."""
    return -float(latency.launches), 3.0 * latency.launches + 100


def _shorter(modes: Modes) -> tuple[str, str]:
    """Fewer words for the label of two modes, where there is less room."""
    shares = " and ".join(f"{share:.0%}" for share in modes.shares)
    return f"two modes: {shares}", "two modes"
