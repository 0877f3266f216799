"""Marks of runs: kept beside them, told in copies, and never at the cost of what was measured."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.samples import make_record
from workbench.run.kept.marks import NO_MARKS, Marks
from workbench.run.library import Library
from workbench.run.record import RunKey
from workbench.run.session import Session, SessionError

EACH = (Marks(name="the good tile"), Marks(note="clocks\nwere low, µ"), Marks(starred=True), Marks(deleted=True))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    session = Session(tmp_path / "runs.tilescope")
    for number in (1, 2, 3):
        session.add(make_record(number))
    return session


def as_older(session: Session) -> list[tuple[object, ...]]:
    """What a program reads that knows two tables and no more."""
    with closing(sqlite3.connect(session.path)) as db:
        assert db.execute("select value from meta where name = 'format'").fetchone() == ("1",)
        return db.execute("select id, record, arrays from runs order by id").fetchall()


@pytest.mark.parametrize("marks", EACH, ids=str)
def test_a_mark_comes_back_and_changes_nothing_that_was_measured(session: Session, marks: Marks) -> None:
    before = as_older(session)
    Library(session).mark({RunKey("", 2): marks})
    again = Library(session)
    assert [again.marks(RunKey("", number)) for number in (1, 2, 3)] == [NO_MARKS, marks, NO_MARKS]
    assert as_older(session) == before
    again.mark({RunKey("", 2): NO_MARKS})
    assert Library(session).marks(RunKey("", 2)) == NO_MARKS


def test_a_file_without_marks_has_none(session: Session) -> None:
    with closing(sqlite3.connect(session.path)) as db:
        names = {name for (name,) in db.execute("select name from sqlite_master where type = 'table'")}
    assert session.marks() == {} and "marks" not in names


def test_a_deleted_run_is_hidden_and_comes_back(session: Session) -> None:
    library = Library(session)
    library.mark({RunKey("", 2): Marks(name="mine", deleted=True)})
    assert [run.run_id for run in library.records()] == [1, 3]
    assert [run.run_id for run in library.deleted()] == [2] and session.load(2).states is not None
    assert session.add(make_record(4)).run_id == 4, "its number is not given again"
    library.mark({RunKey("", 2): Marks(name="mine")})
    assert [run.run_id for run in library.records()] == [1, 2, 3] and not library.deleted()


def test_copies_have_the_marks_and_say_how_many_they_leave_out(session: Session, tmp_path: Path) -> None:
    library = Library(session)
    named = Marks(name="second", note="why", starred=True)
    library.mark({RunKey("", 1): Marks(deleted=True), RunKey("", 2): named})
    for name, sealed in (("copy", False), ("recording", True)):
        path = tmp_path / f"{name}.tilescope"
        copied = library.save_copy(path, sealed)
        assert copied == (2, 1) and str(copied) == "2 runs (1 deleted left out)"
        copy = Session(path, read_only=sealed)
        assert [run.run_id for run in copy.summaries()] == [2, 3], "a run keeps the number that its note names"
        assert copy.marks() == {2: named}
        assert library.open_recording(path).column("name") == ["second", ""]


def test_runs_that_are_only_read_refuse_marks_in_one_line(session: Session, tmp_path: Path) -> None:
    library = Library(Session(tmp_path / "own.tilescope"))
    library.open_recording(session.path)
    before = session.path.read_bytes()
    for marks in EACH:
        with pytest.raises(SessionError, match=r"^run 2 is of runs, which is only read: it cannot be marked$"):
            library.mark({RunKey("", 1): marks, RunKey("runs", 2): marks})
    assert library.marks(RunKey("", 1)) == library.marks(RunKey("runs", 2)) == NO_MARKS, "all or none"
    assert session.path.read_bytes() == before


def test_a_run_in_no_file_is_marked_while_the_window_lives(session: Session, tmp_path: Path) -> None:
    library = Library(session)
    unsaved = replace(make_record(9), run_id=-1)
    library.add(unsaved, saved=False)
    library.mark({unsaved.key: Marks(name="unsaved")})
    assert library.marks(unsaved.key).name == "unsaved" and session.marks() == {}
    library.save_copy(tmp_path / "copy.tilescope")
    assert Session(tmp_path / "copy.tilescope").marks() == {4: Marks(name="unsaved")}


@pytest.mark.parametrize("value", ["x'ff'", "cast(x'ff' as text)", "7", "'yes'"])
@pytest.mark.parametrize("column", ["name", "note", "starred", "deleted"])
def test_a_mark_of_another_kind_is_no_reason_to_refuse_a_file(session: Session, column: str, value: str) -> None:
    session.mark({1: Marks(name="one", note="two", starred=True)})
    with closing(sqlite3.connect(session.path)) as db:
        db.execute(f"update marks set {column} = {value}")
        db.commit()
    marks = Library(session).marks(RunKey("", 1))
    assert all(isinstance(getattr(marks, name), kind) for name, kind in (("name", str), ("note", str)))
    assert len(Library(session).records()) == 3


def test_a_recording_of_deleted_runs_alone_is_refused_in_one_line(session: Session, tmp_path: Path) -> None:
    session.mark(dict.fromkeys((1, 2, 3), Marks(deleted=True)))
    library = Library(Session(tmp_path / "own.tilescope"))
    with pytest.raises(SessionError, match=r"^runs\.tilescope holds no runs but deleted ones$"):
        library.open_recording(session.path)
    assert not library.records() and not library.deleted()
