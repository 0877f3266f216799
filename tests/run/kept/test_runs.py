"""Many runs are listed, sorted and chosen without reading them; what is looked at is read, once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.samples import make_record
from workbench.analysis.listing.fields import INDEX
from workbench.analysis.listing.filter import parse_filter
from workbench.run import codec
from workbench.run import session as session_module
from workbench.run.kept.rows import Index
from workbench.run.kept.runs import Held, Runs
from workbench.run.library import Library
from workbench.run.record import RunKey
from workbench.run.request import Problem
from workbench.run.session import Session

MANY = 300


class Reads:
    """How often a run's text was turned into a record."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        decode = codec.decode

        def counted(*arguments: object) -> object:
            self.count += 1
            return decode(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(session_module, "decode", counted)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reads]:
    yield Reads(monkeypatch)


def session_of(path: Path, count: int = MANY, index: Index | None = INDEX) -> Session:
    """A session of `count` runs, of which all but the first are copies of rows, which is what takes the time."""
    session = Session(path, index=index)
    for number in (1, 2):
        session.add(make_record(number, Problem(16 * number, 32, 8), kernel_us=100.0 * number))
    if count > 2:
        copy_rows(session, count)
    return session


def copy_rows(session: Session, count: int) -> None:
    """Put the two runs of a session into it again and again, odd and even."""
    with closing(sqlite3.connect(session.path)) as db:
        every = f"with recursive n(i) as (select 3 union all select i + 1 from n where i < {count})"
        db.execute(f"{every} insert into runs select i, record, arrays from n join runs on id = 2 - i % 2")
        if db.execute("select 1 from sqlite_master where name = 'rows'").fetchone():
            names = ", ".join(f'"{name}"' for name in INDEX.names)
            db.execute(f"{every} insert into rows select i, {names} from n join rows on id = 2 - i % 2")
        db.commit()


def test_runs_are_listed_and_chosen_without_reading_one(tmp_path: Path, reads: Reads) -> None:
    session_of(tmp_path / "s.tilescope")
    runs = Library(Session(tmp_path / "s.tilescope", index=INDEX)).records()
    assert len(runs) == MANY and runs.keys[-1] == RunKey("", MANY)
    assert isinstance(runs.column("figure")[0], float) and len(runs.where(m=32)) == MANY // 2
    assert len(parse_filter("time<150us article -failed").places(runs)) == MANY // 2
    assert reads.count == 0
    assert runs[7].run_id == 8 and runs[7] is runs[7] and reads.count == 1


def test_what_the_index_says_is_what_the_runs_say(tmp_path: Path) -> None:
    session_of(tmp_path / "s.tilescope", 6)
    runs = Library(Session(tmp_path / "s.tilescope", index=INDEX)).records()
    rows = [INDEX.of(record) for record in runs]
    for name in INDEX.names:
        assert runs.column(name) == [row[name] for row in rows], name


@pytest.mark.parametrize("older", [None, Index(("m",), lambda record: (1,))], ids=["none", "of other columns"])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_without_this_index_gets_it_once(
    tmp_path: Path, reads: Reads, older: Index | None, read_only: bool
) -> None:
    path = tmp_path / "s.tilescope"
    session_of(path, 2, index=older)
    before = path.read_bytes()
    for again in (False, True):
        reads.count = 0
        runs = Library(Session(path, index=INDEX)).records() if not read_only else opened(tmp_path, path)
        assert runs.column("m") == [16, 32] and runs.column("wrong") == [0, 0]
        assert reads.count == (0 if again and not read_only else 2)
    assert (path.read_bytes() == before) == read_only


def opened(folder: Path, path: Path) -> Runs:
    return Library(Session(folder / "own.tilescope", index=INDEX)).open_recording(path)


def test_runs_of_an_older_program_are_found_between_others(tmp_path: Path, reads: Reads) -> None:
    path = tmp_path / "s.tilescope"
    session_of(path)
    Session(path).add(make_record(3))  # which knows of no index
    Session(path, index=INDEX).add(make_record(4))
    reads.count = 0
    runs = Library(Session(path, index=INDEX)).records()
    assert len(runs) == MANY + 2 and reads.count == 1
    assert runs.column("m")[-2:] == [128, 128]


def test_a_run_that_ends_is_in_every_column(tmp_path: Path, reads: Reads) -> None:
    session = session_of(tmp_path / "s.tilescope", 2)
    library = Library(session)
    assert library.records().column("m") == [16, 32]
    before = library.records()
    kept = library.add(session.add(make_record(3)), saved=True)
    runs = library.records()
    assert runs.column("m") == [16, 32, 128] == [*before.column("m"), 128] and len(before) == 2
    assert len(runs.column("figure")) == 3 and runs[2] is kept and reads.count == 0


def test_a_run_of_this_window_is_not_lost_with_its_file(tmp_path: Path) -> None:
    session = Session(tmp_path / "s.tilescope", index=INDEX)
    library = Library(session)
    kept = library.add(session.add(make_record(1)), saved=True)
    session.path.unlink()
    assert library.records()[0] is kept and library.records().column("m") == [128]


def test_a_run_that_is_gone_from_its_file_says_so(tmp_path: Path) -> None:
    session = session_of(tmp_path / "s.tilescope", 2)
    library = Library(Session(session.path, index=INDEX))
    with closing(sqlite3.connect(session.path)) as db:
        db.execute("delete from runs where id = 2")
        db.commit()
    first, second = library.records()
    assert first.measured and second.has_nothing and second.is_unreadable


def test_a_recording_is_closed_with_its_runs(tmp_path: Path) -> None:
    session_of(tmp_path / "r.tilescope", 3)
    library = Library(session_of(tmp_path / "s.tilescope", 2))
    library.open_recording(tmp_path / "r.tilescope")
    before = library.records()
    assert before.column("source") == ["", "", "r", "r", "r"] and before.column("m") == [16, 32, 16, 32, 16]
    library.close_recording("r")
    assert library.records().column("m") == [16, 32] and len(before) == 5


def test_only_the_runs_looked_at_last_are_held() -> None:
    held, read = Held(most=2), []

    def record_of(key: RunKey) -> object:
        read.append(key.number)
        return object()

    for number in (1, 2, 1, 3, 1, 2):
        held.get(RunKey("", number), record_of)  # type: ignore[arg-type]
    assert read == [1, 2, 3, 2]


def test_who_asks_for_no_column_is_told_of_all_runs_by_any_index(tmp_path: Path, reads: Reads) -> None:
    session_of(tmp_path / "s.tilescope", 5)
    Session(tmp_path / "s.tilescope").add(make_record(6))
    assert Session(tmp_path / "s.tilescope").numbers() == [1, 2, 3, 4, 5, 6] and reads.count == 0
