"""Runs that were deleted in the window: the command line leaves them out, and says so."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.samples import GPU, make_record
from workbench.cli.entry import run_command_line
from workbench.cli.exits import EXIT_INVALID, EXIT_PASSED
from workbench.run.kept.marks import Marks
from workbench.run.request import Problem
from workbench.run.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Path:
    session = Session(tmp_path / "s.tilescope")
    for number in (1, 2, 3):
        session.add(make_record(number, Problem(16, 32, 8), device=GPU))
    session.mark({2: Marks(deleted=True)})
    return session.path


def test_a_picture_of_a_deleted_run_is_refused_in_one_line(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], qapp: object
) -> None:
    picture = tmp_path / "p.png"
    arguments = ["screenshot", str(picture), "--session", str(session), "--run"]
    assert run_command_line([*arguments, "2"]) == EXIT_INVALID
    said = capsys.readouterr().err
    assert "run 2 of s.tilescope was deleted" in said and len(said.splitlines()) == 1
    assert run_command_line([*arguments, "9"]) == EXIT_INVALID
    assert "run is 9; s.tilescope has 1, 3" in capsys.readouterr().err
    assert not picture.exists()


def test_an_export_leaves_them_out_and_says_so(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs.csv"
    assert run_command_line(["export", str(out), "--session", str(session)]) == EXIT_PASSED
    assert "2 runs in" in (said := capsys.readouterr().err) and "1 deleted one left out" in said
    with out.open(newline="", encoding="utf-8") as file:
        assert [row["run"] for row in csv.DictReader(file)] == ["1", "3"]
