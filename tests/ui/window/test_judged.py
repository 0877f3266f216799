"""Whatever way a value comes into the form, it is judged as if it was typed, and Run says why it cannot be pressed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import INTERPRETER
from tests.ui.conftest import MakeWindow
from tests.ui.form.driver import open_form, ready
from workbench.asking.line import command_line
from workbench.run.events import Failed, Ready
from workbench.run.request import Problem, RunRequest, put
from workbench.ui.form.controls import Controls
from workbench.ui.form.state import FormState
from workbench.ui.window.main import MainWindow
from workbench.ui.worker import EngineDown

GOOD = RunRequest(Problem(32, 64, 16), kernel="any", device="interpreter", protocol="warm")
WITHOUT_GPU: Ready = replace(ready(INTERPRETER), has_gpu=False)
# What no run can have on the interpreter of a machine without a GPU; what is not here is no choice of a person's.
IMPOSSIBLE: dict[str, Any] = {
    "m": 0,
    "n": -1,
    "d": 1000,
    "batch": 0,
    "heads": 2**17,
    "kv_heads": 3,
    "dtype": "bf16",
    "causal": True,
    "seed": -1,
    "inputs": "strange",
    "block_m": 48,
    "block_n": 17,
    "num_warps": 3,
    "num_stages": 99,
    "splits": -2,
    "maxnreg": 23,
    "kernel": "unheard-of",
    "precision": "fp8",
    "sdpa": "flex",
    "device": "cuda",
    "protocol": "graph",
    "trace_rows": "some",
    "rtol": -1.0,
    "atol": float("inf"),
    "time_limit_s": 0.0,
    "max_seconds": 0.0,
    "max_samples": 0,
}
NO_CHOICE = {"problem", "tile", "trace", "keep_tensors", "auto_tile", "rival"}


def spoiled(name: str) -> RunRequest:
    good = replace(GOOD, kernel="article") if name == "causal" else GOOD
    return put(good, name, IMPOSSIBLE[name])


def used(window: MainWindow, request: RunRequest) -> None:
    window.results.settingsRequested.emit(request)


def restored(window: MainWindow, request: RunRequest) -> None:
    window.controls.restore(FormState.from_json(FormState(request).to_json()))


def undone(window: MainWindow, request: RunRequest) -> None:
    used(window, request)
    used(window, GOOD)
    window.command("undo").trigger()


def pasted(window: MainWindow, request: RunRequest) -> None:
    # With a protocol that heeds the limits: else there are none in the line.
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None
    clipboard.setText(command_line(request))
    window.command("paste_line").trigger()
    clipboard.clear()


def set_by_the_program(window: MainWindow, request: RunRequest) -> None:
    window.controls.set_request(request)


@pytest.fixture
def window(make_test_window: MakeWindow) -> MainWindow:
    return make_test_window()


def assert_marked(controls: Controls, name: str) -> None:
    (fault,) = [one for one in controls.faults() if one.field == name]
    line = controls.findChild(QLabel, f"{name}_fault") or controls.findChild(QLabel, "general_fault")
    assert line is not None and fault.message in line.text() and not line.isHidden()
    field = controls.findChild(QWidget, name)
    assert field is None or field.property("invalid") is True


def assert_refused(window: MainWindow, name: str) -> None:
    assert_marked(window.controls, name)
    run = window.command("run")
    assert not run.isEnabled()
    assert window.controls.faults()[0].message in run.toolTip()


def test_every_choice_of_a_request_has_an_impossible_value_here() -> None:
    named = {field.name for part in (RunRequest, Problem, TileConfig) for field in fields(part)}
    assert set(IMPOSSIBLE) == named - NO_CHOICE


@pytest.mark.parametrize("way", [used, restored, undone, pasted, set_by_the_program], ids=lambda way: way.__name__)
def test_what_is_set_from_outside_is_judged_as_what_is_typed(
    window: MainWindow, way: Callable[[MainWindow, RunRequest], None]
) -> None:
    window._on_ready(WITHOUT_GPU)
    for name in IMPOSSIBLE:
        used(window, GOOD)
        assert window.command("run").isEnabled()
        way(window, spoiled(name))
        assert_refused(window, name)


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_was_set_before_the_engine_was_ready_is_judged_once_it_is(qtbot: QtBot, name: str) -> None:
    controls = open_form(qtbot)
    controls.set_request(spoiled(name))
    controls.set_ready(WITHOUT_GPU)
    assert_marked(controls, name)


def test_a_device_that_no_engine_could_be_had_for_is_marked_with_what_it_said(window: MainWindow) -> None:
    used(window, replace(GOOD, device="cuda"))
    window._take(EngineDown(Failed("invalid", "device is 'cuda', but no NVIDIA GPU can be used here")))
    assert_refused(window, "device")
    used(window, GOOD)
    assert window.command("run").isEnabled() and "Cannot run" not in window.command("run").toolTip()


def test_an_engine_is_not_asked_for_a_device_that_is_known_not_to_be_there(window: MainWindow) -> None:
    window._on_ready(WITHOUT_GPU)
    asked: list[str] = []
    window.controls.deviceChanged.connect(asked.append)
    used(window, GOOD)
    used(window, replace(GOOD, device="cuda"))
    assert "cuda" not in asked
