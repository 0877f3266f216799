"""The latency panel's third plot: runs of the same problem on the same device, in the order they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, QRectF, Qt

from kernels.plain.launch_options import LAUNCH_OPTIONS
from workbench.analysis.metrics import Metric
from workbench.run.measurement import Role
from workbench.stats.arrays import FloatArray
from workbench.ui.panels.latency.history import AVERAGE, MEDIAN, TIME, Figure, HistoryRun
from workbench.ui.panels.latency.plots import time_plot
from workbench.ui.plots.axes import NamedAxis
from workbench.ui.plots.scale import Scale, plain_scale, reach, time_scale
from workbench.ui.plots.themed import DRAWN, style_plot
from workbench.ui.text.fit import elided, text_height, text_width
from workbench.ui.theme import Theme
from workbench.words.names import splits_text

MOST_LABEL = 110.0  # px of an upright label; all plots of the panel give up as much height
SYMBOLS = ("o", "s", "t", "d", "h", "star", "+")  # one for each kernel and precision, in the order of their first runs
UNFINISHED, OTHER_VERSIONS = "unfinished", "other versions"  # why a mark is hollow
MOST_SYMBOL, SYMBOL = 10, 7  # px, of the run shown once it has finished, and of all others
FADED = 110  # alpha of the runs that are not the one shown
APART = 0.16  # of a run's place: how far kernel and SDPA stand from its middle


@dataclass(frozen=True)
class Placed:
    """One role of a run, and where on the x axis it is drawn."""

    x: float
    run: HistoryRun
    figure: Figure


def _upright_text(label: str, most: float) -> str:
    """A label in one line, cut off where it is longer than `most` pixels."""
    return elided(label.replace("\n", " "), most)


class RunAxis(NamedAxis):
    """Tile sizes under the runs; upright where they do not fit side by side, thinned where even that is too many."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self._labels: list[str] = []
        self._shown = -1
        self.most_label = MOST_LABEL  # px of an upright label
        self.faded = pg.mkPen("w")

    def set_runs(self, labels: list[str], shown: int) -> None:
        """Take the label of each run (at 0, 1, 2, ...), of one line or two, and which is the one shown."""
        self._labels, self._shown = labels, shown
        self.picture = None
        self.update()

    def needed_height(self, width: float) -> float:
        """Pixels that ticks and the axis label take in a plot `width` pixels wide."""
        lines = max((label.count("\n") + 1 for label in self._labels), default=1)
        widest = max((text_width(_upright_text(label, self.most_label)) for label in self._labels), default=0.0)
        return text_height() * 1.35 + 10 + (widest if self._upright(width) else lines * text_height())

    def _upright(self, width: float) -> bool:
        widest = max((text_width(line) for label in self._labels for line in label.split("\n")), default=0.0)
        return (widest + 8) * (len(self._labels) + 0.2) > width

    def tickValues(self, *_: Any) -> list[tuple[float, list[float]]]:
        """A tick at every run."""
        return [(1.0, [float(i) for i in range(len(self._labels))])]

    def tickStrings(self, values: Sequence[float], *_: Any) -> list[str]:
        """None: `drawPicture` writes the labels, as pyqtgraph cannot turn them."""
        return [""] * len(values)

    def drawPicture(self, p: Any, axisSpec: Any, tickSpecs: Any, textSpecs: Any) -> None:  # noqa: N803
        """Draw the axis, then the labels."""
        super().drawPicture(p, axisSpec, tickSpecs, [])
        width, (low, high) = self.size().width(), self.range
        if not self._labels or high <= low:
            return
        upright = self._upright(width)
        every = 1 if not upright else max(1, int(np.ceil(text_height() * (high - low) / width)))
        for i, label in enumerate(self._labels):
            x = (i - low) / (high - low) * width
            crowded = i % every if abs(i - self._shown) >= every else i != self._shown
            if crowded or not 0 <= x <= width:
                continue
            p.setPen(self.textPen() if i == self._shown else self.faded)
            p.save()
            p.translate(x, 4)
            if upright:
                p.rotate(-90)
                at_end = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                p.drawText(QRectF(-300, -20, 298, 40), at_end, _upright_text(label, self.most_label))
            else:
                p.drawText(QRectF(-100, 1, 200, 40), Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, label)
            p.restore()


class HistoryPlot:
    """The figures of finished runs as their headlines have them, kernel left of SDPA; a line joins those of one kernel.

    A bar is the 95% interval where it is of that figure. Other runs than the one shown are faded, those made with other
    versions hollow. The run shown is there also while it goes on, or if it was stopped or failed: its headline has no
    time then, and so its marks are hollow and small, and off the line.
    """

    def __init__(self, theme: Theme) -> None:
        self.axis = RunAxis()
        self.plot = time_plot(theme, self.axis, "")
        self.axis.set_names("runs of this problem", "runs")
        self.scale = Scale()
        self.trend = pg.PlotCurveItem()
        self.plot.addItem(self.trend)
        self.bars = {(role, shown): pg.ErrorBarItem(beam=0.0) for role in DRAWN for shown in (False, True)}
        # Drawn as shapes, not as ready pixels: few as they are, they stay sharp in a picture finer than the screen.
        self.points = {role: pg.ScatterPlotItem(useCache=False) for role in DRAWN}
        for item in (*self.bars.values(), *self.points.values()):
            self.plot.addItem(item)
        self._runs: list[HistoryRun] = []
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        style_plot(self.plot, theme, grid=True)
        self.axis.faded = pg.mkPen(theme.muted)
        self.trend.setPen(pg.mkPen(theme.color("kernel", 90), width=1.5))

    def show(self, runs: list[HistoryRun], log: bool | None = None, metric: Metric = TIME) -> None:
        """Draw `runs`, whose figures are of `metric`, in their order; `log` overrides the choice of a log scale."""
        self._runs = runs
        values = [figure.value for figure in self._figures()]
        is_time = metric.unit == TIME.unit
        self.scale = time_scale(values, log) if is_time else plain_scale(values, metric.unit, log)
        kernels = list(dict.fromkeys(run.kernel for run in runs))
        symbols = {kernel: SYMBOLS[i % len(SYMBOLS)] for i, kernel in enumerate(kernels)}
        self._name_axes(len(kernels) > 1, metric)
        for role in DRAWN:
            placed = [
                Placed(i + self._offset(r, role), r, r.figures[role]) for i, r in enumerate(runs) if role in r.figures
            ]
            at = self.scale.to_axis([place.figure.value for place in placed])
            self._draw_points(role, placed, at, symbols)
            for shown in (False, True):
                self._draw_bars(role, shown, [place for place in placed if place.run.shown == shown])
            if role == "kernel":
                self._join([place for place in placed if not place.run.unfinished])

    def _join(self, placed: list[Placed]) -> None:
        joined = [_is_one_line(a, b) for a, b in pairwise(placed)]
        connect = np.array([*joined, False][: len(placed)], dtype=bool)
        at = self.scale.to_axis([place.figure.value for place in placed])
        self.trend.setData(np.array([place.x for place in placed]), at, connect=connect)

    def _figures(self) -> list[Figure]:
        return [figure for run in self._runs for figure in run.figures.values()]

    @staticmethod
    def _offset(run: HistoryRun, role: Role) -> float:
        """Two marks of one run stand beside each other: bars on one line would hide one another."""
        return 0.0 if len(run.figures) < 2 else -APART if role == "kernel" else APART

    def _name_axes(self, several: bool, metric: Metric) -> None:
        runs, unit = self._runs, " ".join(filter(None, (self.scale.unit, "(log)" if self.scale.log else "")))
        names: tuple[str, ...] = ("runs of this problem", "runs")
        if runs:  # all are of one protocol, which stands there however little room there is
            protocol = runs[0].protocol
            names = (f"runs of this problem, {protocol} protocol", f"runs, {protocol} protocol", f"{protocol} runs")
        found = {self._hollow(run, role) for run in runs for role in run.figures}
        hollow = " or ".join(why for why in (UNFINISHED, OTHER_VERSIONS) if why in found)
        self.axis.set_names(*(f"{n}{h}" for h in ((f"; hollow: {hollow}", "") if hollow else ("",)) for n in names))
        tiles = zip(runs, tile_labels(runs), strict=True)
        labels = [f"{tile}\n{run.kernel}" if several else tile for run, tile in tiles]
        self.axis.set_runs(labels, next((i for i, r in enumerate(runs) if r.shown), -1))
        left = self.plot.getAxis("left")
        left.log = self.scale.log
        figures = self._figures()
        left.setStyle(showValues=bool(figures))
        if figures or not runs:
            kinds = _kind_names(figures)
            left.set_names(*(", ".join(filter(None, (kind, unit if kind != unit else ""))) for kind in kinds), unit)
        else:
            left.set_names(f"{metric.title}: not known of these runs", "not known of these runs", "not known")

    def _hollow(self, run: HistoryRun, role: Role) -> str:
        """Why the mark of `role` of `run` is hollow; "" where it is not. Versions are those of the run shown."""
        shown = next((r for r in self._runs if r.shown), run)
        return UNFINISHED if run.unfinished else "" if run.is_like(shown, role) else OTHER_VERSIONS

    def _draw_points(self, role: Role, placed: list[Placed], at: FloatArray, symbols: Mapping[str, str]) -> None:
        theme = self._theme
        spots = []
        for place, y in zip(placed, at.tolist(), strict=True):
            run = place.run
            wrong, stands_out = role in run.wrong, run.shown and not run.unfinished
            color = theme.color("bad" if wrong else role, 255 if run.shown else FADED)
            brush = None if self._hollow(run, role) else pg.mkBrush(color)
            pen = pg.mkPen(theme.text if stands_out else color, width=1.2)
            symbol = "x" if wrong else symbols[run.kernel] if role == "kernel" else "o"
            size = MOST_SYMBOL if stands_out else SYMBOL
            spots.append({"pos": (place.x, y), "brush": brush, "pen": pen, "size": size, "symbol": symbol})
        self.points[role].setData(spots=spots)

    def _draw_bars(self, role: Role, shown: bool, placed: list[Placed]) -> None:
        known = [(place.x, place.figure.value, *place.figure.bar) for place in placed if place.figure.bar]
        x, middle, low, high = np.array(known).reshape(-1, 4).T
        at = self.scale.to_axis(middle)
        pen = pg.mkPen(self._theme.color(role, 255 if shown else FADED), width=3 if shown else 2)
        top, bottom = self.scale.to_axis(high) - at, at - self.scale.to_axis(low)
        self.bars[role, shown].setData(x=x, y=at, top=top, bottom=bottom, pen=pen)

    def set_range(self) -> None:
        """Show all runs and their bars; from zero when that costs no more than half of a linear axis."""
        self.plot.setXRange(-0.6, max(0, len(self._runs) - 1) + 0.6, padding=0)
        ends = [end for figure in self._figures() for end in (figure.value, *(figure.bar or ()))]
        if ends:
            seen = self.scale.to_axis(ends)
            low, high = reach(float(seen.min()), float(seen.max()), self.scale.log)
            whole = (high - low) * MOST_SYMBOL / max(2.0 * MOST_SYMBOL, self.plot.vb.height())
            self.plot.setYRange(low, max(high, float(seen.max()) + whole), padding=0)

    def hit(self, scene_position: QPointF) -> HistoryRun | None:
        """The run whose place on the x axis is under the mouse."""
        i = round(self.plot.vb.mapSceneToView(scene_position).x())
        return self._runs[i] if 0 <= i < len(self._runs) else None


def tile_labels(runs: Sequence[HistoryRun]) -> list[str]:
    """The tile of each run, with those of its launch options in which the runs differ: "16×16 w8 s1 4 splits"."""
    tiles = [run.tile for run in runs]
    differing = [option for option in LAUNCH_OPTIONS if len({getattr(t, option.name) for t in tiles}) > 1]
    splits = len({t.splits for t in tiles}) > 1
    labels = []
    for tile in tiles:
        values = [(option, getattr(tile, option.name)) for option in differing]
        words = [tile.label, *(f"{option.mark}{value}" for option, value in values if option.said(value))]
        words += [f"{splits_text(tile)} splits"] if splits and tile.splits != 1 else []
        labels.append(" ".join(words))
    return labels


def _kind_names(figures: Sequence[Figure]) -> tuple[str, ...]:
    """What the points of a trend are, and the same in fewer words: its runs may be older than the blocks of others."""
    kinds = sorted({figure.kind for figure in figures}) or [MEDIAN]
    name = " or ".join(kinds)
    bars = (f"{name}, bar: 95% interval", f"{name}, bar: 95%") if any(figure.bar for figure in figures) else ()
    return (*bars, name, name.replace(AVERAGE, "average"))


def _is_one_line(a: Placed, b: Placed) -> bool:
    """Whether a line may go on from one run to the next: of one kernel, made with the same versions, figures alike."""
    return a.run.kernel == b.run.kernel and a.run.is_like(b.run, "kernel") and a.figure.kind == b.figure.kind
