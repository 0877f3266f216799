"""What the marks of the trend mean, how many runs there are, and which are not drawn."""

from __future__ import annotations

import numpy as np

from workbench.analysis.numbers import counted
from workbench.ui.panels.latency.trend.findings import OTHER_VERSIONS, UNFINISHED
from workbench.ui.panels.latency.trend.history import Trend
from workbench.ui.panels.latency.trend.plot import TrendPlot
from workbench.ui.text.spans import Span
from workbench.ui.theme import Theme
from workbench.words.names import kernel_text

Part = list[Span]


def legend_versions(plot: TrendPlot, trend: Trend, theme: Theme) -> list[Part]:
    """The legend as a line, and the same with ever less of its end: what is not drawn is said first."""
    if trend.waiting:
        return [[Span(f"Reading runs for the trend: {trend.waiting:,} to go", theme.muted)]]
    parts = [_count(plot, trend, theme), *_series(plot, theme), *_marks(plot, trend, theme)]
    versions = []
    for end in range(len(parts), 0, -1):
        spans: Part = []
        for part in parts[:end]:
            spans += [Span("   ")] * bool(spans) + part
        versions.append(spans)
    return versions


def _count(plot: TrendPlot, trend: Trend, theme: Theme) -> Part:
    drawn = [Span(f"Trend: {counted(len(plot.runs), 'run')}")]
    if not trend.others:
        return drawn
    why = ", ".join(f"{count:,} {reason}" for reason, count in trend.others.items())
    return [*drawn, Span(f", not drawn: {why}", theme.warn)]


def _series(plot: TrendPlot, theme: Theme) -> list[Part]:
    return [
        [Span(f"{look.glyph} ", getattr(theme, look.token)), Span(kernel_text(one.kernel, one.precision))]
        for one, look in plot.looks.items()
    ]


def _marks(plot: TrendPlot, trend: Trend, theme: Theme) -> list[Part]:
    shown = plot.shown
    parts: list[Part] = []
    if shown is not None:
        parts.append([Span("◯ ", theme.text), Span("shown")])
    if plot.best_texts:
        parts.append([Span("□ ", theme.good), Span("best right run")])
    if any("kernel" in run.wrong for run in plot.runs):
        parts.append([Span("✕ ", theme.bad), Span("WRONG")])
    if np.isnan(plot.y).any():
        parts.append([Span("▽ ", theme.bad), Span("failed")])
    for level in plot.levels:
        low, high = plot.value_text(float(level.low.min())), plot.value_text(float(level.high.max()))
        reach = f" {low} to {high}" if low != high else f" {low}"
        parts.append([Span("╌ ", theme.baseline), Span(level.name + reach)])
    hollow = {plot.hollow.reason(run) for run in plot.runs if run.figure is not None}
    why = " or ".join(one for one in (UNFINISHED, OTHER_VERSIONS) if one in hollow)
    parts += [[Span(f"hollow: {why}")]] if why else []
    if plot.paths:
        parts.append([Span(f"─ {_line_text(trend)}", theme.muted)])
    return parts


def _line_text(trend: Trend) -> str:
    if trend.metric.better == "neither":
        return "as they were made"
    return "best so far" if trend.along.of is None else f"best at each {trend.along.title}"
