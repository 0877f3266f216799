"""How far a run has come, on stderr: written anew on a terminal, a line for each phase elsewhere."""

from __future__ import annotations

import re

import pytest

from workbench.cli.progress import AGAIN, ProgressLine
from workbench.run.events import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def told(
    capsys: pytest.CaptureFixture[str], is_terminal: bool, *steps: tuple[float, Progress], expected_s: float = 0
) -> str:
    """What is written of progress that is made at these times."""
    clock = Clock()
    line = ProgressLine(is_terminal, clock)
    line.expected_s = expected_s
    for at, progress in steps:
        clock.now = at
        line.take(progress)
    line.say("done")
    return capsys.readouterr().err


STEPS = tuple((0.5 * i, Progress("timing kernel", 10 * i, 100)) for i in range(11))


def test_elsewhere_each_phase_is_a_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, False, (0.0, Progress("drawing the inputs")), *STEPS, (9.0, Progress("checking again")))
    assert said.splitlines() == [
        f"tilescope: {text}" for text in ("drawing the inputs", "timing kernel", "checking again", "done")
    ]
    assert AGAIN not in said and "\r" not in said


def test_on_a_terminal_counts_and_the_time_left_are_written_anew(capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, True, *STEPS)
    shown = said.split(AGAIN)
    assert shown[1] == "tilescope: timing kernel, 0 of 100"
    assert shown[3] == "tilescope: timing kernel, 20 of 100, about 4.0 s left"
    assert shown[-1] == "tilescope: timing kernel, 100 of 100\ntilescope: done\n"
    assert said.count("\n") == 2


def test_a_limit_of_time_is_what_is_left_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, True, (0.0, Progress("timing", 0, 5000, "ms")), (2.0, Progress("timing", 2000, 5000, "ms")))
    assert "timing, 2.0 of 5 s, at most 3.0 s left" in said


def test_a_phase_that_counts_nothing_says_what_is_left_of_the_whole_run(capsys: pytest.CaptureFixture[str]) -> None:
    steps = ((0.0, Progress("checking the kernel")), (60.0, Progress("checking SDPA")), (300.0, Progress("states")))
    said = told(capsys, True, *steps, expected_s=240.0)
    assert "checking the kernel, about 4 min left of the whole run" in said
    assert "checking SDPA, about 3 min left of the whole run" in said
    assert "states\n" in said, "an estimate that was wrong is no promise"


def test_a_terminal_is_not_told_each_of_many_steps(capsys: pytest.CaptureFixture[str]) -> None:
    steps = tuple((0.001 * i, Progress("timing", i, 1000)) for i in range(1001))
    assert told(capsys, True, *steps).count(AGAIN) < 20


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_line_is_never_longer_than_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    said = told(capsys, True, (0.0, Progress("a phase with a long name " * 5, 1, 2)))
    lines = re.split(f"{re.escape(AGAIN)}|\n", said)
    assert max(map(len, lines)) < int(columns) and "…" in said
