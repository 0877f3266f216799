"""All runs that the window knows: this session's, and those of recordings opened beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from workbench.run.events import Failed
from workbench.run.kept.marks import NO_MARKS, Marks
from workbench.run.kept.rows import Value
from workbench.run.kept.runs import Held, Listing, Runs
from workbench.run.record import RunKey, RunRecord
from workbench.run.session import Session, SessionError


class Copied(NamedTuple):
    """How many runs were written to another file, and how many deleted ones were not."""

    runs: int
    left_out: int = 0

    def __str__(self) -> str:
        text = "1 run" if self.runs == 1 else f"{self.runs} runs"
        return f"{text} ({self.left_out} deleted left out)" if self.left_out else text


class Library:
    """The runs of files, which are read as they are looked at, and what a person says of them.

    What was measured in this window's life is held as well, whole where it could not be written, so that it is not
    lost while the window lives.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._recordings: dict[str, Session] = {}
        self._marks: dict[RunKey, Marks] = {}
        self._unsaved: dict[RunKey, RunRecord] = {}
        self._copied: set[RunKey] = set()  # to another file
        self._own: dict[RunKey, RunRecord] = {}
        self._held = Held()
        self._listing = Listing((), self._column)
        self.use(session)

    def use(self, session: Session) -> None:
        """Go on with another session; recordings stay open beside it.

        Raises SessionError, and leaves all as it is, if that cannot be used, or some runs of this one are in no file.
        """
        if at_risk := len(self._unsaved.keys() - self._copied):
            held = "1 run" if at_risk == 1 else f"{at_risk} runs"
            raise SessionError(f"{held} of this session could not be written; File > Save session as… keeps them first")
        session.index = self.session.index
        numbers: list[int] = []
        if session.path.exists():
            session.check()
            numbers = session.numbers()
            session.marks()
        self.session = session
        for runs in (self._own, self._unsaved):
            runs.clear()
        self._copied.clear()
        self._held.forget("")
        self._listing = Listing((key for key in self._listing.keys if key.source), self._column)
        self._marks = {key: marks for key, marks in self._marks.items() if key.source}
        if numbers:
            self._take_in(session, numbers)

    def recordings(self) -> dict[str, Path]:
        """The recordings that are open: what their runs say that they come from, and their files."""
        return {source: recording.path for source, recording in self._recordings.items()}

    def records(self) -> Runs:
        """Every run that is not deleted, in the order in which they came, without its maps and states."""
        return self._runs(deleted=False)

    def deleted(self) -> Runs:
        """The runs that are hidden."""
        return self._runs(deleted=True)

    def _runs(self, deleted: bool) -> Runs:
        keys = self._listing.keys
        hidden = {key for key, marks in self._marks.items() if marks.deleted}
        places: Sequence[int] = range(0 if deleted else len(keys))
        if hidden:
            places = [place for place, key in enumerate(keys) if (key in hidden) == deleted]
        return Runs(self._listing, places, self.summary, self._marks)

    def summary(self, key: RunKey) -> RunRecord:
        """A run without its maps and states; one that cannot be read says why, as its failure."""
        own = self._own.get(key)
        return own if own is not None else self._held.get(key, self._read)

    def _read(self, key: RunKey) -> RunRecord:
        try:
            return self._session_of(key).summary(key.number)
        except SessionError as error:
            lost = RunRecord.unreadable(key.number, Failed("damaged", str(error)))
            return replace(lost, source=key.source)

    def _session_of(self, key: RunKey) -> Session:
        if key.source and key.source not in self._recordings:
            raise SessionError(f"run {key.number} is of {key.source}, which is closed")
        return self._recordings[key.source] if key.source else self.session

    def add(self, record: RunRecord, saved: bool) -> RunRecord:
        """Take in a run of this session, which has a number below 0 where it is not `saved`; returns its summary."""
        if not saved:
            self._unsaved[record.key] = record
        summary = self._own[record.key] = without_maps(record)
        self._listing.append(record.key, self.session.index.of(record))
        return summary

    def open_recording(self, path: Path) -> Runs:
        """Read a recording's runs beside the others, or once more. Raises SessionError if it cannot be read."""
        recording = Session(path, read_only=True, source=self._label(path), index=self.session.index)
        numbers = recording.numbers()
        if not numbers:
            raise SessionError(f"{path.name} holds no runs")
        self.close_recording(recording.source)
        self._recordings[recording.source] = recording
        self._take_in(recording, numbers)
        runs = self.records().where(source=recording.source)
        if not runs:
            self.close_recording(recording.source)
            raise SessionError(f"{path.name} holds no runs but deleted ones")
        return runs

    def close_recording(self, source: str) -> None:
        """Take the runs of a recording out again; its file is left as it is."""
        if self._recordings.pop(source, None) is not None:
            self._held.forget(source)
            self._listing = Listing((key for key in self._listing.keys if key.source != source), self._column)
            self._marks = {key: marks for key, marks in self._marks.items() if key.source != source}

    def _take_in(self, session: Session, numbers: Sequence[int]) -> None:
        """List the runs of a file, with their marks."""
        keys = (RunKey(session.source, number) for number in numbers)
        self._listing = Listing((*self._listing.keys, *keys), self._column)
        self._marks |= {RunKey(session.source, number): marks for number, marks in session.marks().items()}

    def _column(self, name: str) -> dict[str, dict[int, Value]]:
        """A value of all runs by source and number, from the indexes of their files. KeyError for an unknown name."""
        index = self.session.index
        if name not in index.names:
            raise KeyError(name)
        found = {source: recording.column(name) for source, recording in self._recordings.items()}
        found[""] = self.session.column(name) if self.session.path.exists() else {}
        found[""] |= {key.number: index.of(record)[name] for key, record in self._own.items()}
        return found

    def _label(self, path: Path) -> str:
        """What the runs of a recording are said to come from: its name, with folders where another one has that name.

        A recording that is open already keeps its label.
        """
        place = path.resolve()
        for label, recording in self._recordings.items():
            if recording.path.resolve() == place:
                return label
        folders = place.parent.parts
        named = (f"{path.stem} ({'/'.join(folders[-depth:])})" for depth in range(1, len(folders) + 1))
        numbered = (f"{path.stem} ({number})" for number in count(2))
        return next(label for label in chain((path.stem,), named, numbered) if label not in self._recordings)

    def load(self, record: RunRecord) -> RunRecord:
        """The whole run that belongs to a summary. Raises SessionError if its file cannot be read."""
        if record.key in self._unsaved:
            return self._unsaved[record.key]
        return self._session_of(record.key).load(record.run_id)

    def bytes_of(self, record: RunRecord) -> int:
        """How much of a file is read to load the run of a summary; 0 where it is in memory, or cannot be read."""
        if record.key in self._unsaved:
            return 0
        try:
            return self._session_of(record.key).bytes_of(record.run_id)
        except SessionError:
            return 0

    def marks(self, key: RunKey) -> Marks:
        """What was said of a run."""
        return self._marks.get(key, NO_MARKS)

    def mark(self, marks: Mapping[RunKey, Marks]) -> None:
        """Say something of runs of this session, all or none. Raises SessionError if it cannot be kept."""
        for key in marks:
            if key.source:
                raise SessionError(f"run {key.number} is of {key.source}, which is only read: it cannot be marked")
        kept = {key.number: one for key, one in marks.items() if key not in self._unsaved}
        if kept:
            self.session.mark(kept)
        self._marks = self._marks | dict(marks)

    def save_copy(self, path: Path, sealed: bool = False) -> Copied:
        """Write this session's runs to `path`, compressed, with their marks; `sealed` makes a recording of it.

        Deleted ones are left out, but for those that are in no file: a session takes them along, deleted as they are.
        Returns how many there were of both. A file that is there is replaced only once the new one is whole. Raises
        SessionError, also where some runs can no longer be read, after it has written the others.
        """
        used = [self.session.path, *(recording.path for recording in self._recordings.values())]
        if path.resolve() in [other.resolve() for other in used]:
            raise SessionError(f"{path.name} is open in this window; allowed is another file")
        every = [key for key in self._listing.keys if not key.source]
        own = [key for key in every if not self.marks(key).deleted or (key in self._unsaved and not sealed)]
        if sealed and not own:
            raise SessionError("this session has no runs yet, and none can be added to a recording")
        partial = path.with_name(f"{path.name}.part")
        try:
            partial.unlink(missing_ok=True)
            lost = self._copy(own, Session(partial, index=self.session.index), sealed, path)
            if len(lost) < len(own) or not own:
                partial.replace(path)
        except OSError as error:
            raise SessionError(f"{path} cannot be written: {error.strerror}") from error
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        if lost:
            saved = f"saved {len(own) - len(lost)} run(s) to {path}" if len(lost) < len(own) else "saved nothing"
            raise SessionError(f"{saved}; no longer in the session's file: {', '.join(lost)}")
        self._copied.update(own)
        deleted = sum(self.marks(key).deleted for key in every)
        return Copied(len(every) - deleted, deleted)

    def _copy(self, keys: list[RunKey], target: Session, sealed: bool, path: Path) -> list[str]:
        """Write runs to `target`, which becomes `path`; returns those that cannot be read. Raises SessionError.

        A run keeps its number, which notes and reports name; one that never had any gets the next.
        """
        lost, marks = [], {}
        try:
            target.check()
        except SessionError as error:
            raise SessionError(f"{path} cannot be written: {error.reason}") from error
        for key in sorted(keys, key=lambda key: (key.number <= 0, key.number)):
            try:
                whole = self.load(self.summary(key))
            except SessionError:
                lost.append(f"run {key.number}")
                continue
            kept = target.add(whole, compress=True, number=key.number if key.number > 0 else None)
            marks[kept.run_id] = self.marks(key)
        marked = {number: one for number, one in marks.items() if one != NO_MARKS}
        if marked:
            target.mark(marked)
        if sealed:
            target.seal()
        return lost


def without_maps(record: RunRecord) -> RunRecord:
    """A record without its large arrays."""
    checked = tuple(replace(check, error_map=None) for check in record.checked)
    states = record.states and replace(record.states, m_tile=None, m_running=None, l_running=None)
    return replace(record, checked=checked, states=states)
