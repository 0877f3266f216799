"""One run of the trend in words: all of its settings and figures."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.metrics import METRICS, comparable_ratio
from workbench.analysis.numbers import TimeUnit, error_text
from workbench.run.measurement import ROLES, Role
from workbench.ui.panels.latency.figures import spreads_of
from workbench.ui.panels.latency.launches import Launches
from workbench.ui.panels.latency.trend.history import Trend
from workbench.ui.panels.latency.trend.looks import Look, Series
from workbench.ui.panels.latency.trend.runs import TIME, TrendRun
from workbench.ui.text.cards import baseline_title, swatch
from workbench.ui.text.spans import colored
from workbench.ui.theme import Theme
from workbench.words.names import kernel_text, problem_text, splits_text
from workbench.words.results import against_text

INDENT = "&nbsp;" * 4  # of what belongs to the line above


def card_lines(
    runs: Sequence[TrendRun],
    trend: Trend,
    looks: dict[Series, Look],
    theme: Theme,
    unit: TimeUnit | None = None,
) -> list[str]:
    """The first of `runs` in lines that a narrow panel has room for, and how many others lie under the mouse."""
    run, more = runs[0], len(runs) - 1
    lines = [*_setting_lines(run, looks, theme), *_state_lines(run, theme), *_time_lines(run, theme, unit)]
    if trend.metric is not TIME and run.figure is not None:
        text = trend.metric.text(run.figure.value)
        lines.append(f"{INDENT}{trend.metric.title} <b>{text}</b>")
    lines += _other_lines(run)
    if more:
        numbers = ", ".join(str(one.record.run_id) for one in runs[1:4])
        lines.append(f"also here: run {numbers}{f' and {more - 3} more' if more > 3 else ''}")
    return lines


def _setting_lines(run: TrendRun, looks: dict[Series, Look], theme: Theme) -> list[str]:
    record, tile = run.record, run.record.launched_tile
    request, device = record.started.request, record.started.device
    look = looks.get(run.series)
    glyph = f"{colored(look.glyph, getattr(theme, look.token))} " if look is not None else ""
    number = f"run {record.run_id}" if record.run_id > 0 else "this run"
    source = f" of {record.source}" if record.source else ""
    splits = f", {splits_text(tile)} splits" if tile.splits != 1 else ""
    return [
        f"{glyph}<b>{kernel_text(request.kernel, request.precision)} {tile.label}</b>, "
        f"{', '.join(tile.option_words)}{splits}",
        f"{number}{source}; {problem_text(request.problem)}",
        f"{request.protocol} protocol; {device.name}",
        *run.alike.made_with.lines,
    ]


def _state_lines(run: TrendRun, theme: Theme) -> list[str]:
    names = _names(run)
    lines = [colored(run.unfinished, theme.warn, bold=True)] if run.unfinished else []
    wrong = [names[role] for role in ROLES if role in run.wrong]
    if wrong:
        lines.append(colored(f"FAIL: the output of {' and '.join(wrong)} is wrong", theme.bad, bold=True))
    return lines


def _names(run: TrendRun) -> dict[Role, str]:
    record = run.record
    return {"kernel": "kernel", "baseline": baseline_title(record.started.request, record.backend)}


def _time_lines(run: TrendRun, theme: Theme, unit: TimeUnit | None) -> list[str]:
    record = run.record
    launches = {role: Launches(record.samples(role)) for role in ROLES if len(record.samples(role))}
    spreads, lines = spreads_of(record, launches), list[str]()
    for role, name in _names(run).items():
        if role in spreads:
            figure, single = spreads[role].lines(unit)
            lines += [f"{swatch(name, getattr(theme, role))} {figure}", f"{INDENT}{single}"]
    return lines


def _other_lines(run: TrendRun) -> list[str]:
    """What else was found: who is faster, the error, and what the kernel takes of the GPU."""
    record = run.record
    ratio, error, kernel = comparable_ratio(record), record.error("kernel"), record.measurement("kernel")
    found = []
    if ratio is not None and run.has_finished:
        found.append(f"{against_text(ratio)} than SDPA" if not ratio.is_level else "level with SDPA")
    found += [f"max error {error_text(error.max_abs)}"] if error is not None else []
    lines = [", ".join(found)] if found else []
    if kernel is not None and kernel.resources is not None:
        wanted = [metric for metric in METRICS if metric.name in ("registers", "spills", "shared_bytes")]
        values = [(metric, metric.value(kernel)) for metric in wanted]
        lines.append(", ".join(f"{metric.title} {metric.text(value)}" for metric, value in values if value is not None))
    return lines
