"""Runs on disk: one SQLite file a session, so that a run is kept whole the moment it ends, whatever comes after.

A recording is a session that is opened read-only.
"""

from __future__ import annotations

import json
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from workbench.run.blobs import packed, read_blob, write_blob
from workbench.run.codec import Arrays, decode, encode
from workbench.run.record import RunRecord
from workbench.run.soundness import find_damage

SUFFIX = ".tilescope"
# What NumPy and zipfile raise for arrays that are not, or no longer, what was written.
_UNREADABLE = (ValueError, TypeError, KeyError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
_ARRAY_NAMES = re.compile(r'\{"\$array": "(\w+)"\}')
FORMAT = "1"
_SCHEMA = (
    "create table meta (name text primary key, value text not null)",
    "create table runs (id integer primary key, record text not null, arrays blob not null)",
)


class SessionError(Exception):
    """A session file cannot be read or written; the text names it and says why."""


class Session:
    """A session file. Every call opens and closes it, so that threads and a crash cannot hold it half written.

    Several processes may write to one file: the number of a run is given when it is written.
    """

    def __init__(self, path: Path, read_only: bool = False, source: str | None = None) -> None:
        """`source` is what the runs of a file that is only read say that they come from: None for the file's name."""
        self.path = path
        self.read_only = read_only
        self.source = (path.stem if source is None else source) if read_only else ""
        self._last = 0  # the highest number seen, which is not given again should the file be taken away

    def is_gone(self) -> bool:
        """Whether the file held runs and is no longer there."""
        return self._last > 0 and not self.path.exists()

    def check(self) -> None:
        """Raise SessionError unless the file can be used: read if it is read-only, else made or written."""
        with self._open(write=not self.read_only):
            pass

    def add(self, record: RunRecord, compress: bool = False) -> RunRecord:
        """Keep `record` under the next free number; returns it with that number.

        `compress` is slow, and for copies. Raises SessionError if the file cannot be written.
        """
        with self._open(write=True) as db:
            number = max(self._last, int(db.execute("select coalesce(max(id), 0) from runs").fetchone()[0])) + 1
            numbered = replace(record, run_id=number)
            data, arrays = encode(replace(numbered, source=""))
            content = packed(arrays, compress)
            db.execute("insert into runs values (?, ?, zeroblob(?))", (number, json.dumps(data), len(content)))
            write_blob(db, number, content)
        self._last = number
        return numbered

    def seal(self) -> None:
        """Make a recording of it: from now on this program only reads the file."""
        with self._open(write=True) as db:
            db.execute("insert or replace into meta values ('sealed', 'yes')")

    def summaries(self) -> list[RunRecord]:
        """All runs by number, without their maps and states. Raises SessionError if one of them is damaged."""
        with self._open() as db:
            rows = db.execute("select id, record from runs order by id").fetchall()
        self._last = max((self._last, *(number for number, _ in rows)))
        return [self._record(number, text, {}) for number, text in rows]

    def load(self, run_id: int) -> RunRecord:
        """One run, whole. Raises SessionError if there is none of that number, or it is damaged."""
        with self._open() as db:
            row = db.execute("select record from runs where id = ?", (run_id,)).fetchone()
            if row is None:
                raise SessionError(f"{self.path.name} has no run {run_id}")
            try:
                arrays: Arrays = read_blob(db, run_id)
            except _UNREADABLE as error:  # NumPy's own words speak of pickles, which nobody wrote
                raise SessionError(f"the maps of run {run_id} in {self.path.name} are damaged") from error
        if missing := sorted(set(_ARRAY_NAMES.findall(row[0])) - set(arrays)):
            raise SessionError(f"the maps of run {run_id} in {self.path.name} lack {', '.join(missing)}")
        return self._record(run_id, row[0], arrays)

    def bytes_of(self, run_id: int) -> int:
        """How many bytes the maps and states of a run take in the file; 0 where that cannot be read."""
        try:
            with self._open() as db:
                row = db.execute("select length(arrays) from runs where id = ?", (run_id,)).fetchone()
        except SessionError:
            return 0
        return int(row[0] or 0) if row is not None else 0

    def _record(self, number: int, text: str, arrays: Arrays) -> RunRecord:
        try:
            record = decode(json.loads(text), arrays)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SessionError(f"{self.path.name} holds a run {number} that cannot be read: {error}") from error
        if damage := find_damage(record):
            raise SessionError(f"{self.path.name} holds a damaged run {number}: {damage}")
        return replace(record, source=self.source)

    @contextmanager
    def _open(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The file in one transaction; `write` takes the lock at its start, so that numbers are given once."""
        try:
            with closing(self._connect()) as db:
                if write:
                    db.execute("begin immediate")
                    self._prepare(db)
                self._check_format(db)
                yield db
                db.commit()
        except sqlite3.Error as error:
            use = "read and written" if write else "read"
            raise SessionError(f"{self.path} is not a session that can be {use}: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        if not self.read_only:
            return sqlite3.connect(self.path, timeout=10, isolation_level=None)
        # immutable: a recording on a read-only disk is opened without a lock or a journal beside it.
        return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Make the tables of a new file; refuse to touch one that is sealed or another program's."""
        tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
        if not tables:
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute("insert into meta values ('format', ?)", (FORMAT,))
        elif not {"meta", "runs"} <= tables:
            raise SessionError(f"{self.path} is another program's database; allowed is a session or a new file")
        elif db.execute("select 1 from meta where name = 'sealed'").fetchone():
            raise SessionError(f"{self.path} is a recording, which is only read; allowed is another file")

    def _check_format(self, db: sqlite3.Connection) -> None:
        found = db.execute("select value from meta where name = 'format'").fetchone()
        if found is None or found[0] != FORMAT:
            raise SessionError(f"{self.path.name} has format {found and found[0]!r}; this program reads {FORMAT!r}")
