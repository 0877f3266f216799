"""What the tests of the panels on a device's ceilings share: those ceilings, a large run, and the panel in a window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from pytestqt.qtbot import QtBot

from tests.samples import GPU, make_record
from workbench.run.ceilings import Ceilings
from workbench.run.environment import DeviceInfo
from workbench.run.events import Measured
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.ui.panels.bases.ceilings import CeilingsPanel
from workbench.ui.theme import load_theme

LARGE = Problem(1024, 4096, 128)
CEILINGS = Ceilings(GPU.name, GPU.driver, GPU.torch, "2026-11-30T12:00:00", 4.25e12, 51e12, 360e12, 655e12, 680e12)

SomePanel = TypeVar("SomePanel", bound=CeilingsPanel)


def open_panel(
    kind: type[SomePanel], size: tuple[int, int], qtbot: QtBot, data: Path, monkeypatch: pytest.MonkeyPatch
) -> SomePanel:
    """A panel on the screen, which looks for kept ceilings in `data` and not where the user has theirs."""
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    panel = kind(load_theme("dark"))
    qtbot.addWidget(panel)
    panel.resize(*size)
    panel.show()
    return panel


def run_of(
    request: RunRequest, device: DeviceInfo = GPU, run_id: int = 1, kernel_us: float = 753.6, passed: bool = True
) -> RunRecord:
    """A run of `request` that is said to be of its problem, however large; its arrays are of a small one."""
    small = Problem(16, 32, 8)
    record = make_record(run_id, small, request.tile, kernel_us, 383.5, device, passed, protocol=request.protocol)
    measured = []
    for event in record.measured:
        made = replace(event.measurement, problem=request.problem)
        if made.role == "kernel":
            made = replace(made, implementation=request.kernel, precision=request.precision)
        measured.append(Measured(made))
    return replace(record, started=replace(record.started, request=request), measured=tuple(measured))
