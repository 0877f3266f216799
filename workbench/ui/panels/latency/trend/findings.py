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
from workbench.ui.text.cards import baseline_title
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


def hollow_reason(run: TrendRun, shown: TrendRun | None, role: Role = "kernel") -> str:
    """Why the mark of `run` is hollow; "" where it is not. Versions are those of the run shown."""
    if run.unfinished:
        return UNFINISHED
    return "" if shown is None or run.is_like(shown, role) else OTHER_VERSIONS


def best_of(trend: Trend, shown: TrendRun | None) -> TrendRun | None:
    """The best right run of those made as the one shown; None where no way is better, or problems differ."""
    if trend.metric.better == "neither" or not trend.along.keeps_kind:
        return None
    like = shown.figures["kernel"].kind if shown is not None else None
    runs = [
        run
        for run in trend.runs
        if not run.wrong and like in (None, run.figures["kernel"].kind) and not hollow_reason(run, shown)
    ]
    sign = 1 if trend.metric.better == "lower" else -1
    return min(runs, key=lambda run: sign * run.figures["kernel"].value, default=None)


def paths_of(trend: Trend, runs: Sequence[TrendRun], places: Places) -> list[Path]:
    """A line for each kernel, of runs made with the same versions whose figures are alike.

    In the order of the runs it is the best so far, over numbers the best at each; where no way is better it joins the
    runs as they were made, and over words there is none.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, run in enumerate(runs):
        if run.has_finished and not run.wrong:
            groups.setdefault(run.line_key, []).append(i)
    if not places.ordered:
        return []
    values = np.array([run.figures["kernel"].value if "kernel" in run.figures else np.nan for run in runs])
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


def levels_of(trend: Trend, shown: TrendRun | None, places: Places, runs: Sequence[TrendRun]) -> list[Level]:
    """SDPA of the runs drawn, one level a backend; across the whole plot where all are of one problem."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for run, at in zip(runs, places.at.tolist(), strict=True):
        figure = run.figures.get("baseline")
        if figure is None or "baseline" in run.wrong or hollow_reason(run, shown, "baseline"):
            continue
        name = baseline_title(run.record.started.request, run.record.backend)
        groups.setdefault(name, []).append((at, figure.value))
    return [_level(name, np.array(points), places, trend.along.keeps_kind) for name, points in groups.items()]


def _level(name: str, points: FloatArray, places: Places, is_across: bool) -> Level:
    x, values = points.T
    if is_across:
        low, high = places.ends
        ends = np.array([2 * low - high, 2 * high - low])  # beyond all that is seen
        each = [np.full(2, f(values)) for f in (np.min, np.median, np.max)]
        return Level(name, ends, each[0], each[1], each[2])
    at = np.unique(x)
    low, middle, high = (np.array([f(values[x == one]) for one in at]) for f in (np.min, np.median, np.max))
    return Level(name, at, low, middle, high)


def tile_words(run: TrendRun, runs: Sequence[TrendRun]) -> str:
    """The tile of a run, with those of its launch options in which `runs` differ: "16×16, 8 warps, 4 splits"."""
    tiles, tile = [one.record.launched_tile for one in runs], run.record.launched_tile
    differing = [option for option in LAUNCH_OPTIONS if len({getattr(t, option.name) for t in tiles}) > 1]
    words = [tile.label, *(option.said(getattr(tile, option.name)) for option in differing)]
    words += [f"{splits_text(tile)} splits"] if tile.splits != 1 and len({t.splits for t in tiles}) > 1 else []
    return ", ".join(filter(None, words))
