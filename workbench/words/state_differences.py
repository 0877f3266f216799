"""In a line: how far the states and errors of two runs are apart."""

from __future__ import annotations

from workbench.analysis.numbers import error_text
from workbench.analysis.state_differences import Apart, ErrorDifferences, Spans, StateDifferences


def apart_text(found: Apart) -> str:
    """What is said of a run against the reference."""
    parts = (
        _states_text(found.states) if found.states is not None else f"no states: {found.why_no_states}",
        _errors_text(found.errors) if found.errors is not None else f"no errors: {found.why_no_errors}",
    )
    if found.why_no_states == found.why_no_errors and found.why_no_states:
        return found.why_no_states
    return "; ".join(parts)


def _states_text(found: StateDifferences) -> str:
    if not found.odd and not found.m_by_key.largest.any() and not found.l_by_key.largest.any():
        return f"m and l have the same values at all {len(found.m_by_key.at):,} key positions in common"
    odd = f"; {found.odd:,} states are a number in one of them alone" if found.odd else ""
    final = f"at the last key m {_most(found.m_by_row)}, l {_most(found.l_by_row, ' of itself')}"
    return f"{final} (head {found.head}){odd}"


def _most(span: Spans, of_what: str = "") -> str:
    """By how much at most, and in which row."""
    place = int(span.largest.argmax())
    largest = float(span.largest[place])
    if not largest:
        return "is the same"
    return f"differs by up to {error_text(largest)}{of_what} in row {int(span.at[place]):,}"


def _errors_text(found: ErrorDifferences) -> str:
    worse, better = float(found.by_row.max()), float(-found.by_row.min())
    if worse <= 0 and better <= 0:
        return "its largest error is the same in every row"
    more, less = error_text(max(0.0, worse)), error_text(max(0.0, better))
    return f"a row's largest error is up to {more} more and {less} less"
