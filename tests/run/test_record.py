"""A run's record: what is wrong with it, and how its events add up to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.samples import events_of, make_record, recorded_state
from workbench.run.events import Measured, Progress
from workbench.run.measurement import ROLES, Role
from workbench.run.record import RunBuilder, RunRecord
from workbench.run.request import Problem

RECORD = make_record(1, Problem(8, 32, 4), protocol="cold", device_state=recorded_state("steady"))


def changed(role: Role) -> RunRecord:
    """The run in which the output of `role` was another one after timing."""
    return replace(RECORD, rechecked=tuple(replace(r, failed=r.role == role) for r in RECORD.rechecked))


def unchecked(role: Role) -> RunRecord:
    """The run in which the output of `role` was outside its tolerance."""
    checks = tuple(replace(c, error=replace(c.error, passed=c.role != role)) for c in RECORD.checked)
    return replace(RECORD, checked=checks)


@pytest.mark.parametrize("spoiled", [changed, unchecked], ids=["changed while timing", "outside its tolerance"])
@pytest.mark.parametrize("role", ROLES)
def test_a_wrong_output_is_of_its_role_and_of_the_run(spoiled: object, role: Role) -> None:
    record = changed(role) if spoiled is changed else unchecked(role)
    other: Role = ROLES[1 - ROLES.index(role)]
    assert record.is_wrong(role) and record.is_wrong() and not record.passed
    assert not record.is_wrong(other)


def test_a_right_run_is_not_wrong_nor_is_one_that_was_not_checked() -> None:
    assert RECORD.passed and not any(map(RECORD.is_wrong, ROLES))
    nothing = RunRecord(1, RECORD.started)
    assert nothing.passed and nothing.error("kernel") is None and nothing.recheck("kernel") is None


def test_a_measurement_that_did_not_pass_is_wrong_without_its_check() -> None:
    kernel = RECORD.measured[0].measurement
    bad = Measured(replace(kernel, error=replace(kernel.error, passed=False)))
    assert replace(RECORD, checked=(), measured=(bad,)).is_wrong("kernel")


def test_the_events_of_a_run_add_up_to_it_also_if_they_come_twice() -> None:
    builder = RunBuilder(RECORD.started.request, 1)
    for event in [*events_of(RECORD), *events_of(RECORD)]:
        builder.take(event)
    record = builder.record()
    assert {c.role for c in record.checked} == set(ROLES) and len(record.checked) == 2
    assert len(record.measured) == len(record.rechecked) == 2
    assert record.comparison is RECORD.comparison and record.end is RECORD.end
    assert record.device_state is RECORD.device_state
    builder.take(Progress("timing", 1, 2))
    assert builder.record() is record
