"""Rounds: who goes first, when they end, and what is said of their samples."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.engine.timing.fake_bench import REQUEST, Bench, noisy
from tests.engine.timing.fake_gpu import FakeGpu
from workbench.engine.device.watch import Watch
from workbench.engine.host.stopping import StopFlag, StoppedError
from workbench.engine.timing.measure import time_in_turns
from workbench.engine.timing.rounds import GROWTH, MIN_ROUNDS, Limits, Rounds
from workbench.engine.timing.samplers import SAMPLERS
from workbench.run.events import RunEvent, Samples
from workbench.stats.arrays import FloatArray
from workbench.stats.summary import PRECISION


def orders(log: list[str]) -> list[str]:
    """Who went first and second in each round: "ab" or "ba"."""
    found, names = [], ""
    for word in log:
        if word in ("a", "b") and not names.endswith(word):
            names += word
        if word == "took baseline":
            found.append(names)
            names = ""
    return found


def test_rounds_are_in_random_order_and_the_seed_decides_it() -> None:
    first, again, other = Bench(), Bench(), Bench()
    for bench, seed in ((first, 1), (again, 1), (other, 2)):
        bench.rounds(Limits(5.0, 1000), seed)
    order = orders(first.gpu.log)
    assert set(order) == {"ab", "ba"} and 0.2 < order.count("ab") / len(order) < 0.8
    assert orders(again.gpu.log) == order != orders(other.gpu.log)


def test_nothing_is_handed_on_inside_a_timed_region() -> None:
    bench = Bench()
    bench.rounds(Limits(5.0, 200))
    inside = False
    for word in bench.gpu.log:
        inside = word == "begin" or (inside and word != "end")
        assert not (inside and word.startswith("took"))
    assert 2 * bench.gpu.log.count("took kernel") == bench.gpu.log.count("begin") > 6


def test_no_sample_is_of_a_launch_right_after_the_other_implementation() -> None:
    rounds = Bench(spread=0.0).rounds(Limits(5.0, 500))
    np.testing.assert_allclose(rounds.samples("kernel"), 40.0)
    np.testing.assert_allclose(rounds.samples("baseline"), 80.0)


def test_steady_times_end_by_precision_but_not_before_enough_was_seen() -> None:
    bench = Bench(spread=0.002)
    began = bench.now()
    rounds = bench.rounds(Limits(60.0, 100_000))
    assert rounds.ended_by == "precision"
    assert len(rounds.taken["kernel"]) == len(rounds.taken["baseline"]) >= MIN_ROUNDS
    assert 0.3 < bench.now() - began < 3.0


def test_a_run_goes_on_while_one_of_both_is_not_known() -> None:
    """The kernel is known after 0.3 s, the baseline is not before the limit."""
    bench = Bench(spread=0.0)
    theirs = noisy(80.0, 0.6)
    bench.launches["baseline"] = bench.gpu.implementation("b", lambda: next(theirs))
    rounds = bench.rounds(Limits(1.0, 100_000))
    assert rounds.ended_by == "time"


@pytest.mark.parametrize("seed", range(8))
def test_a_run_that_ended_by_precision_states_an_interval_that_narrow(seed: int) -> None:
    bench = Bench()
    ours = noisy(200.0, 0.08, seed)
    bench.launches = {"kernel": bench.gpu.implementation("a", lambda: next(ours))}
    latency = bench.timed(replace(REQUEST, max_seconds=30.0, max_samples=100_000)).latencies["kernel"]
    assert latency.ended_by == "precision" and latency.half_width is not None and latency.half_width < PRECISION


def test_one_narrow_look_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter((True, False, True, True))
    looked: list[int] = []

    def scripted(samples: FloatArray, unseen: float) -> bool:
        assert unseen == 0.004
        looked.append(len(samples))
        return next(answers)

    monkeypatch.setattr("workbench.engine.timing.rounds.is_settled", scripted)
    bench = Bench()
    del bench.launches["baseline"]
    rounds = bench.rounds(Limits(60.0, 100_000, unseen=0.004))
    assert rounds.ended_by == "precision" and len(looked) == 4 and looked[-1] == len(rounds.samples("kernel"))
    assert all(later >= GROWTH * earlier for earlier, later in pairwise(looked))


def test_noise_ends_by_the_limit_of_time() -> None:
    bench = Bench(spread=0.6)
    bench.samplers()
    rounds = bench.rounds(Limits(0.5, 100_000))
    assert rounds.ended_by == "time" and len(rounds.taken["kernel"]) >= 10


@pytest.mark.parametrize("protocol", SAMPLERS)
def test_no_more_samples_than_allowed(protocol: str) -> None:
    rounds = Bench(spread=0.6).rounds(Limits(60.0, 70), protocol=protocol)
    assert rounds.ended_by == "samples"
    counts = [len(rounds.samples(role)) for role in ("kernel", "baseline")]
    assert max(counts) <= 70 and min(counts) > 50
    if protocol != "graph-cold":
        assert max(counts) == 70


def test_one_sample_is_allowed_and_has_no_interval() -> None:
    bench = Bench()
    latency = bench.timed(replace(REQUEST, max_samples=1)).latencies["kernel"]
    assert len(latency.samples) == 1 and latency.interval is None and latency.half_width is None
    assert (latency.ended_by, latency.rounds, latency.modes, latency.drift) == ("samples", 1, None, None)


def test_where_each_round_begins_is_known() -> None:
    rounds = Rounds({"kernel": [np.zeros(3), np.zeros(2), np.zeros(4)]})
    assert rounds.starts("kernel").tolist() == [0, 3, 5]


def test_a_stop_between_rounds_keeps_what_was_taken() -> None:
    bench = Bench(spread=0.6)
    stop = StopFlag()

    def send(event: RunEvent) -> None:
        bench.events.append(event)
        if isinstance(event, Samples) and len([e for e in bench.events if isinstance(e, Samples)]) == 5:
            stop._on_signal(0, None)

    with pytest.raises(StoppedError):
        time_in_turns(REQUEST, bench.launches, bench.gpu, send, stop, Watch(None, REQUEST.problem, send))
    assert [e.role for e in bench.events if isinstance(e, Samples)] == ["kernel", "baseline"] * 3, (
        "its round ends first"
    )


@pytest.mark.parametrize("error", [StoppedError, RuntimeError])
def test_who_had_its_turn_in_a_round_that_was_broken_off_keeps_its_samples(error: type[BaseException]) -> None:
    """Whether that is the kernel depends on the order, which is drawn."""
    ahead = set()
    for seed in range(6):
        bench = Bench()

        def fail(gpu: FakeGpu = bench.gpu) -> float:
            if gpu.log.count("took kernel") == 3:
                raise error
            return 80.0

        bench.launches["baseline"] = bench.gpu.implementation("b", fail)
        with pytest.raises(error):
            bench.rounds(Limits(60.0, 100_000), seed)
        kernel, baseline = (bench.gpu.log.count(f"took {role}") for role in ("kernel", "baseline"))
        ahead.add(kernel - baseline)
        assert baseline == 3 and kernel == 3 + ("a" in bench.gpu.log[-40:-3])
    assert ahead == {0, 1}
