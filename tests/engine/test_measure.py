"""Counts, chunks and clocks of the article's protocol, without a GPU."""

from __future__ import annotations

import time

import numpy as np
import pytest

from workbench.engine.clocks import HostClock
from workbench.engine.measure import Plan, article_launches, article_plan, measure_article
from workbench.engine.stopping import StopFlag, StoppedError
from workbench.model import FloatArray, Problem


@pytest.mark.parametrize(
    ("problem", "launches"),
    [
        (Problem(7, 13, 8), 100),
        (Problem(256, 512, 64), 100),
        (Problem(512, 2048, 128), 50),
        (Problem(1024, 4096, 128), 20),
    ],
)
def test_the_articles_counts(problem: Problem, launches: int) -> None:
    assert article_launches(problem) == launches
    assert article_plan(problem, "cuda", 1e-4).warmups == 10
    assert article_plan(problem, "cuda", 1e-4).launches == launches


def test_on_the_interpreter_as_many_launches_as_fit() -> None:
    assert article_plan(Problem(7, 13, 8), "interpreter", 0.01) == Plan(2, 20, 5)
    assert article_plan(Problem(512, 512, 64), "interpreter", 8.4) == Plan(1, 3, 1)


def test_every_launch_is_counted_and_reported_once() -> None:
    calls = 0
    reports: list[FloatArray] = []

    def launch() -> None:
        nonlocal calls
        calls += 1

    latency = measure_article(launch, Plan(3, 7, 2), HostClock(), reports.append, StopFlag())
    assert calls == 3 + 7
    assert [len(r) for r in reports] == [2, 2, 2, 1]
    np.testing.assert_array_equal(np.concatenate(reports), latency.samples)
    assert (latency.warmups, latency.launches, latency.clock, latency.protocol) == (3, 7, "host", "article")


def test_the_host_clock_measures_the_launch() -> None:
    samples = HostClock().singles(lambda: time.sleep(0.02), 3)
    assert ((samples > 19_000) & (samples < 60_000)).all()


def test_a_stop_is_seen_between_samples() -> None:
    stop = StopFlag()
    taken: list[FloatArray] = []

    def report(values: FloatArray) -> None:
        taken.append(values)
        stop._on_signal(0, None)

    with pytest.raises(StoppedError):
        measure_article(lambda: None, Plan(1, 10, 1), HostClock(), report, stop)
    assert len(taken) == 1
