"""Single steps of a run in this process, on the interpreter: outputs that go wrong, and what an early end leaves."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest
import torch

from kernels.plain.tiles import TileConfig
from tests.engine.timing.fake_gpu import FakeGpu
from tests.engine.timing.played_clock import play_host_clock
from tests.samples import INTERPRETER
from workbench.engine import steps
from workbench.engine.baselines.sdpa import make_baseline
from workbench.engine.host.stopping import StopFlag, StoppedError
from workbench.engine.timing.clocks import Gpu, Launch
from workbench.engine.timing.looks import Looks
from workbench.engine.timing.measure import TimedRun, time_block, time_in_turns
from workbench.run.events import Comparison, Measured, Rechecked, RunEvent, TileStates
from workbench.run.measurement import Latency
from workbench.run.record import RunBuilder, RunRecord
from workbench.run.request import Problem, RunRequest

pytestmark = pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="this process compiles for the GPU")

REQUEST = RunRequest(
    Problem(16, 16, 8), TileConfig(16, 16), trace=False, protocol="warm", max_samples=8, max_seconds=600.0
)
ALONE = replace(REQUEST, sdpa="none")
Wild = Callable[[int, torch.Tensor, Callable[[], object]], None]


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches of a millisecond: of those that take long on a busy machine none is repeated."""
    play_host_clock(monkeypatch, 1000.0)


def run_of(request: RunRequest, events: list[RunEvent], stop: StopFlag | None = None) -> steps.Run:
    return steps.Run(request, INTERPRETER, events.append, stop or StopFlag())


def record_of(request: RunRequest, events: list[RunEvent]) -> RunRecord:
    builder = RunBuilder(request)
    for event in events:
        builder.take(event)
    return builder.record()


def run_wild(monkeypatch: pytest.MonkeyPatch, request: RunRequest, wild: Wild) -> RunRecord:
    """A run whose kernel is `wild`, which is given the launch's number, the output, and the real launch."""
    events: list[RunEvent] = []
    run = run_of(request, events)
    real, count = run._variant.launch, 0

    def launch(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor, **options: object) -> None:
        nonlocal count
        count += 1
        wild(count, out, lambda: real(q, k, v, out, **options))  # type: ignore[arg-type]

    monkeypatch.setattr(run, "_variant", replace(run._variant, launch=launch))
    run.go()
    return record_of(request, events)


@pytest.mark.parametrize("works", [1, 2], ids=["checked", "checked and warmed up"])
@pytest.mark.parametrize("protocol", ["block", "warm"])
@pytest.mark.parametrize("inputs", ["normal", "zeros"])
def test_a_kernel_that_does_nothing_while_timed_is_found_out(
    monkeypatch: pytest.MonkeyPatch, inputs: str, protocol: str, works: int
) -> None:
    """It works before and after. Of zeros the right output is zeros: what was not written must not look like that."""
    request = replace(ALONE, protocol=protocol, problem=replace(ALONE.problem, inputs=inputs))
    outputs: list[int] = []

    def idle(count: int, out: torch.Tensor, real: Callable[[], object]) -> None:
        outputs.append(out.data_ptr())
        if count <= works or out.data_ptr() != outputs[0]:
            real()

    record = run_wild(monkeypatch, request, idle)
    (found,) = record.rechecked
    assert outputs.count(outputs[0]) > 2 and len(set(outputs)) > 1, "it was timed, and launched twice more"
    assert record.checked[0].error.passed and not record.passed
    assert found.failed and not found.bits_equal and found.deterministic


@pytest.mark.parametrize("inputs", ["normal", "zeros"])
def test_a_kernel_that_does_nothing_is_wrong(monkeypatch: pytest.MonkeyPatch, inputs: str) -> None:
    request = replace(ALONE, problem=replace(ALONE.problem, inputs=inputs))
    record = run_wild(monkeypatch, request, lambda count, out, real: None)
    assert not record.checked[0].error.passed and record.checked[0].error.non_finite == out_size(request)


def out_size(request: RunRequest) -> int:
    return request.problem.m * request.problem.d


@pytest.mark.parametrize("inputs", ["normal", "zeros"])
def test_a_kernel_that_works_only_where_it_is_timed_is_found_out(monkeypatch: pytest.MonkeyPatch, inputs: str) -> None:
    """Its output after timing is right, but launches into other tensors write nothing."""
    request = replace(ALONE, problem=replace(ALONE.problem, inputs=inputs))
    first: list[int] = []

    def launch(count: int, out: torch.Tensor, real: Callable[[], object]) -> None:
        first.append(out.data_ptr())
        if out.data_ptr() == first[0]:
            real()

    (found,) = run_wild(monkeypatch, request, launch).rechecked
    assert found.bits_equal and found.failed


def test_two_launches_are_held_against_each_other_and_not_one_against_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def restless(count: int, out: torch.Tensor, real: Callable[[], object]) -> None:
        real()
        out[0, 0, 3, 2] += 1e-5 * count

    (found,) = run_wild(monkeypatch, ALONE, restless).rechecked
    assert found.deterministic is False and not found.failed and not found.bits_equal


@pytest.mark.parametrize("does", ["wrong", "nothing"])
def test_the_output_of_sdpas_last_timed_launch_is_checked(monkeypatch: pytest.MonkeyPatch, does: str) -> None:
    """A fresh call would be right. What writes nothing while timed must leave no answer of an earlier launch."""
    real, really_timed = make_baseline, time_in_turns
    now = {"timed": False}

    class Spoiled:
        backend, note = "math", ""

        def __init__(self, *arguments: object) -> None:
            self._sdpa = real(*arguments)  # type: ignore[arg-type]
            self._kept = self._sdpa()
            self.ordered = self._sdpa.ordered

        def __call__(self) -> torch.Tensor:
            if not now["timed"]:
                return self._sdpa()
            return self._sdpa() + 1 if does == "wrong" else self._kept

    def timed(*arguments: Any) -> Any:
        now["timed"] = True
        found = really_timed(*arguments)
        now["timed"] = False
        return found

    monkeypatch.setattr(steps, "make_baseline", Spoiled)
    monkeypatch.setattr(steps, "time_in_turns", timed)
    events: list[RunEvent] = []
    run_of(REQUEST, events).go()
    found = next(e for e in events if isinstance(e, Rechecked) and e.role == "baseline")
    assert found.failed and not found.bits_equal and found.deterministic


def on_a_gpu(monkeypatch: pytest.MonkeyPatch, run: steps.Run) -> None:
    """Let `run` believe in a GPU, while its launches are timed on the host's clock."""

    def in_turns(request: RunRequest, launches: object, gpu: Gpu, *others: object) -> TimedRun:
        return time_in_turns(request, launches, None, *others)  # type: ignore[arg-type]

    def block(role: object, name: str, launch: Launch, plan: object, gpu: Gpu, *others: object) -> Latency:
        return time_block(role, name, launch, plan, None, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(steps, "time_in_turns", in_turns)
    monkeypatch.setattr(steps, "time_block", block)
    run._gpu = FakeGpu()


@pytest.mark.parametrize("protocol", ["block", "warm"])
@pytest.mark.parametrize("error", [StoppedError, RuntimeError], ids=["stop", "CUDA error"])
@pytest.mark.parametrize("at", ["kernel", "baseline"])
def test_an_end_while_profiling_loses_nothing_that_was_measured(
    monkeypatch: pytest.MonkeyPatch, protocol: str, error: type[BaseException], at: str
) -> None:
    request = replace(REQUEST, protocol=protocol)
    events: list[RunEvent] = []
    run = run_of(request, events)
    on_a_gpu(monkeypatch, run)
    seen: list[Latency] = []

    def look(looks: Looks, launch: Launch, latency: Latency, *others: object) -> Latency:
        seen.append(latency)
        if len(seen) == 1 + (at == "baseline"):
            raise error
        return replace(latency, kernel_us=3.0, kernel_names=("a_kernel",))

    monkeypatch.setattr(Looks, "at", look)
    with pytest.raises(error):
        run.go()
    record = record_of(request, events)
    assert [m.measurement.role for m in record.measured] == ["kernel", "baseline"] and len(record.rechecked) == 2
    assert (record.comparison is not None) is (protocol == "warm")
    kernel = record.measurement("kernel")
    assert kernel is not None and kernel.latency.kernel_us == (None if at == "kernel" else 3.0)


@pytest.mark.parametrize("protocol", ["block", "warm"])
def test_what_the_profiler_says_amends_what_was_measured(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    """When all that is timed has been timed and checked; and a backend that its kernels prove counts."""
    request = replace(REQUEST, protocol=protocol)
    events: list[RunEvent] = []
    run = run_of(request, events)
    on_a_gpu(monkeypatch, run)
    names = ("fmha_cutlassF_f32",)
    monkeypatch.setattr(
        Looks, "at", lambda self, launch, latency, *others: replace(latency, kernel_us=3.0, kernel_names=names)
    )
    run.go()
    record = record_of(request, events)
    assert [m.measurement.role for m in record.measured] == ["kernel", "baseline"]
    assert all(m.measurement.latency.kernel_us == 3.0 for m in record.measured)
    baseline = record.measurement("baseline")
    assert baseline is not None and baseline.backend == "efficient"
    kinds = [type(e) for e in events if isinstance(e, Measured | Comparison | Rechecked | TileStates)]
    kinds = [kind for kind, _ in groupby(kinds)]
    compared = [Comparison] if protocol == "warm" else []
    assert kinds == [Measured, *compared, Rechecked, TileStates, Measured], "no states wait for the profiler"
