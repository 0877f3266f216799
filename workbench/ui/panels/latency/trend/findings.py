"""What a trend shows beside its runs: the best of them, the lines that lead to it, and where SDPA is. Without Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels.plain.launch_options import LAUNCH_OPTIONS
from workbench.run.measurement import Role
from workbench.stats.arrays import FloatArray
from workbench.ui.panels.latency.trend.history import Trend
from workbench.ui.panels.latency.trend.looks import Series
from workbench.ui.panels.latency.trend.places import Places
from workbench.ui.panels.latency.trend.runs import TrendRun
from workbench.words.names import splits_text

UNFINISHED, OTHER_VERSIONS = "unfinished", "other versions"  # why a mark is hollow


@dataclass(frozen=True, eq=False)
class Path:
    """A line through the right runs of one kernel."""

    series: Series
    x: FloatArray
    y: FloatArray


@dataclass(frozen=True, eq=False)
class Level:
    """Where SDPA, called `name`, is: the `middle` of its figures at each `x`, and from which to which they reach."""

    name: str
    x: FloatArray
    low: FloatArray
    middle: FloatArray
    high: FloatArray


class Hollow:
    """Why marks are hollow beside the run `shown`, whose versions the others are held against."""

    def __init__(self, shown: TrendRun | None) -> None:
        self._shown = shown
        self._known: dict[tuple[int, Role], str] = {}

    def reason(self, run: TrendRun, role: Role = "kernel") -> str:
        """Why the mark of `run` is hollow; "" where it is not."""
        if not run.has_finished:
            return UNFINISHED
        key = (id(run.alike), role)
        if key not in self._known:
            is_like = self._shown is None or run.alike.is_like(self._shown.alike, role)
            self._known[key] = "" if is_like else OTHER_VERSIONS
        return self._known[key]


def best_of(trend: Trend, shown: TrendRun | None, hollow: Hollow) -> TrendRun | None:
    """The best right run of those made as the one shown; None where no way is better, or problems differ."""
    if trend.metric.better == "neither" or not trend.along.keeps_kind:
        return None
    kind = shown.alike.kind if shown is not None else None
    fits = {id(run.alike): kind in (None, run.alike.kind) and not hollow.reason(run) for run in trend.runs}
    right = np.array([fits[id(run.alike)] and not run.wrong for run in trend.runs], dtype=bool)
    if not right.any():
        return None
    values = np.where(right, trend.values, np.nan)
    return trend.runs[int(np.nanargmin(values) if trend.metric.better == "lower" else np.nanargmax(values))]


def paths_of(trend: Trend, runs: Sequence[TrendRun], places: Places) -> list[Path]:
    """A line for each kernel, of runs made with the same versions whose figures are alike.

    In the order of the runs it is the best so far, over numbers the best at each; where no way is better it joins the
    runs as they were made, and over words there is none.
    """
    if not places.ordered:
        return []
    groups: dict[int, list[int]] = {}
    for i, run in enumerate(runs):
        if run.has_finished and not run.wrong and run.figure is not None:
            groups.setdefault(id(run.alike), []).append(i)
    values = np.array([run.figure.value if run.figure is not None else np.nan for run in runs])
    sign = {"lower": 1.0, "higher": -1.0, "neither": 0.0}[trend.metric.better]
    by_order = trend.along.of is None
    found = []
    for members in groups.values():
        x, y = places.middles[members], values[members]
        if sign and by_order:
            x, y = _steps(x, sign * np.minimum.accumulate(sign * y), float(len(runs) - 1))
        elif sign:
            x, y = _best_at_each(x, y, sign)
        elif not by_order:
            continue
        found.append(Path(runs[members[0]].series, x, y))
    return found


def _steps(x: FloatArray, y: FloatArray, end: float) -> tuple[FloatArray, FloatArray]:
    """The line that keeps each value until the next, and the last until `end`."""
    return np.append(np.repeat(x, 2)[1:], end), np.repeat(y, 2)


def _best_at_each(x: FloatArray, y: FloatArray, sign: float) -> tuple[FloatArray, FloatArray]:
    order = np.lexsort((sign * y, x))
    first = np.r_[True, np.diff(x[order]) > 0]
    return x[order][first], y[order][first]


def levels_of(trend: Trend, hollow: Hollow, places: Places, runs: Sequence[TrendRun]) -> list[Level]:
    """SDPA of the runs drawn, one level a backend; across the whole plot where all are of one problem."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for run, at in zip(runs, places.at.tolist(), strict=True):
        figure = run.figures.get("baseline")
        if figure is not None and "baseline" not in run.wrong and not hollow.reason(run, "baseline"):
            groups.setdefault(run.baseline, []).append((at, figure.value))
    return [_level(name, np.array(points), places, trend.along.keeps_kind) for name, points in groups.items()]


def _level(name: str, points: FloatArray, places: Places, is_across: bool) -> Level:
    x, values = points.T
    if is_across:
        left, right = places.ends
        ends = np.array([2 * left - right, 2 * right - left])  # beyond all that is seen
        each = [np.full(2, f(values)) for f in (np.min, np.median, np.max)]
        return Level(name, ends, each[0], each[1], each[2])
    at = np.unique(x)
    low, middle, high = (np.array([f(values[x == one]) for one in at]) for f in (np.min, np.median, np.max))
    return Level(name, at, low, middle, high)


def tile_words(run: TrendRun, runs: Sequence[TrendRun]) -> str:
    """The tile of a run, with those of its launch options in which `runs` differ: "16×16, 8 warps, 4 splits"."""
    tiles, tile = {one.record.started.request.tile for one in runs}, run.record.launched_tile
    differing = [option for option in LAUNCH_OPTIONS if len({getattr(t, option.name) for t in tiles}) > 1]
    words = [tile.label, *(option.said(getattr(tile, option.name)) for option in differing)]
    words += [f"{splits_text(tile)} splits"] if tile.splits != 1 and len({t.splits for t in tiles}) > 1 else []
    return ", ".join(filter(None, words))
