"""What is said of a run's times: how they were obtained, and how well they are known."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.metrics import half_width_of, interval_of, sides_of
from workbench.analysis.numbers import (
    MINUS,
    MOST_SHARE,
    TimeUnit,
    counted,
    format_range,
    format_time,
    percent_text,
    plus_minus,
    signed_percent,
)
from workbench.run.device_state import DeviceReadings
from workbench.run.events import Progress
from workbench.run.measurement import KernelTimeBy, Latency, Measurement
from workbench.run.protocols import FigureKind, Protocol, protocol_of
from workbench.run.request import RunRequest
from workbench.stats.modes import Modes
from workbench.stats.summary import Drift, Interval

INTERVAL_TIP = "95% interval of the median"
KERNEL_TIME_BY: dict[KernelTimeBy, str] = {
    "profiler": "by the profiler",
    "earlier": "by the profiler in an earlier run of this problem",
    "events": "by events around single launches, the profiler not having started yet",
}
# An interval is lopsided where one side of it is more than this many times the other: one ± would then state a bound
# that it does not have.
LOPSIDED = 1.5


def samples_text(protocol: Protocol, count: int) -> str:
    """A number of samples by what they are: "1 launch", "320 replays"."""
    return counted(count, "replay") if protocol.replays else counted(count, "launch", "launches")


def launches_text(latency: Latency) -> str:
    """How many launches were timed: "320 launches", and under a graph "320 replays × 25 launches"."""
    if latency.launches_per_sample == 1:
        return counted(latency.launches, "launch", "launches")
    each = counted(latency.launches_per_sample, "launch", "launches")
    return f"{counted(len(latency.samples), 'replay')} × {each}"


def counts_text(protocol: Protocol, taken: Sequence[Latency | int]) -> str:
    """How many launches there are of each: "50 launches each", "12 + 14 launches"; a number counts samples so far."""
    texts = [launches_text(one) if isinstance(one, Latency) else samples_text(protocol, one) for one in taken]
    if len(set(texts)) <= 1:
        return "".join(texts[:1]) + " each" * (len(texts) > 1)
    if protocol.replays:
        return " + ".join(texts)
    counts = (one.launches if isinstance(one, Latency) else one for one in taken)
    return f"{' + '.join(f'{count:,}' for count in counts)} launches"


def figure_kind(latency: Latency) -> FigureKind:
    """What the protocol's own figure is, in a word: "average" of an unbroken block, or "median"."""
    return "average" if latency.has_block else "median"


def figure_text(latency: Latency) -> str:
    """The same with their number, where that belongs to it: "average of 50 launches", or "median"."""
    return f"average of {counted(latency.launches, 'launch', 'launches')}" if latency.has_block else "median"


def figure_tip(latency: Latency) -> str:
    """The same with the protocol, and how it was taken: "block: average of 50 launches in one unbroken block"."""
    how = ""
    if latency.has_block:
        how = ", each timed by the host's clock" if latency.clock == "host" else " in one unbroken block"
    return f"{latency.protocol}: {figure_text(latency)}{how}"


def protocol_tip(name: str, clock: str = "") -> str:
    """A protocol's name with its meaning on `clock`, where it is known."""
    meaning = protocol_of(name).on_host if clock == "host" else protocol_of(name).meaning
    return f"{name}: {meaning}" if meaning else name


def parts_text(interval: Interval) -> str:
    """What makes up an interval's width: "±0.2% by these samples, ±0.3% allowed between runs"; "" if not recorded."""
    if interval.sampling is None or interval.unseen is None:
        return ""
    allowed = f", {plus_minus(interval.unseen)} allowed for what differs between runs" if interval.unseen else ""
    return f"{plus_minus(interval.sampling)} by these samples{allowed}"


def interval_range_text(latency: Latency, unit: TimeUnit | None = None) -> str:
    """The 95% interval of the median with its unit; "" without one."""
    interval = interval_of(latency)
    return "" if interval is None else format_range(interval.low, interval.high, unit)


def half_width_text(latency: Latency) -> str:
    """The interval relative to the median: ±0.6%, of a lopsided one both sides: −45%/+270%; "" without one.

    Above MOST_SHARE it is how many times the median the upper end is: −60%/×167.
    """
    sides, half = sides_of(latency), half_width_of(latency)
    if sides is None or half is None:
        return ""
    below, above = (percent_text(side) for side in sides)
    if max(sides) > LOPSIDED * min(sides) and below != above:
        return f"{MINUS}{below}/+{above}" if max(sides) <= MOST_SHARE else f"{MINUS}{below}/×{1 + sides[1]:,.0f}"
    return plus_minus(half)


def how_known_text(name: str, latency: Latency) -> str:
    """Whose median is known how well: "kernel ±0.6%", "SDPA without an interval"."""
    known = half_width_text(latency)
    return f"{name} {known}" if known else f"{name} without an interval"


def how_known(measurement: Measurement) -> float:
    """The half-width of a median's interval, to compare: none at all is the least that can be known."""
    half = half_width_of(measurement.latency)
    return float("inf") if half is None else half


def ended_text(latency: Latency, request: RunRequest, seconds: float | None = None) -> str:
    """How many launches there were, why no more, and how well the median is known then.

    `seconds` is how long the timing took, if that is known.
    """
    rounds = f" in {counted(latency.rounds, 'round')}" if latency.rounds else ""
    taken = launches_text(latency) + rounds
    known = half_width_text(latency)
    match latency.ended_by:
        case "precision":
            why = "" if seconds is None else f", {seconds:.1f} s"
        case "time":
            why = f", ended by the limit of {request.max_seconds:g} s"
        case "samples":
            why = f", ended by the limit of {counted(request.max_samples, 'sample')}"
        case _:
            why = ""
    return f"{taken}{why}: {f'median {known}' if known else 'too few for an interval'}"


def timed_seconds(readings: DeviceReadings) -> float | None:
    """From the begin of the first timed span to the end of the last, s; None where none is known."""
    timed = readings.timed
    return max(end for _, end in timed) - min(begin for begin, _ in timed) if timed else None


def drift_text(drift: Drift) -> str:
    """How far a run drifted: "drifting by −2.1%"."""
    return f"drifting by {signed_percent(drift.relative)}"


def modes_text(modes: Modes, unit: TimeUnit | None = None) -> str:
    """Two modes with their shares: "two modes: 383.6 µs (82%) and 389.6 µs (18%)"."""
    low, high = (
        f"{format_time(centre, unit)} ({share:.0%})" for centre, share in zip(modes.centres, modes.shares, strict=True)
    )
    return f"two modes: {low} and {high}"


def counts_time(progress: Progress) -> bool:
    """Whether what a phase counts are milliseconds of its limit."""
    return progress.total > 0 and progress.unit == "ms"


def steps_text(progress: Progress) -> str:
    """How far a phase has come: "3 of 10", and of one that is limited in time "7.6 of 20 s"; "" if not countable."""
    if not progress.total:
        return ""
    if counts_time(progress):
        return f"{progress.done / 1e3:.1f} of {progress.total / 1e3:g} s"
    return f"{progress.done:,} of {progress.total:,}"
