"""The error panel's numbers in words."""

from __future__ import annotations

from workbench.model import Checked, ErrorStats
from workbench.ui.cards import colored, unbroken
from workbench.ui.plotting import number
from workbench.ui.theme import Theme


def verdict_text(checked: Checked, name: str, theme: Theme) -> str:
    """PASS or FAIL, big, and against which tolerance."""
    error = checked.error
    word, color = ("PASS", theme.good) if error.passed else ("FAIL", theme.bad)
    relation = "is within" if error.passed else "exceeds"
    reason = f"{name} {relation} {_tolerance(error)}"
    if error.non_finite:
        values = "value is" if error.non_finite == 1 else "values are"
        reason = f"{name}: {error.non_finite:,} {values} NaN or infinite"
    return f"{colored(word, color, bold=True, size=15)}&nbsp; {colored(reason, theme.text)}"


def _tolerance(error: ErrorStats) -> str:
    if error.rtol == error.atol:
        return f"rtol = atol = {error.rtol:g}"
    return f"rtol = {error.rtol:g}, atol = {error.atol:g}"


def stats_text(checked: Checked, other: Checked | None) -> str:
    """The summary of one output's error, the other's largest beside it, and where the worst element is."""
    error = checked.error
    beside = ""
    if other is not None:
        beside = f" ({'kernel' if other.role == 'kernel' else 'SDPA'} {number(other.error.max_abs, 3)})"
    summary = [
        f"max abs {number(error.max_abs, 3)}{beside}",
        f"mean abs {number(error.mean_abs, 3)}",
        f"RMS {number(error.rms, 3)}",
        f"relative Frobenius {number(error.rel_fro, 3)}",
    ]
    head, row, column = error.worst
    several = checked.error_map is not None and checked.error_map.shape[0] > 1
    place = (f"head {head}, " if several else "") + f"row {row}, column {column}"
    worst = [
        f"worst at {place}",
        f"got {number(error.worst_got, 8)}",
        f"expected {number(error.worst_expected, 8)}",
    ]
    return " · ".join(map(unbroken, summary)) + "<br>" + ", ".join(map(unbroken, worst))
