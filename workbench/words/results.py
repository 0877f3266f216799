"""What came of a run: right or wrong, faster or slower, and why it failed."""

from __future__ import annotations

import math

from workbench.analysis.numbers import error_text, number
from workbench.run.events import Failed, FailureKind
from workbench.run.measurement import ErrorStats
from workbench.run.record import RunRecord
from workbench.stats.summary import Ratio

# Of an output, where it is not known because nobody tried.
NOT_LAUNCHED_AGAIN = "not launched again: whether two launches on equal inputs give the same bits is not known"
NOT_CHECKED_AGAIN = "not checked again after timing: whether the timed launches gave the right output is not known"
FAILURE_WORDS: dict[FailureKind, str] = {
    "compile": "does not compile",
    "resources": "out of resources",
    "launch": "launch failed",
    "memory": "out of memory",
    "timeout": "took too long",
    "died": "engine died",
    "cancelled": "stopped",
    "invalid": "invalid request",
    "damaged": "cannot be read",
}
PAIRED = "95% interval"
NOT_PAIRED = "95% interval, not paired"
NO_INTERVAL = "no interval"
SMALL_FACTOR = 1.02  # a smaller one is said in percent: 1.00× slower would be no answer


def failure_words(failed: Failed) -> str:
    """The kind of a failure in a few words, naming the resource where it is known."""
    return f"out of {failed.resource}" if failed.resource else FAILURE_WORDS[failed.kind]


def remedy_text(failed: Failed) -> str:
    """What to try after a failure, as a sentence; "" where nothing is known."""
    remedy = " ".join(failed.remedy.split())
    return remedy if not remedy or remedy.startswith("Try ") else f"Try: {remedy}"


def state_text(record: RunRecord) -> str:
    """Whether a run's output is right, before how it ended: "passed", "WRONG", "failed: out of shared memory"."""
    error, end = record.error("kernel"), record.end
    if error is not None and not error.passed:
        return "WRONG"
    if any(again.failed for again in record.rechecked):
        return "changed while timing"
    if isinstance(end, Failed):
        return failure_words(end) if end.kind == "cancelled" else f"failed: {failure_words(end)}"
    if end is None:
        return "running"
    return "not checked" if error is None else "passed"


def tolerance_text(error: ErrorStats) -> str:
    """The tolerance an output was held to."""
    if error.rtol == error.atol:
        return f"tolerance {error.atol:g}"
    return f"rtol {error.rtol:g}, atol {error.atol:g}"


def wrong_text(error: ErrorStats, short: bool = False) -> str:
    """What is wrong with an output that did not pass; `short` leaves out a tolerance of two numbers."""
    if error.non_finite:
        values = "value is" if error.non_finite == 1 else "values are"
        return f"WRONG: {error.non_finite} {values} NaN or infinite"
    found = error_text(error.max_abs)
    if short and error.rtol == error.atol:
        return f"WRONG: {found} over {error_text(error.atol)}"
    return f"WRONG: max error {found}" + ("" if short else f" over {tolerance_text(error)}")


def against_text(ratio: Ratio) -> str:
    """How the kernel's time is beside the baseline's, in the words of the headline: "1.97× slower", "level".

    Without an interval nobody knows: neither that one is faster nor that they are level.
    """
    if not math.isfinite(ratio.high):
        return NO_INTERVAL
    if ratio.is_level:
        return "level"
    is_faster = ratio.baseline_over_kernel > 1
    times = ratio.baseline_over_kernel if is_faster else ratio.inverse.baseline_over_kernel
    much = f"{number(times, 3)}×" if times >= SMALL_FACTOR else f"{100 * (times - 1):.2g}%"
    return f"{much} {'faster' if is_faster else 'slower'}"


def comparison_text(ratio: Ratio, baseline: str) -> str:
    """Who is faster, in words; `baseline` is what the kernel is held against."""
    if not math.isfinite(ratio.high):
        return NO_INTERVAL
    return f"{against_text(ratio)} {'with' if ratio.is_level else 'than'} {baseline}"


def bounds_text(ratio: Ratio, is_paired: bool, short: bool = False) -> str:
    """What bounds the factor of `comparison_text`, in the same sense, and what these bounds are.

    The intervals of two medians that were not timed in turns make one too, which knows nothing of a drift. `short` is
    for where there is little room.
    """
    if not math.isfinite(ratio.high):
        return f"too few {'rounds' if is_paired else 'launches'} for an interval"
    shown = ratio if ratio.is_level or ratio.baseline_over_kernel > 1 else ratio.inverse
    factors = f"{number(shown.low)}–{number(shown.high)}×"
    if short:
        return factors if is_paired else f"{factors} not paired"
    return f"{PAIRED if is_paired else NOT_PAIRED} {factors}"
