"""`export`: recorded runs as a table for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.analysis.numbers import counted
from workbench.asking.usage import UsageError
from workbench.cli.exits import EXIT_PASSED, check_not_there, check_writable, refusing
from workbench.cli.output import OutputError, note
from workbench.export.files import ExportError, check_kind, export_runs
from workbench.run.record import RunRecord
from workbench.run.session import Session, SessionError


def export(output: Path, session: Path | None, asked: Sequence[tuple[int, int]] | None, force: bool) -> int:
    """Write runs of `session` to `output`; `asked` are the first and last numbers of spans, None for all.

    Raises UsageError for what cannot be read, written or found, and OutputError where writing it fails.
    """
    if session is None:
        raise UsageError("export needs --session FILE, the session or recording with the runs")
    with refusing(ExportError):
        check_kind(output)
    check_not_there(output, force)
    check_writable(output)
    with refusing(SessionError):
        file = Session(session, read_only=True, source=session.stem)
        deleted = {number for number, marks in file.marks().items() if marks.deleted}
        runs = [run for run in file.summaries() if run.run_id not in deleted]
    chosen = _chosen(runs, asked, session)
    try:
        export_runs(chosen, output)
    except ExportError as error:
        raise OutputError(str(error)) from error
    left_out = f"; {counted(len(deleted), 'deleted one')} left out" if deleted else ""
    note(f"{counted(len(chosen), 'run')} in {output}{left_out}")
    return EXIT_PASSED


def _chosen(runs: list[RunRecord], asked: Sequence[tuple[int, int]] | None, session: Path) -> list[RunRecord]:
    """Those of the runs that were asked for. Raises UsageError for a number that there is not, and where none is."""
    if not runs:
        raise UsageError(f"{session.name} holds no runs")
    if asked is None:
        return runs
    numbers = {run.run_id for run in runs}
    for first, last in asked:
        missing = next((end for end in (first, last) if end not in numbers), None)
        if missing is not None:
            raise UsageError(f"run is {missing}; {session.name} has {spans_text(numbers)}")
    return [run for run in runs if any(first <= run.run_id <= last for first, last in asked)]


def spans_text(numbers: set[int]) -> str:
    """Numbers as people write them: "1 to 13", "1 to 4, 7"."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ", ".join(" to ".join(map(str, span)) for span in spans)
