"""The words for how a time was obtained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.samples import make_latency, make_record, recorded_state
from workbench.analysis.numbers import percent_text
from workbench.run.device_state import DeviceReadings
from workbench.run.events import Failed
from workbench.run.protocols import PROTOCOLS
from workbench.run.request import Problem
from workbench.stats.modes import Modes
from workbench.stats.summary import Interval
from workbench.words.known import no_readings_text, not_recorded, not_recorded_tip
from workbench.words.times import (
    half_width_text,
    how_known,
    how_known_text,
    interval_range_text,
    modes_text,
    protocol_tip,
    timed_seconds,
)


@pytest.mark.parametrize(
    ("share", "text"), [(0.006, "0.6%"), (0.0003, "0.03%"), (0.0996, "10.0%"), (0.12, "12%"), (0.0, "0.0%")]
)
def test_shares(share: float, text: str) -> None:
    assert percent_text(share) == text


def test_an_unbounded_or_missing_interval_is_no_number() -> None:
    latency = make_latency(np.full(3, 5.0), "cold")
    for interval in (None, Interval(0.0, float("inf"))):
        few = replace(latency, interval=interval, ended_by="time")
        assert half_width_text(few) == "" and interval_range_text(few) == ""
        assert how_known_text("SDPA", few) == "SDPA without an interval"


def test_modes_have_their_shares_and_units() -> None:
    assert modes_text(Modes((383.6, 1389.6), (0.82, 0.18))) == "two modes: 383.6 µs (82%) and 1.39 ms (18%)"


def test_protocols_have_their_meaning() -> None:
    assert protocol_tip("cold") == f"cold: {PROTOCOLS['cold'].meaning}"
    assert protocol_tip("of a later version") == "of a later version"


def test_of_two_medians_the_one_without_an_interval_is_known_least() -> None:
    record = make_record(1, Problem(8, 32, 4), protocol="warm")
    kernel, baseline = (m.measurement for m in record.measured)
    few = replace(baseline, latency=replace(baseline.latency, samples=np.full(3, 5.0), interval=None))
    wide = replace(kernel, latency=replace(kernel.latency, interval=Interval(0.0, 1e6)))
    assert max([few, wide, kernel], key=how_known) is few


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
