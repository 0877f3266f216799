"""What the child's job keeps between requests: its device, its ceilings, and whether it can go on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.samples import GPU
from workbench.engine import job
from workbench.engine.failures import CaptureError
from workbench.engine.host.stopping import StopFlag
from workbench.engine.steps import Run
from workbench.run.ceilings import Ceilings, kept_ceilings
from workbench.run.device_state import DeviceFacts
from workbench.run.environment import DeviceInfo
from workbench.run.events import CeilingsMeasured, Finished, Log, RunEvent
from workbench.run.request import Problem, RunRequest

pytestmark = pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="this process compiles for the GPU")

CEILINGS = Ceilings(GPU.name, GPU.driver, GPU.torch, "2026-11-30T12:00:00", 4.25e12, 51e12)


@pytest.fixture(autouse=True)
def prepared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(job, "_settled", None)
    monkeypatch.setattr(job, "_is_spoiled", False)
    job.prepare("interpreter")
    yield


@pytest.mark.parametrize("there", [True, False])
def test_a_gpu_that_could_be_chosen_is_announced(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    """Also from the interpreter, so that a form can offer it, or not."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: there)
    ready = job.prepare("interpreter")
    assert ready.device.mode == "interpreter" and ready.has_gpu is there
    assert not any("bf16" in kernel.dtypes for kernel in ready.kernels)


def test_a_capture_that_failed_ends_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(run: Run) -> None:
        raise CaptureError("sdpa flex: it cannot be captured in a CUDA graph")

    assert not job.is_broken()
    monkeypatch.setattr(Run, "go", fail)
    with pytest.raises(CaptureError):
        job.run(RunRequest(Problem(8, 8, 8)), lambda event: None, StopFlag())
    assert job.is_broken()


def test_ceilings_are_kept_on_disk_and_announced_from_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    settled = job._settled
    assert settled is not None and settled.ready.ceilings is None
    monkeypatch.setattr(job, "_settled", replace(settled, ready=replace(settled.ready, device=GPU)))
    monkeypatch.setattr(job, "measured_ceilings", lambda info, send, stop, **watched: CEILINGS)
    events: list[RunEvent] = []
    job.measure_ceilings(events.append, StopFlag())
    assert [type(event) for event in events] == [CeilingsMeasured, Finished]
    assert kept_ceilings(GPU.name, GPU.driver, GPU.torch) == (CEILINGS,)
    assert job._kept_ceilings(GPU, DeviceFacts()) == CEILINGS
    assert job._kept_ceilings(replace(GPU, driver="another"), DeviceFacts()) is None


def test_ceilings_are_measured_under_the_eyes_of_the_monitor_and_kept_for_this_very_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    facts, monitor = DeviceFacts(uuid="GPU-1", power_limit_w=700.0), object()
    settled = job._settled
    assert settled is not None
    ready = replace(settled.ready, device=GPU)
    monkeypatch.setattr(job, "_settled", replace(settled, ready=ready, monitor=monitor))  # type: ignore[arg-type]
    monkeypatch.setattr(job, "_facts", lambda address: facts)
    asked: dict[str, object] = {}

    def measured(info: DeviceInfo, send: object, stop: StopFlag, **watched: object) -> Ceilings:
        asked.update(watched)
        return replace(CEILINGS, uuid=facts.uuid, power_limit_w=facts.power_limit_w, warnings=())

    monkeypatch.setattr(job, "measured_ceilings", measured)
    job.measure_ceilings(lambda event: None, StopFlag())
    assert asked == {"monitor": monitor, "facts": facts}
    assert job._kept_ceilings(GPU, facts) is not None
    assert job._kept_ceilings(GPU, replace(facts, uuid="GPU-2")) is None
    assert job._kept_ceilings(GPU, replace(facts, power_limit_w=500.0)) is None


def test_ceilings_that_cannot_be_kept_are_still_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tilescope").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    settled = job._settled
    assert settled is not None
    monkeypatch.setattr(job, "_settled", replace(settled, ready=replace(settled.ready, device=GPU)))
    monkeypatch.setattr(job, "measured_ceilings", lambda info, send, stop, **watched: CEILINGS)
    events: list[RunEvent] = []
    job.measure_ceilings(events.append, StopFlag())
    assert [type(event) for event in events] == [Log, CeilingsMeasured, Finished]
    assert "the ceilings are not kept" in str(events[0])
