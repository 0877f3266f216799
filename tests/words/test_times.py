"""The words that the window and the command line share for how times were obtained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.samples import INTERPRETER, make_latency, make_record
from workbench.analysis.metrics import interval_of
from workbench.engine.device.watch import Watch
from workbench.engine.host.stopping import StopFlag
from workbench.engine.timing.measure import time_in_turns
from workbench.run.events import Progress, RunEvent
from workbench.run.measurement import Ending, Latency
from workbench.run.protocols import PROTOCOLS
from workbench.run.request import Problem, RunRequest
from workbench.stats.modes import Modes
from workbench.stats.summary import BETWEEN_RUNS, Interval, median_interval
from workbench.words.times import (
    counts_text,
    counts_time,
    ended_text,
    figure_text,
    figure_tip,
    half_width_text,
    how_known,
    how_known_text,
    interval_range_text,
    launches_text,
    modes_text,
    protocol_tip,
    steps_text,
)

REQUEST = RunRequest(Problem(16, 32, 8), device="interpreter", protocol="warm", max_seconds=2.5, max_samples=20_000)


def of_half(latency: Latency, half: float, **changes: object) -> Latency:
    """`latency` whose median is known to `half`."""
    interval = Interval(latency.median * (1 - half), latency.median * (1 + half))
    return replace(latency, interval=interval, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ended_by", "rounds", "seconds", "words"),
    [
        ("precision", 12, 3.24, "50 launches in 12 rounds, 3.2 s: median ±0.6%"),
        ("precision", 12, None, "50 launches in 12 rounds: median ±0.6%"),
        ("time", 12, 2.5, "50 launches in 12 rounds, ended by the limit of 2.5 s: median ±0.6%"),
        ("samples", 1, None, "50 launches in 1 round, ended by the limit of 20,000 samples: median ±0.6%"),
        ("fixed", 0, None, "50 launches: median ±0.6%"),
    ],
)
def test_how_a_timing_ended(ended_by: Ending, rounds: int, seconds: float | None, words: str) -> None:
    latency = of_half(make_latency(np.full(50, 380.0), "cold"), 0.006, ended_by=ended_by, rounds=rounds)
    assert ended_text(latency, REQUEST, seconds) == words


def test_too_few_is_said_only_of_too_few() -> None:
    one, five, six = (make_latency(np.linspace(5, 6, count), "block") for count in (1, 5, 6))
    assert ended_text(one, REQUEST) == "1 launch: too few for an interval"
    assert ended_text(five, REQUEST) == "5 launches: too few for an interval"
    assert ended_text(replace(six, interval=None), REQUEST).startswith("6 launches: median ±")


def test_the_interval_that_an_old_recording_lacks_is_that_of_its_samples() -> None:
    samples = np.random.default_rng(1).normal(380, 2, 20)
    latency = replace(make_latency(samples, "block"), interval=None)
    assert interval_of(latency) == median_interval(samples, unseen=BETWEEN_RUNS)
    assert interval_of(replace(latency, interval=Interval(1.0, 2.0))) == Interval(1.0, 2.0)
    assert interval_of(replace(latency, interval=Interval(0.0, float("inf")))) is None
    assert interval_of(replace(latency, samples=samples[:3])) is None
    assert interval_of(replace(latency, samples=samples[:0])) is None


def test_replays_are_counted_as_replays() -> None:
    graph = replace(make_latency(np.full(320, 5.0), "graph"), launches=8000, launches_per_sample=25)
    assert launches_text(graph) == "320 replays × 25 launches"
    assert ended_text(graph, REQUEST).startswith("320 replays × 25 launches in 10 rounds")
    assert launches_text(replace(graph, launches=320, launches_per_sample=1)) == "320 launches"


def test_launches_of_both_are_counted_together() -> None:
    warm, graph = PROTOCOLS["warm"], PROTOCOLS["graph"]
    ended = make_latency(np.full(50, 5.0), "warm")
    replays = replace(make_latency(np.full(320, 5.0), "graph"), launches=8000, launches_per_sample=25)
    assert counts_text(warm, [ended, 50]) == "50 launches each"
    assert counts_text(warm, [1]) == "1 launch" and counts_text(warm, []) == ""
    assert counts_text(warm, [ended, 1200]) == "50 + 1,200 launches"
    assert counts_text(graph, [replays, 12]) == "320 replays × 25 launches + 12 replays"


def test_each_protocols_figure_has_its_name() -> None:
    block = make_latency(np.full(50, 5.0), "block")
    assert figure_text(block) == "average of 50 launches"
    assert figure_tip(block) == "block: average of 50 launches in one unbroken block"
    host = replace(make_latency(np.full(4, 5.0), "block", INTERPRETER), block_average_us=5.0)  # as it once was
    assert figure_tip(host) == "block: average of 4 launches, each timed by the host's clock"
    assert figure_tip(make_latency(np.full(50, 5.0), "warm")) == "warm: median"


def test_a_protocol_means_something_else_by_the_hosts_clock() -> None:
    for name in ("block", "warm"):
        assert protocol_tip(name, "host") == f"{name}: {PROTOCOLS[name].on_host}"
    assert "CUDA events" in protocol_tip("warm", "cuda events")


def test_times_of_modes_are_written_as_all_times_are() -> None:
    text = modes_text(Modes((28_040.0, 31_980.0), (0.3, 0.7)))
    assert text == "two modes: 28.04 ms (30%) and 31.98 ms (70%)"
    assert modes_text(Modes((383.6, 1389.6), (0.82, 0.18))) == "two modes: 383.6 µs (82%) and 1.39 ms (18%)"


def test_steps_are_counted_and_limits_are_of_time() -> None:
    assert steps_text(Progress("timing article", 20, 100)) == "20 of 100"
    assert steps_text(Progress("compiling")) == ""
    assert steps_text(Progress("timing kernel and baseline in turns: warm", 7608, 20_000, "ms")) == "7.6 of 20 s"


def test_the_engine_says_where_it_counts_time() -> None:
    sent: list[RunEvent] = []
    request = replace(REQUEST, max_seconds=0.05)
    launches = {"kernel": lambda: None, "baseline": lambda: None}
    watch = Watch(None, request.problem, sent.append)
    time_in_turns(request, launches, None, sent.append, StopFlag(), watch)  # type: ignore[arg-type]
    limited = [event for event in sent if isinstance(event, Progress) and event.total]
    assert limited and all(counts_time(event) for event in limited)
    assert {event.total for event in limited} == {50}
    assert steps_text(limited[-1]).endswith("of 0.05 s")


@pytest.mark.parametrize(
    ("below", "above", "text"),
    [
        (0.45, 2.7, "−45%/+270%"),
        (0.012, 0.006, "−1.2%/+0.6%"),
        (0.6, 166.05, "−60%/×167"),  # digits of a bound that bounds nothing would only seem to say something
        (0.010, 0.014, "±1.2%"),  # less than 1.5 times as far
        (0.0, 0.004, "−0.0%/+0.4%"),
        (0.00004, 0.00001, "±0.00%"),  # what is printed of both sides is the same
    ],
)
def test_a_lopsided_interval_says_both_its_sides(below: float, above: float, text: str) -> None:
    latency = make_latency(np.full(50, 20.2e3), "warm")
    latency = replace(latency, interval=Interval(latency.median * (1 - below), latency.median * (1 + above)))
    assert half_width_text(latency) == text
    assert ended_text(latency, REQUEST).endswith(f"median {text}")


def test_an_unbounded_or_missing_interval_is_no_number() -> None:
    latency = make_latency(np.full(3, 5.0), "cold")
    for interval in (None, Interval(0.0, float("inf"))):
        few = replace(latency, interval=interval, ended_by="time")
        assert half_width_text(few) == "" and interval_range_text(few) == ""
        assert how_known_text("SDPA", few) == "SDPA without an interval"


def test_protocols_have_their_meaning() -> None:
    assert protocol_tip("cold") == f"cold: {PROTOCOLS['cold'].meaning}"
    assert protocol_tip("of a later version") == "of a later version"


def test_of_two_medians_the_one_without_an_interval_is_known_least() -> None:
    record = make_record(1, Problem(8, 32, 4), protocol="warm")
    kernel, baseline = (m.measurement for m in record.measured)
    few = replace(baseline, latency=replace(baseline.latency, samples=np.full(3, 5.0), interval=None))
    wide = replace(kernel, latency=replace(kernel.latency, interval=Interval(0.0, 1e6)))
    assert max([few, wide, kernel], key=how_known) is few
