"""The error panel's numbers in words."""

from __future__ import annotations

from math import ceil, isfinite, log10

from workbench.analysis.numbers import number
from workbench.run.events import Checked, Rechecked
from workbench.run.measurement import ErrorStats
from workbench.run.request import Problem
from workbench.ui.text.fit import ever_shorter
from workbench.ui.text.spans import Span
from workbench.ui.theme import Theme
from workbench.words.names import baseline_text, head_text

MOST_DIGITS = 17  # of a float64
LEFT_OUT_TEXT = "not compared: the row sees no key"


def judgement_spans(checked: Checked, again: Rechecked | None, name: str, theme: Theme) -> list[list[Span]]:
    """PASS or FAIL, big, and against which tolerance; the same in fewer words after it.

    `again` is the comparison after timing: what the map shows is from before.
    """
    error = checked.error
    word, color = ("PASS", theme.good) if error.passed else ("FAIL", theme.bad)
    relation = "is within" if error.passed else "exceeds"
    reasons = [f"{name} {relation} {_tolerance(error)}", f"{relation} {_tolerance(error)}", _tolerance(error)]
    reasons += [f"tol. {error.atol:g}"] if error.rtol == error.atol else []
    if error.non_finite:
        values = "value is" if error.non_finite == 1 else "values are"
        reasons = [f"{name}: {error.non_finite:,} {values} NaN or infinite", f"{error.non_finite:,} NaN or infinite"]
    if error.passed and again is not None and again.failed:
        word, color = "FAIL", theme.bad
        errors = f"max abs {number(again.max_abs_before, 3)} before, {number(again.max_abs_after, 3)} after"
        reasons = [f"{name} changed while timing: {errors}", f"changed while timing: {errors}", "changed while timing"]
    judgement = Span(word, color, bold=True, size=14)
    return [*([judgement, Span(f"  {reason}", theme.text)] for reason in reasons), [judgement]]


def _tolerance(error: ErrorStats) -> str:
    if error.rtol == error.atol:
        return f"rtol = atol = {error.rtol:g}"
    return f"rtol = {error.rtol:g}, atol = {error.atol:g}"


def summary_spans(checked: Checked, other: Checked | None, problem: Problem) -> list[list[Span]]:
    """One output's error in one line, the most important first; shorter lines, which leave out the last, after it."""
    error = checked.error
    place = f"max abs {number(error.max_abs, 3)} at {_place(error, problem)}"
    values = f", {worst_text(error, 4)}"
    parts = [
        place if error.passed else place + values,
        f"RMS {number(error.rms, 3)}",
        f"relative to the output {number(error.rel_fro, 3)}",
    ]
    if other is not None:
        parts.insert(1, _other_text(other))
    return [*([Span(text)] for text in ever_shorter(parts)), [Span(place)]]


def details_text(checked: Checked, other: Checked | None, problem: Problem) -> str:
    """All of one output's error, one number a line, for a tooltip."""
    error = checked.error
    beside = f" ({_other_text(other)})" if other is not None else ""
    lines = (
        f"max abs {number(error.max_abs, 3)}{beside}",
        f"mean abs {number(error.mean_abs, 3)}",
        f"RMS {number(error.rms, 3)}",
        f"relative to the output {number(error.rel_fro, 3)}: Frobenius norms, ‖out − float64‖ / ‖float64‖",
        f"worst at {_place(error, problem)}",
        worst_text(error),
    )
    left_out = f"first {error.rows_left_out} rows of each head {LEFT_OUT_TEXT}" if error.rows_left_out else ""
    return "\n".join(filter(None, (*lines, left_out)))


def worst_text(error: ErrorStats, digits: int = 8) -> str:
    """What was got and expected at the worst place, in `digits` or as many as tell the two apart."""
    apart, size = abs(error.worst_got - error.worst_expected), abs(error.worst_expected)
    if isfinite(apart) and 0 < apart < size:
        digits = max(digits, min(MOST_DIGITS, ceil(log10(size / apart)) + 2))
    return f"got {number(error.worst_got, digits)}, expected {number(error.worst_expected, digits)}"


def _other_text(other: Checked) -> str:
    # A rival, being a kernel, has no backend.
    baseline = baseline_text(other.backend) if other.backend else other.implementation
    return f"{'kernel' if other.role == 'kernel' else baseline} {number(other.error.max_abs, 3)}"


def _place(error: ErrorStats, problem: Problem) -> str:
    head, row, column = error.worst
    return (f"{head_text(problem, head)}, " if problem.total_heads > 1 else "") + f"row {row}, column {column}"
