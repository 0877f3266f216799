"""What the command line prints and writes of a run that is already there."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.plain.launch_options import LAUNCH_OPTIONS, LaunchOption
from kernels.plain.spec import Limit
from kernels.plain.tiles import TileConfig
from tests.samples import INTERPRETER, events_of, make_kernel, make_record, recorded_state
from workbench.cli import commands, doctor, running
from workbench.cli.commands import kernel_lines, kernels_object
from workbench.cli.outcome import result_object, summary_lines
from workbench.cli.trace_file import write_trace
from workbench.run.ceilings import Ceilings
from workbench.run.environment import BaselineInfo
from workbench.run.events import (
    CeilingsMeasured,
    Comparison,
    Failed,
    Finished,
    Measured,
    Progress,
    Ready,
    Rechecked,
    RunEvent,
    Samples,
    Tensors,
)
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.run.session import Session, SessionError
from workbench.stats.modes import Modes
from workbench.stats.summary import Drift, Interval, Ratio

PROBLEM = Problem(20, 40, 8, batch=2, heads=4, kv_heads=2, causal=True)
BLOCKS = (16, 32)


def record_with_rule() -> RunRecord:
    """A run whose request leaves the splits to the rule, which made three."""
    record = make_record(1, PROBLEM, TileConfig(16, 16, splits=0))
    kernel, baseline = record.measured
    made = replace(kernel.measurement, tile=TileConfig(16, 16, splits=3))
    return replace(record, measured=(Measured(made), baseline))


def test_the_splits_that_were_made_are_reported() -> None:
    record = record_with_rule()
    assert result_object(record)["results"][0]["tile"]["splits"] == 3
    assert result_object(record)["results"][0]["tile_asked"]["splits"] == 0
    lines = list(summary_lines(record))
    assert lines[0].startswith("2 x 4 heads (2 of keys), 20 × 40 × 8, fp32, causal")
    assert lines[1].startswith("article 16×16, 3 splits, 4 warps, 3 stages: passed")
    unmeasured = replace(record, measured=())
    assert result_object(unmeasured)["results"][0]["tile"]["splits"] == 0, "of a run that failed, what was asked for"


@pytest.mark.parametrize("option", LAUNCH_OPTIONS, ids=lambda option: option.name)
def test_every_option_of_the_launch_is_printed(option: LaunchOption) -> None:
    """With the value that it had, also one that is mostly left to the compiler."""
    value = option.allowed[-1]
    record = make_record(1, PROBLEM, replace(TileConfig(16, 16), **{option.name: value}))
    assert option.said(value) in list(summary_lines(record))[1]


def test_splits_that_were_not_made_as_asked_are_said() -> None:
    record = record_with_rule()
    asked = replace(record.started.request, kernel="split_kv", tile=TileConfig(16, 16, splits=9))
    record = replace(record, started=replace(record.started, request=asked))
    kernel = result_object(record)["results"][0]
    assert (kernel["tile"]["splits"], kernel["tile_asked"]["splits"]) == (3, 9)
    assert list(summary_lines(record))[1].startswith("split_kv 16×16, 3 splits (9 asked), 4 warps, 3 stages: passed")


def test_a_verdict_has_the_relative_error_beside_it() -> None:
    record = make_record(1)
    error = replace(record.checked[0].error, rel_fro=0.0312)
    record = replace(record, checked=(replace(record.checked[0], error=error), record.checked[1]))
    assert "passed, max error" in list(summary_lines(record))[1]
    assert ", relative to the whole output 3.1e-02, at rtol 0.002, atol 0.002" in list(summary_lines(record))[1]


def test_a_precision_that_the_interpreter_has_not_is_said_not_to_have_run() -> None:
    record = make_record(1, device=INTERPRETER)
    request = replace(record.started.request, kernel="flash", precision="tf32")
    record = replace(record, started=replace(record.started, request=request))
    assert ", fp32 (tf32 asked, computed in full precision), seed" in next(summary_lines(record))
    kernel = result_object(record)["results"][0]
    assert (kernel["precision"], kernel["precision_computed"]) == ("tf32", "ieee")
    on_gpu = replace(record, started=replace(record.started, device=make_record(1).started.device))
    assert ", fp32 (tf32), seed" in next(summary_lines(on_gpu))
    assert result_object(on_gpu)["results"][0]["precision_computed"] == "tf32"


def test_metrics_have_units_and_the_limits_are_printed_where_they_are_heeded() -> None:
    result = result_object(make_record(1, protocol="cold"))
    assert result["measuring"] == {"protocol": "cold", "max_seconds": 5.0, "max_samples": 20000}
    kernel = result["results"][0]
    half = kernel["metrics"]["half_width"]
    assert half["unit"] == "%" and half["value"] == pytest.approx(100 * kernel["latency"]["half_width"])
    assert kernel["metrics"]["median"] == {"value": kernel["latency"]["median"], "unit": "µs"}
    block = result_object(make_record(1))
    assert block["measuring"] == {"protocol": "block", "max_seconds": None, "max_samples": None}


def test_what_was_timed_of_a_stopped_run_is_printed_as_partial() -> None:
    whole = make_record(1)
    some = Samples("kernel", np.array([3.0, 4.0, 5.0]))
    record = replace(whole, measured=(), partial=(some,), end=Failed("cancelled", "stopped on request"))
    kernel, baseline = result_object(record)["results"]
    assert kernel["latency"] is None and kernel["partial"] == {"unit": "us", "samples": [3.0, 4.0, 5.0]}
    assert baseline["partial"] is None and result_object(whole)["results"][0]["partial"] is None
    assert "  stopped: partial, 3 launches" in list(summary_lines(record))


def host_of(*events: RunEvent) -> type:
    """An engine whose runs are these events."""

    class Host:
        def __init__(self, device: str) -> None:
            self.stopped = False

        def announce_run(self) -> None: ...

        def run(self, request: RunRequest) -> tuple[RunEvent, ...]:
            return events

        def close(self) -> None: ...

    return Host


@pytest.mark.parametrize("passed", [True, False])
@pytest.mark.parametrize("spoil", ["session", "trace", "stdout"])
def test_a_result_that_cannot_be_written_has_its_own_status_if_it_is_bad(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, spoil: str, passed: bool
) -> None:
    """And everything else that can be written is."""
    record = make_record(1, passed=passed)
    q = np.zeros((1, 128, 64), dtype=np.float32)
    tensors = Tensors(q, q, q, q)
    monkeypatch.setattr(commands, "KernelHost", host_of(*events_of(record), tensors))
    session, trace = tmp_path / "s.tilescope", tmp_path / "t.npz"
    if spoil == "session":
        monkeypatch.setattr(Session, "add", refuse)
    full = Path("/dev/full")
    with full.open("w", encoding="utf-8") if spoil == "stdout" else nullcontext() as stdout:
        if stdout is not None:
            monkeypatch.setattr("sys.stdout", stdout)
        status = running.run(record.started.request, True, full if spoil == "trace" else trace, session)
        monkeypatch.undo()
    said = capsys.readouterr()
    assert status == (3 if passed else 1)
    words = {"session": "a full disk", "trace": "/dev/full cannot be written: No space", "stdout": "No space left"}
    assert f"tilescope: {words[spoil]}" in said.err
    if spoil != "stdout":
        assert json.loads(said.out)["results"][0]["error"]["passed"] is passed
    if spoil != "session":
        assert len(Session(session).summaries()) == 1
    assert trace.exists() == (spoil != "trace")


@pytest.mark.parametrize("checked", [True, False])
def test_ctrl_c_asks_the_engine_to_stop_and_what_there_is_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, checked: bool
) -> None:
    record, path = make_record(1), tmp_path / "s.tilescope"
    asked: list[str] = []

    class Host(host_of()):  # type: ignore[misc]
        def run(self, request: RunRequest) -> Iterator[RunEvent]:
            yield record.started
            if checked:
                yield from (record.checked[0], Samples("kernel", np.array([3.0, 4.0])))
            os.kill(os.getpid(), signal.SIGINT)
            yield Failed("cancelled", "stopped on request")

        def stop(self) -> None:
            asked.append("stop")

        def abandon_start(self) -> None:
            asked.append("abandon")

    monkeypatch.setattr(commands, "KernelHost", Host)
    assert running.run(record.started.request, True, None, path) == 130
    assert asked == ["stop", "abandon"]
    said = capsys.readouterr()
    assert json.loads(said.out)["failure"]["kind"] == "cancelled" and said.err.endswith("tilescope: stopped\n")
    kept = Session(path).summaries()
    assert [one.partial[0].values.tolist() for one in kept] == ([[3.0, 4.0]] if checked else [])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "as it was before"


def refuse(session: Session, record: RunRecord) -> RunRecord:
    raise SessionError("a full disk")


def test_nothing_printed_as_json_is_infinite() -> None:
    record = make_record(1, protocol="cold", device_state=recorded_state("shared"))
    kernel, baseline = record.measured
    few = replace(kernel.measurement.latency, interval=None)
    wrong = replace(kernel.measurement.error, max_abs=float("inf"), worst_got=float("nan"), passed=False)
    record = replace(
        record,
        measured=(Measured(replace(kernel.measurement, latency=few, error=wrong)), baseline),
        checked=(replace(record.checked[0], error=wrong), record.checked[1]),
        comparison=Comparison(Ratio(0.5, 0.0, float("inf"))),
    )
    printed = json.loads(json.dumps(result_object(record), allow_nan=False))
    assert printed["results"][0]["error"]["max_abs"] is None and printed["results"][0]["latency"]["interval"] is None
    assert printed["ratio"] is None, "of a wrong result"
    right = replace(make_record(1, protocol="cold"), comparison=record.comparison)
    ratio = json.loads(json.dumps(result_object(right), allow_nan=False))["ratio"]
    wanted = {"baseline_over_kernel": 0.5, "low": 0.0, "high": None, "comparable": True, "paired": True}
    assert {name: ratio[name] for name in wanted} == wanted
    assert result_object(make_record(1, device=INTERPRETER))["ratio"] is None
    assert printed["device_state"]["facts"]["power_limit_w"] == 700.0


def test_what_is_known_of_the_times_is_said_in_words() -> None:
    record = make_record(1, protocol="cold", launches=200)
    kernel, baseline = record.measured
    found = replace(
        kernel.measurement.latency,
        samples=np.full(200, 14.7),
        interval=Interval(14.6, 14.8),
        ended_by="time",
        kernel_us=5.1,
        launched_us=14.7,
        modes=Modes((14.7, 19.0), (0.8, 0.2)),
        drift=Drift(0.03),
    )
    proved = replace(baseline.measurement, backend="flash")
    changed = Rechecked("kernel", 0.0, 1.0, False, True, "changed while timing: suspect a race", True)
    record = replace(
        record,
        measured=(Measured(replace(kernel.measurement, latency=found)), Measured(proved)),
        rechecked=(changed,),
    )
    lines = list(summary_lines(record))
    text = "\n".join(lines)
    assert "median 14.7 µs (14.6–14.8 µs at 95%), cold protocol, cuda events" in text
    assert "200 launches in 10 rounds, ended by the limit of 5 s: median ±0.7%" in text
    assert "the GPU takes 5.1 µs for a launch" in text and "one by one: 5.1 µs of 14.7 µs is the kernel" in text
    assert "two modes: 14.7 µs (80%) and 19 µs (20%)" in text and "drifting by +3.0%" in text
    assert "sdpa (flash)" in text, "the backend that its kernels prove, not the one that PyTorch said"
    assert lines[2] == "  FAILED: changed while timing: suspect a race", "before any speed"
    assert "times the kernel's time" not in text
    assert "times the kernel's time" in "\n".join(summary_lines(replace(record, rechecked=())))


def test_of_a_run_in_turns_both_fail_together() -> None:
    record = replace(make_record(1, protocol="graph"), measured=(), comparison=None, end=Failed("launch", "no capture"))
    results = result_object(record)["results"]
    assert [one["failure"]["message"] for one in results] == ["no capture"] * 2
    block = replace(make_record(1), measured=(), end=Failed("launch", "no luck"))
    results = result_object(block)["results"]
    assert [one["failure"]["kind"] for one in results] == ["launch", "cancelled"]


def test_ceilings_are_kept_and_measured_again_on_demand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = Ceilings("GPU", "580", "2.13", "2026-11-30T12:00:00", 4.25e12, 51e12, 360e12, 655e12)
    again = replace(kept, fp32=52e12)
    asked = []

    class Host:
        def __init__(self, device: str) -> None:
            self.ready = Ready(make_record().started.device, (), (), kept)

        def wait_ready(self) -> list[Ready]:
            return [self.ready]

        def measure_ceilings(self) -> list[object]:
            asked.append(1)
            return [Progress("measuring", 0, 5), CeilingsMeasured(again), Finished(3.0)]

        def close(self) -> None: ...

    monkeypatch.setattr(commands, "KernelHost", Host)
    assert commands.ceilings("auto", False, again=False) == 0 and not asked
    words = capsys.readouterr().out
    assert "4.25 TB/s" in words and "360.0 TFLOP/s" in words and "bf16  unknown" in words
    assert commands.ceilings("auto", True, again=True) == 0 and asked
    printed = capsys.readouterr()
    assert json.loads(printed.out)["fp32"] == 52e12 and "measuring" in printed.err

    monkeypatch.setattr(Host, "measure_ceilings", lambda self: [Failed("memory", "2 GiB are not free", "free some")])
    assert commands.ceilings("auto", False, again=True) == 3
    assert "Try: free some" in capsys.readouterr().err


def test_a_trace_of_some_heads_says_which(tmp_path: Path) -> None:
    states = make_record(1, PROBLEM).states
    assert states is not None and states.m_tile is not None
    q = np.zeros((8, 20, 8), dtype=np.float32)
    k = np.zeros((4, 40, 8), dtype=np.float32)
    paths = tmp_path / "all.npz", tmp_path / "some.npz"
    write_trace(paths[0], states, Tensors(q, k, k, q), {})
    few = {name: getattr(states, name)[[0, 5]] for name in ("m_tile", "m_running", "l_running")}
    write_trace(paths[1], replace(states, heads=(0, 5), **few), Tensors(q, k, k, q), {})
    with np.load(paths[0]) as whole, np.load(paths[1]) as some:
        assert "heads" not in whole.files and whole["m_tile"].shape == (8, 20, 3)
        assert some["heads"].tolist() == [0, 5] and some["q"].shape == (8, 20, 8)
        np.testing.assert_array_equal(some["l_running"][1], whole["l_running"][5])


@pytest.mark.parametrize("away", [1, 2])
def test_doctor_misses_kernels_where_none_can_run(away: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one, gone = make_kernel("one"), make_kernel("one", "the interpreter is too old")
    ready = Ready(INTERPRETER, (gone,) * away + (one,) * (2 - away), ())

    class Host:
        def wait_ready(self) -> Iterator[Ready]:
            yield ready

        def close(self) -> None:
            pass

    monkeypatch.setattr(doctor, "KernelHost", Host)
    missing = [f.detail for f in doctor.examine() if f.name == "Kernels"]
    assert missing == ["none can run: the interpreter is too old"] * (away == 2)


def test_what_kernels_and_baselines_take_is_listed_whole() -> None:
    facts: dict[str, Any] = {"max_d": 128, "block_ms": BLOCKS, "d_step": 8, "splits": True}
    wide = make_kernel("wide", block_ns=BLOCKS, **facts)
    far = "kernel away needs another GPU"
    away = make_kernel("away", far, block_ns=(64,), limits=(Limit("num_warps", (4,)),), **facts)
    baselines = (BaselineInfo("auto", ("fp32",), "chosen by PyTorch"), BaselineInfo("flex", (), "flex", "no GPU"))
    ready = Ready(make_record().started.device, (wide, away), baselines)
    text = "\n".join(kernel_lines(ready))
    assert "D up to 128 in multiples of 8; heads and grouped heads; causal or not; splits of the keys" in text
    assert "BLOCK_M and BLOCK_N 16, 32" in text and "BLOCK_M 16, 32; BLOCK_N 64; num_warps 4" in text
    assert "cannot run here: kernel away needs another GPU" in text and "cannot run here: no GPU" in text
    listed = kernels_object(ready)
    assert [kernel["runs_here"] for kernel in listed["kernels"]] == [True, False]
    assert [baseline["runs_here"] for baseline in listed["baselines"]] == [True, False]


@pytest.mark.parametrize("name", [*doctor.MODULES, *doctor.OPTIONAL])
def test_a_package_that_is_not_there_is_named_with_what_installs_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What every run needs is missing; what some command alone needs is a note."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda one: None if one == name else find_spec(one))
    monkeypatch.setattr(doctor, "_engine", lambda: iter(()))
    (found,) = (finding for finding in doctor.examine() if finding.name == name)
    assert found.status == ("note" if name in doctor.OPTIONAL else "missing") and "pip install" in found.fix
