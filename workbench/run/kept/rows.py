"""The index of a session file: what a list needs of each run, a column a value, so that no run is read to list it.

It is made from the runs, and is made anew where it is not of this version of the program. A run that an older program
has added lacks its row until the file is opened here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workbench.run.kept.opening import tables_of
from workbench.run.record import RunRecord

Value = str | float | int | None

_TABLE = "rows"
_FEW = 500  # runs that are looked for one by one, as each may lie on another page of a large file


@dataclass(frozen=True)
class Index:
    """What is kept of each run: `values` gives those of a record by the order of `names`, None where there is none."""

    names: tuple[str, ...] = ()
    values: Callable[[RunRecord], tuple[Value, ...]] = lambda _: ()

    @property
    def fingerprint(self) -> str:
        """What tells an index of other columns from this one."""
        return " ".join(self.names)

    def of(self, record: RunRecord) -> dict[str, Value]:
        """The values of `record` by name."""
        return dict(zip(self.names, self.values(record), strict=True))


def is_there(db: sqlite3.Connection, index: Index) -> bool:
    """Whether the file has an index of these columns."""
    found = db.execute("select value from meta where name = ?", (_TABLE,)).fetchone()
    return found is not None and found[0] == index.fingerprint.encode() and _TABLE in tables_of(db)


def prepare(db: sqlite3.Connection, index: Index) -> None:
    """Make room for the index, empty where there was another one."""
    if not is_there(db, index):
        db.execute(f"drop table if exists {_TABLE}")
        columns = "".join(f', "{name}"' for name in index.names)
        db.execute(f"create table {_TABLE} (id integer primary key{columns})")
        db.execute("insert or replace into meta values (?, ?)", (_TABLE, index.fingerprint))


def write(db: sqlite3.Connection, index: Index, rows: Iterable[tuple[int, dict[str, Value]]]) -> None:
    """Keep the values of runs by their number, in an index that is there."""
    places = ", ?" * len(index.names)
    filled = ((number, *map(_storable, values.values())) for number, values in rows)
    db.executemany(f"insert or replace into {_TABLE} values (?{places})", filled)


def _storable(value: Value) -> Value:
    """A whole number that SQLite has no room for, as a seed may be, is kept as the nearest it has."""
    return float(value) if isinstance(value, int) and abs(value) >= 2**63 else value


def column(db: sqlite3.Connection, name: str) -> dict[int, Value]:
    """One value of all runs that the index has, by number."""
    asked = f'select id, "{name}" from {_TABLE}'
    try:
        db.text_factory = str
        return dict(db.execute(asked))
    except sqlite3.OperationalError:  # somebody's text that is none
        db.text_factory = lambda text: text.decode("utf-8", "replace")
        return dict(db.execute(asked))


def numbers(db: sqlite3.Connection, index: Index) -> tuple[list[int], list[int]]:
    """The numbers of all runs, and of those that the index lacks.

    Only numbers between those of the index, and above it, are looked for among the runs: a walk over them reads the
    whole of a large file. Whoever asks for no column is served by an index of any.
    """
    if not (is_there(db, index) if index.names else _TABLE in tables_of(db)):
        every = [row[0] for row in db.execute("select id from runs order by id")]
        return every, every
    known = {row[0] for row in db.execute(f"select id from {_TABLE}")}
    last = db.execute("select coalesce(max(id), 0) from runs").fetchone()[0]
    gaps = sorted(set(range(1, last + 1)) - known)
    if len(gaps) > _FEW:
        every = [row[0] for row in db.execute("select id from runs order by id")]
        return every, sorted(set(every) - known)
    lacking = [number for number in gaps if db.execute("select 1 from runs where id = ?", (number,)).fetchone()]
    return sorted(known.union(lacking)), lacking
