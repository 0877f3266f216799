"""Writes the table of runs to a file that other programs read, and to the clipboard."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from workbench.export.columns import COLUMNS, Column, Value
from workbench.run.record import RunRecord

NO_PYARROW = "Parquet needs pyarrow, which is not installed: pip install pyarrow; csv, tsv and json need nothing"


class ExportError(Exception):
    """The file cannot be written; the text is one line that names it, or says what is missing."""


def tsv_text(records: Sequence[RunRecord]) -> str:
    """Runs as tab-separated text with a header: plain numbers, their units in the header."""
    return _separated(records, "\t")


def export_runs(records: Sequence[RunRecord], path: Path) -> None:
    """Write the runs to `path`, as the kind of file that its name ends in; what was there is replaced at once.

    Raises ExportError for another ending, for a file that cannot be written, and where a package is missing.
    """
    check_kind(path)
    part = path.with_name(f".{path.name}.part")  # half a table would look like a whole one
    try:
        WRITERS[path.suffix.lower()](records, part)
        part.replace(path)
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def check_kind(path: Path) -> None:
    """Raise ExportError unless the name ends in a kind of file that there is."""
    if path.suffix.lower() not in WRITERS:
        raise ExportError(f"{path} is no table's name; allowed are names that end in {', '.join(WRITERS)}")


def _separated(records: Sequence[RunRecord], delimiter: str) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(column.name for column in COLUMNS)
    writer.writerows([_plain(column.value(record)) for column in COLUMNS] for record in records)
    return text.getvalue()


def _plain(value: Value) -> str:
    """A value as text that reads back as the same one; "" for none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _write_csv(records: Sequence[RunRecord], path: Path) -> None:
    path.write_text(_separated(records, ","), encoding="utf-8", newline="")


def _write_tsv(records: Sequence[RunRecord], path: Path) -> None:
    path.write_text(tsv_text(records), encoding="utf-8", newline="")


def _write_json(records: Sequence[RunRecord], path: Path) -> None:
    """An array of objects, one a line; null for what a run has not, and for NaN and infinities."""
    lines = (json.dumps({c.name: _json(c.value(record)) for c in COLUMNS}, ensure_ascii=False) for record in records)
    table = ",\n".join(lines)
    path.write_text(f"[\n{table}\n]\n", encoding="utf-8")


def _json(value: Value) -> Value:
    return None if isinstance(value, float) and not isfinite(value) else value


def _write_parquet(records: Sequence[RunRecord], path: Path) -> None:
    try:  # it takes longer than all else of this command
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ExportError(NO_PYARROW) from error
    kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}

    def array(column: Column) -> Any:
        return pa.array([column.value(record) for record in records], kinds[column.kind])

    pq.write_table(pa.table({column.name: array(column) for column in COLUMNS}), path)


WRITERS: dict[str, Callable[[Sequence[RunRecord], Path], None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".json": _write_json,
    ".parquet": _write_parquet,
}
"""By how a file's name ends."""
