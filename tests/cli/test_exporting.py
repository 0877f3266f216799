"""`export`: which runs it takes, and what it refuses in a line."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.command_line import RECORDING, ROOT
from tests.samples import make_record
from workbench.cli.entry import run_command_line
from workbench.cli.exits import EXIT_INVALID, EXIT_PASSED
from workbench.cli.exporting import spans_text
from workbench.run.session import Session

SESSION = ("--session", str(ROOT / RECORDING))


def numbers_in(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row["run"] for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("runs", "written"),
    [((), list(range(1, 14))), (("--runs", "3"), [3]), (("--runs", "9,1, 3-5,4"), [1, 3, 4, 5, 9])],
    ids=str,
)
def test_it_writes_those_runs_that_are_asked_for(tmp_path: Path, runs: tuple[str, ...], written: list[int]) -> None:
    out = tmp_path / "runs.csv"
    assert run_command_line(["export", str(out), *SESSION, *runs]) == EXIT_PASSED
    assert numbers_in(out) == [str(number) for number in written]


def test_a_file_that_is_there_is_only_written_over_by_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "runs.csv"
    out.write_text("mine")
    assert run_command_line(["export", str(out), *SESSION]) == EXIT_INVALID
    assert "is there already; allowed is another name, or --force" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert run_command_line(["export", str(out), *SESSION, "--force"]) == EXIT_PASSED
    assert len(numbers_in(out)) == 13


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("runs.csv",), "export needs --session FILE"),
        (("runs.xls", *SESSION), "runs.xls is no table's name; allowed are names that end in .csv, .tsv, .json"),
        (("none/runs.csv", *SESSION), "none/runs.csv cannot be written: No such file"),
        (("runs.csv", "--session", "none.tilescope"), "none.tilescope is not a session that can be read"),
        (("runs.csv", *SESSION, "--runs", "99"), "run is 99; h200-article-shapes.tilescope has 1 to 13"),
        (("runs.csv", *SESSION, "--runs", "3-99"), "run is 99; h200-article-shapes.tilescope has 1 to 13"),
        (("runs.csv", *SESSION, "--runs", "x"), "'x' is no run; allowed are numbers and ranges such as 1,3,5-9"),
        (("runs.csv", *SESSION, "--runs", "5-3"), "'5-3' is no run"),
        (("runs.csv", *SESSION, "--runs", ""), "'' is no run"),
    ],
)
def test_what_cannot_work_is_one_line(
    arguments: tuple[str, ...],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["export", *arguments]) == EXIT_INVALID
    said = capsys.readouterr()
    assert words in said.err and len(said.err.splitlines()) == 1 and not said.out
    assert not list(tmp_path.iterdir())


def test_runs_with_gaps_are_named_as_people_write_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spans_text({1, 2, 3, 7, 9, 10}) == "1 to 3, 7, 9 to 10"
    session = Session(tmp_path / "own.tilescope")
    for number in (1, 2):
        session.add(make_record(number))
    assert run_command_line(["export", str(tmp_path / "out.json"), "--session", str(session.path)]) == EXIT_PASSED
    assert "2 runs in" in capsys.readouterr().err
