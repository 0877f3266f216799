"""Runs on disk: one SQLite file a session, so that a run is kept whole the moment it ends, whatever comes after.

A recording is a session that is opened read-only.
"""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

from workbench.codec import Arrays, decode, encode
from workbench.model import (
    Checked,
    Comparison,
    DeviceInfo,
    DeviceState,
    Failed,
    Finished,
    FloatArray,
    Measured,
    Rechecked,
    Role,
    RunEvent,
    RunRecord,
    RunRequest,
    Samples,
    Started,
    TileStates,
)

SUFFIX = ".tilescope"
FORMAT = "1"
_SCHEMA = (
    "create table meta (name text primary key, value text not null)",
    "create table runs (id integer primary key, record text not null, arrays blob not null)",
)


class SessionError(Exception):
    """A session file cannot be read or written; the text names it and says why."""


class RunBuilder:
    """Collects a run's events into its record, also while it goes on and when the engine never started it.

    The session gives the record its number when it keeps it; until then that is 0.
    """

    def __init__(self, request: RunRequest) -> None:
        nowhere = DeviceInfo("no device", "cuda" if request.device == "cuda" else "interpreter", "", "", "", 0)
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        self._record = RunRecord(0, Started(request, nowhere, now))
        self._samples: dict[Role, list[FloatArray]] = {}

    def take(self, event: RunEvent) -> None:
        """Add `event`, if it is one that is kept."""
        record = self._record
        match event:
            case Started():
                self._record = replace(record, started=event)
            case Checked():
                self._record = replace(record, checked=(*record.checked, event))
            case Samples(role, values):
                self._samples.setdefault(role, []).append(values)
            case Measured(measurement):
                self._samples.pop(measurement.role, None)
                self._record = replace(record, measured=(*record.measured, event))
            case Comparison():
                self._record = replace(record, comparison=event)
            case Rechecked():
                self._record = replace(record, rechecked=(*record.rechecked, event))
            case DeviceState():
                self._record = replace(record, device_state=event)
            case TileStates():
                self._record = replace(record, states=event)
            case Finished() | Failed():
                self._record = replace(record, end=event)
            case _:
                pass

    def record(self) -> RunRecord:
        """The run so far."""
        partial = tuple(Samples(role, np.concatenate(parts)) for role, parts in self._samples.items())
        return replace(self._record, partial=partial)


class Session:
    """A session file. Every call opens and closes it, so that threads and a crash cannot hold it half written.

    Several processes may write to one file: the number of a run is given when it is written.
    """

    def __init__(self, path: Path, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only

    def check(self) -> None:
        """Raise SessionError unless the file can be used: read if it is read-only, else made or written."""
        with self._open(write=not self.read_only):
            pass

    def add(self, record: RunRecord, compress: bool = False) -> RunRecord:
        """Keep `record` under the next free number; returns it with that number.

        `compress` is slow, and for copies. Raises SessionError if the file cannot be written.
        """
        with self._open(write=True) as db:
            number = int(db.execute("select coalesce(max(id), 0) + 1 from runs").fetchone()[0])
            numbered = replace(record, run_id=number)
            data, arrays = encode(replace(numbered, source=""))
            buffer = io.BytesIO()
            (np.savez_compressed if compress else np.savez)(buffer, **arrays)  # type: ignore[arg-type]
            db.execute("insert into runs values (?, ?, ?)", (number, json.dumps(data), buffer.getvalue()))
        return numbered

    def seal(self) -> None:
        """Make a recording of it: from now on this program only reads the file."""
        with self._open(write=True) as db:
            db.execute("insert or replace into meta values ('sealed', 'yes')")

    def summaries(self) -> list[RunRecord]:
        """All runs by number, without their maps and states."""
        with self._open() as db:
            rows = db.execute("select record from runs order by id").fetchall()
        return [self._record(row[0], {}) for row in rows]

    def load(self, run_id: int) -> RunRecord:
        """One run, whole. Raises SessionError if there is none of that number, or it is damaged."""
        with self._open() as db:
            row = db.execute("select record, arrays from runs where id = ?", (run_id,)).fetchone()
        if row is None:
            raise SessionError(f"{self.path.name} has no run {run_id}")
        try:
            with np.load(io.BytesIO(row[1])) as stored:
                arrays: Arrays = {name: stored[name] for name in stored.files}
        except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise SessionError(f"the maps of run {run_id} in {self.path.name} cannot be read: {error}") from error
        return self._record(row[0], arrays)

    def _record(self, text: str, arrays: Arrays) -> RunRecord:
        try:
            record = decode(json.loads(text), arrays)
        except (ValueError, KeyError, TypeError) as error:
            raise SessionError(f"{self.path.name} holds a run that cannot be read: {error}") from error
        return replace(record, source=self.path.stem if self.read_only else "")

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
