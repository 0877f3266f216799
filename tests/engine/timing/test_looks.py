"""What of a launch is the GPU's own: by the profiler, and by events until that has started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.engine.timing.fake_bench import REQUEST, Bench
from tests.engine.timing.fake_gpu import COLD_US, FakeGpu
from workbench.engine.host.stopping import StopFlag
from workbench.engine.timing.clocks import Launch
from workbench.engine.timing.looks import Looks
from workbench.engine.timing.profiling import Activity
from workbench.engine.timing.sampler import WARMUP_US
from workbench.engine.timing.samplers import SAMPLERS
from workbench.run.events import Log
from workbench.run.measurement import Latency
from workbench.words.times import KERNEL_TIME_BY


def of_one(protocol: str, launch: Launch, gpu: FakeGpu) -> Latency:
    """A whole measurement of one launch, with what the profiler says of it."""
    bench = Bench()
    bench.gpu, bench.launches = gpu, {"kernel": launch}
    latency = bench.timed(replace(REQUEST, protocol=protocol, max_samples=200)).latencies["kernel"]
    if protocol == "profiler":
        return latency
    return Looks().at(launch, latency, gpu, bench.events.append, StopFlag())


@pytest.mark.parametrize("protocol", SAMPLERS)
def test_a_kernel_shorter_than_its_launch_is_launch_bound(protocol: str) -> None:
    """With warm caches, as the launches that it is held against; the block's figure alone holds launch cost."""
    gpu = FakeGpu(submit_us=14.7)
    latency = of_one(protocol, gpu.implementation("a", 5.0), gpu)
    assert latency.launch_bound == "launch-bound when launched one by one: 5.0 µs of 14.7 µs is the kernel"
    assert latency.kernel_names == ("a_kernel",)
    assert latency.figure_us == pytest.approx(5.0 + COLD_US * (latency.flush_bytes > 0)), "of which it holds nothing"
    block = replace(latency, protocol="block", block_average_us=14.7)
    assert block.launch_bound == "launch-bound: 5.0 µs of 14.7 µs is the kernel"


@pytest.mark.parametrize("protocol", SAMPLERS)
def test_a_kernel_longer_than_its_launch_is_not(protocol: str) -> None:
    gpu = FakeGpu(submit_us=14.7)
    assert of_one(protocol, gpu.implementation("a", 14.0), gpu).launch_bound == ""


@pytest.mark.parametrize("submit_us", [1.0, 25.0])
def test_the_gaps_between_a_launchs_kernels_are_the_devices_own(submit_us: float) -> None:
    """Whatever the CPU takes to submit the next one: of 12 us of kernels and 2 gaps of 4 us it sees 20."""
    gpu = FakeGpu(submit_us=submit_us)
    latency = of_one("warm", gpu.implementation("b", 12.0, ("one", "two", "three"), gap_us=4.0), gpu)
    assert latency.kernel_us == pytest.approx(20.0) == pytest.approx(latency.median)
    assert latency.kernel_names == ("one", "two", "three"), "and not what the GPU waited with"
    assert bool(latency.launch_bound) is (submit_us > 12)


def test_the_kernels_time_is_taken_from_a_warm_gpu() -> None:
    gpu = FakeGpu()
    launch = gpu.implementation("a", 5.0)
    latency = of_one("warm", launch, gpu)
    gpu.log.clear()
    Looks().at(launch, latency, gpu, lambda event: None, StopFlag())
    assert gpu.log[: gpu.log.index("profile")].count("a") * 5.0 >= WARMUP_US


def test_what_the_profiler_cannot_say_is_logged_and_a_lost_record_is_noted() -> None:
    bench = Bench(spread=0.0)
    latency = bench.timed(replace(REQUEST, max_samples=200)).latencies["kernel"]
    bench.events.clear()
    bench.gpu.losses = 1
    looked = Looks().at(bench.launches["kernel"], latency, bench.gpu, bench.events.append, StopFlag())
    assert looked.kernel_us == pytest.approx(40.0) and looked.lost_sessions == 1 and not bench.events
    (note,) = looked.notes
    assert note.label == note.text == "1 of the profiler's sessions lost records and were repeated"

    bench.gpu.has_profiler = False
    assert Looks().at(bench.launches["kernel"], latency, bench.gpu, bench.events.append, StopFlag()) is latency
    assert "saw no kernel" in "".join(e.text for e in bench.events if isinstance(e, Log))


def look(looks: Looks, gpu: FakeGpu, launch: Launch, **options: object) -> Latency:
    latency = Bench().timed(replace(REQUEST, max_samples=200)).latencies["kernel"]
    return looks.at(launch, latency, gpu, lambda event: None, StopFlag(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("kernels", [(), ("one", "two", "three")], ids=["one kernel", "several"])
def test_before_the_profiler_has_started_events_say_it(kernels: tuple[str, ...]) -> None:
    """So that no run waits for it; what comes of it is said, and no kernel is named that nobody saw."""
    gpu = FakeGpu(submit_us=25.0, has_profiled=False)
    found = look(Looks(), gpu, gpu.implementation("a", 12.0, kernels, gap_us=4.0 if kernels else None))
    assert found.kernel_us == pytest.approx(20.0 if kernels else 12.0)
    assert found.kernel_us_by == "events" and found.kernel_names == () and "profile" not in gpu.log
    assert "not having started" in KERNEL_TIME_BY["events"]


def test_a_gpu_that_is_warm_is_not_warmed_again() -> None:
    gpu = FakeGpu()
    launch = gpu.implementation("a", 5.0)
    look(Looks(), gpu, launch, is_warm=True)
    assert gpu.log.count("a") * 5.0 < WARMUP_US / 10


def test_what_does_not_change_is_looked_at_once() -> None:
    gpu, looks = FakeGpu(), Looks()
    launch = gpu.implementation("a", 5.0)
    first = look(looks, gpu, launch, key="problem")
    gpu.log.clear()
    again = look(looks, gpu, launch, key="problem")
    assert not gpu.log and again.kernel_us == first.kernel_us and again.kernel_names == first.kernel_names
    assert (first.kernel_us_by, again.kernel_us_by) == ("profiler", "earlier")
    look(looks, gpu, launch, key="another")
    assert "profile" in gpu.log


def test_what_only_events_said_is_asked_for_again_once_the_profiler_is_there() -> None:
    gpu, looks = FakeGpu(has_profiled=False), Looks()
    launch = gpu.implementation("a", 5.0)
    assert look(looks, gpu, launch, key="problem").kernel_us_by == "events"
    gpu.has_profiled = True
    assert look(looks, gpu, launch, key="problem").kernel_us_by == "profiler"


def test_the_profiler_is_started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, looks = FakeGpu(has_profiled=False), Looks()
    starts: list[object] = []
    monkeypatch.setattr(gpu, "profile", starts.append)
    assert looks.needs_profiler(gpu)
    looks.start_profiler(gpu)
    looks.start_profiler(gpu)
    assert len(starts) == 1 and not looks.needs_profiler(gpu)


def test_a_profiler_that_cannot_start_is_said_in_the_log(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    gpu, looks = FakeGpu(has_profiled=False), Looks()

    def refuse(body: Callable[[], None]) -> list[Activity]:
        raise RuntimeError("CUPTI is in use")

    monkeypatch.setattr(gpu, "profile", refuse)
    looks.start_profiler(gpu)
    assert "the profiler cannot be started: " in capfd.readouterr().err
    assert not gpu.has_profiled and not looks.needs_profiler(gpu), "nor is it tried again and again"
