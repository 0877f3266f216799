"""Runs beside each other: what differs, what is no ratio and why, and who is the fastest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, INTERPRETER, make_record
from workbench.analysis.comparison import against, why_not
from workbench.run.events import Failed
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.run.session import Session
from workbench.words.comparing import BEYOND, TIE, Compared, change_text, compared, differing_settings

PROBLEM = Problem(32, 64, 16)
RECORDING = Path("assets/recordings/h200-article-shapes.tilescope")


def run(number: int = 1, us: float = 380.0, problem: Problem = PROBLEM, **made: object) -> RunRecord:
    return make_record(number, problem, kernel_us=us, **made)  # type: ignore[arg-type]


def texts(found: Compared, title: str) -> list[str]:
    return [entry.text for row in found.rows if row.title == title for entry in row.entries]


def test_a_newcomer_is_told_the_fastest_tile_by_how_much_and_whether_that_is_noise() -> None:
    runs = [r for r in Session(RECORDING, read_only=True).summaries() if r.started.request.problem.n == 4096]
    answer = compared(runs).answer
    assert "16×16 is the fastest: 753.6 µs" in answer
    assert "32×32, takes 1.142× as long" in answer
    assert BEYOND in answer


def test_a_difference_within_noise_is_called_a_tie() -> None:
    found = compared([run(1, 380.0), run(2, 380.2)])
    assert TIE in found.answer
    assert texts(found, "that is")[1].startswith(TIE)


@pytest.mark.parametrize("name", [field.name for field in fields(Problem)])
def test_each_setting_of_a_problem_is_a_row_where_it_differs_and_none_where_not(name: str) -> None:
    values: dict[str, Any] = {"dtype": "fp16", "causal": True, "inputs": "zeros"}
    one = run()
    asked = replace(one.started.request, problem=replace(PROBLEM, **{name: values.get(name, 7)}))
    other = replace(one, run_id=2, started=replace(one.started, request=asked))
    assert len(list(differing_settings([one, other]))) == 1
    assert not list(differing_settings([one, replace(one, run_id=2)]))


@pytest.mark.parametrize("name", [field.name for field in fields(TileConfig)])
def test_each_field_of_a_tile_is_one_too(name: str) -> None:
    tile = TileConfig()
    one, other = run(tile=tile), run(2, tile=replace(tile, **{name: 32}))
    assert len(list(differing_settings([one, other]))) == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda: run(2, problem=replace(PROBLEM, n=128)),
        lambda: run(2, problem=replace(PROBLEM, causal=True)),
        lambda: run(2, device=replace(GPU, name="Another GPU")),
        lambda: run(2, device=INTERPRETER),
        lambda: run(2, protocol="cold"),
        lambda: run(2, passed=False),
        lambda: run(2, failure=Failed("memory", "out of memory")),
    ],
)
def test_what_cannot_be_compared_has_no_ratio_and_says_why(other: Callable[[], RunRecord]) -> None:
    one, two = run(), other()
    for held in (against(one, two), against(two, one)):
        assert held.ratio is None
        assert held.why
    found = compared([one, two])
    assert texts(found, "against the reference")[1] == f"no ratio: {why_not(two, one)}"


def test_two_runs_of_the_interpreter_have_none_either() -> None:
    assert "interpreter" in why_not(run(device=INTERPRETER), run(2, device=INTERPRETER))


def test_the_reference_is_the_first_that_was_measured_or_the_one_that_is_wanted() -> None:
    failed, one, two = run(1, failure=Failed("memory", "out of memory")), run(2), run(3)
    assert compared([failed, one, two]).reference == 1
    assert compared([failed, one, two], two.key).reference == 2


@pytest.mark.parametrize(
    ("factor", "text"), [(1.142, "+14.2%"), (0.969, "−3.1%"), (1.0001, "±0%"), (12.3, "×12.3"), (0.05, "−95.0%")]
)
def test_a_change_reads_as_percent_with_a_minus_sign(factor: float, text: str) -> None:
    assert change_text(factor) == text
