"""What is said of runs beside each other: the settings in which they differ, their figures, and who is the fastest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Literal

from kernels.plain.launch_options import LAUNCH_OPTIONS
from kernels.plain.tiles import AUTO_SPLITS, TileConfig
from workbench.analysis.comparison import Against, against, fastest_first, why_not
from workbench.analysis.metrics import METRICS, Metric, comparable_ratio
from workbench.analysis.numbers import format_time, number
from workbench.run.measurement import Measurement
from workbench.run.record import RunKey, RunRecord
from workbench.run.request import Problem
from workbench.stats.summary import Ratio
from workbench.words.names import asked_baseline_text, kernel_text, named, tile_text
from workbench.words.results import against_text, comparison_text, state_text
from workbench.words.times import figure_text, interval_range_text

Tone = Literal["", "muted", "good", "bad", "warn"]
NOTHING = "–"
SEPARATE = "separate runs"
TIE = "within noise: a tie"
BEYOND = "beyond noise"
_DEVICE = {"name": "device", "torch": "torch", "triton": "triton", "driver": "driver", "cuda": "CUDA"}


@dataclass(frozen=True)
class Entry:
    """A cell of a comparison: its text, and what more there is to say."""

    text: str
    tip: str = ""
    tone: Tone = ""


@dataclass(frozen=True)
class Row:
    """A line of a comparison, with an entry for each run; `is_setting` tells what was asked for from what was found."""

    title: str
    entries: tuple[Entry, ...]
    is_setting: bool = False
    tip: str = ""


@dataclass(frozen=True)
class Compared:
    """Runs beside each other, the `reference` among them by its place, and in a sentence which one is the fastest."""

    titles: tuple[str, ...]
    rows: tuple[Row, ...]
    reference: int
    answer: str


def run_titles(runs: Sequence[RunRecord]) -> tuple[str, ...]:
    """Each run in two short lines: its number, with where it is from if not all are from there; its kernel and tile."""
    sources = {run.source for run in runs}
    return tuple(run_title(run, with_source=len(sources) > 1) for run in runs)


def run_title(run: RunRecord, with_source: bool = True) -> str:
    """One run in those lines."""
    source = f"{run.source} " if run.source and with_source else ""
    request = run.started.request
    kernel = kernel_text(request.kernel, request.precision)
    return f"{source}run {run.run_id}\n{kernel} {tile_text(run.launched_tile)}"


def compared(runs: Sequence[RunRecord], reference: RunKey | None = None) -> Compared:
    """`runs` beside each other against the one that is the `reference`, or against the first.

    Takes some 10 ms a run: the intervals are drawn from all samples.
    """
    place = reference_place(runs, reference)
    held = [Against() if i == place else against(run, runs[place]) for i, run in enumerate(runs)]
    rows = (*differing_settings(runs), *_verdicts(runs, held, place), *_figures(runs, held, place))
    return Compared(run_titles(runs), rows, place, answer_text(runs, runs[place]))


def reference_place(runs: Sequence[RunRecord], reference: RunKey | None) -> int:
    """Where the reference stands: the run that is wanted, else the first that was measured, else the first."""
    wanted = (i for i, run in enumerate(runs) if run.key == reference)
    measured = (i for i, run in enumerate(runs) if run.measurement("kernel") is not None and run.passed)
    return next(wanted, next(measured, 0))


def differing_settings(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """A row for each setting that is not the same in all `runs`."""
    for title, find in _settings():
        texts = [find(run) for run in runs]
        if len(set(texts)) > 1:
            yield Row(title, tuple(Entry(text or NOTHING) for text in texts), is_setting=True)


def _settings() -> Iterator[tuple[str, Callable[[RunRecord], str]]]:
    """Every setting by its title: from the dataclasses that hold them, so that a new one needs no line here."""
    for name, title in _DEVICE.items():
        yield title, lambda run, name=name: _said(getattr(run.started.device, name))  # type: ignore[misc]
    yield "kernel's source", lambda run: run.started.provenance.source_sha256[:8]
    for field in fields(Problem):
        title = field.name.upper() if len(field.name) == 1 else field.name.replace("_", " ")
        yield title, lambda run, name=field.name: _said(getattr(run.started.request.problem, name))  # type: ignore[misc]
    for name in ("kernel", "precision"):
        yield name, lambda run, name=name: _said(getattr(run.started.request, name))  # type: ignore[misc]
    for field in fields(TileConfig):
        title = field.name.upper() if field.name.startswith("block") else field.name.replace("_", " ")
        yield title, lambda run, name=field.name: _tile_said(name, run.launched_tile)  # type: ignore[misc]
    yield "protocol", _protocol
    yield "held against", lambda run: asked_baseline_text(run.started.request)


def _said(value: str | int | bool) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _tile_said(name: str, tile: TileConfig) -> str:
    value: int = getattr(tile, name)
    is_left = any(option.name == name and option.is_left(value) for option in LAUNCH_OPTIONS)
    return "auto" if is_left or (name == "splits" and value == AUTO_SPLITS) else str(value)


def _protocol(run: RunRecord) -> str:
    kernel = run.measurement("kernel")
    return kernel.latency.protocol if kernel is not None else run.started.request.protocol


def _verdicts(runs: Sequence[RunRecord], held: Sequence[Against], place: int) -> Iterator[Row]:
    """The outcome, the time, and what that is against the reference."""
    yield Row("outcome", tuple(_outcome(run) for run in runs))
    yield Row("time", tuple(_time(run) for run in runs), tip="the protocol's own figure")
    tip = "of the median of the single launches"
    yield Row("95% interval", tuple(_interval(run) for run in runs), tip=tip)
    ratios = [_ratio(one) if i != place else Entry("reference", tone="muted") for i, one in enumerate(held)]
    yield Row("against the reference", tuple(ratios), tip="from runs that were measured apart")
    verdicts = [verdict(one) if i != place else Entry("", tone="muted") for i, one in enumerate(held)]
    yield Row("that is", tuple(verdicts), tip="whether the interval of the ratio leaves open which one is faster")


def _outcome(run: RunRecord) -> Entry:
    text = state_text(run)
    end = getattr(run.end, "message", "")
    return Entry(text, end, "good" if text == "passed" else "bad")


def _time(run: RunRecord) -> Entry:
    kernel = run.measurement("kernel")
    if kernel is None:
        return Entry(NOTHING, state_text(run), "muted")
    mode = "" if run.started.device.mode == "cuda" else f" ({run.started.device.mode_label})"
    tone: Tone = "muted" if not run.passed else "warn" if mode else ""
    return Entry(f"{format_time(kernel.latency.figure_us)}{mode}", figure_text(kernel.latency), tone)


def _interval(run: RunRecord) -> Entry:
    kernel = run.measurement("kernel")
    text = interval_range_text(kernel.latency) if kernel is not None else ""
    return Entry(text or NOTHING, tone="" if text else "muted")


def _ratio(held: Against) -> Entry:
    if held.ratio is None:
        return Entry(f"no ratio: {held.why}", tone="muted")
    ratio = held.ratio
    bounds = factors_text(ratio)
    return Entry(f"{factor_text(ratio)} ({bounds})" if bounds else factor_text(ratio), SEPARATE)


def factor_text(ratio: Ratio) -> str:
    """Who is faster, and by how much: "1.14× slower"; of a tie the bare factor, as the verdict stands beside it."""
    return f"{number(ratio.baseline_over_kernel, 3)}×" if ratio.is_level else against_text(ratio)


def factors_text(ratio: Ratio) -> str:
    """The 95% interval of that factor in the same sense: "1.13 to 1.15"; "" where it is unbounded."""
    if not isfinite(ratio.high) or ratio.low <= 0:
        return ""
    shown = ratio if ratio.is_level or ratio.baseline_over_kernel > 1 else ratio.inverse
    return f"{number(shown.low)} to {number(shown.high)}"


def verdict(held: Against) -> Entry:
    """Whether one of two is the faster one, whatever noise there is."""
    if held.ratio is None:
        return Entry(NOTHING, tone="muted")
    if not isfinite(held.ratio.high):
        return Entry("too few launches to say", tone="warn")
    return Entry(f"{BEYOND}, {SEPARATE}") if held.is_beyond_noise else Entry(f"{TIE}, {SEPARATE}", tone="warn")


def _figures(runs: Sequence[RunRecord], held: Sequence[Against], place: int) -> Iterator[Row]:
    """A row for each metric that one of the runs has, as a change against the reference; then what was beside it."""
    for metric in METRICS[1:]:  # the first is the time above
        values = [_value(metric, run) for run in runs]
        if any(value is not None for value in values):
            entries = [
                _changed(metric, value, values[place] if i != place else None, why_not(runs[i], runs[place]))
                for i, value in enumerate(values)
            ]
            yield Row(metric.title, tuple(entries), tip=metric.tip)
    others = [run.measurement("baseline") for run in runs]
    if any(others):
        yield Row("held against", tuple(_other(run, one) for run, one in zip(runs, others, strict=True)))
        yield Row("kernel beside it", tuple(_beside(run) for run in runs), tip="of the same run")


def _value(metric: Metric, run: RunRecord) -> float | None:
    kernel = run.measurement("kernel")
    if kernel is not None:
        return metric.value(kernel, run.started.ceilings)
    return None


def _changed(metric: Metric, value: float | None, reference: float | None, why: str) -> Entry:
    """A number with its change in percent, where it is to be compared and there is one."""
    if value is None:
        return Entry(NOTHING, tone="muted")
    if reference is None or why or not reference or metric.unit == "%":
        return Entry(metric.text(value))
    return Entry(f"{metric.text(value)} ({change_text(value / reference)})")


def change_text(factor: float) -> str:
    """A factor as a change: "+14.2%", "−3.1%", "±0%", and "×12.3" where percent are no longer read."""
    share = 100 * (factor - 1)
    if abs(share) < 0.05:
        return "±0%"
    if factor >= 10:
        return f"×{number(factor, 3)}"
    return f"{share:+.1f}%".replace("-", "−")


def _other(run: RunRecord, measurement: Measurement | None) -> Entry:
    if measurement is None:
        return Entry(NOTHING, tone="muted")
    name = f"{named('baseline', run)} {measurement.backend}".strip()
    return Entry(f"{format_time(measurement.latency.figure_us)} {name}", figure_text(measurement.latency))


def _beside(run: RunRecord) -> Entry:
    ratio = comparable_ratio(run)
    if ratio is None:
        return Entry(NOTHING, tone="muted")
    return Entry(comparison_text(ratio, named("baseline", run)), factors_text(ratio))


def answer_text(runs: Sequence[RunRecord], reference: RunRecord) -> str:
    """Which run is the fastest, by how much against the second, and whether that is beyond noise.

    Of those that can be compared with the reference.
    """
    order = fastest_first(runs, reference)
    if len(order) < 2:
        return _no_answer(runs, reference)
    first, second = order[0], order[1]
    held = against(second, first)
    assert held.ratio is not None
    names = [title.replace("\n", ", ") for title in run_titles(order)]
    time = format_time(_figure(first))
    left = f" ({len(runs) - len(order)} not compared)" if len(order) < len(runs) else ""
    if not held.is_beyond_noise:
        other = format_time(_figure(second))
        return f"{names[0]} and {names[1]} are the fastest, {TIE} ({SEPARATE}): {time} and {other}{left}"
    bounds, factor = factors_text(held.ratio), number(held.ratio.inverse.baseline_over_kernel, 4)
    return (
        f"{names[0]} is the fastest: {time}. The second, {names[1]}, takes {factor}× as long ({bounds}, {SEPARATE}): "
        f"{BEYOND}{left}"
    )


def _no_answer(runs: Sequence[RunRecord], reference: RunRecord) -> str:
    """Why no run is called the fastest."""
    whys = dict.fromkeys(why_not(run, reference) for run in runs if run is not reference)
    return f"No ratio: {'; '.join(whys)}"


def _figure(run: RunRecord) -> float:
    kernel = run.measurement("kernel")
    return kernel.latency.figure_us if kernel is not None else 0.0
