"""All runs that the window knows: this session's, and those of recordings opened beside it."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from workbench.run.record import RunRecord
from workbench.run.session import Session, SessionError


class Library:
    """Summaries in memory, maps and states on disk until a run is shown.

    A run that could not be written is held whole, so that it is not lost while the window lives.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._recordings: dict[str, Session] = {}
        self._records: list[RunRecord] = []
        self._unsaved: dict[int, RunRecord] = {}
        if session.path.exists():
            session.check()
            self._records = session.summaries()

    def records(self) -> tuple[RunRecord, ...]:
        """Every run without its maps and states, in the order in which they came."""
        return tuple(self._records)

    def add(self, record: RunRecord, saved: bool) -> RunRecord:
        """Take in a run of this session, which has a number below 0 where it is not `saved`; returns its summary."""
        if not saved:
            self._unsaved[record.run_id] = record
        summary = without_maps(record)
        self._records.append(summary)
        return summary

    def open_recording(self, path: Path) -> tuple[RunRecord, ...]:
        """Read a recording's runs beside the others, or once more. Raises SessionError if it cannot be read."""
        recording = Session(path, read_only=True, source=self._label(path))
        summaries = recording.summaries()
        if not summaries:
            raise SessionError(f"{path.name} holds no runs")
        self._recordings[recording.source] = recording
        self._records = [r for r in self._records if r.source != recording.source] + summaries
        return tuple(summaries)

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
        if not record.source and record.run_id in self._unsaved:
            return self._unsaved[record.run_id]
        return self._recordings.get(record.source, self.session).load(record.run_id)

    def bytes_of(self, record: RunRecord) -> int:
        """How much of a file is read to load the run of a summary; 0 where it is in memory, or cannot be read."""
        if not record.source and record.run_id in self._unsaved:
            return 0
        return self._recordings.get(record.source, self.session).bytes_of(record.run_id)

    def save_copy(self, path: Path, sealed: bool = False) -> int:
        """Write this session's runs to `path`, compressed; returns their number. `sealed` makes a recording of it.

        A file that is there is replaced only once the new one is whole. Raises SessionError, also where some runs can
        no longer be read, after it has written the others.
        """
        used = [self.session.path, *(recording.path for recording in self._recordings.values())]
        if path.resolve() in [other.resolve() for other in used]:
            raise SessionError(f"{path.name} is open in this window; allowed is another file")
        own = [record for record in self._records if not record.source]
        if sealed and not own:
            raise SessionError("this session has no runs yet, and none can be added to a recording")
        partial = path.with_name(f"{path.name}.part")
        try:
            partial.unlink(missing_ok=True)
            lost = self._copy(own, Session(partial), sealed, path)
            if len(lost) < len(own) or not own:
                partial.replace(path)
            else:
                partial.unlink()
        except OSError as error:
            raise SessionError(f"{path} cannot be written: {error.strerror}") from error
        if lost:
            saved = f"saved {len(own) - len(lost)} run(s) to {path}" if len(lost) < len(own) else "saved nothing"
            raise SessionError(f"{saved}; no longer in the session's file: {', '.join(lost)}")
        return len(own)

    def _copy(self, records: list[RunRecord], target: Session, sealed: bool, path: Path) -> list[str]:
        """Write `records` to `target`, which becomes `path`; returns those that cannot be read. Raises SessionError."""
        lost = []
        try:
            target.check()
        except SessionError as error:
            raise SessionError(f"{path} cannot be written: {error.__cause__ or error}") from error
        for record in records:
            try:
                whole = self.load(record)
            except SessionError:
                lost.append(f"run {record.run_id}")
                continue
            target.add(whole, compress=True)
        if sealed:
            target.seal()
        return lost


def without_maps(record: RunRecord) -> RunRecord:
    """A record without its large arrays."""
    checked = tuple(replace(check, error_map=None) for check in record.checked)
    states = record.states and replace(record.states, m_tile=None, m_running=None, l_running=None)
    return replace(record, checked=checked, states=states)
