"""What the command line says of times: by which figure, of how many launches, and what keeps them from being all."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.samples import GPU, make_record
from workbench.cli.outcome import result_object, summary_lines
from workbench.run.ceilings import Ceilings
from workbench.run.events import Failed, Measured, Rechecked
from workbench.run.record import RunRecord
from workbench.stats.summary import Interval


def of_kernel(protocol: str, **latency: Any) -> RunRecord:
    """A record whose kernel has these fields in its latency, and samples of 14.7 us."""
    record = make_record(1, protocol=protocol, launches=320)
    kernel, baseline = record.measured
    known = {"samples": np.full(320, 14.7), "interval": Interval(14.6, 14.8), **latency}
    found = replace(kernel.measurement.latency, **known)
    return replace(record, measured=(Measured(replace(kernel.measurement, latency=found)), baseline))


def lines_of(record: RunRecord) -> str:
    return "\n".join(summary_lines(record))


def json_of(record: RunRecord) -> dict[str, Any]:
    printed = json.loads(json.dumps(result_object(record), allow_nan=False))
    found: dict[str, Any] = printed["results"][0]
    return found


def test_the_block_protocols_figure_is_its_block_and_the_median_is_named_as_that_of_single_launches() -> None:
    record = of_kernel("block", block_average_us=12.5, launches=50)
    text = lines_of(record)
    assert "average of 50 launches 12.5 µs, block protocol, cuda events" in text
    assert "single launches: median 14.7 µs (14.6–14.8 µs at 95%), p20 14.7 µs, p80 14.7 µs; 50 launches" in text
    printed = json_of(record)
    latency, metrics = printed["latency"], printed["metrics"]
    assert (latency["figure_us"], latency["figure_name"]) == (12.5, "average of 50 launches")
    assert (latency["block_average_us"], latency["median"]) == (12.5, 14.7)
    assert metrics["figure"] == metrics["block_average"] == {"value": 12.5, "unit": "µs"}
    flops = record.started.request.problem.flops
    assert metrics["tflops"] == {"value": pytest.approx(flops / 12.5 / 1e6), "unit": "TFLOP/s"}


def test_other_protocols_have_no_block() -> None:
    record = of_kernel("cold")
    assert "median 14.7 µs (14.6–14.8 µs at 95%), cold protocol" in lines_of(record)
    latency = json_of(record)["latency"]
    assert (latency["figure_us"], latency["figure_name"], latency["block_average_us"]) == (14.7, "median", None)


def test_replays_are_not_called_launches() -> None:
    record = of_kernel("graph", launches=8000, launches_per_sample=25)
    assert "320 replays × 25 launches in 10 rounds" in lines_of(record)
    assert json_of(record)["latency"]["launches_per_sample"] == 25


def test_what_keeps_times_from_being_the_whole_truth_is_printed() -> None:
    record = of_kernel("cold", late_samples=3, lost_sessions=1, kernel_us=5.1, launched_us=14.7)
    words = [
        "3 of 320 samples may hold launch cost: the GPU reached them before the CPU had submitted their queue",
        "1 of the profiler's sessions lost records and were repeated",
    ]
    text = lines_of(record)
    assert all(f"note: {word}" in text for word in words)
    latency = json_of(record)["latency"]
    assert latency["notes"] == words and latency["late_samples"] == 3
    assert latency["launch_bound"] == "launch-bound when launched one by one: 5.1 µs of 14.7 µs is the kernel"
    assert latency["launched_us"] == 14.7


@pytest.mark.parametrize(
    ("bits_equal", "deterministic", "failed", "begin"),
    [
        (True, True, False, ""),
        (False, False, False, "note: "),
        (True, False, False, "note: "),
        (False, None, False, "note: "),
        (True, None, False, "note: "),
        (False, True, True, "FAILED: "),
    ],
)
def test_whether_bits_stayed_the_same_is_said_and_other_bits_are_no_failure(
    bits_equal: bool, deterministic: bool | None, failed: bool, begin: str
) -> None:
    again = Rechecked("kernel", 1e-7, 1e-7, bits_equal, deterministic, "what was found", failed)
    record = replace(make_record(1, protocol="cold"), rechecked=(again,))
    assert f"  {begin}what was found" in lines_of(record).splitlines()
    assert record.passed is not failed
    printed = json_of(record)["recheck"]
    assert (printed["bits_equal"], printed["deterministic"], printed["failed"]) == (bits_equal, deterministic, failed)


def test_a_run_that_ended_before_its_outputs_were_checked_again_says_so() -> None:
    record = replace(make_record(1, protocol="cold"), rechecked=(), end=Failed("cancelled", "Stopped."))
    assert lines_of(record).count("note: not checked again after timing") == 2
    assert "checked again" not in lines_of(make_record(1, protocol="cold"))


def test_a_ratio_says_of_what_its_bounds_are() -> None:
    block, paired = make_record(1), make_record(1, protocol="cold")
    text = "\n".join(summary_lines(block))
    assert "at 95%, not timed in turns)" in text and "SDPA takes 0.5" in text
    assert "at 95%)" in "\n".join(summary_lines(paired))
    few = "\n".join(summary_lines(make_record(1, launches=3)))
    assert "no interval, so that which one is faster is open" in few and "inf" not in few


def test_the_floor_is_a_metric_where_the_runs_ceilings_are_known() -> None:
    record = of_kernel("cold")
    assert "times_floor" not in json_of(record)["metrics"]
    known = Ceilings(GPU.name, GPU.driver, GPU.torch, "2026-11-30T12:00:00", 4e12, fp32=50e12)
    found = json_of(replace(record, started=replace(record.started, ceilings=known)))["metrics"]["times_floor"]
    assert found["unit"] == "×" and found["value"] > 1
