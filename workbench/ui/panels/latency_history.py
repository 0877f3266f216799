"""The latency panel's third plot: runs of the same problem on the same device, in the order they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QFontMetricsF
from PyQt6.QtWidgets import QApplication

from workbench.metrics import format_range, format_time
from workbench.model import FloatArray, Role, RunRecord, Started, TileConfig
from workbench.ui.axes import NamedAxis, text_height, text_width
from workbench.ui.cards import sdpa_title
from workbench.ui.panels.latency_plots import ROLES, time_plot
from workbench.ui.plotting import TimeScale, style_plot
from workbench.ui.theme import Theme
from workbench.ui.words import kernel_text

MOST_RUNS = 40
MOST_LABEL = 110.0  # px of an upright label; all plots of the panel give up as much height
SYMBOLS = ("o", "s", "t", "d", "h", "star", "+")  # one for each kernel and precision, in the order of their first runs
BY_TILE_NAMES = ("runs of this problem, by tile", "runs, by tile", "runs")
BY_KERNEL_NAMES = ("runs of this problem, by tile and kernel", "runs, by tile and kernel", "runs")
FADED = 110  # alpha of the runs that are not the one shown


@dataclass(frozen=True)
class Spread:
    """Median and percentiles of launch times, us."""

    median: float
    p20: float
    p80: float

    @classmethod
    def of(cls, samples: FloatArray) -> Spread:
        """Summarise `samples` (us)."""
        p20, median, p80 = np.percentile(samples, [20, 50, 80]).tolist()
        return cls(median, p20, p80)

    @property
    def range_text(self) -> str:
        """p20 to p80, with the unit."""
        return f"p20–p80 {format_range(self.p20, self.p80)}"

    @property
    def text(self) -> str:
        """The median, and p20 to p80 after it."""
        return f"{format_time(self.median)} ({self.range_text})"


@dataclass(frozen=True)
class HistoryRun:
    """One run of the trend. `kernel` has its precision; `wrong` says that the kernel's output failed its check."""

    kernel: str
    tile: TileConfig
    spreads: Mapping[Role, Spread]
    wrong: bool = False
    shown: bool = False
    baseline: str = "SDPA"
    protocol: str = "article"


def comparable(started: Started) -> tuple[object, ...]:
    """What two runs must share for their times to be compared: problem, device, the clock's meaning, the protocol.

    Another seed gives other values of the same kind, and so the same work. Kernels, precisions and tiles are what is
    compared.
    """
    device = started.device
    return replace(started.request.problem, seed=0), device.name, device.mode, started.request.protocol


class History:
    """All finished runs, summarised once each."""

    def __init__(self) -> None:
        self._records: tuple[RunRecord, ...] = ()
        self._spreads: dict[int, dict[Role, Spread]] = {}

    def set_records(self, records: Sequence[RunRecord]) -> None:
        """Take all finished runs, oldest first; only new ones are summarised."""
        known = self._spreads
        self._spreads = {id(r): known[id(r)] if id(r) in known else _spreads(r) for r in records}
        self._records = tuple(records)  # keeps the records, and with them their ids, alive

    def runs(self, started: Started, spreads: Mapping[Role, Spread], wrong: bool, backend: str) -> list[HistoryRun]:
        """The latest runs comparable with the one that `started`, which is marked, or added when unfinished.

        `spreads`, whether its kernel's output is `wrong`, and SDPA's `backend` are of that one.
        """
        alike = [r for r in self._records if self._spreads[id(r)] and comparable(r.started) == comparable(started)]
        same = [r for r in alike if r.started is started] or [r for r in alike if r.started == started]
        shown = same[-1] if same else None
        runs = [_of_record(r, self._spreads[id(r)], r is shown) for r in alike]
        if shown is None and spreads:
            runs.append(_history_run(started, spreads, wrong, backend, True))
        first = max(0, len(runs) - MOST_RUNS)
        earlier = [run for run in runs[:first] if run.shown]
        return earlier + runs[first + len(earlier) :]


def _spreads(record: RunRecord) -> dict[Role, Spread]:
    measured = {m.measurement.role: m.measurement.latency.samples for m in record.measured}
    return {role: Spread.of(samples) for role, samples in measured.items() if samples.size}


def _upright_text(label: str, most: float) -> str:
    """A label in one line, cut off where it is longer than `most` pixels."""
    metrics = QFontMetricsF(QApplication.font())
    return metrics.elidedText(label.replace("\n", " "), Qt.TextElideMode.ElideRight, most)


def _of_record(record: RunRecord, spreads: Mapping[Role, Spread], shown: bool) -> HistoryRun:
    kernel, baseline = record.check("kernel"), record.measurement("baseline") or record.check("baseline")
    changed = any(r.failed and r.role == "kernel" for r in record.rechecked)
    wrong = changed or (kernel is not None and not kernel.error.passed)
    return _history_run(record.started, spreads, wrong, baseline.backend if baseline is not None else "", shown)


def _history_run(
    started: Started, spreads: Mapping[Role, Spread], wrong: bool, backend: str, shown: bool
) -> HistoryRun:
    request = started.request
    kernel = kernel_text(request.kernel, request.precision)
    return HistoryRun(kernel, request.tile, spreads, wrong, shown, sdpa_title(request, backend), request.protocol)


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
                place = QRectF(-300, -20, 298, 40)
                p.drawText(
                    place,
                    Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                    _upright_text(label, self.most_label),
                )
            else:
                p.drawText(QRectF(-100, 1, 200, 40), Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, label)
            p.restore()


class HistoryPlot:
    """Medians with p20 to p80 bars, earlier runs faded, the kernel's joined by a line."""

    def __init__(self, theme: Theme) -> None:
        self.axis = RunAxis()
        self.plot = time_plot(theme, self.axis, "")
        self.axis.set_names(*BY_TILE_NAMES)
        self.plot.getAxis("left").setStyle(showValues=False)
        self.trend = pg.PlotCurveItem()
        self.plot.addItem(self.trend)
        self.bars = {(role, shown): pg.ErrorBarItem(beam=0.0) for role in ROLES for shown in (False, True)}
        self.points = {role: pg.ScatterPlotItem() for role in ROLES}
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

    def show(self, runs: list[HistoryRun], scale: TimeScale) -> None:
        """Draw `runs` in their order."""
        self._runs = runs
        kernels = list(dict.fromkeys(run.kernel for run in runs))
        several = len(kernels) > 1
        names = BY_KERNEL_NAMES if several else BY_TILE_NAMES
        protocol = f"{runs[0].protocol} " if runs else ""
        self.axis.set_names(*(f"{protocol}{name}" for name in names), names[-1])
        labels = [f"{run.tile.label}\n{run.kernel}" if several else run.tile.label for run in runs]
        self.axis.set_runs(labels, next((i for i, r in enumerate(runs) if r.shown), -1))
        for role in ROLES:
            placed = [(i, r, r.spreads[role]) for i, r in enumerate(runs) if role in r.spreads]
            medians = scale.to_axis([s.median for _, _, s in placed])
            symbols = {kernel: SYMBOLS[i % len(SYMBOLS)] for i, kernel in enumerate(kernels)}
            self._draw_points(role, placed, medians, symbols)
            for shown in (False, True):
                self._draw_bars(role, shown, [(i, s) for i, r, s in placed if r.shown == shown], scale)
            if role == "kernel":
                # One kernel's line goes on from run to run, and never to another kernel's point.
                joined = [a.kernel == b.kernel for (_, a, _), (_, b, _) in pairwise(placed)]
                places = np.array([i for i, _, _ in placed], dtype=float)
                self.trend.setData(places, medians, connect=np.array([*joined, False][: len(placed)], dtype=bool))

    def _draw_points(
        self,
        role: Role,
        placed: list[tuple[int, HistoryRun, Spread]],
        medians: FloatArray,
        symbols: Mapping[str, str],
    ) -> None:
        theme = self._theme
        wrong = [role == "kernel" and r.wrong for _, r, _ in placed]
        colors = [
            theme.color("bad" if w else role, 255 if r.shown else FADED)
            for w, (_, r, _) in zip(wrong, placed, strict=True)
        ]
        self.points[role].setData(
            [i for i, _, _ in placed],
            medians,
            brush=[pg.mkBrush(c) for c in colors],
            pen=[
                pg.mkPen(theme.text if r.shown else c, width=1.2) for c, (_, r, _) in zip(colors, placed, strict=True)
            ],
            size=[10 if r.shown else 7 for _, r, _ in placed],
            symbol=[
                "x" if w else symbols[r.kernel] if role == "kernel" else "o"
                for w, (_, r, _) in zip(wrong, placed, strict=True)
            ],
        )

    def _draw_bars(self, role: Role, shown: bool, placed: list[tuple[int, Spread]], scale: TimeScale) -> None:
        medians = scale.to_axis([s.median for _, s in placed])
        pen = pg.mkPen(self._theme.color(role, 255 if shown else FADED), width=3 if shown else 2)
        self.bars[role, shown].setData(
            x=np.array([i for i, _ in placed], dtype=float),
            y=medians,
            top=scale.to_axis([s.p80 for _, s in placed]) - medians,
            bottom=medians - scale.to_axis([s.p20 for _, s in placed]),
            pen=pen,
        )

    def set_range(self) -> None:
        """Show all runs."""
        self.plot.setXRange(-0.6, max(0, len(self._runs) - 1) + 0.6, padding=0)

    def hit(self, scene_position: QPointF) -> HistoryRun | None:
        """The run whose place on the x axis is under the mouse."""
        i = round(self.plot.vb.mapSceneToView(scene_position).x())
        return self._runs[i] if 0 <= i < len(self._runs) else None
