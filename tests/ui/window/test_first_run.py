"""The first run suits the device, and gives way to whatever the user does before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, INTERPRETER, make_record
from tests.ui.form.driver import open_form, ready
from workbench.analysis.presets import WELCOME, find_preset
from workbench.run.environment import DeviceInfo
from workbench.run.library import Library
from workbench.run.request import Problem, RunRequest
from workbench.run.session import Session
from workbench.ui.form.controls import Controls
from workbench.ui.window.control import RunControl
from workbench.ui.window.first_run import FirstRun


class Runs:
    """Notes what would be run."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self.asked: list[RunRequest] = []

    def run(self) -> None:
        self.asked.append(self._controls.request())

    def submit(self, request: RunRequest) -> None:
        self.asked.append(request)


class Window:
    """What of a window the first run knows."""

    def __init__(self, qtbot: QtBot, session: Path) -> None:
        self.controls = open_form(qtbot)
        self.runs = Runs(self.controls)
        self.library = Library(Session(session))
        self.first = FirstRun(self.controls, cast(RunControl, self.runs), self.library)
        self.controls.requestChanged.connect(self.first.on_request_changed)


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Window:
    return Window(qtbot, tmp_path / "s.tilescope")


@pytest.mark.parametrize("device", [GPU, INTERPRETER], ids=["cuda", "interpreter"])
def test_a_run_that_suits_the_device_waits_until_it_is_known(window: Window, device: DeviceInfo) -> None:
    window.first.waits_for_device = True
    assert window.runs.asked == []
    window.first.on_ready(ready(device))
    (asked,) = window.runs.asked
    preset = find_preset(WELCOME[device.mode])
    assert (asked.problem, asked.tile) == (preset.problem, preset.tile)


def change_the_form(window: Window) -> None:
    window.controls.set_request(RunRequest(Problem(20, 40, 8)))


def run_something(window: Window) -> None:
    window.first.waits_for_device = False


def have_a_run(window: Window) -> None:
    window.library.add(make_record(1, Problem(16, 32, 8)), saved=True)


@pytest.mark.parametrize("act", [change_the_form, run_something, have_a_run])
def test_it_gives_way_to_what_comes_before_it(window: Window, act: Callable[[Window], None]) -> None:
    window.first.waits_for_device = True
    act(window)
    window.first.on_ready(ready(INTERPRETER))
    assert window.runs.asked == []


OPEN = RunRequest(Problem(20, 40, 8), TileConfig(16, 16), auto_tile=("block_m", "block_n"))


def test_a_tile_that_the_engine_has_chosen_comes_into_the_form_once(window: Window) -> None:
    window.first.start(OPEN)
    assert window.runs.asked == [OPEN]
    for chosen, shown in ((TileConfig(32, 64), TileConfig(32, 64)), (TileConfig(64, 64), TileConfig(32, 64))):
        window.first.on_started(replace(OPEN, tile=chosen, auto_tile=()))
        assert window.controls.request().tile == shown


def test_a_tile_that_the_engine_has_chosen_does_not_undo_what_was_entered_meanwhile(window: Window) -> None:
    window.first.start(OPEN)
    entered = replace(OPEN, problem=Problem(24, 40, 8), auto_tile=())
    window.controls.set_request(entered)
    window.first.on_started(replace(OPEN, tile=TileConfig(32, 64), auto_tile=()))
    assert window.controls.request() == entered
