"""Which runs can stand in one trend: found by the index alone."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tests.samples import make_record
from workbench.analysis.listing.fields import INDEX
from workbench.analysis.listing.near import near
from workbench.run.library import Library
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.run.session import Session

PROBLEM = Problem(8, 32, 4, heads=2, kv_heads=2)
OTHERS = {"dtype": "fp16", "inputs": "uniform", "causal": True, "seed": 7, "kv_heads": 1}


def of(problem: Problem) -> RunRecord:
    record = make_record(1, PROBLEM, launches=5)
    return replace(record, started=replace(record.started, request=replace(record.started.request, problem=problem)))


@pytest.mark.parametrize("name", [field.name for field in fields(Problem)])
def test_runs_that_differ_in_one_value_are_near_and_others_are_not(tmp_path: Path, name: str) -> None:
    one: dict[str, Any] = {name: OTHERS.get(name, 2 * getattr(PROBLEM, name))}
    two = one | ({"m": 16} if name != "m" else {"n": 64})
    session = Session(tmp_path / "s.tilescope", index=INDEX)
    for problem in (PROBLEM, replace(PROBLEM, **one), replace(PROBLEM, **two)):
        session.add(of(problem))
    found = near(Library(session).records(), PROBLEM)
    assert [key.number for key in found.keys] == ([1, 2, 3] if name == "seed" else [1, 2])
