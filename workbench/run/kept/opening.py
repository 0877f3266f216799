"""What goes wrong with a file, in words for people: SQLite's own speak of malformed images and of handles."""

from __future__ import annotations

import sqlite3
from pathlib import Path

_WORDS = {
    sqlite3.SQLITE_NOTADB: "it is no Tilescope file",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_BUSY: "another program is writing to it",
    sqlite3.SQLITE_LOCKED: "another program is writing to it",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it may only be read",
    sqlite3.SQLITE_PERM: "this user may not open it",
    sqlite3.SQLITE_TOOBIG: "the run is larger than such a file can hold",
    sqlite3.SQLITE_IOERR: "its disk gives an error",
}
_PRIMARY = 0xFF  # of a code that says more, the part that says what


def tables_of(db: sqlite3.Connection) -> set[str]:
    """The names of the tables in `db`."""
    names = (row[0] for row in db.execute("select name from sqlite_master where type = 'table'"))
    return {name.decode() if isinstance(name, bytes) else name for name in names}


def why(error: sqlite3.Error, path: Path) -> str:
    """What stands in the way of using `path`, as the end of a sentence."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY
    if code != sqlite3.SQLITE_CANTOPEN:
        return _WORDS.get(code, "it is damaged, or no Tilescope file")
    if path.is_dir():
        return "it is a folder"
    if path.exists():
        return "this user may not open it"
    return "there is no such file" if path.parent.is_dir() else f"there is no folder {path.parent}"
