"""The words for what is known of a run, and what was not recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.samples import make_record, recorded_state
from workbench.run.device_state import DeviceReadings
from workbench.run.events import Failed
from workbench.run.request import Problem
from workbench.words.known import no_readings_text, not_recorded, not_recorded_tip
from workbench.words.times import timed_seconds


def test_what_was_not_recorded_is_asked_of_runs_that_were_measured_only() -> None:
    record = make_record(1, Problem(8, 32, 4))
    assert not_recorded(record) == ("device state", "source", "recheck")
    assert not_recorded(replace(record, end=Failed("cancelled", ""))) == ("device state", "source")
    assert not_recorded(replace(record, end=None)) == ()  # it may come yet
    assert not_recorded(replace(record, measured=())) == ()
    assert not_recorded(make_record(1, Problem(8, 32, 4), protocol="cold")) == ("device state", "source")
    assert len(not_recorded_tip(not_recorded(record)).splitlines()) == 3


def test_readings_say_how_long_timing_took_or_why_there_are_none() -> None:
    readings = recorded_state("throttled").readings
    assert timed_seconds(readings) == pytest.approx(3.1399 - 0.1002)
    assert no_readings_text(readings) == ""
    empty = DeviceReadings.without("no NVML")
    assert timed_seconds(empty) is None
    assert no_readings_text(empty) == "no device state: no NVML"
