"""The error panel's profiles: the largest error of each row beside the map, and of each column above it."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg

from workbench.stats.arrays import FloatArray
from workbench.ui.plots.axes import BREAK, IndexAxis, ValueAxis, name_height, side_width
from workbench.ui.plots.heatmap import GAP, HeatmapView
from workbench.ui.plots.map_cells import pool
from workbench.ui.plots.scale import scale_exponent, times_ten
from workbench.ui.plots.themed import make_plot, style_plot
from workbench.ui.theme import Theme

ROWS_WIDTH, COLUMNS_HEIGHT = 70, 60  # px of the profiles
PROFILE_GAP = 11  # px, so that the lowest number of the profile and the first of the map do not meet
LEAST_MAP_HEIGHT = 110  # px: a lower map has no profile above it
LEAST_MAP_WIDTH = 130  # px: a narrower map has no profile beside it
MOST_WIDTH = 16_777_215  # Qt's own
MOST_POINTS = 4096  # of a profile; more than any screen shows


class Profiles:
    """Two slim plots around the map of `view`, which move with it; they give way where it has little room."""

    def __init__(self, theme: Theme, view: HeatmapView) -> None:
        self._view = view
        self.rows_plot = make_plot(theme, {"bottom": ValueAxis("bottom")}, left="", bottom="row max")
        axes = {"left": ValueAxis("left"), "bottom": IndexAxis("bottom")}
        self.columns_plot = make_plot(theme, axes, left="col max", bottom="")
        self.rows_curve, self.columns_curve = pg.PlotCurveItem(connect="finite"), pg.PlotCurveItem(connect="finite")
        self._lay_out()
        self._size()

    def _lay_out(self) -> None:
        rows, columns = self.rows_plot, self.columns_plot
        for plot, curve in ((rows, self.rows_curve), (columns, self.columns_curve)):
            plot.addItem(curve)
            plot.vb.reset_asked.connect(self._view.reset_view)
        rows.vb.invertY(True)
        rows.setYLink(self._view.plot)
        columns.setXLink(self._view.plot)
        rows.setMouseEnabled(x=False, y=True)
        columns.setMouseEnabled(x=True, y=False)
        self._view.graphics.addItem(columns, 0, 0)
        self._view.graphics.addItem(rows, 1, 1)

    def _size(self) -> None:
        """The axes along the map show no numbers: those of the map are theirs."""
        rows, columns, grid = self.rows_plot, self.columns_plot, self._view.graphics.ci.layout
        self._bar_width = self._view.insert_bar(rows)
        rows.getAxis("left").setStyle(showValues=False)
        rows.getAxis("left").setWidth(1)
        rows.getAxis("bottom").overhang = 40.0  # over the colour bar's corner, which is empty
        self._view.plot.getAxis("bottom").overhang = -24.0  # which is as empty on the other side
        columns.getAxis("bottom").setStyle(showValues=False)
        columns.getAxis("bottom").setHeight(1)
        for plot in (self._view.plot, rows):
            plot.getAxis("bottom").setHeight(name_height())
            plot.layout.setRowFixedHeight(3, name_height())  # also where the axis is hidden
        for plot in (self._view.plot, columns):
            plot.getAxis("left").setWidth(max(side_width("00,000"), side_width("0.00", name_lines=2)))
        grid.setRowSpacing(0, PROFILE_GAP)
        grid.setColumnFixedWidth(1, ROWS_WIDTH + self._bar_width)
        grid.setRowFixedHeight(0, COLUMNS_HEIGHT)
        self._columns_shown = self._rows_shown = True

    def fit(self, width: float, height: float) -> None:
        """Show as much as map and profiles have room for, in px."""
        self._show_columns(height - COLUMNS_HEIGHT - PROFILE_GAP >= LEAST_MAP_HEIGHT)
        axis = float(self._view.plot.getAxis("left").width())
        self._show_rows(width - axis - self._bar_width - ROWS_WIDTH - GAP >= LEAST_MAP_WIDTH)

    def _show_columns(self, on: bool) -> None:
        if on != self._columns_shown:
            self._columns_shown = on
            self.columns_plot.setVisible(on)
            grid = self._view.graphics.ci.layout
            grid.setRowFixedHeight(0, COLUMNS_HEIGHT if on else 0)
            grid.setRowSpacing(0, PROFILE_GAP if on else 0)

    def _show_rows(self, on: bool) -> None:
        """The profile beside the map; the colour bar, which is a part of its plot, stays."""
        if on != self._rows_shown:
            self._rows_shown = on
            for part in (self.rows_plot.vb, self.rows_plot.getAxis("bottom"), self.rows_plot.getAxis("left")):
                part.setVisible(on)
            self.rows_plot.layout.setColumnMaximumWidth(1, MOST_WIDTH if on else 0)
            self._view.graphics.ci.layout.setColumnFixedWidth(1, self._bar_width + (ROWS_WIDTH if on else 0))

    def draw(self, row_max: FloatArray, column_max: FloatArray, largest: float) -> None:
        """Show the largest error of each row and column, up to `largest`, in powers of ten that keep numbers short."""
        exponent = scale_exponent(largest)
        power = 10.0**exponent
        rows, at_rows = _thinned(row_max)
        columns, at_columns = _thinned(column_max)
        self.rows_curve.setData(np.where(np.isfinite(rows), rows, np.nan) / power, at_rows)
        self.columns_curve.setData(at_columns, np.where(np.isfinite(columns), columns, np.nan) / power)
        end = (largest or 1.0) / power * 1.08
        self.rows_plot.setXRange(-0.07 * end, end, padding=0)  # room for half of the label "0"
        self.columns_plot.setYRange(-0.07 * end, end, padding=0)
        self.rows_plot.getAxis("bottom").set_names(*(times_ten(name, exponent) for name in ("row max", "max")))
        self.columns_plot.getAxis("left").set_names(times_ten("col max", exponent).replace(", ", f",{BREAK}"))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour both."""
        for plot, curve in ((self.rows_plot, self.rows_curve), (self.columns_plot, self.columns_curve)):
            style_plot(plot, theme)
            curve.setPen(pg.mkPen(theme.text, width=1))


def _thinned(profile: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A profile of MOST_POINTS at most that keeps its peaks, and where its points lie."""
    step = -(-len(profile) // MOST_POINTS)
    values = pool(profile[:, None], step, 1)[:, 0]
    return values, np.arange(len(values)) * step + (step - 1) / 2
