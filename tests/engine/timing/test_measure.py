"""What is said of a run's samples: intervals, ratios, modes, and what went wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.engine.timing.fake_bench import REQUEST, Bench
from workbench.engine.failures import CaptureError
from workbench.engine.timing.measure import proven_backend
from workbench.run.events import Progress, RunEvent, Samples
from workbench.stats.summary import BETWEEN_RUNS, PRECISION
from workbench.words.times import figure_text, launches_text


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


def test_a_failure_names_the_implementation_that_cannot_be_captured() -> None:
    bench = Bench()
    bench.gpu.refuses_capture = "no"
    with pytest.raises(CaptureError, match="kernel article: it cannot be captured in a CUDA graph: no"):
        bench.timed(replace(REQUEST, protocol="graph"))


def test_progress_counts_towards_the_limit() -> None:
    bench = Bench(spread=0.6)
    bench.timed(replace(REQUEST, max_samples=200))
    progress = [e for e in bench.events if isinstance(e, Progress) and e.total == 1000]
    assert progress[0].done == 0 and all(0 < p.done <= 1000 for p in progress[1:]) and len(progress) > 3


def test_late_samples_are_part_of_the_result() -> None:
    bench = Bench()
    turns = iter(range(10**6))

    def slower_now_and_then() -> float:
        bench.gpu.submit_us = 5.0 if next(turns) < 9000 else 700.0
        return 40.0

    bench.launches = {"kernel": bench.gpu.implementation("a", slower_now_and_then)}
    latency = bench.timed(replace(REQUEST, max_samples=10_000)).latencies["kernel"]
    assert 0 < latency.late_samples <= 32, "the next queues wait longer"
    assert [note.text for note in latency.notes] == [
        f"{latency.late_samples} of {len(latency.samples)} samples may hold launch cost: "
        f"the GPU reached them before the CPU had submitted their queue",
    ]
    assert latency.notes[0].text.startswith(f"{latency.notes[0].label}: ")
    assert Bench().timed().latencies["kernel"].notes == ()


def test_the_profiler_protocol_knows_its_kernels_already() -> None:
    baseline = Bench().timed(replace(REQUEST, protocol="profiler")).latencies["baseline"]
    assert baseline.kernel_names == ("fmha_cutlassF_f32",)
    assert baseline.kernel_us == pytest.approx(baseline.median, rel=1e-3)
    assert baseline.launch_bound == ""


def test_replays_and_launches_are_told_apart() -> None:
    latency = Bench().timed(replace(REQUEST, protocol="graph", max_samples=80)).latencies["kernel"]
    assert latency.launches_per_sample == 25 and latency.launches == 25 * len(latency.samples) == 2000
    assert launches_text(latency) == "80 replays × 25 launches"
    warm = Bench().timed(replace(REQUEST, max_samples=320)).latencies["kernel"]
    assert launches_text(warm) == "320 launches" and warm.block_average_us is None and figure_text(warm) == "median"


def test_a_backend_that_its_kernels_contradict_is_corrected_and_logged() -> None:
    events: list[RunEvent] = []
    assert proven_backend("flash", ("fmha_cutlassF_f32",), events.append) == "efficient"
    assert "PyTorch said that SDPA takes flash; the kernels that ran are efficient's" in str(events)
    events.clear()
    assert proven_backend("efficient", ("fmha_cutlassF_f32",), events.append) == "efficient"
    assert proven_backend("math", (), events.append) == "math" and not events


def test_the_ratio_is_no_better_known_than_repeats_would_agree() -> None:
    timed = Bench(spread=0.0).timed(replace(REQUEST, max_samples=640))
    assert timed.ratio is not None and timed.ratio.baseline_over_kernel == pytest.approx(2.0)
    assert timed.ratio.high / 2.0 - 1 == pytest.approx(BETWEEN_RUNS * 2**0.5)
