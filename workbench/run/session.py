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
from typing import Any

from workbench.run.blobs import packed, read_blob, write_blob
from workbench.run.codec import Arrays, decode, encode
from workbench.run.events import Failed
from workbench.run.kept import rows
from workbench.run.kept.marks import Marks, read_marks, write_marks
from workbench.run.kept.opening import tables_of, why
from workbench.run.kept.rows import Index, Value
from workbench.run.record import RunRecord
from workbench.run.soundness import find_damage

SUFFIX = ".tilescope"
# What NumPy and zipfile raise for arrays that are not, or no longer, what was written.
_UNREADABLE = (ValueError, TypeError, KeyError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
_ARRAY_NAMES = re.compile(rb'\{"\$array": "(\w+)"\}')
FORMAT = "1"
# Older programs read a file with more tables than these, and leave them alone.
_SCHEMA = (
    "create table meta (name text primary key, value text not null)",
    "create table runs (id integer primary key, record text not null, arrays blob not null)",
)


class SessionError(Exception):
    """A session file cannot be read or written; the text names it and says why, and `reason` is the why alone."""

    def __init__(self, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.reason = reason or text


class Session:
    """A session file. Every call opens and closes it, so that threads and a crash cannot hold it half written.

    Several processes may write to one file: the number of a run is given when it is written.
    """

    def __init__(
        self, path: Path, read_only: bool = False, source: str | None = None, index: Index | None = None
    ) -> None:
        """`source` is what the runs of a file that is only read say that they come from: None for the file's name.

        `index` is what is kept of each run beside it, so that many can be listed.
        """
        self.path = path
        self.read_only = read_only
        self.source = (path.stem if source is None else source) if read_only else ""
        self.index = index or Index()
        self._last = 0  # the highest number seen, which is not given again should the file be taken away
        self._beside: dict[int, dict[str, Value]] = {}  # rows of the index that a file that is only read lacks

    def is_gone(self) -> bool:
        """Whether the file held runs and is no longer there."""
        return self._last > 0 and not self.path.exists()

    def check(self) -> None:
        """Raise SessionError unless the file can be used: read if it is read-only, else made or written."""
        with self._open(write=not self.read_only):
            pass

    def add(self, record: RunRecord, compress: bool = False, number: int | None = None) -> RunRecord:
        """Keep `record` under the next free number, or under `number`; returns it with that number.

        `compress` is slow, and for copies. Raises SessionError if the file cannot be written.
        """
        with self._open(write=True) as db:
            if number is None:
                number = max(self._last, int(db.execute("select coalesce(max(id), 0) from runs").fetchone()[0])) + 1
            numbered = replace(record, run_id=number)
            data, arrays = encode(replace(numbered, source=""))
            content = packed(arrays, compress)
            db.execute("insert into runs values (?, ?, zeroblob(?))", (number, json.dumps(data), len(content)))
            write_blob(db, number, content)
            if self.index.names:
                rows.prepare(db, self.index)
                rows.write(db, self.index, [(number, self.index.of(numbered))])
        self._last = max(self._last, number)
        return numbered

    def seal(self) -> None:
        """Make a recording of it: from now on this program only reads the file."""
        with self._open(write=True) as db:
            db.execute("insert or replace into meta values ('sealed', 'yes')")

    def is_sealed(self) -> bool:
        """Whether the file is a recording. Raises SessionError if it is not there, or is no session."""
        if not self.path.is_file():
            reason = "it is a folder" if self.path.is_dir() else "there is no such file"
            raise SessionError(f"{self.path} cannot be opened: {reason}; allowed is a {SUFFIX} file", reason)
        with self._open() as db:
            return db.execute("select 1 from meta where name = 'sealed'").fetchone() is not None

    def marks(self) -> dict[int, Marks]:
        """What was said of runs, by their number. Raises SessionError if the file cannot be read."""
        with self._open() as db:
            return read_marks(db)

    def mark(self, marks: dict[int, Marks]) -> None:
        """Keep what is said of runs, by their number. Raises SessionError if the file cannot be written."""
        with self._open(write=True) as db:
            write_marks(db, marks)

    def numbers(self) -> list[int]:
        """The numbers of all runs. The index has all of them from then on, made from those that it lacked.

        Raises SessionError if the file cannot be read.
        """
        with self._open() as db:
            every, lacking = rows.numbers(db, self.index)
        self._last = max((self._last, *every))
        made = [(number, self.index.of(self.summary(number))) for number in lacking] if self.index.names else []
        if self.read_only:
            self._beside = dict(made)
        elif made:
            with self._open(write=True) as db:
                rows.prepare(db, self.index)
                rows.write(db, self.index, made)
        return every

    def column(self, name: str) -> dict[int, Value]:
        """One value of the index for all runs, by number, once `numbers` was asked for. Raises SessionError."""
        with self._open() as db:
            kept = rows.column(db, name) if rows.is_there(db, self.index) else {}
        return kept | {number: values[name] for number, values in self._beside.items()}

    def summaries(self) -> list[RunRecord]:
        """All runs by number, without their maps and states. Raises SessionError if the file cannot be read.

        One that is damaged comes without a result, as a run that failed by it.
        """
        with self._open() as db:
            numbers = [row[0] for row in db.execute("select id from runs order by id")]
        self._last = max((self._last, *numbers))
        return [self.summary(number) for number in numbers]

    def summary(self, number: int) -> RunRecord:
        """One run without its maps and states, or if it is damaged without a result. Raises SessionError as `load`."""
        with self._open() as db:
            try:
                row = db.execute("select record from runs where id = ?", (number,)).fetchone()
            except sqlite3.DatabaseError:
                row = (b"",)  # a damaged page is not the whole file
        if row is None:
            raise SessionError(f"{self.path.name} has no run {number}")
        try:
            return self._record(number, row[0], {})
        except SessionError as error:
            return self._damaged(number, row[0], Failed("damaged", str(error)))

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
        named = {name.decode() for name in _ARRAY_NAMES.findall(row[0])} if isinstance(row[0], bytes) else set()
        if missing := sorted(named - set(arrays)):
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

    def _record(self, number: int, text: object, arrays: Arrays) -> RunRecord:
        holds = f"{self.path.name} holds a damaged run {number}"
        try:
            record = decode(_parse(text), arrays)
        except ValueError as error:
            raise SessionError(f"{holds}: {error}") from error
        except (KeyError, TypeError, AttributeError) as error:  # Python's own words would name its types
            raise SessionError(f"{holds}: a part of it is missing, or of another kind") from error
        if damage := find_damage(record):
            raise SessionError(f"{holds}: {damage}")
        return replace(record, run_id=number, source=self.source)

    def _damaged(self, number: int, text: object, reason: Failed) -> RunRecord:
        """What can still be told of a damaged run: what was asked for, where that is sound, and else its number."""
        record = RunRecord.unreadable(number, reason)
        try:
            data = _parse(text)
            started = decode({"$type": "RunRecord", "run_id": number, "started": data["started"]}, {})
            if not find_damage(started):
                record = started.without_result(reason)
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        return replace(record, source=self.source)

    @contextmanager
    def _open(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The file in one transaction; `write` takes the lock at its start, so that numbers are given once."""
        try:
            with closing(self._connect()) as db:
                db.text_factory = bytes  # one text that is no UTF-8 must not stop the reading of the others
                if write:
                    db.execute("begin immediate")
                    self._prepare(db)
                self._check_format(db)
                yield db
                db.commit()
        except sqlite3.Error as error:
            use = "read and written" if write else "read"
            reason = why(error, self.path)
            raise SessionError(f"{self.path} is not a session that can be {use}: {reason}", reason) from error

    def _connect(self) -> sqlite3.Connection:
        if not self.read_only:
            return sqlite3.connect(self.path, timeout=10, isolation_level=None)
        # immutable: a recording on a read-only disk is opened without a lock or a journal beside it.
        return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Make the tables of a new file; refuse to touch one that is sealed or another program's."""
        tables = tables_of(db)
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
        version = found and (found[0].decode("utf-8", "replace") if isinstance(found[0], bytes) else found[0])
        if version != FORMAT:
            raise SessionError(f"{self.path.name} has format {version!r}; this program reads {FORMAT!r}")


def _parse(text: object) -> dict[str, Any]:
    """The JSON of a record. Raises ValueError if it is none."""
    try:
        data = json.loads(text) if isinstance(text, bytes) else None
    except (ValueError, RecursionError) as error:
        raise ValueError("its text was cut short or written over") from error
    if not isinstance(data, dict):
        raise ValueError("its text was cut short or written over")
    return data
