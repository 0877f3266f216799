"""Each protocol launches, flushes and records in its own order, and its samples are what the device took."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.engine.fake_gpu import COLD_US, FLUSH_BYTES, FakeGpu
from workbench.engine.clocks import CudaGpu, HostClock, Launch
from workbench.engine.failures import CaptureError, InvalidRequestError, ProfilerError, describe_failure
from workbench.engine.profiling import Activity, backend_of, busy_us, per_launch
from workbench.engine.protocols import OnHost, Sampler, make_sampler
from workbench.engine.stopping import StopFlag, StoppedError

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
    assert gpu.log == ["hold", "a", "record", *["a", "record"] * 3, "wait"]
    assert sampler.flush_bytes == 0 and sampler.clock == "cuda events"


def test_cold_flushes_before_each_launch_and_outside_its_events() -> None:
    gpu = FakeGpu()
    sampler = prepared(gpu, "cold")
    np.testing.assert_allclose(sampler.take(3), [US + COLD_US] * 3)
    assert gpu.log == ["hold", "a", *["flush", "record", "a", "record"] * 3, "wait"]
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
    assert gpu.log == ["hold", *replay, "record", *[*replay, "record"] * 2, "wait"]


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
    assert gpu.log == ["a", "profile", "a", "a", "a"], "the first launch is not in the session, and no flush is"
    assert sampler.kernel_names == ("partial", "combine") and sampler.clock == "profiler"


@pytest.mark.parametrize(
    ("protocol", "us", "size"),
    [("warm", 1.0, 32), ("cold", 5000.0, 10), ("graph", 1.0, 10), ("profiler", 1.0, 200), ("profiler", 1e6, 1)],
)
def test_a_round_is_worth_at_most_fifty_milliseconds(protocol: str, us: float, size: int) -> None:
    assert prepared(FakeGpu(), protocol, us).round_size == size


def test_the_warm_up_is_long_and_can_be_stopped() -> None:
    gpu = FakeGpu()
    sampler = prepared(gpu, "warm", us=1000.0)
    assert 150 <= sampler.warmups <= 160
    stop = StopFlag()
    stop._on_signal(0, None)
    with pytest.raises(StoppedError):
        make_sampler("warm", gpu.implementation("a", 1000.0), gpu, MOST).prepare(stop)


def test_queues_that_began_too_early_are_counted() -> None:
    gpu = FakeGpu(is_late=True)
    sampler = prepared(gpu, "cold")
    assert sampler.late == 0, "the warm-up does not count"
    sampler.take(2)
    assert sampler.late == 1


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
    flush = CudaGpu().flush()
    assert flush.size == size == made[0].nbytes
    flush.write()
    assert not made[0].any()


@pytest.mark.parametrize(("us", "launches"), [(100.0, 1 + 3), (20_000.0, 3)], ids=["short", "long"])
def test_on_the_host_a_short_launch_is_not_timed_right_after_the_other_implementation(us: float, launches: int) -> None:
    calls = []

    class Clock(HostClock):
        def block_us(self, launch: Launch, count: int) -> float:
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
        CudaGpu().graph_event()


def test_overlapping_kernels_count_once() -> None:
    kernels = [Activity("a", 0.0, 10.0), Activity("b", 5.0, 12.0), Activity("c", 6.0, 7.0), Activity("d", 20.0, 21.0)]
    assert busy_us(kernels) == pytest.approx(13.0)
    assert busy_us(kernels[::-1]) == pytest.approx(13.0)


def test_records_that_cannot_be_told_apart_are_refused() -> None:
    kernels = [Activity(name, float(at), at + 0.5) for at, name in enumerate(("a", "b", "a", "b", "a", "a"))]
    busy, names = per_launch(kernels[:4], 2)
    assert busy.tolist() == [1.0, 1.0] and names == ("a", "b")
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
