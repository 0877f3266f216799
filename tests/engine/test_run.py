"""Whole runs through a real child on the interpreter: what comes, in which order, and whether it is true."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from workbench.engine.host import KernelHost
from workbench.model import (
    Checked,
    Failed,
    Finished,
    Measured,
    Problem,
    Progress,
    Ready,
    RunEvent,
    RunRequest,
    Samples,
    Started,
    Tensors,
    TileConfig,
    TileStates,
)


@pytest.fixture(scope="module")
def host() -> Iterator[KernelHost]:
    made = KernelHost("interpreter")
    yield made
    made.close()


def run(host: KernelHost, request: RunRequest) -> list[RunEvent]:
    return list(host.run(request))


def of_type(events: list[RunEvent], kind: type) -> list[RunEvent]:
    return [event for event in events if isinstance(event, kind)]


SMALL = RunRequest(Problem(20, 40, 8), TileConfig(16, 16), device="interpreter")


def test_a_run_checks_first_then_times_then_traces(host: KernelHost) -> None:
    events = run(host, SMALL)
    assert isinstance(events[-1], Finished)
    kinds = [type(e) for e in events if not isinstance(e, Progress)]
    assert [k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] is not k or k in (Checked, Measured)][-9:] == [
        Started, Checked, Checked, Samples, Measured, Samples, Measured, TileStates, Finished,
    ]  # fmt: skip


def test_everything_says_that_this_is_no_gpu_time(host: KernelHost) -> None:
    events = run(host, SMALL)
    started = next(e for e in events if isinstance(e, Started))
    assert started.device.mode == "interpreter"
    assert started.device.mode_label == "interpreter, not GPU time"
    for event in events:
        if isinstance(event, Measured):
            assert event.measurement.latency.clock == "host"
            assert event.measurement.resources is None


def test_samples_stream_and_are_all_kept(host: KernelHost) -> None:
    events = run(host, SMALL)
    for role in ("kernel", "baseline"):
        streamed = [e.values for e in events if isinstance(e, Samples) and e.role == role]
        measured = next(e.measurement for e in events if isinstance(e, Measured) and e.measurement.role == role)
        assert len(streamed) > 1 or role == "baseline", "SDPA's launches take microseconds and come in one piece"
        np.testing.assert_array_equal(np.concatenate(streamed), measured.latency.samples)
        assert len(measured.latency.samples) == measured.latency.launches
        assert measured.latency.block_average_us == pytest.approx(measured.latency.samples.mean())


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


def test_the_same_seed_gives_the_same_run_and_another_gives_another(host: KernelHost) -> None:
    def error_of(seed: int) -> float:
        events = run(host, RunRequest(Problem(20, 40, 8, seed=seed), device="interpreter", sdpa="none"))
        return next(e.error.max_abs for e in events if isinstance(e, Checked))

    assert error_of(1) == error_of(1)
    assert error_of(1) != error_of(2)


def test_a_tolerance_that_is_not_met_is_a_failed_check_and_not_a_failed_run(host: KernelHost) -> None:
    events = run(host, RunRequest(Problem(20, 40, 8), device="interpreter", rtol=0.0, atol=1e-12))
    assert isinstance(events[-1], Finished)
    assert [e.error.passed for e in events if isinstance(e, Checked)] == [False, False]


@pytest.mark.parametrize("sdpa", ["math", "flash"])
def test_a_forced_backend_is_the_one_recorded(host: KernelHost, sdpa: str) -> None:
    events = run(host, RunRequest(Problem(20, 40, 8), device="interpreter", sdpa=sdpa))
    assert {e.backend for e in events if isinstance(e, Checked) and e.role == "baseline"} == {sdpa}


def test_the_backend_that_auto_takes_is_found_out(host: KernelHost) -> None:
    events = run(host, SMALL)
    backend = next(e.backend for e in events if isinstance(e, Checked) and e.role == "baseline")
    assert backend in ("math", "flash")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (
            RunRequest(Problem(8, 8, 8), device="interpreter", sdpa="efficient"),
            "sdpa is efficient, which cannot take fp32",
        ),
        (
            RunRequest(Problem(8, 8, 8), device="interpreter", kernel="none such"),
            "kernel is 'none such'; allowed are article",
        ),
        (RunRequest(Problem(8, 8, 300), device="interpreter"), "D is 300; allowed are 1 to 256"),
        (RunRequest(Problem(2**24, 2**24, 256), device="interpreter"), "needs"),
    ],
)
def test_a_request_that_cannot_work_is_refused_in_one_line(host: KernelHost, request_: RunRequest, words: str) -> None:
    end = run(host, request_)[-1]
    assert isinstance(end, Failed) and end.kind == "invalid"
    assert words in end.message and "\n" not in end.message


def test_states_too_large_to_keep_are_left_out_with_the_reason() -> None:
    from workbench.engine.trace import skipped

    huge = skipped(RunRequest(Problem(16384, 65536, 64)))
    assert huge is not None and huge.m_running is None
    assert "768.0 MiB" in huge.skipped and "192.0 MiB" in huge.skipped
    assert skipped(SMALL) is None


def test_stop_breaks_off_a_long_interpreter_launch_and_keeps_the_child(host: KernelHost) -> None:
    run(host, SMALL)
    pid = host.pid
    threading.Timer(0.5, host.stop).start()
    began = time.monotonic()
    end = run(host, RunRequest(Problem(1024, 1024, 64), device="interpreter"))[-1]
    assert isinstance(end, Failed) and end.kind == "cancelled"
    assert time.monotonic() - began < 2
    assert isinstance(run(host, SMALL)[-1], Finished)
    assert host.pid == pid


def test_states_fill_while_the_interpreter_runs(host: KernelHost) -> None:
    events = run(host, RunRequest(Problem(96, 256, 16), TileConfig(16, 16), device="interpreter", sdpa="none"))
    states = of_type(events, TileStates)
    shares = [
        float(np.isfinite(s.m_running).mean()) for s in states if isinstance(s, TileStates) and s.m_running is not None
    ]
    assert len(shares) > 1 and shares == sorted(shares)
    assert shares[0] < 1.0 and shares[-1] == 1.0


def test_ready_names_the_kernels_and_the_backends(host: KernelHost) -> None:
    run(host, SMALL)
    assert isinstance(host.ready, Ready)
    assert [v.name for v in host.ready.variants] == ["article"]
    assert {b.name for b in host.ready.baselines} == {"auto", "math", "efficient", "flash", "cudnn"}
