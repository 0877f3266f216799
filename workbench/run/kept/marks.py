"""What a person says of runs: a name, a star, a note, and that one is no longer to be seen.

They are a table of their own in the session file, beside what was measured, which no mark changes.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, fields

from workbench.run.kept.opening import tables_of

_TABLE = "marks"
_SCHEMA = (
    f"create table if not exists {_TABLE} (id integer primary key, name text not null, note text not null, "
    "starred integer not null, deleted integer not null)"
)


@dataclass(frozen=True)
class Marks:
    """The marks of one run. A run that is `deleted` is hidden, and stays in its file."""

    name: str = ""
    note: str = ""
    starred: bool = False
    deleted: bool = False


NO_MARKS = Marks()
MARKED = tuple(field.name for field in fields(Marks))


def read_marks(db: sqlite3.Connection) -> dict[int, Marks]:
    """The marks by the number of their run; those of a run that has none, or of another kind, are left out."""
    if _TABLE not in tables_of(db):
        return {}
    rows = db.execute(f"select id, name, note, starred, deleted from {_TABLE}").fetchall()
    return {
        number: Marks(_text(name), _text(note), starred == 1, deleted == 1)
        for number, name, note, starred, deleted in rows
    }


def write_marks(db: sqlite3.Connection, marks: dict[int, Marks]) -> None:
    """Keep `marks` by the number of their run, in place of those that were there."""
    db.execute(_SCHEMA)
    rows = [(number, one.name, one.note, one.starred, one.deleted) for number, one in marks.items()]
    db.executemany(f"insert or replace into {_TABLE} values (?, ?, ?, ?, ?)", rows)


def _text(value: object) -> str:
    """A text as the connection gives it, which is bytes; what somebody else put there is none."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
