"""The words for how a time was obtained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.samples import make_latency, recorded_state
from workbench.device_state import DeviceTrace, DeviceWarning
from workbench.model import Problem, RunRequest
from workbench.modes import Modes
from workbench.request import PROTOCOLS
from workbench.statistics import Interval
from workbench.ui import measure_words as words

REQUEST = RunRequest(Problem(16, 32, 8), max_seconds=2.5)


@pytest.mark.parametrize(
    ("share", "text"), [(0.006, "0.6%"), (0.0003, "0.03%"), (0.0996, "10.0%"), (0.12, "12%"), (0.0, "0.0%")]
)
def test_shares(share: float, text: str) -> None:
    assert words.percent_text(share) == text


def test_an_unbounded_or_missing_interval_is_no_number() -> None:
    latency = make_latency(np.full(3, 5.0), "cold")
    for interval in (None, Interval(0.0, float("inf"))):
        few = replace(latency, interval=interval, ended_by="time")
        assert words.half_width_text(few) == "" and words.interval_range_text(few) == ""
        assert words.ended_text(few, REQUEST) == "limit of 2.5 s: too few samples for an interval"


def test_modes_have_their_shares_and_units() -> None:
    assert words.modes_text(Modes((383.6, 1389.6), (0.82, 0.18))) == "two modes: 383.6 µs (82%) and 1.39 ms (18%)"


def test_protocols_have_their_meaning() -> None:
    assert words.protocol_tip("cold") == f"cold: {PROTOCOLS['cold']}"
    assert words.protocol_tip("of a later version") == "of a later version"


def test_warnings_in_a_few_words() -> None:
    assert words.warning_text(DeviceWarning("clocks", "clocks not steady: from 1 to 2 MHz")) == "clocks not steady"
    assert words.warning_text(DeviceWarning("inputs", "inputs are zeros: they flatter")) == "zeros flatter"


def test_a_trace_says_how_long_timing_took_or_why_there_is_none() -> None:
    trace = recorded_state("throttled").trace
    assert words.timed_seconds(trace) == pytest.approx(3.1399 - 0.1002)
    assert words.no_trace_text(trace) == ""
    empty = DeviceTrace.without("no NVML")
    assert words.timed_seconds(empty) is None
    assert words.no_trace_text(empty) == "no device state: no NVML"
