"""Each protocol launches, flushes and records in its own order, and its samples are what the device took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.engine.timing.fake_gpu import COLD_US, EVENT_US, FLUSH_BYTES, FLUSH_US, SUBMIT_US, FakeGpu
from workbench.engine.failures import CaptureError, InvalidRequestError, ProfilerError, describe_failure
from workbench.engine.host.stopping import StopFlag, StoppedError
from workbench.engine.timing.clocks import HOLD_FACTOR, MIN_HOLD_US, RECENT_QUEUES, Gpu, HostClock, Launch, Timed
from workbench.engine.timing.profiling import Activity, backend_of, busy_us, per_launch
from workbench.engine.timing.sampler import MIN_WARMUPS, WARMUP_US, Sampler
from workbench.engine.timing.samplers import SAMPLERS, OnHost, make_sampler
from workbench.run.protocols import protocol_of

US = 40.0
MOST = 10_000


def prepared(gpu: FakeGpu, protocol: str, us: float = US, most: int = MOST, kernels: tuple[str, ...] = ()) -> Sampler:
    """A sampler after its warm-up, with an empty log, after a launch of another implementation."""
    sampler = make_sampler(protocol, gpu.implementation("a", us, kernels), gpu, most)
    sampler.prepare(StopFlag())
    gpu.implementation("b", 5.0)()
    gpu.log.clear()
    return sampler


def test_warm_queues_launches_behind_a_wait_and_does_not_time_the_first() -> None:
    gpu = FakeGpu()
    sampler = prepared(gpu, "warm")
    np.testing.assert_allclose(sampler.take(3), [US] * 3)
    assert gpu.log == ["hold", "a", "record", *["a", "record"] * 3, "wait", "wait"]
    assert sampler.flush_bytes == 0 and sampler.clock == "cuda events"


def test_cold_flushes_before_each_launch_and_outside_its_events() -> None:
    gpu = FakeGpu()
    sampler = prepared(gpu, "cold")
    np.testing.assert_allclose(sampler.take(3), [US + COLD_US] * 3)
    assert gpu.log == ["hold", "a", *["flush", "record", "a", "record"] * 3, "wait", "wait"]
    assert sampler.flush_bytes == FLUSH_BYTES


@pytest.mark.parametrize(("us", "launches"), [(40.0, 25), (3000.0, 1), (0.5, 500)])
def test_graph_replays_about_a_millisecond_of_launches(us: float, launches: int) -> None:
    gpu = FakeGpu()
    sampler = make_sampler("graph", gpu.implementation("a", us), gpu, MOST)
    sampler.prepare(StopFlag())
    assert sampler.launches_per_sample == launches
    gpu.log.clear()
    np.testing.assert_allclose(sampler.take(2), [us] * 2)
    replay = ["replay", *["a"] * launches]
    assert gpu.log == ["hold", *replay, "record", *[*replay, "record"] * 2, "wait", "wait"]


def test_graph_cold_flushes_and_records_within_the_graph() -> None:
    gpu = FakeGpu()
    sampler = prepared(gpu, "graph-cold", most=4)
    assert sampler.batch == sampler.round_size == 4
    np.testing.assert_allclose(sampler.take(8), [US + COLD_US] * 8)
    replay = ["replay", "flush", "a", *["flush", "record", "a", "record"] * 4, "synchronize"]
    assert gpu.log == replay * 2 and sampler.flush_bytes == FLUSH_BYTES


def test_profiler_gives_each_launch_the_union_of_its_kernels() -> None:
    gpu = FakeGpu()
    sampler = prepared(gpu, "profiler", kernels=("partial", "combine"))
    np.testing.assert_allclose(sampler.take(3), [US] * 3)
    assert gpu.log == ["a", "profile", "a", "a", "a", "synchronize"], (
        "the first launch is not in the session, and no flush is"
    )
    assert sampler.kernel_names == ("partial", "combine") and sampler.clock == "profiler"


@pytest.mark.parametrize(
    ("protocol", "us", "size"),
    [("warm", 1.0, 32), ("cold", 5000.0, 10), ("graph", 1.0, 10), ("profiler", 1.0, 200), ("profiler", 1e6, 1)],
)
def test_a_round_is_worth_at_most_fifty_milliseconds(protocol: str, us: float, size: int) -> None:
    assert prepared(FakeGpu(), protocol, us).round_size == size


@pytest.mark.parametrize("us", [2.0, 5.0, 20.0, 1000.0, 80_000.0])
def test_the_warm_up_is_as_long_for_short_kernels_as_for_long_ones(us: float) -> None:
    gpu = FakeGpu(submit_us=0.5)
    sampler = make_sampler("warm", gpu.implementation("a", us), gpu, MOST)
    sampler.prepare(StopFlag())
    assert gpu.log.index("hold") * us >= WARMUP_US, "before anything is held"
    assert sampler.warmups * us <= 1.4 * WARMUP_US + 15 * us
    assert gpu.log.count("a") == sampler.warmups


def test_the_warm_up_can_be_stopped() -> None:
    gpu, stop = FakeGpu(), StopFlag()
    stop._on_signal(0, None)
    with pytest.raises(StoppedError):
        make_sampler("warm", gpu.implementation("a", 1000.0), gpu, MOST).prepare(stop)


@pytest.mark.parametrize(("us", "launched"), [(5.0, 15.0), (40.0, 40.0)], ids=["launch-bound", "not"])
@pytest.mark.parametrize("protocol", SAMPLERS)
def test_the_time_of_launches_that_nothing_holds_is_known(protocol: str, us: float, launched: float) -> None:
    gpu = FakeGpu(submit_us=15.0)
    sampler = make_sampler(protocol, gpu.implementation("a", us), gpu, MOST)
    sampler.prepare(StopFlag())
    assert sampler.launched_us == pytest.approx(launched, rel=0.01)


@pytest.mark.parametrize("submit_us", [5.0, 60.0], ids=["quick", "slow"])
@pytest.mark.parametrize("protocol", SAMPLERS)
def test_no_sample_holds_what_the_cpu_takes_to_launch(protocol: str, submit_us: float) -> None:
    """A launch of 2 us cannot be submitted as fast as it runs."""
    gpu = FakeGpu(submit_us=submit_us)
    sampler = prepared(gpu, protocol, us=2.0)
    for _ in range(3):
        is_cold = protocol_of(protocol).flushes
        np.testing.assert_allclose(sampler.take(sampler.round_size), 2.0 + COLD_US * is_cold)
    assert sampler.late_samples == 0


@pytest.mark.parametrize(
    ("protocol", "submit_us", "each"),
    [
        ("warm", 5.0, MIN_HOLD_US),
        ("warm", 60.0, HOLD_FACTOR * (60 + EVENT_US)),
        ("cold", 60.0, HOLD_FACTOR * (2 * 60 + 2 * EVENT_US)),
        ("graph", 60.0, HOLD_FACTOR * (60 + EVENT_US)),
    ],
)
def test_the_gpu_waits_for_a_few_times_what_submitting_takes(protocol: str, submit_us: float, each: float) -> None:
    gpu = FakeGpu(submit_us=submit_us)
    sampler = prepared(gpu, protocol, us=2.0)
    sampler.take(8)
    assert 0.7 * each <= gpu.holds[-1] / 9 <= each, "a queue is short in the warm-up, its first launch has no event"


def test_samples_that_the_gpu_reached_too_early_are_counted_and_the_next_wait_is_longer() -> None:
    gpu = FakeGpu()
    sampler = prepared(gpu, "warm")
    sampler.take(4)
    assert sampler.late_samples == 0, "neither here nor in the warm-up"
    gpu.submit_us = 400.0
    values = sampler.take(4)
    late = sampler.late_samples
    assert late == 4 and (values > 100).all()
    np.testing.assert_allclose(sampler.take(4), [US] * 4)
    assert sampler.late_samples == late


def test_one_hiccup_does_not_lengthen_the_waits_to_come() -> None:
    """Nor does what the first use of something loads; two slow queues do."""
    gpu = FakeGpu()
    sampler = prepared(gpu, "warm", us=50.0)
    usual = gpu.holds[-1] / (MIN_WARMUPS + 1)
    for slow, waits in ((1, 1), (2, 2)):
        gpu.submit_us = 25.0
        for _ in range(slow):
            sampler.take(8)
        gpu.submit_us = SUBMIT_US
        sampler.take(8)
        assert (gpu.holds[-1] / 9 > 1.5 * usual) is (waits > 1)
        for _ in range(RECENT_QUEUES):
            sampler.take(8)
        assert gpu.holds[-1] / 9 == pytest.approx(usual)


def test_of_a_queue_that_is_late_at_its_end_the_last_samples_are_good() -> None:
    gpu = FakeGpu()
    sampler = prepared(gpu, "warm", us=1000.0)
    gpu.submit_us = 200.0  # the wait is over when one of ten launches has been submitted, but each takes long
    sampler.take(9)
    assert 0 < sampler.late_samples <= 3


@pytest.mark.parametrize("protocol", SAMPLERS)
def test_nothing_but_launches_counts_as_timed(protocol: str) -> None:
    """No wait, and neither the begin of a session of the profiler nor the reading of its records."""
    gpu = FakeGpu()
    sampler = prepared(gpu, protocol)
    spans: list[float] = []

    @contextmanager
    def timed() -> Iterator[None]:
        began = gpu.cpu
        yield
        spans.append(gpu.cpu - began)

    count = sampler.batch * 4
    sampler.take(count, timed)
    launches = count * sampler.launches_per_sample + 4 * (protocol == "graph-cold")  # and the first of each replay
    each = US + (FLUSH_US + COLD_US) * (sampler.flush_bytes > 0)
    assert US * launches <= sum(spans) <= each * launches + 40


def test_one_lost_record_costs_a_session_and_not_the_run() -> None:
    gpu = FakeGpu()
    sampler = prepared(gpu, "profiler")
    gpu.losses = 1
    np.testing.assert_allclose(sampler.take(3), [US] * 3)
    assert sampler.lost_sessions == 1 and gpu.log.count("profile") == 2
    sampler.take(3)
    assert sampler.lost_sessions == 1
    gpu.losses = 2
    with pytest.raises(ProfilerError, match="2 kernels of 3 launches"):
        sampler.take(3)


def test_a_session_lost_in_the_warm_up_does_not_count() -> None:
    gpu = FakeGpu(losses=1)
    assert prepared(gpu, "profiler").lost_sessions == 0


def test_the_profilers_figure_leaves_the_gaps_out() -> None:
    """Its launches are not held, so that a gap may be the CPU's."""
    gpu = FakeGpu()
    sampler = make_sampler("profiler", gpu.implementation("a", US, ("one", "two", "three"), gap_us=3.0), gpu, MOST)
    sampler.prepare(StopFlag())
    assert sampler.kernel_us is None, "the warm-up does not count"
    np.testing.assert_allclose(sampler.take(5), [US] * 5)
    assert sampler.kernel_us == pytest.approx(US)


@pytest.mark.parametrize("protocol", ["graph", "graph-cold"])
def test_what_cannot_be_captured_is_said(protocol: str) -> None:
    gpu = FakeGpu(refuses_capture="operation not permitted when stream is capturing")
    with pytest.raises(CaptureError, match="cannot be captured in a CUDA graph: operation not permitted") as caught:
        prepared(gpu, protocol)
    failure = describe_failure(caught.value)
    assert failure.kind == "launch" and "cold or warm" in failure.remedy


@pytest.mark.parametrize(("l2", "size"), [(50 * 2**20, 100 * 2**20), (0, 256 * 2**20)], ids=["known", "unknown"])
def test_the_flush_writes_twice_the_devices_own_cache(monkeypatch: pytest.MonkeyPatch, l2: int, size: int) -> None:
    made = []

    def empty(size: int, dtype: torch.dtype, device: str) -> torch.Tensor:
        made.append(torch.ones(size, dtype=dtype))
        return made[-1]

    monkeypatch.setattr("torch.cuda.current_device", lambda: 0)
    monkeypatch.setattr("torch.cuda.get_device_properties", lambda device: SimpleNamespace(L2_cache_size=l2))
    monkeypatch.setattr("torch.empty", empty)
    flush = Gpu().flush()
    assert flush.size == size == made[0].nbytes
    flush.write()
    assert not made[0].any()


@pytest.mark.parametrize(("us", "launches"), [(100.0, 1 + 3), (20_000.0, 3)], ids=["short", "long"])
def test_on_the_host_a_short_launch_is_not_timed_right_after_the_other_implementation(us: float, launches: int) -> None:
    calls = []

    class Clock(HostClock):
        def block_us(self, launch: Launch, count: int, timed: Timed = nullcontext) -> float:
            launch()
            return us

    sampler = OnHost(lambda: calls.append(1), MOST, Clock())
    sampler.prepare(StopFlag())
    calls.clear()
    assert sampler.take(3).tolist() == [us] * 3 and len(calls) == launches


def test_events_within_a_graph_need_a_torch_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def old_event(enable_timing: bool = False) -> None:
        raise AssertionError("it was made without external")

    monkeypatch.setattr("torch.cuda.Event", old_event)
    with pytest.raises(InvalidRequestError, match=r"needs torch.cuda.Event with external=True: torch .* has none"):
        Gpu().graph_event()


def test_overlapping_kernels_count_once() -> None:
    kernels = [Activity("a", 0.0, 10.0), Activity("b", 5.0, 12.0), Activity("c", 6.0, 7.0), Activity("d", 20.0, 21.0)]
    assert busy_us(kernels) == pytest.approx(13.0)
    assert busy_us(kernels[::-1]) == pytest.approx(13.0)


def test_records_that_cannot_be_told_apart_are_refused() -> None:
    kernels = [Activity(name, float(at), at + 0.5) for at, name in enumerate(("a", "b", "a", "b", "a", "a"))]
    found = per_launch(kernels[:4], 2)
    assert found.busy.tolist() == [1.0, 1.0] and found.spans.tolist() == [1.5, 1.5] and found.names == ("a", "b")
    with pytest.raises(ProfilerError, match="5 kernels of 2 launches"):
        per_launch(kernels[:5], 2)
    with pytest.raises(ProfilerError, match="other kernels"):
        per_launch(kernels, 3)
    with pytest.raises(ProfilerError, match="saw no kernel"):
        per_launch([], 3)


@pytest.mark.parametrize(
    ("names", "backend"),
    [
        (("fmha_cutlassF_f32_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>)",), "efficient"),
        (("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>",), "flash"),
        (("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",), "cudnn"),
        (("sm80_xmma_gemm_f32", "void softmax_warp_forward<float>", "sm80_xmma_gemm_f32"), "math"),
        (("_attention_kernel",), ""),
    ],
)
def test_sdpas_backend_is_proved_by_its_kernels(names: tuple[str, ...], backend: str) -> None:
    assert backend_of(names) == backend
