"""METRICS, the ratio and the text of times: pure functions, checked by numbers worked out by hand."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.samples import INTERPRETER, make_record
from workbench.analysis import metrics
from workbench.analysis.metrics import (
    METRICS,
    best_ratio,
    comparable_ratio,
    find_metric,
    metrics_on,
    ratio,
    times_floor,
)
from workbench.run import codec
from workbench.run.ceilings import Ceilings
from workbench.run.events import Rechecked
from workbench.run.measurement import Measurement, Role
from workbench.run.request import Problem
from workbench.run.session import Session
from workbench.stats.summary import Interval, Ratio
from workbench.words.times import figure_text

CEILINGS = Ceilings("GPU", "1", "2", "2026-01-01", 4e12, fp32=50e12)


def measurement(
    role: Role = "kernel",
    samples: tuple[float, ...] = (10.0,),
    clock: str = "cuda events",
    block_us: float | None = None,
) -> Measurement:
    """Under `block` with the average of its block, which is that of the samples unless it is given."""
    found = make_record(problem=Problem(8, 16, 4)).measurement(role)
    assert found is not None
    latency = replace(
        found.latency,
        samples=np.array(samples),
        clock=clock,
        block_average_us=float(np.mean(samples)) if block_us is None else block_us,
        launched_us=block_us,
        interval=Interval(samples[0] * 0.99, samples[0] * 1.03),
        kernel_us=8.0,
    )
    return replace(found, latency=latency)


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_every_metric_has_a_value_for_a_complete_kernel_measurement(metric: metrics.Metric) -> None:
    value = metric.value(measurement(block_us=7.5), CEILINGS)
    assert value is not None and np.isfinite(value)
    assert float(metric.plain(value)) == pytest.approx(value, rel=1e-2)
    assert metric.unit in metric.text(value) or metric.unit == "µs"
    assert metric.plain(None) == ""


def test_names_are_unique_and_can_be_found() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    assert [find_metric(name) for name in names] == list(METRICS)
    with pytest.raises(KeyError):
        find_metric("speed")


def test_times_come_from_the_raw_samples() -> None:
    m = measurement(samples=(1.0, 2.0, 3.0, 4.0, 100.0), block_us=7.5)
    values = {metric.name: metric.value(m) for metric in METRICS}
    assert values["median"] == 3.0
    assert values["p20"] == pytest.approx(1.8)
    assert values["p80"] == pytest.approx(23.2)
    assert values["block_average"] == values["figure"] == 7.5


def test_every_figure_is_made_of_the_protocols_own() -> None:
    """Of the block protocol it is the block's average; without a block, and under other protocols, the median."""
    block = measurement(samples=(8.0, 10.0, 16.0), block_us=5.0)
    cold = replace(block, latency=replace(block.latency, protocol="cold", block_average_us=None))
    old = replace(block, latency=replace(block.latency, block_average_us=None))
    assert [m.latency.figure_us for m in (block, cold, old)] == [5.0, 10.0, 10.0]
    names = [figure_text(m.latency) for m in (block, cold, old)]
    assert names == [f"average of {block.latency.launches} launches", "median", "median"]
    for name in ("tflops", "bandwidth"):
        fast, slow = (find_metric(name).value(m) for m in (block, cold))
        assert fast is not None and slow is not None and fast == pytest.approx(2 * slow)
    fast, slow = times_floor(block, CEILINGS), times_floor(cold, CEILINGS)
    assert fast is not None and slow is not None and slow == pytest.approx(2 * fast)
    assert find_metric("block_average").value(cold) is None


def test_the_ratio_under_block_is_that_of_their_blocks() -> None:
    """With the same relative bounds as the medians of single launches have."""
    kernel = known_to(measurement(samples=(10.0, 20.0, 30.0), block_us=16.0), 0.03, 0.03)
    baseline = known_to(measurement("baseline", samples=(40.0, 60.0, 80.0), block_us=56.0), 0.04, 0.04)
    result = ratio(kernel, baseline)
    assert result.baseline_over_kernel == pytest.approx(3.5)
    assert (result.low, result.high) == pytest.approx((3.5 * 0.95, 3.5 * 1.05))


def test_records_of_earlier_versions_keep_only_averages_of_blocks() -> None:
    """The H200's recordings are of the block protocol; elsewhere a mean was kept under the same name."""
    for path in Path(__file__).resolve().parents[2].glob("assets/recordings/*.tilescope"):
        for record in Session(path, read_only=True).summaries():
            for role in ("kernel", "baseline"):
                found = record.measurement(role)
                if found is not None:
                    assert found.latency.figure_us == found.latency.block_average_us != found.latency.median
    for record in (make_record(1, protocol="warm"), make_record(1, device=INTERPRETER)):
        data, arrays = codec.encode(record)
        data["measured"][0]["measurement"]["latency"]["block_average_us"] = 7.5
        first = codec.decode(data, arrays).measured[0].measurement.latency
        assert first.block_average_us is None and first.figure_us == first.median


def test_throughput_is_the_article_formula() -> None:
    big = replace(measurement(samples=(762.6,)), problem=Problem(1024, 4096, 128))
    # 4 * 1024 * 4096 * 128 / 762.6e-6 s
    assert find_metric("tflops").value(big) == pytest.approx(2.816, rel=1e-3)


def test_throughput_counts_heads_and_visible_pairs_alone() -> None:
    problem = Problem(64, 100, 32, batch=2, heads=6, kv_heads=3, causal=True)
    seen = sum(min(100, row + 1 + 100 - 64) for row in range(64))
    timed = replace(measurement(samples=(1e6,)), problem=problem)
    assert find_metric("tflops").value(timed) == pytest.approx(4 * 12 * seen * 32 / 1e12)
    # Where M > N, the first rows see nothing.
    assert Problem(5, 3, 1, causal=True).visible_pairs == 1 + 2 + 3
    assert Problem(5, 3, 1, causal=True).blind_rows == 2 and Problem(5, 3, 1).blind_rows == 0


def test_throughput_is_not_claimed_by_the_host_clock() -> None:
    assert find_metric("tflops").value(measurement(clock="host")) is None


def test_bandwidth_is_of_the_fewest_bytes() -> None:
    timed = replace(measurement(samples=(10.0,)), problem=Problem(64, 100, 32, 2, 6, 3, "fp16"))
    # Q and O of 12 heads x 64 rows, K and V of 6 x 100, each x 32 x 2 B, in 10 us
    assert find_metric("bandwidth").value(timed) == pytest.approx(2 * (12 * 64 + 6 * 100) * 32 * 2 / 10e-6 / 1e9)
    assert find_metric("bandwidth").value(measurement(clock="host")) is None


def test_the_interval_and_the_kernel_alone_are_missing_where_nobody_looked() -> None:
    m = measurement(samples=(10.0,))
    assert find_metric("half_width").value(m) == pytest.approx(2.0)
    unknown = replace(m, latency=replace(m.latency, interval=None, kernel_us=None))
    names = ("half_width", "kernel_us", "launched_us")
    assert [find_metric(name).value(unknown) for name in names] == [None] * 3


def test_the_floor_is_known_where_the_ceilings_are() -> None:
    big = replace(measurement(samples=(762.6,)), problem=Problem(1024, 4096, 128))
    # 4 * 1024 * 4096 * 128 operations take 42.9 us at 50 TFLOP/s, and 5.2 MB take 1.3 us.
    assert times_floor(big, CEILINGS) == pytest.approx(762.6 / 42.95, rel=1e-3)
    assert times_floor(replace(big, precision=""), CEILINGS) == times_floor(big, CEILINGS), "SDPA has no precision"
    assert times_floor(replace(big, precision="tf32"), CEILINGS) is None, "that rate was not measured"
    assert times_floor(measurement(clock="host"), CEILINGS) is None
    assert metrics_on(CEILINGS) == METRICS
    assert set(METRICS) - set(metrics_on(None)) == {floor := find_metric("times_floor")}
    assert floor.value(big, CEILINGS) == times_floor(big, CEILINGS) and floor.value(big) is None


def test_the_ratio_of_paired_rounds_counts_before_that_of_medians() -> None:
    record = make_record(1, protocol="cold")
    assert record.comparison is not None and comparable_ratio(record) == record.comparison.ratio
    block = make_record(1)
    kernel, baseline = (block.measurement(role) for role in ("kernel", "baseline"))
    assert kernel is not None and baseline is not None
    assert comparable_ratio(block) == best_ratio(block) == ratio(kernel, baseline)
    raced = Rechecked("kernel", 0.0, 1.0, False, True, "changed", True)
    assert comparable_ratio(replace(record, rechecked=(raced,))) is None
    assert best_ratio(replace(record, measured=())) is None


def test_resources_are_missing_for_sdpa() -> None:
    sdpa = measurement("baseline")
    assert [find_metric(name).value(sdpa) for name in ("registers", "spills", "shared_bytes")] == [None] * 3


def test_label_has_the_unit_where_there_is_one() -> None:
    assert find_metric("median").label == "median (µs)"
    assert find_metric("spills").label == "spills"
    assert find_metric("tflops").label == "TFLOP/s", "which is its unit"


def known_to(one: Measurement, below: float, above: float) -> Measurement:
    """`one` whose median is known to these shares of it."""
    median = one.latency.median
    return replace(one, latency=replace(one.latency, interval=Interval(median * (1 - below), median * (1 + above))))


def test_a_ratio_of_two_medians_is_bounded_by_both_intervals_combined() -> None:
    kernel = known_to(measurement(samples=(20.0,)), 0.03, 0.03)
    baseline = known_to(measurement("baseline", samples=(60.0,)), 0.04, 0.04)
    result = ratio(kernel, baseline)
    assert result.baseline_over_kernel == pytest.approx(3.0)
    assert (result.low, result.high) == pytest.approx((3 * 0.95, 3 * 1.05))
    # What makes the kernel slow makes the ratio small.
    lopsided = ratio(known_to(kernel, 0.0, 0.3), known_to(baseline, 0.4, 0.0))
    assert (lopsided.low, lopsided.high) == pytest.approx((1.5, 3.0))
    assert ratio(known_to(kernel, 0.1, 2.7), baseline).low == 0


def test_overlapping_intervals_are_level_however_narrow_the_launches_lie() -> None:
    """Percentiles of one shape far within the intervals that are stated: they are what counts."""
    kernel, baseline = measurement(samples=(100.0,) * 50), measurement("baseline", samples=(101.9,) * 50)
    assert ratio(known_to(kernel, 0.016, 0.016), known_to(baseline, 0.011, 0.011)).low < 1
    assert ratio(known_to(kernel, 0.016, 0.016), known_to(baseline, 0.011, 0.011)).is_level
    assert not ratio(known_to(kernel, 0.01, 0.01), known_to(baseline, 0.01, 0.01)).is_level


def test_a_ratio_of_two_medians_has_no_bounds_where_one_has_no_interval() -> None:
    kernel, baseline = known_to(measurement(samples=(20.0,)), 0.1, 0.1), measurement("baseline", samples=(60.0,))
    few = replace(baseline, latency=replace(baseline.latency, interval=None))
    assert ratio(kernel, few) == Ratio(3.0, 0.0, float("inf"))


def test_inverse_ratio_keeps_low_below_high() -> None:
    inverse = Ratio(2.0, 1.6, 2.5).inverse
    assert (inverse.baseline_over_kernel, inverse.low, inverse.high) == (0.5, 0.4, 0.625)


@pytest.mark.parametrize(("low", "high", "level"), [(0.9, 1.1, True), (1.01, 1.1, False), (0.8, 0.99, False)])
def test_level_means_that_the_interval_holds_one(low: float, high: float, level: bool) -> None:
    assert Ratio(1.0, low, high).is_level is level


def test_metrics_import_no_qt() -> None:
    tree = ast.parse(Path(metrics.__file__).read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert not [name for name in modules if name.split(".")[0] in {"PyQt6", "pyqtgraph", "torch", "triton"}]
