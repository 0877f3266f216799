"""Rounds: who goes first, when they end, and what is said of their samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from tests.engine.fake_gpu import FakeGpu
from workbench.engine.clocks import Launch
from workbench.engine.failures import CaptureError
from workbench.engine.protocols import Sampler, make_sampler
from workbench.engine.rounds import MIN_ROUNDS, Limits, Rounds, run_rounds
from workbench.engine.stopping import StopFlag, StoppedError
from workbench.engine.timing import Timed, proven_backend, time_in_turns, with_kernel_time
from workbench.engine.watch import Watch
from workbench.model import FloatArray, Latency, Log, Problem, Progress, Role, RunEvent, RunRequest, Samples
from workbench.statistics import PRECISION

REQUEST = RunRequest(Problem(8, 8, 8), protocol="warm", max_seconds=1.0, max_samples=2000)


def noisy(centre: float, spread: float, seed: int = 0) -> Iterator[float]:
    rng = np.random.default_rng(seed)
    while True:
        yield centre * (1 + spread * float(rng.standard_normal()))


class Bench:
    """Two implementations on a fake GPU, whose clock is also the host's."""

    def __init__(self, spread: float = 0.001, kernel_us: float = 40.0, baseline_us: float = 80.0) -> None:
        self.gpu = FakeGpu()
        ours, theirs = noisy(kernel_us, spread), noisy(baseline_us, spread, 1)
        self.launches: dict[Role, Launch] = {
            "kernel": self.gpu.implementation("a", lambda: next(ours)),
            "baseline": self.gpu.implementation("b", lambda: next(theirs), ("fmha_cutlassF_f32",)),
        }
        self.events: list[RunEvent] = []

    def now(self) -> float:
        return self.gpu.now_us / 1e6

    def samplers(self, protocol: str = "warm", most: int = 100_000) -> dict[Role, Sampler]:
        made = {role: make_sampler(protocol, launch, self.gpu, most) for role, launch in self.launches.items()}
        for sampler in made.values():
            sampler.prepare(StopFlag())
        self.gpu.log.clear()
        return made

    def rounds(self, limits: Limits, seed: int = 0, protocol: str = "warm") -> Rounds:
        def took(role: Role, values: FloatArray) -> None:
            self.gpu.log.append(f"took {role}")

        @contextmanager
        def timed() -> Iterator[None]:
            self.gpu.log.append("begin")
            yield
            self.gpu.log.append("end")

        samplers = self.samplers(protocol, limits.samples)
        return run_rounds(samplers, limits, seed, took, lambda passed: None, StopFlag(), timed, self.now)

    def timed(self, request: RunRequest = REQUEST) -> Timed:
        watch = Watch(None, request.problem, self.events.append)
        return time_in_turns(request, self.launches, self.gpu, self.events.append, StopFlag(), watch)


def orders(log: list[str]) -> list[str]:
    """Who went first and second in each round: "ab" or "ba"."""
    found, names = [], ""
    for word in log:
        if word in ("a", "b") and not names.endswith(word):
            names += word
        if word == "end":
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
    assert bench.gpu.log.count("took kernel") == bench.gpu.log.count("begin") > 3


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


def test_noise_ends_by_the_limit_of_time() -> None:
    bench = Bench(spread=0.6)
    bench.samplers()
    rounds = bench.rounds(Limits(0.5, 100_000))
    assert rounds.ended_by == "time" and len(rounds.taken["kernel"]) >= 10


@pytest.mark.parametrize("protocol", ["warm", "cold", "graph", "graph-cold", "profiler"])
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


def test_a_run_in_turns_reports_what_its_samples_say() -> None:
    bench = Bench(spread=0.01)
    timed = bench.timed(replace(REQUEST, protocol="cold", max_samples=640))
    kernel, baseline = timed.latencies["kernel"], timed.latencies["baseline"]
    assert kernel.protocol == "cold" and kernel.clock == "cuda events" and kernel.flush_bytes > 0
    assert kernel.interval is not None and kernel.interval.low < kernel.median < kernel.interval.high
    assert kernel.half_width is not None and kernel.half_width < 3 * PRECISION
    assert kernel.rounds == len(kernel.round_starts) == 20 and kernel.launches == 640
    assert timed.ratio is not None
    assert timed.ratio.baseline_over_kernel == pytest.approx(91.0 / 51.0, rel=0.01)
    assert timed.ratio.low < timed.ratio.baseline_over_kernel < timed.ratio.high < 1.1 * timed.ratio.low
    sent = {
        role: [e.values for e in bench.events if isinstance(e, Samples) and e.role == role] for role in bench.launches
    }
    for role, latency in timed.latencies.items():
        np.testing.assert_array_equal(np.concatenate(sent[role]), latency.samples)
    assert baseline.median == pytest.approx(91.0, rel=0.01)


def test_a_ratio_of_few_rounds_is_not_bounded() -> None:
    timed = Bench().timed(replace(REQUEST, max_samples=64))
    assert timed.ratio is not None and timed.ratio.is_level and timed.ratio.high == float("inf")


def test_two_modes_and_a_drift_are_found() -> None:
    bench = Bench()
    turns = iter(range(10**6))
    bench.launches = {"kernel": bench.gpu.implementation("a", lambda: 60.0 if next(turns) % 10 < 2 else 40.0)}
    modes = bench.timed(replace(REQUEST, max_samples=1000)).latencies["kernel"].modes
    assert (
        modes is not None
        and modes.centres == pytest.approx((40.0, 60.0))
        and modes.shares[0] == pytest.approx(0.8, abs=0.03)
    )
    slow = iter(range(10**6))
    bench.launches = {"kernel": bench.gpu.implementation("a", lambda: 40.0 + 0.02 * next(slow))}
    timed = bench.timed(replace(REQUEST, max_samples=1000))
    drift = timed.latencies["kernel"].drift
    assert drift is not None and drift.relative > 0.05 and timed.ratio is None


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


def test_a_failure_names_the_implementation_that_cannot_be_captured() -> None:
    bench = Bench()
    bench.gpu.refuses_capture = "no"
    with pytest.raises(CaptureError, match="kernel article: it cannot be captured in a CUDA graph: no"):
        bench.timed(replace(REQUEST, protocol="graph"))


def test_progress_counts_towards_the_limit_and_late_queues_are_logged() -> None:
    bench = Bench(spread=0.6)
    bench.gpu.is_late = True
    bench.timed(replace(REQUEST, max_samples=200))
    progress = [e for e in bench.events if isinstance(e, Progress) and e.total == 1000]
    assert progress[0].done == 0 and all(0 < p.done <= 1000 for p in progress[1:]) and len(progress) > 3
    assert "began before the CPU had submitted" in "".join(e.text for e in bench.events if isinstance(e, Log))


def test_the_profiler_tells_what_of_a_launch_is_the_kernel() -> None:
    bench = Bench(kernel_us=5.0, spread=0.0)
    bench.gpu.last = "a"
    slow = Latency("warm", "cuda events", np.full(10, 14.7), 14.7, 3, 10)
    looked = with_kernel_time(slow, bench.launches["kernel"], bench.gpu, bench.events.append)
    assert looked.kernel_us == pytest.approx(5.0) and looked.kernel_names == ("a_kernel",)
    assert looked.launch_bound == "launch-bound: 5.0 µs of 14.7 µs is the kernel"
    assert replace(looked, samples=np.full(10, 5.4)).launch_bound == "" == slow.launch_bound
    assert not bench.events

    bench.gpu.has_profiler = False
    assert with_kernel_time(slow, bench.launches["kernel"], bench.gpu, bench.events.append) == slow
    assert "saw no kernel" in "".join(e.text for e in bench.events if isinstance(e, Log))


def test_the_profiler_protocol_knows_its_kernels_already() -> None:
    baseline = Bench().timed(replace(REQUEST, protocol="profiler")).latencies["baseline"]
    assert baseline.kernel_names == ("fmha_cutlassF_f32",) and baseline.kernel_us == pytest.approx(baseline.median)
    assert baseline.launch_bound == ""


def test_a_backend_that_its_kernels_contradict_is_corrected_and_logged() -> None:
    events: list[RunEvent] = []
    assert proven_backend("flash", ("fmha_cutlassF_f32",), events.append) == "efficient"
    assert "PyTorch said that SDPA takes flash; the kernels that ran are efficient's" in str(events)
    events.clear()
    assert proven_backend("efficient", ("fmha_cutlassF_f32",), events.append) == "efficient"
    assert proven_backend("math", (), events.append) == "math" and not events
