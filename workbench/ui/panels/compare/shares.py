"""The distributions of several runs' launch times over one axis: which share of the launches took no longer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt

from workbench.run.record import RunRecord
from workbench.stats.arrays import FloatArray
from workbench.ui.plots.axes import ValueAxis, name_height, side_width
from workbench.ui.plots.scale import Scale, time_scale
from workbench.ui.plots.themed import make_plot, style_plot
from workbench.ui.theme import Theme
from workbench.words.comparing import run_titles
from workbench.words.times import launches_text

COLORS = ("kernel", "baseline", "good", "bad", "text", "warn")
NEW_LINE = "\n"
MOST_POINTS = 1000  # of a run: more lie within a pixel of each other
SHARE_NAMES = ("share of launches, %", "share, %", "%")


class SharesPlot:
    """An ascending line a run: each of its points is a launch, and how many percent took no longer than it."""

    def __init__(self, theme: Theme) -> None:
        axes = {"left": ValueAxis("left"), "bottom": ValueAxis("bottom")}
        axes["bottom"].tick_pixels = 90
        self.plot = make_plot(theme, axes, left="", bottom="")
        self.plot.getAxis("left").set_names(*SHARE_NAMES)
        self.plot.getAxis("left").setWidth(side_width("100"))
        self.plot.getAxis("bottom").setHeight(name_height())
        self.plot.setMouseEnabled(x=True, y=False)
        self.curves = [pg.PlotCurveItem() for _ in COLORS]
        for curve in reversed(self.curves):
            self.plot.addItem(curve, ignoreBounds=True)
        self._range: tuple[float, float] | None = None
        self.plot.vb.reset_asked.connect(self.set_range)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        style_plot(self.plot, theme, grid=True)
        for place, (curve, token) in enumerate(zip(self.curves, COLORS, strict=True)):
            style = Qt.PenStyle.SolidLine if place % 2 == 0 else Qt.PenStyle.DashLine
            curve.setPen(pg.mkPen(theme.color(token), width=1.8, style=style))

    def show(self, runs: Sequence[RunRecord]) -> None:
        """Draw the kernels' launches of `runs`."""
        taken = [np.sort(run.samples("kernel")) for run in runs]
        scale = time_scale([float(np.median(values)) for values in taken if len(values)])
        for curve, values in zip(self.curves, [*taken, *[np.zeros(0)] * len(COLORS)], strict=False):
            x, y = points(values)
            curve.setData(scale.to_axis(x), y)
        self.plot.getAxis("bottom").log = scale.log
        unit = f"{scale.unit} (log)" if scale.log else scale.unit
        self.plot.getAxis("bottom").set_names(f"time of a launch, {unit}", f"time, {unit}", unit)
        self._range = _span([values for values in taken if len(values)], scale)
        self.set_range()

    def set_range(self) -> None:
        """Show all but the slowest hundredth of each run."""
        self.plot.setYRange(0, 100, padding=0.02)
        if self._range is not None:
            self.plot.setXRange(*self._range, padding=0)


def points(ascending: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Launches of a run and which percentage took no longer: all, or MOST_POINTS at even ranks."""
    count = len(ascending)
    ranks = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).round().astype(np.int64))
    return ascending[ranks], 100.0 * (ranks + 1) / max(1, count)


def _span(taken: Sequence[FloatArray], scale: Scale) -> tuple[float, float] | None:
    """The axis from the fastest launch to the slowest but a hundredth: one outlier would press all into a corner."""
    if not taken:
        return None
    low = float(scale.to_axis(min(float(values[0]) for values in taken)))
    high = float(scale.to_axis(max(float(np.quantile(values, 0.99)) for values in taken)))
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 0.1
    return low - margin, high + margin


def legend(runs: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """What each line is, with how many launches it is of and by which protocol, and the theme's colour of it."""
    found = []
    for run, title, token in zip(runs, run_titles(runs), COLORS, strict=False):
        kernel = run.measurement("kernel")
        taken = f"{launches_text(kernel.latency)}, {kernel.latency.protocol}" if kernel is not None else "no launches"
        found.append((f"{title.replace(NEW_LINE, ', ')}: {taken}", token))
    return found
