"""The error panel's numbers in words."""

from __future__ import annotations

from workbench.model import Checked, ErrorStats
from workbench.ui.spans import Span
from workbench.ui.theme import Theme
from workbench.ui.words import number


def verdict_spans(checked: Checked, name: str, theme: Theme) -> list[list[Span]]:
    """PASS or FAIL, big, and against which tolerance; the same in fewer words after it."""
    error = checked.error
    word, color = ("PASS", theme.good) if error.passed else ("FAIL", theme.bad)
    relation = "is within" if error.passed else "exceeds"
    reasons = [f"{name} {relation} {_tolerance(error)}", f"{relation} {_tolerance(error)}", _tolerance(error)]
    if error.non_finite:
        values = "value is" if error.non_finite == 1 else "values are"
        reasons = [f"{name}: {error.non_finite:,} {values} NaN or infinite", f"{error.non_finite:,} NaN or infinite"]
    return [[Span(word, color, bold=True, size=14), Span(f"  {reason}", theme.text)] for reason in reasons]


def _tolerance(error: ErrorStats) -> str:
    if error.rtol == error.atol:
        return f"rtol = atol = {error.rtol:g}"
    return f"rtol = {error.rtol:g}, atol = {error.atol:g}"


def summary_spans(checked: Checked, other: Checked | None) -> list[list[Span]]:
    """One output's error in one line, the most important first; shorter lines, which leave out the last, after it."""
    error = checked.error
    first = f"max abs {number(error.max_abs, 3)} at {_place(checked)}"
    if not error.passed:
        first += f", got {number(error.worst_got, 4)}, expected {number(error.worst_expected, 4)}"
    parts = [first, f"RMS {number(error.rms, 3)}", f"relative Frobenius {number(error.rel_fro, 3)}"]
    if other is not None:
        parts.insert(1, _other_text(other))
    return [[Span(" · ".join(parts[:end]))] for end in range(len(parts), 0, -1)]


def details_text(checked: Checked, other: Checked | None) -> str:
    """All of one output's error, one number a line, for a tooltip."""
    error = checked.error
    beside = f" ({_other_text(other)})" if other is not None else ""
    lines = (
        f"max abs {number(error.max_abs, 3)}{beside}",
        f"mean abs {number(error.mean_abs, 3)}",
        f"RMS {number(error.rms, 3)}",
        f"relative Frobenius {number(error.rel_fro, 3)}",
        f"worst at {_place(checked)}, got {number(error.worst_got, 8)}, expected {number(error.worst_expected, 8)}",
    )
    return "\n".join(lines)


def _other_text(other: Checked) -> str:
    return f"{'kernel' if other.role == 'kernel' else 'SDPA'} {number(other.error.max_abs, 3)}"


def _place(checked: Checked) -> str:
    head, row, column = checked.error.worst
    several = checked.error_map is not None and checked.error_map.shape[0] > 1
    return (f"head {head}, " if several else "") + f"row {row}, column {column}"
