"""The latency panel's third plot: figures of the runs of this problem, over their order or what they differ in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF

from workbench.analysis.numbers import TimeUnit, format_time
from workbench.stats.arrays import FloatArray
from workbench.ui.panels.latency.figures import AVERAGE, MEDIAN, Figure
from workbench.ui.panels.latency.plots import HOVER_PIXELS, time_plot
from workbench.ui.panels.latency.trend.axis import PlaceAxis
from workbench.ui.panels.latency.trend.findings import Hollow, Level, Path, best_of, levels_of, paths_of, tile_words
from workbench.ui.panels.latency.trend.history import Trend
from workbench.ui.panels.latency.trend.items import Band, BandItems, Dots, LineItems, MarkItems, Marks
from workbench.ui.panels.latency.trend.label import place_words
from workbench.ui.panels.latency.trend.looks import Look, Series, looks_of
from workbench.ui.panels.latency.trend.places import Places, places_of
from workbench.ui.panels.latency.trend.runs import TIME, TrendRun
from workbench.ui.plots.scale import Scale, plain_scale, reach, time_scale
from workbench.ui.plots.themed import style_plot
from workbench.ui.text.fit import text_height, text_width
from workbench.ui.theme import Theme
from workbench.words.names import kernel_text

PADDING = 4  # px around the text of a TextItem
RING, MARK, SMALL = 17, 8, 5  # px: around the run shown, a run, one of many
MANY = 200  # runs: more are smaller, and only the shown and the best have bars
CROSS, FALLEN = "x", "t"  # a wrong run, and one that failed
PALE = 190  # alpha of runs that are not the one shown
AT_ONCE = 1000  # runs that one frame has time for to find the places of and to draw
SAME = 5.0  # px: marks as near as this to the mouse's are under it, too
FOOT = 12.0  # px above the axis for the runs that failed


class TrendPlot:
    """The figures of finished runs as their headlines have them. The best right one is named, the one shown is ringed.

    A bar is the 95% interval where it is of that figure. Runs made with other versions than the one shown are hollow.
    That one is there also while it goes on, or if it was stopped or failed: hollow then, as its headline has no time.
    """

    def __init__(self, theme: Theme) -> None:
        self.axis = PlaceAxis()
        self.plot = time_plot(theme, self.axis, "")
        self.axis.set_names("runs of this problem", "runs")
        self.scale = Scale()
        self.trend: Trend | None = None
        self.shown: TrendRun | None = None
        self.best: TrendRun | None = None
        self.levels: list[Level] = []
        self.looks: dict[Series, Look] = {}
        self.runs: list[TrendRun] = []  # that have a mark, in their order
        self.places = Places(np.empty(0), np.empty(0), np.empty(0))
        self.y: FloatArray = np.empty(0)  # of each run on the axis; NaN of those at the foot
        self.unit: TimeUnit | None = None
        self._drawn: tuple[object, ...] = ()
        self._placed: tuple[object, ...] = ()
        self.is_whole = True
        self.hollow = Hollow(None)
        self.paths: list[Path] = []
        self._shown_at: int | None = None
        self._best_at: int | None = None
        self.best_texts: tuple[str, ...] = ()
        self._ends: FloatArray = np.empty(0)  # of bars and of what SDPA took, on the axis
        self._make_items()
        self.apply_theme(theme)

    def _make_items(self) -> None:
        self.bands, self.lines = BandItems(self.plot), LineItems(self.plot)
        self.bars = pg.ErrorBarItem(beam=0.0)
        self.plot.addItem(self.bars, ignoreBounds=True)
        self.marks, self.foot, self.live = (MarkItems(self.plot, z) for z in (5, 6, 8))
        self.ring = Dots(size=RING, brush=None, useCache=False)
        self.best_ring = Dots(size=RING - 3, brush=None, useCache=False, symbol="s")
        self.label = pg.TextItem()
        for item, z in ((self.best_ring, 9), (self.ring, 10), (self.label, 20)):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self.label.hide()

    def warm_up(self) -> None:
        """Pay what pyqtgraph does at the first marks and bars, before there is a run."""
        one = np.ones(1)
        self.marks.show([Marks(one, one, "o", self._theme.color("kernel"))])
        self.bars.setData(x=one, y=one, top=one, bottom=one)
        self.marks.show([])
        self.bars.setData(x=one[:0], y=one[:0], top=one[:0], bottom=one[:0])

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        self._drawn = ()
        style_plot(self.plot, theme, grid=True)
        self.ring.setPen(pg.mkPen(theme.text, width=1.8))
        self.best_ring.setPen(pg.mkPen(theme.good, width=1.6))
        self.bars.setData(pen=pg.mkPen(theme.muted, width=1.5))

    def show(self, trend: Trend, shown: TrendRun | None, log: bool | None = None, unit: TimeUnit | None = None) -> bool:
        """Draw `trend` with the run `shown`; says whether more than that one is new.

        `log` overrides the choice of a log scale, times are in `unit`. While runs wait to be read, what was drawn
        stays; of many runs one call finds the places, and the next, as it is not `is_whole` before, draws them.
        """
        if trend.waiting:
            return False
        self.unit = unit if trend.metric.unit == TIME.unit else None
        key = shown.record.key if shown is not None else None
        is_added = shown is not None and trend.by_key.get(shown.record.key) is not shown
        is_over = shown is not None and shown.has_finished
        kept = (trend, key, is_added, is_over, self._theme.name, self.unit)
        self.trend, self.shown = trend, shown
        if kept[:4] != self._placed:
            self._placed = kept[:4]
            self._place(trend, shown, is_added)
            self.is_whole = len(self.runs) <= AT_ONCE
            if not self.is_whole:
                return False
        elif self._shown_at is not None and shown is not None:
            self.runs[self._shown_at] = shown
        scale = self._scale(trend, log)
        is_new, self.is_whole = (*kept, scale) != self._drawn or not self.is_whole, True
        if is_new:
            self._drawn, self.scale = (*kept, scale), scale
            self._draw()
            self._name_axes(trend)
        self._draw_shown()
        return is_new

    def _place(self, trend: Trend, shown: TrendRun | None, is_added: bool) -> None:
        """Find where everything stands along the axis, and what is found of it."""
        runs = [*trend.runs, *trend.failed]
        if is_added and shown is not None:
            runs = [*(run for run in runs if run.order != shown.order), shown]
        self.runs = sorted(runs, key=lambda run: run.order)
        self.hollow = Hollow(shown)
        self.looks = looks_of({alike.series for alike in {id(run.alike): run.alike for run in self.runs}.values()})
        self.places = places_of(self.runs, trend.along)
        self.best = best_of(trend, shown, self.hollow)
        self.levels = levels_of(trend, self.hollow, self.places, self.runs)
        self.paths = paths_of(trend, self.runs, self.places)
        at = {id(run): i for i, run in enumerate(self.runs)}
        self._shown_at, self._best_at = at.get(id(shown)), at.get(id(self.best))
        self.axis.set_places(self.places)

    def _scale(self, trend: Trend, log: bool | None) -> Scale:
        values = [float(f(trend.values)) for f in (np.min, np.max) if len(trend.values)]
        values += [float(v) for level in self.levels for v in (level.low.min(), level.high.max())]
        values += [self.shown.figures["kernel"].value] if self.shown is not None else []
        if trend.metric.unit == TIME.unit:
            return time_scale(values, log, self.unit)
        return plain_scale(values, trend.metric.unit, log)

    def _draw(self) -> None:
        """Everything but the run shown, which alone changes while it goes on."""
        theme, to_axis = self._theme, self.scale.to_axis
        figures = [run.figure if run.has_finished else None for run in self.runs]
        self.y = to_axis([figure.value if figure is not None else np.nan for figure in figures])
        self.bands.show(
            [
                Band(b.x, to_axis(b.low), to_axis(b.middle), to_axis(b.high), theme.color("baseline"))
                for b in self.levels
            ]
        )
        self.lines.show([(p.x, to_axis(p.y), theme.color(self.looks[p.series].token, 150)) for p in self.paths])
        self.marks.show(self._marks())
        self._draw_bars(figures)
        self.best_texts = self._find_best_texts()

    def _marks(self) -> list[Marks]:
        """The runs by what they look like."""
        found: dict[tuple[int, bool], list[int]] = {}
        for i, (run, y) in enumerate(zip(self.runs, self.y.tolist(), strict=True)):
            if y == y:  # no NaN
                found.setdefault((id(run.alike), "kernel" in run.wrong), []).append(i)
        marks, size = [], MARK if len(self.runs) <= MANY else SMALL
        for (_, is_wrong), members in sorted(found.items(), key=lambda one: one[0][1]):
            run = self.runs[members[0]]
            look = self.looks[run.series]
            color = self._theme.color("bad" if is_wrong else look.token, PALE)
            symbol, is_filled = CROSS if is_wrong else look.symbol, is_wrong or not self.hollow.reason(run)
            marks.append(Marks(self.places.x[members], self.y[members], symbol, color, is_filled, size))
        return marks

    def _draw_bars(self, figures: Sequence[Figure | None]) -> None:
        wanted = [i for i in (self._best_at, self._shown_at) if i is not None]
        wanted = wanted if len(self.runs) > MANY else list(range(len(self.runs)))
        known = [(self.places.x[i], f.value, *f.bar) for i in wanted for f in (figures[i],) if f is not None and f.bar]
        x, middle, low, high = np.array(known).reshape(-1, 4).T
        at = self.scale.to_axis(middle)
        self.bars.setData(x=x, y=at, top=self.scale.to_axis(high) - at, bottom=at - self.scale.to_axis(low))
        ends = [v for level in self.levels for v in (level.low.min(), level.high.max())]
        self._ends = self.scale.to_axis([*low.tolist(), *high.tolist(), *ends])

    def _draw_shown(self) -> None:
        shown, i = self.shown, self._shown_at
        if shown is None or i is None:
            self.live.show([])
            self.ring.setData([], [])
            return
        look, is_wrong = self.looks[shown.series], "kernel" in shown.wrong
        at = np.array([float(self.scale.to_axis(shown.figures["kernel"].value))])
        self.y[i] = at[0]
        here, token = self.places.x[i : i + 1], "bad" if is_wrong else look.token
        is_filled = not shown.unfinished
        color = self._theme.color(token)
        self.live.show([Marks(here, at, CROSS if is_wrong else look.symbol, color, is_filled, MARK + 2)])
        self.ring.setData(here, at)

    def set_range(self) -> None:
        """Show all runs and their bars; from zero when that costs no more than half of a linear axis."""
        if not self.is_whole:
            return
        low, high = self.places.ends
        margin = (high - low) * RING / 2 / max(4.0 * RING, self.plot.vb.width())
        self.plot.setXRange(low - margin, high + margin, padding=0)
        seen = self._seen()
        if len(seen):
            low, high = reach(float(seen.min()), float(seen.max()), self.scale.log)
            pixel = (high - low) / max(40.0, self.plot.vb.height() - RING)
            has_foot = bool(np.isnan(self.y).any())
            self.plot.setYRange(
                low - (FOOT * pixel if has_foot else 0), max(high, seen.max() + RING * pixel), padding=0
            )
        else:
            self.plot.setYRange(0, 1, padding=0)
        self._place_foot()
        self._place_label()

    def _seen(self) -> FloatArray:
        seen: FloatArray = np.concatenate([self.y[np.isfinite(self.y)], self._ends])
        return seen

    def _place_foot(self) -> None:
        """The runs that failed, where the axis begins."""
        (_, _), (low, high) = self.plot.vb.viewRange()
        y = low + FOOT / 2 * (high - low) / max(1.0, self.plot.vb.height())
        fallen = np.flatnonzero(np.isnan(self.y))
        color = self._theme.color("bad")
        marks = [Marks(self.places.x[fallen], np.full(len(fallen), y), FALLEN, color, False, MARK)]
        self.foot.show(marks if len(fallen) else [])

    def _place_label(self) -> None:
        """The best run's tile and figure, at the side of its mark where there is room."""
        best, texts, i = self.best, self.best_texts, self._best_at
        self.label.setVisible(bool(texts) and i is not None)
        if best is None or i is None or not texts:
            self.best_ring.setData([], [])
            return
        x, y = float(self.places.x[i]), float(self.y[i])
        self.best_ring.setData([x], [y])
        (left, right), (low, high) = self.plot.vb.viewRange()
        room = max(1.0, float(self.plot.vb.width())), max(1.0, float(self.plot.vb.height()))
        scale = room[0] / max(1e-9, right - left), room[1] / max(1e-9, high - low)
        seen = np.isfinite(self.y)
        seen[i] = False
        others = np.stack([(self.places.x[seen] - left) * scale[0], (high - self.y[seen]) * scale[1]], axis=1)
        mark = ((x - left) * scale[0], (high - y) * scale[1])
        tall = text_height() + 2 * PADDING
        placed = place_words(texts, lambda text: text_width(text) + 2 * PADDING, tall, mark, others, room, RING / 2)
        self.label.setText(placed.text)
        self.label.setColor(self._theme.good)
        self.label.fill = pg.mkBrush(self._theme.color("surface", 200))
        self.label.setAnchor((0.0, 0.0))
        self.label.setPos(left + placed.left / scale[0], high - placed.top / scale[1])

    def _find_best_texts(self) -> tuple[str, ...]:
        """What is said of the best run, from the longest to the shortest; nothing where there is none beside others."""
        best, trend = self.best, self.trend
        if best is None or trend is None or len(trend.runs) < 2:
            return ()
        tile, series = tile_words(best, trend.runs), kernel_text(best.series.kernel, best.series.precision)
        value = self.value_text(best.figures["kernel"].value)
        named = f"{series} {tile}" if len(self.looks) > 1 else tile
        return f"best right run: {named}, {value}", f"best: {named}, {value}", f"{named}, {value}", tile, value

    def value_text(self, value: float) -> str:
        """A figure with its unit, which is the axis's where it is a time."""
        assert self.trend is not None
        metric = self.trend.metric
        return format_time(value, self.unit) if metric.unit == TIME.unit else metric.text(value)

    def _name_axes(self, trend: Trend) -> None:
        protocol, along = trend.kind.protocol, trend.along
        log = " (log)" if self.places.is_log else ""
        what = "run number" if along.of is None else f"{along.label}{log}"
        names = [
            f"{what}; {protocol} protocol",
            f"{along.title}{log}; {protocol}",
            f"{along.title}; {protocol}",
            protocol,
        ]
        self.axis.set_names(*(names if along.frees(trend.kind).protocol else [what, along.title]))
        left = self.plot.getAxis("left")
        left.log = self.scale.log
        figures = [run.figure for run in self.runs if run.figure is not None]
        left.setStyle(showValues=bool(figures))
        unit = " ".join(filter(None, (self.scale.unit, "(log)" if self.scale.log else "")))
        if figures or not (trend.runs or trend.others):
            kinds = _kind_names(figures, trend)
            left.set_names(
                *(", ".join(filter(None, (kind if kind != self.scale.unit else "", unit))) for kind in kinds), unit
            )
        else:
            left.set_names(f"{trend.metric.title}: not known of these runs", "not known of these runs", "not known")

    def hit(self, scene_position: QPointF) -> list[TrendRun]:
        """The run whose mark is nearest to the mouse, and those that lie as good as on it; nothing over none."""
        box: Any = self.plot.vb
        if not self.runs or not self.is_whole or not box.sceneBoundingRect().contains(scene_position):
            return []
        position, (width, height) = box.mapSceneToView(scene_position), box.viewPixelSize()
        low, high = box.viewRange()[1]
        foot = low + FOOT / 2 * (high - low) / max(1.0, box.height())
        y = np.where(np.isnan(self.y), foot, self.y)
        distance = np.hypot((self.places.x - position.x()) / width, (y - position.y()) / height)
        near = np.argsort(distance, kind="stable")[:50].tolist()
        least = float(distance[near[0]])
        return [self.runs[i] for i in near if distance[i] <= least + SAME] if least < HOVER_PIXELS else []


def _kind_names(figures: Sequence[Figure], trend: Trend) -> tuple[str, ...]:
    """What the points of a trend are, and the same in fewer words: its runs may be older than the blocks of others."""
    kinds = sorted({figure.kind for figure in figures}) or [MEDIAN]
    name = " or ".join(filter(None, kinds))
    known = any(figure.bar for figure in figures)
    bars = (f"{name}, bar: 95% interval", f"{name}, bar: 95%") if known else ()
    time = ("time",) if trend.metric is TIME else ()
    return (*bars, name, name.replace(AVERAGE, "average"), *time)
