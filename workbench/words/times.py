"""What is said of a run's times, in the words that the window and the command line share. Plain Python, without Qt."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.metrics import format_time, half_width_of, sides_of
from workbench.run.events import Failed, Progress
from workbench.run.measurement import Latency
from workbench.run.protocols import FigureKind, Protocol, protocol_of
from workbench.run.request import RunRequest
from workbench.stats.modes import Modes
from workbench.stats.summary import Interval

# Of an output, where it is not known because nobody tried.
NOT_LAUNCHED_AGAIN = "not launched again: whether two launches on equal inputs give the same bits is not known"
NOT_CHECKED_AGAIN = "not checked again after timing: whether the timed launches gave the right output is not known"
# An interval is lopsided where one side of it is more than this many times the other: one ± would then state a bound
# that it does not have.
LOPSIDED = 1.5


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things: "1 launch", "20,000 samples"; `many` is the plural where an s does not make it."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def percent_text(share: float) -> str:
    """A small share as people read it: 0.03%, 0.6%, 12%."""
    return f"{share:.2%}" if 0 < share < 0.001 else f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


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
    """The same with the protocol, and how it was taken: "article: average of 50 launches in one unbroken block"."""
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
    allowed = f", ±{percent_text(interval.unseen)} allowed for what differs between runs" if interval.unseen else ""
    return f"±{percent_text(interval.sampling)} by these samples{allowed}"


def half_width_text(latency: Latency) -> str:
    """The interval relative to the median: ±0.6%, of a lopsided one both sides: −45%/+270%; "" without one."""
    sides, half = sides_of(latency), half_width_of(latency)
    if sides is None or half is None:
        return ""
    below, above = (percent_text(side) for side in sides)
    if max(sides) > LOPSIDED * min(sides) and below != above:
        return f"−{below}/+{above}"
    return f"±{percent_text(half)}"


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


def modes_text(modes: Modes) -> str:
    """Two modes with their shares: "two modes: 383.6 µs (82%) and 389.6 µs (18%)"."""
    low, high = (
        f"{format_time(centre)} ({share:.0%})" for centre, share in zip(modes.centres, modes.shares, strict=True)
    )
    return f"two modes: {low} and {high}"


def remedy_text(failed: Failed) -> str:
    """What to try after a failure, as a sentence; "" where nothing is known."""
    remedy = " ".join(failed.remedy.split())
    return remedy if not remedy or remedy.startswith("Try ") else f"Try: {remedy}"


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
