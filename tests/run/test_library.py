"""What the library hands out is of the file that it says, and what is in no file can be put into one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.samples import make_record
from workbench.run.kept.marks import Marks
from workbench.run.library import Library
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.run.session import Session, SessionError


def recorded(folder: Path, name: str, problem: Problem) -> Path:
    path = folder / f"{name}.tilescope"
    session = Session(path)
    session.add(make_record(1, problem))
    session.seal()
    return path


def unsaved(library: Library, number: int) -> RunRecord:
    return library.add(replace(make_record(number, Problem(8, 8, 8)), run_id=-number), saved=False)


def test_a_run_of_a_closed_recording_is_not_another_of_its_number(tmp_path: Path) -> None:
    session = Session(tmp_path / "own.tilescope")
    session.add(make_record(1, Problem(16, 16, 16)))
    library = Library(session)
    (run,) = library.open_recording(recorded(tmp_path, "other", Problem(32, 32, 32)))
    library.close_recording(run.source)
    with pytest.raises(SessionError, match="run 1 is of other, which is closed"):
        library.load(run)
    assert library.bytes_of(run) == 0


def test_a_session_can_be_left_once_a_copy_has_what_is_in_no_file(tmp_path: Path) -> None:
    """Also what was deleted before it could be written: the copy takes it along, deleted as it is."""
    library = Library(Session(tmp_path / "own.tilescope"))
    kept, deleted = unsaved(library, 1), unsaved(library, 2)
    library.mark({deleted.key: Marks(deleted=True)})
    with pytest.raises(SessionError, match="2 runs of this session could not be written"):
        library.use(Session(tmp_path / "next.tilescope"))
    copy = tmp_path / "copy.tilescope"
    assert str(library.save_copy(copy)) == "1 run (1 deleted left out)" and kept.key != deleted.key
    library.use(Session(tmp_path / "next.tilescope"))
    marks = Session(copy).marks()
    assert len(Session(copy).numbers()) == 2 and [one.deleted for one in marks.values()] == [True]


def test_a_recording_has_no_deleted_runs(tmp_path: Path) -> None:
    library = Library(Session(tmp_path / "own.tilescope"))
    unsaved(library, 1)
    library.mark({unsaved(library, 2).key: Marks(deleted=True)})
    copy = tmp_path / "copy.tilescope"
    library.save_copy(copy, sealed=True)
    assert len(Session(copy, read_only=True).numbers()) == 1


def test_a_copy_that_fails_leaves_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(Session(tmp_path / "own.tilescope"))
    unsaved(library, 1)

    def full(*arguments: object, **options: object) -> None:
        raise SessionError("the disk is full")

    monkeypatch.setattr(Session, "add", full)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SessionError, match="the disk is full"):
        library.save_copy(tmp_path / "copy.tilescope")
    assert sorted(tmp_path.iterdir()) == before
