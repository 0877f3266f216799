"""Whole runs through a real child on the interpreter: what comes, in which order, and whether it is true."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from kernels import VARIANTS, KernelVariant, TileTrace
from kernels.plain.tiles import TileConfig, tiles_per_split
from tests.engine.timing.played_clock import play_host_clock
from tests.patience import LIMIT_S
from tests.samples import INTERPRETER
from tests.shared_engine import one_thread
from workbench.engine.host import process
from workbench.engine.host.process import KernelHost
from workbench.engine.host.stopping import StopFlag
from workbench.run.events import (
    Checked,
    Comparison,
    DeviceState,
    Failed,
    Finished,
    Log,
    Measured,
    Progress,
    Ready,
    Rechecked,
    RunEvent,
    Samples,
    Started,
    Tensors,
    TileStates,
)
from workbench.run.request import Problem, RunRequest
from workbench.stats.arrays import FloatArray
from workbench.words.times import figure_text


@pytest.fixture(scope="module")
def host() -> Iterator[KernelHost]:
    made = KernelHost("interpreter")
    with one_thread():
        made.start()
    yield made
    made.close()


def run(host: KernelHost, request: RunRequest) -> list[RunEvent]:
    return list(host.run(request))


def of_type(events: list[RunEvent], kind: type) -> list[RunEvent]:
    return [event for event in events if isinstance(event, kind)]


ONE_EACH = (Checked, Measured, Rechecked)
SMALL = RunRequest(Problem(20, 40, 8), TileConfig(16, 16), device="interpreter")
TINY = replace(SMALL, problem=Problem(7, 13, 8))


def hardly_timed(request: RunRequest) -> RunRequest:
    """The same with as few launches as there can be, for tests of what comes before and after the timing."""
    return replace(request, protocol="warm", max_samples=2)


@pytest.fixture(scope="module")
def small(host: KernelHost) -> list[RunEvent]:
    """The events of one run, for tests that only look at them."""
    return run(host, SMALL)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[RunEvent]:
    """Those of a run in this process whose launches take half as long as the samples that come at once."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("this process compiles for the GPU")
    from workbench.engine.steps import Run

    play_host_clock(monkeypatch, 25_000.0)
    events: list[RunEvent] = []
    Run(SMALL, INTERPRETER, events.append, StopFlag()).go()
    return events


def test_a_run_checks_first_then_times_then_traces(small: list[RunEvent]) -> None:
    assert isinstance(small[-1], Finished)
    kinds = [type(e) for e in small if not isinstance(e, Progress)]
    assert [k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] is not k or k in ONE_EACH][-12:] == [
        Started, Checked, Checked, Samples, Measured, Samples, Measured, DeviceState, Rechecked, Rechecked, TileStates,
        Finished,
    ]  # fmt: skip


def test_in_turns_both_are_timed_before_either_is_measured(host: KernelHost) -> None:
    events = run(host, replace(SMALL, protocol="warm", max_samples=40, max_seconds=600.0))
    partial = [e for e in events if isinstance(e, TileStates) and not e.complete]  # a slow machine sends some
    kinds = [type(e) for e in events if not isinstance(e, Progress | Samples) and not any(e is one for one in partial)]
    assert kinds[kinds.index(Started) :] == [
        Started, Checked, Checked, DeviceState, Measured, Measured, Comparison, Rechecked, Rechecked, TileStates,
        Finished,
    ]  # fmt: skip
    roles = [e.role for e in events if isinstance(e, Samples)]
    assert roles[:4] == ["kernel", "baseline", "kernel", "baseline"]
    for event in events:
        if isinstance(event, Measured):
            latency = event.measurement.latency
            assert (latency.protocol, latency.clock, latency.ended_by) == ("warm", "host", "samples")
            assert len(latency.samples) == latency.launches == 40 and latency.interval is not None
    state = next(e for e in events if isinstance(e, DeviceState))
    assert len(state.readings.t) == 0 and "interpreter" in state.readings.missing[0].reason
    assert {w.kind for w in state.warnings} <= {"cpu"}, "none but of a CPU that other tests keep busy"
    rechecked = [e for e in events if isinstance(e, Rechecked)]
    assert all(e.bits_equal and not e.failed for e in rechecked)
    assert all(e.deterministic is not False for e in rechecked), "not known where a busy machine takes long"


def test_where_the_kernel_comes_from_is_said(host: KernelHost) -> None:
    events = run(host, replace(TINY, problem=replace(TINY.problem, inputs="zeros"), sdpa="none"))
    provenance = next(e for e in events if isinstance(e, Started)).provenance
    assert provenance.kernel_file == "kernels/variants/article.py" and len(provenance.source_sha256) == 64
    assert provenance.power_limit_w is None and provenance.ecc == ""
    kinds = {w.kind for e in events if isinstance(e, DeviceState) for w in e.warnings}
    assert kinds - {"cpu"} == {"inputs"}, "but for a CPU that other tests keep busy"


def test_ceilings_of_the_interpreter_are_refused_in_one_line(host: KernelHost) -> None:
    events = list(host.measure_ceilings())
    end = events[-1]
    assert isinstance(end, Failed) and end.kind == "invalid" and "\n" not in end.message
    assert "not measured: the interpreter has no GPU" in end.message
    assert isinstance(run(host, TINY)[-1], Finished)


def test_everything_says_that_this_is_no_gpu_time(small: list[RunEvent]) -> None:
    started = next(e for e in small if isinstance(e, Started))
    assert started.device.mode == "interpreter"
    assert started.device.mode_label == "interpreter, not GPU time"
    for event in small:
        if isinstance(event, Measured):
            assert event.measurement.latency.clock == "host"
            assert event.measurement.resources is None


def test_samples_stream_and_are_all_kept(played: list[RunEvent]) -> None:
    for role in ("kernel", "baseline"):
        streamed = [e.values for e in played if isinstance(e, Samples) and e.role == role]
        measured = next(e.measurement for e in played if isinstance(e, Measured) and e.measurement.role == role)
        assert len(streamed) > 1
        np.testing.assert_array_equal(np.concatenate(streamed), measured.latency.samples)
        assert len(measured.latency.samples) == measured.latency.launches
        assert measured.latency.block_average_us is None and figure_text(measured.latency) == "median"


def test_errors_and_states_belong_to_the_runs_own_tensors(host: KernelHost) -> None:
    """Recomputed here in numpy from the tensors that the run hands out."""
    request = RunRequest(Problem(20, 40, 8, seed=5), TileConfig(16, 16), device="interpreter", keep_tensors=True)
    events = run(host, request)
    tensors = next(e for e in events if isinstance(e, Tensors))
    q, k, v = (np.asarray(t[0], dtype=np.float64) for t in (tensors.q, tensors.k, tensors.v))
    scores = q @ k.T / np.sqrt(8)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    expected = weights @ v / weights.sum(1, keepdims=True)
    difference = np.abs(tensors.out[0] - expected)

    check = next(e for e in events if isinstance(e, Checked) and e.role == "kernel")
    assert check.error.passed
    assert check.error.max_abs == pytest.approx(difference.max(), rel=1e-6)
    assert check.error.mean_abs == pytest.approx(difference.mean(), rel=1e-6)
    assert check.error.worst == (0, *np.unravel_index(difference.argmax(), difference.shape))
    assert check.error_map is not None
    np.testing.assert_allclose(check.error_map[0], difference, rtol=1e-5)

    states = of_type(events, TileStates)[-1]
    assert isinstance(states, TileStates) and states.m_running is not None and states.l_running is not None
    assert states.complete and states.bit_equal
    assert states.m_error is not None and states.m_error < 1e-5
    assert states.l_error is not None and states.l_error < 1e-5
    assert states.m_running.shape == (1, 20, 3)
    np.testing.assert_allclose(states.m_running[0, :, -1], scores.max(1), rtol=1e-5)
    np.testing.assert_allclose(states.l_running[0, :, -1], weights.sum(1), rtol=1e-5)


HERE = [variant for variant in VARIANTS if not variant.spec.capability]
GENERAL = [variant for variant in HERE if variant.spec.heads and variant.spec.causal]


@pytest.mark.parametrize("shape", [(20, 40, 8), (40, 20, 8)], ids=["M < N", "M > N"])
@pytest.mark.parametrize("variant", GENERAL, ids=lambda v: v.name)
def test_heads_groups_and_the_mask_go_through_the_whole_run(
    host: KernelHost, variant: KernelVariant, shape: tuple[int, int, int]
) -> None:
    problem = Problem(*shape, batch=2, heads=2, kv_heads=1, causal=True, seed=3)
    tile = TileConfig(16, 16, splits=3)
    if not variant.spec.splits:
        tile = replace(tile, splits=0)
    request = RunRequest(problem, tile, kernel=variant.name, device="interpreter", keep_tensors=True, sdpa="math")
    events = run(host, hardly_timed(request))
    assert isinstance(events[-1], Finished), events[-1]
    tensors = next(e for e in events if isinstance(e, Tensors))
    assert tensors.q.shape == (4, shape[0], shape[2]) and tensors.k.shape == (2, shape[1], shape[2])
    expected, m_last = attention_of(problem, tensors)
    kernel, baseline = (e for e in events if isinstance(e, Checked))
    assert kernel.error.passed and baseline.error.passed and kernel.heads == ()
    assert kernel.error.max_abs == pytest.approx(np.abs(tensors.out - expected).max(), rel=1e-6)
    assert kernel.error.rows_left_out == 0 and baseline.error.rows_left_out == problem.blind_rows
    assert kernel.error_map is not None and kernel.error_map.shape == tensors.out.shape
    logs = "".join(e.text for e in events if isinstance(e, Log))
    assert ("20 of 40 rows of each head see no key" in logs) is bool(problem.blind_rows)

    states = next(e for e in reversed(events) if isinstance(e, TileStates))
    assert states.complete and states.bit_equal and states.m_running is not None
    assert states.m_error is not None and states.m_error < 1e-5
    assert states.l_error is not None and states.l_error < 1e-5
    measured = next(e.measurement for e in events if isinstance(e, Measured))
    assert measured.tile is not None and measured.tile.splits == (
        min(3, -(-shape[1] // 16)) if variant.spec.splits else 1
    )
    expected_split = tiles_per_split(shape[1], 16, 3) if variant.spec.splits else 0
    assert states.split_tiles == expected_split and states.m_running.shape == (4, shape[0], -(-shape[1] // 16))
    if not variant.spec.splits:
        last = states.m_running[:, problem.blind_rows + 16 :, -1]  # no tile of these blocks is left out
        np.testing.assert_allclose(
            last[np.isfinite(last)], m_last[:, problem.blind_rows + 16 :][np.isfinite(last)], 1e-5
        )


def attention_of(problem: Problem, tensors: Tensors) -> tuple[FloatArray, FloatArray]:
    """Attention [heads, M, D] and each row's largest score [heads, M] by the definition, in numpy and float64."""
    group = problem.heads // problem.kv_heads
    sees = np.arange(problem.n) <= np.arange(problem.m)[:, None] + problem.n - problem.m
    q = tensors.q.astype(np.float64)
    k, v = (np.repeat(t.astype(np.float64), group, axis=0) for t in (tensors.k, tensors.v))
    scores = np.where(sees if problem.causal else True, q @ k.transpose(0, 2, 1) / np.sqrt(problem.d), -np.inf)
    m = scores.max(axis=2)
    weights = np.exp(scores - np.where(np.isfinite(m), m, 0.0)[:, :, None])
    return weights @ v / np.maximum(weights.sum(axis=2, keepdims=True), 1e-300), m


@pytest.mark.parametrize("variant", [v for v in HERE if "fp16" in v.spec.dtypes], ids=lambda v: v.name)
def test_fp16_runs_and_its_trace_is_bit_equal(host: KernelHost, variant: KernelVariant) -> None:
    problem = Problem(20, 40, 8, heads=2, dtype="fp16")
    request = RunRequest(problem, TileConfig(16, 32), kernel=variant.name, device="interpreter", keep_tensors=True)
    events = run(host, hardly_timed(request))
    assert isinstance(events[-1], Finished), events[-1]
    assert all(e.error.passed and 1e-6 < e.error.max_abs < 2e-3 for e in events if isinstance(e, Checked))
    assert next(e for e in reversed(events) if isinstance(e, TileStates)).bit_equal is True
    tensors = next(e for e in events if isinstance(e, Tensors))
    assert tensors.out.dtype == np.float32 and (tensors.q == tensors.q.astype(np.float16)).all()


def test_an_open_tile_is_chosen_and_said(host: KernelHost) -> None:
    variant = next(v for v in HERE if not v.spec.keeps_tile)
    open_ = replace(SMALL, kernel=variant.name, tile=TileConfig(32, 16), auto_tile=("block_n", "num_stages", "splits"))
    events = run(host, open_)
    started = next(e for e in events if isinstance(e, Started)).request
    assert started.auto_tile == () and started.tile.block_m == 32
    assert started.tile == replace(variant.spec.default_tile(SMALL.problem, INTERPRETER), block_m=32)
    assert next(e.measurement.tile for e in events if isinstance(e, Measured)) == started.tile


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="this process compiles for the GPU")
def test_of_many_heads_as_many_maps_come_as_fit_and_the_worst_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, with limits of a few heads; everything said in numbers is still of all of them."""
    from workbench.engine import steps
    from workbench.engine.checking import outputs as checks
    from workbench.engine.checking import states as trace

    problem = Problem(7, 20, 8, batch=2, heads=4, kv_heads=4)
    request = hardly_timed(RunRequest(problem, TileConfig(16, 16), kernel=GENERAL[0].name, sdpa="none"))
    whole: list[RunEvent] = []
    steps.Run(request, INTERPRETER, whole.append, StopFlag()).go()
    for module in (steps, trace):
        monkeypatch.setattr(module, "TRACE_LIMIT_BYTES", 3 * 3 * 4 * 7 * 2)
    monkeypatch.setattr(checks, "ERROR_MAP_LIMIT_BYTES", 2 * 4 * 7 * 8)
    events: list[RunEvent] = []
    steps.Run(request, INTERPRETER, events.append, StopFlag()).go()

    all_checked, all_states = check_and_states(whole)
    checked, states = check_and_states(events)
    worst = checked.error.worst[0]
    assert checked.error == all_checked.error
    assert checked.heads == (0, max(1, worst)) and states.heads == (0, 1, max(2, worst))
    assert checked.error_map is not None and all_checked.error_map is not None
    np.testing.assert_array_equal(checked.error_map, all_checked.error_map[list(checked.heads)])
    assert states.l_running is not None and all_states.l_running is not None
    np.testing.assert_array_equal(states.l_running, all_states.l_running[list(states.heads)])
    assert (states.m_error, states.l_error) == (all_states.m_error, all_states.l_error)
    logs = [e.text for e in events if isinstance(e, Log)]
    assert len(logs) == 2 and "of 8 are kept" in logs[0] and logs[1].startswith("softmax states")
    assert not [e for e in whole if isinstance(e, Log)]


def check_and_states(events: list[RunEvent]) -> tuple[Checked, TileStates]:
    """The kernel's check and the complete states."""
    return (
        next(e for e in events if isinstance(e, Checked)),
        next(e for e in reversed(events) if isinstance(e, TileStates)),
    )


def test_the_same_seed_gives_the_same_run_and_another_gives_another(host: KernelHost) -> None:
    def error_of(seed: int) -> float:
        events = run(host, replace(TINY, problem=replace(TINY.problem, seed=seed), sdpa="none"))
        return next(e.error.max_abs for e in events if isinstance(e, Checked))

    first = error_of(1)
    assert error_of(1) == first
    assert error_of(2) != first


def test_a_tolerance_that_is_not_met_is_a_failed_check_and_not_a_failed_run(host: KernelHost) -> None:
    events = run(host, replace(TINY, rtol=0.0, atol=1e-12))
    assert isinstance(events[-1], Finished)
    assert [e.error.passed for e in events if isinstance(e, Checked)] == [False, False]


@pytest.mark.parametrize("sdpa", ["math", "flash"])
def test_a_forced_backend_is_the_one_recorded(host: KernelHost, sdpa: str) -> None:
    events = run(host, replace(TINY, sdpa=sdpa))
    assert {e.backend for e in events if isinstance(e, Checked) and e.role == "baseline"} == {sdpa}


def test_the_backend_that_auto_takes_is_found_out(small: list[RunEvent]) -> None:
    backend = next(e.backend for e in small if isinstance(e, Checked) and e.role == "baseline")
    assert backend in ("math", "flash")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (
            RunRequest(Problem(8, 8, 8), device="interpreter", sdpa="efficient"),
            "it needs an NVIDIA GPU; allowed are auto, math, flash, none",
        ),
        (
            RunRequest(Problem(8, 8, 8), device="interpreter", kernel="none such"),
            "kernel is 'none such'; allowed are article",
        ),
        (
            RunRequest(Problem(8, 8, 8), device="interpreter", protocol="cold"),
            "protocol is cold, which flushes the L2 cache of a GPU; on the interpreter allowed are block, warm",
        ),
        (RunRequest(Problem(8, 8, 300), device="interpreter"), "D is 300; allowed are 1 to 256"),
        (RunRequest(Problem(2**24, 2**24, 256), device="interpreter"), "needs"),
    ],
)
def test_a_request_that_cannot_work_is_refused_in_one_line(host: KernelHost, request_: RunRequest, words: str) -> None:
    end = run(host, request_)[-1]
    assert isinstance(end, Failed) and end.kind == "invalid"
    assert words in end.message and "\n" not in end.message


def test_stop_breaks_off_a_long_interpreter_launch_and_keeps_the_child(
    host: KernelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launch that takes minutes; a child that has more to do is not ended for answering late."""
    monkeypatch.setattr(process, "STOP_GRACE_S", LIMIT_S)
    run(host, TINY)
    pid = host.pid
    events = []
    for event in host.run(RunRequest(Problem(2048, 2048, 64), device="interpreter", time_limit_s=LIMIT_S)):
        events.append(event)
        if isinstance(event, Progress) and "checking" in event.phase:
            host.stop()
    end = events[-1]
    assert isinstance(end, Failed) and end.kind == "cancelled"
    assert isinstance(run(host, TINY)[-1], Finished)
    assert host.pid == pid


def test_states_are_sent_while_a_launch_fills_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a launch that stops in the middle until its half has been sent, as slow ones do by themselves."""
    from workbench.engine.checking import states
    from workbench.engine.inputs import Inputs, make_inputs

    monkeypatch.setattr(states, "LIVE_INTERVAL_S", 0.001)
    shares: list[float] = []
    sent = threading.Event()

    def send(event: RunEvent) -> None:
        assert isinstance(event, TileStates) and event.m_running is not None and not event.complete
        shares.append(float(np.isfinite(event.m_running).mean()))
        sent.set()

    def launch(inputs: Inputs, out: torch.Tensor, trace: TileTrace) -> None:
        for rows in (slice(0, 48), slice(48, 96)):
            for state in (trace.m_tile, trace.m_running, trace.l_running):
                state[:, rows] = 1.0
            for _ in range(2):  # the first may have been looked at before
                sent.clear()
                assert sent.wait(LIMIT_S)

    problem = Problem(96, 256, 16)
    inputs = make_inputs(problem, torch.device("cpu"))
    taken = states.Capture(RunRequest(problem), TileConfig(16, 16), inputs, (0, 0, 0))
    whole = taken.take(torch.zeros(1, 1, 96, 16), launch, "interpreter", send)
    assert whole.complete and shares == sorted(shares)
    assert 0.5 in shares and shares[-1] == 1.0


def test_ready_names_the_kernels_and_the_backends(host: KernelHost) -> None:
    list(host.wait_ready())
    assert isinstance(host.ready, Ready)
    assert [kernel.spec for kernel in host.ready.kernels] == [variant.spec for variant in VARIANTS]
    for announced, variant in zip(host.ready.kernels, VARIANTS, strict=True):
        assert announced.unavailable == variant.refusal(host.ready.device)
    assert {b.name for b in host.ready.baselines} >= {"auto", "math", "efficient", "flash", "cudnn", "flex"}
