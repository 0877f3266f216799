"""LatencyPanel: every launch's time as it arrives, its distribution, and the runs of the same problem before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil

import numpy as np
from PyQt6.QtCore import QPointF
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from workbench.analysis.metrics import METRICS
from workbench.analysis.numbers import TimeUnit, time_unit
from workbench.run.events import Checked, DeviceState, Measured, Rechecked, RunEvent, Samples
from workbench.run.measurement import ROLES, Latency, Role
from workbench.run.record import RunRecord
from workbench.ui.panels.bases.plots import PlotPanel
from workbench.ui.panels.latency.figures import Spread
from workbench.ui.panels.latency.header import LatencyHeader
from workbench.ui.panels.latency.launches import Launches
from workbench.ui.panels.latency.plots import DistributionPlot, SamplesPlot
from workbench.ui.panels.latency.run import LatencyRun
from workbench.ui.panels.latency.trend.along import ALONG
from workbench.ui.panels.latency.trend.card import card_lines
from workbench.ui.panels.latency.trend.history import History, Trend, shown_run
from workbench.ui.panels.latency.trend.legend import legend_versions
from workbench.ui.panels.latency.trend.plot import TrendPlot
from workbench.ui.panels.latency.trend.runs import TIME
from workbench.ui.places import Place
from workbench.ui.plots.axes import side_width
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.plots.scale import Scale, reach, time_scale
from workbench.ui.plots.strip import DeviceStrip
from workbench.ui.plots.themed import DRAWN
from workbench.ui.text.cards import Empty
from workbench.ui.text.fit import text_width
from workbench.ui.text.spans import SpanLine
from workbench.ui.theme import Theme

EMPTY = Empty(
    "Press Run (F5) to time the kernel beside SDPA.",
    "Running. Launch times appear here as they are taken.",
    "This run took no launch times.",
)
STRETCHES = (9, 3, 11)  # launches, their distribution, the trend
READ_SHARE = 0.5  # of a frame's budget, for runs of the trend that are not read yet
SCALES = {"Auto scale": None, "Linear": False, "Log": True}


class LatencyPanel(PlotPanel):
    """Launch times of kernel and SDPA: in launch order, as a distribution, and beside earlier runs."""

    name = "latency"
    title = "Latency"
    place = Place.UPPER
    reads = (Samples, Measured, Checked, Rechecked, DeviceState)
    rest_s = 0.05

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, PlotArea())
        self.scale = Scale()
        self._history = History()
        self._zoomed = False
        self._launches: dict[Role, Launches] = {}
        self.unit: TimeUnit | None = None  # of all times in the panel
        auto = "Time axis. Auto: logarithmic when the times differ by more than 10x"
        self.scale_box = self._box(SCALES, "Time axis", auto)
        titles = [f"Trend: {metric.title}" for metric in METRICS]
        self.metric_box = self._box(titles, "Trend of", "What the trend of the runs, at the right, is of")
        over = [f"over: {along.title}" for along in ALONG]
        self.along_box = self._box(over, "Trend over", "What the trend's runs stand over: their order, or a field")
        self.legend = SpanLine()
        # As wide as what they say: the longest name must not take the legend's room while another is chosen.
        for box in (self.metric_box, self.along_box):
            box.currentTextChanged.connect(self._fit_boxes)
        self._fit_boxes()
        self.header = LatencyHeader(self.scale_box)
        self.samples_plot, self.distribution_plot = SamplesPlot(theme), DistributionPlot(theme)
        self.trend_plot = TrendPlot(theme)
        self.strip = DeviceStrip(theme)
        self._lay_out()
        self._link()
        self.apply_theme(theme)
        self._warm_up()

    def _box(self, names: Iterable[str], title: str, tip: str) -> QComboBox:
        box = QComboBox()
        box.addItems(names)
        box.setAccessibleName(title)
        box.setToolTip(tip)
        box.currentIndexChanged.connect(self._show_all)
        return box

    def _fit_boxes(self) -> None:
        for box in (self.metric_box, self.along_box):
            widest = max(text_width(box.itemText(i), box.font()) for i in range(box.count()))
            around = box.sizeHint().width() - widest
            box.setFixedWidth(ceil(around + text_width(box.currentText(), box.font())))

    def _warm_up(self) -> None:
        """Pay what pyqtgraph does at the first points, so that the first launches of a run are drawn at once."""
        ones: dict[Role, Launches] = {role: Launches(np.ones(2)) for role in DRAWN}
        for launches in (ones, {}):
            self._show_launches(launches, {}, "")
        self.trend_plot.warm_up()

    def _lay_out(self) -> None:
        self.fill(self.graphics, growing=self.graphics)
        self.box.insertWidget(0, self.header)
        self.trend_row = _side_by_side(self.legend, self.metric_box, self.along_box)
        self.box.insertWidget(1, self.trend_row)
        self.box.addWidget(self.strip)
        grid = self.graphics.ci.layout
        grid.setContentsMargins(0, 6, 0, 0)
        grid.setHorizontalSpacing(8)
        views: tuple[SamplesPlot | DistributionPlot | TrendPlot, ...] = self._views()
        for column, (view, stretch) in enumerate(zip(views, STRETCHES, strict=True)):
            self.graphics.addItem(view.plot, 0, column)
            view.plot.setPreferredWidth(stretch * 10)
            grid.setColumnStretchFactor(column, stretch)

    def _views(self) -> tuple[SamplesPlot, DistributionPlot, TrendPlot]:
        return self.samples_plot, self.distribution_plot, self.trend_plot

    def _link(self) -> None:
        for view in self._views():
            view.plot.vb.sigRangeChangedManually.connect(self._on_zoom)
            view.plot.vb.reset_asked.connect(self._show_all)
        self.distribution_plot.plot.setYLink(self.samples_plot.plot)
        self.trend_plot.plot.vb.clicked.connect(self._on_click)
        # What fits below the trend follows from its width, which the layout settles after a draw.
        self.trend_plot.plot.vb.sigResized.connect(self.mark_stale)

    def show_run(self, run: RunRecord, change: RunEvent | None = None) -> None:
        """Show `run`; the times of a finished measurement are sorted anew, whatever arrived of them before."""
        if isinstance(change, Measured):
            self._launches.pop(change.measurement.role, None)
        super().show_run(run, change)

    def begin(self) -> None:
        """Forget the last run's launches, and how they were zoomed."""
        self._launches = {}
        self._zoomed = False

    @property
    def shown(self) -> LatencyRun | None:
        """The run that is shown, with its launches by size; None before any, and while it has none."""
        if self.run is None:
            return None
        for role in ROLES:
            self._launches.setdefault(role, Launches()).follow(self.run.samples(role))
        launches = {role: those for role, those in self._launches.items() if len(those)}
        return LatencyRun(self.run, launches, self.unit) if launches else None

    def set_history(self, records: Sequence[RunRecord]) -> None:
        """Learn of the runs that the trend is made of."""
        self._history.set_records(records)
        self.mark_stale()

    def draw(self) -> None:
        """Show what has arrived."""
        shown = self.shown
        self.strip.show_state(self.run.device_state if self.run is not None else None)
        self.trend_row.setVisible(shown is not None)
        if shown is None:
            self.header.show_run(None, self.theme)
            self.hover.hide()
            self.stack.show_reason(EMPTY, self.run)
            return
        spreads, log = shown.spreads(), SCALES[self.scale_box.currentText()]
        trend = self._trend(shown)
        self.unit = time_unit([*(spread.median for spread in spreads.values()), *_middle(trend)])
        shown = LatencyRun(shown.record, shown.launches, self.unit)
        self.header.show_run(shown, self.theme)
        self.scale = time_scale([spread.median for spread in spreads.values()], log, self.unit)
        self._show_launches(shown.launches, shown.latencies, shown.protocol_name)
        here = shown_run(self._history, trend, shown.record, spreads)
        if self.trend_plot.show(trend, here, log, self.unit) or trend.waiting:
            self.legend.set_spans(*legend_versions(self.trend_plot, trend, self.theme))
        self._fit_axes()
        if not self._zoomed:
            self._set_range(shown.launches, spreads)
        self.stack.show_plots()
        if trend.waiting or not self.trend_plot.is_whole:
            self.mark_stale()

    def _trend(self, shown: LatencyRun) -> Trend:
        metric, along = METRICS[self.metric_box.currentIndex()], ALONG[self.along_box.currentIndex()]
        return self._history.trend(shown.record, metric, along, READ_SHARE * self.budget_s)

    def _show_launches(
        self, launches: Mapping[Role, Launches], latencies: Mapping[Role, Latency], protocol: str
    ) -> None:
        for view in (self.samples_plot, self.distribution_plot):
            view.plot.getAxis("left").log = self.scale.log
        self.samples_plot.show(launches, self.scale, latencies, protocol, self.unit)
        self.distribution_plot.show(launches, self.scale)

    def _fit_axes(self) -> None:
        """Give all plots axes of the same height, as the first two share their y axis."""
        height = self.trend_plot.axis.needed_height(self.trend_plot.plot.vb.width())
        for view in self._views():
            view.plot.getAxis("bottom").setHeight(height)
            view.plot.getAxis("left").setWidth(1 if view is self.distribution_plot else side_width("00,000"))

    def _set_range(self, samples: Mapping[Role, Launches], spreads: Mapping[Role, Spread]) -> None:
        """Show everything; the launches on a range of their own, as earlier runs may be much slower or faster.

        With them what is marked beside them: a block's average, which no single launch need come near, and intervals.
        """
        ends = [float(end) for launches in samples.values() for end in (launches.ordered[0], launches.ordered[-1])]
        ends += [end for spread in spreads.values() for end in spread.marked]
        seen = self.scale.to_axis(ends)
        self.samples_plot.plot.setYRange(*reach(float(seen.min()), float(seen.max()), self.scale.log), padding=0)
        for view in self._views():
            view.set_range()

    def hover_lines(self, scene_position: QPointF) -> list[str]:
        """What is under the mouse, as lines of rich text; none over nothing."""
        inside = [v for v in self._views() if v.plot.vb.sceneBoundingRect().contains(scene_position)]
        sample = self.samples_plot.hit(scene_position)  # also takes its ring away when there is none
        shown = self.shown
        if not inside or shown is None:
            return []
        if inside[0] is self.trend_plot:
            plot = self.trend_plot
            runs = plot.hit(scene_position)
            return card_lines(runs, plot.trend, plot.looks, self.theme, self.unit) if runs and plot.trend else []
        if inside[0] is self.distribution_plot:
            counted = self.distribution_plot.hit(scene_position)
            return shown.bin_lines(*counted, self.theme) if counted else []
        return shown.launch_lines(*sample, self.theme) if sample else []

    def _on_click(self, position: QPointF) -> None:
        """Ask for the run under the mouse to be shown."""
        runs = self.trend_plot.hit(self.trend_plot.plot.vb.mapViewToScene(position))
        if runs and runs[0] is not self.trend_plot.shown:
            self.recordChosen.emit(runs[0].record)

    def _on_zoom(self) -> None:
        self._zoomed = True

    def _show_all(self) -> None:
        self._zoomed = False
        self.mark_stale()

    def apply_theme(self, theme: Theme) -> None:
        super().apply_theme(theme)
        for view in self._views():
            view.apply_theme(theme)
        self.strip.apply_theme(theme)


def _middle(trend: Trend) -> list[float]:
    """The middle of a trend of times, us; nothing of another."""
    is_time = trend.metric.unit == TIME.unit
    return [float(np.median(trend.values))] if is_time and len(trend.values) else []


def _side_by_side(growing: QWidget, *widgets: QWidget) -> QWidget:
    holder = QWidget()
    layout = QHBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(4)
    layout.addWidget(growing, 1)
    for widget in widgets:
        layout.addWidget(widget)
    return holder
