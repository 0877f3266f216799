"""The form as a user meets it: keys, typed values, faults before Run, and one request per change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PyQt6.QtCore import QLocale, Qt
from PyQt6.QtWidgets import QStyledItemDelegate
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.ui.form.driver import choice, fault_line, number, open_form, type_text, wheel
from tests.ui.hands import press_key
from workbench.analysis.presets import PRESETS
from workbench.run.request import Problem, RunRequest
from workbench.ui.form.controls import Controls


@pytest.fixture
def controls(qtbot: QtBot) -> Controls:
    return open_form(qtbot)


@pytest.mark.parametrize(
    ("name", "start", "key", "expected"),
    [
        ("block_m", 16, Qt.Key.Key_Up, 32),
        ("block_m", 48, Qt.Key.Key_Up, 64),
        ("block_m", 48, Qt.Key.Key_Down, 32),
        ("block_n", 16, Qt.Key.Key_Down, 16),
        ("block_n", 4000, Qt.Key.Key_Down, 256),
        ("block_n", 4000, Qt.Key.Key_Up, 256),
        ("block_n", 0, Qt.Key.Key_Up, 16),
        ("num_warps", 4, Qt.Key.Key_Up, 8),
        ("num_warps", 3, Qt.Key.Key_Down, 2),
        ("num_stages", 3, Qt.Key.Key_Up, 4),
        ("m", 7, Qt.Key.Key_Up, 8),
        ("m", 1, Qt.Key.Key_Down, 1),
        ("seed", 0, Qt.Key.Key_Down, 0),
    ],
)
def test_one_key_steps_a_number(controls: Controls, name: str, start: int, key: Qt.Key, expected: int) -> None:
    field = number(controls, name)
    field.set_text(str(start))
    field.setFocus()
    press_key(field, key)
    assert field.value() == expected


def test_tolerances_step_by_powers_of_ten_and_reach_zero(controls: Controls) -> None:
    field = number(controls, "rtol")
    field.setFocus()
    press_key(field, Qt.Key.Key_Up)
    assert field.text() == "0.02"
    for _ in range(3):
        press_key(field, Qt.Key.Key_Down)
    assert field.text() == "2e-5"
    for _ in range(12):
        press_key(field, Qt.Key.Key_Down)
    assert field.value() == 0
    press_key(field, Qt.Key.Key_Up)
    assert field.value() == 1e-8


def test_wheel_needs_the_focus(controls: Controls) -> None:
    block, sdpa = number(controls, "block_m"), choice(controls, "sdpa")
    number(controls, "m").setFocus()
    wheel(block)
    wheel(sdpa, up=False)
    assert (block.value(), sdpa.value()) == (16, "auto")
    block.setFocus()
    wheel(block)
    assert block.value() == 32
    sdpa.setFocus()
    wheel(sdpa, up=False)
    assert sdpa.value() == "math"


def test_what_cannot_work_can_be_typed_and_is_said_under_its_field(qtbot: QtBot, controls: Controls) -> None:
    block = number(controls, "block_m")
    with qtbot.waitSignal(controls.requestChanged, check_params_cb=lambda request: request is None):
        type_text(block, "48")
    assert controls.request().tile.block_m == 48
    assert fault_line(controls, "block_m") == "BLOCK_M is 48; allowed are the powers of two from 16 to 256"
    assert block.property("invalid") is True
    assert block.accessibleDescription() == fault_line(controls, "block_m")
    assert [fault.field for fault in controls.faults()] == ["block_m"]
    with qtbot.waitSignal(controls.requestChanged, check_params_cb=lambda request: request is not None):
        press_key(block, Qt.Key.Key_Up)
    assert controls.faults() == ()
    assert fault_line(controls, "block_m") == ""
    assert block.property("invalid") is False


@pytest.mark.parametrize(("name", "text"), [("seed", ""), ("m", "-"), ("rtol", "2e-"), ("atol", "")])
def test_a_field_without_a_number_is_a_fault_though_zero_would_not_be(controls: Controls, name: str, text: str) -> None:
    type_text(number(controls, name), text)
    assert "allowed are" in fault_line(controls, name)
    assert controls.faults()[0].field == name
    controls.request()  # still has values


@pytest.mark.parametrize("text", ["1x2 8", "1e3", "12.5"])
def test_what_is_no_whole_number_stays_as_typed_and_is_marked(controls: Controls, text: str) -> None:
    type_text(number(controls, "m"), text)
    assert number(controls, "m").text() == text
    assert controls.faults()[0].message == f"M is {text}; allowed are whole numbers of at most 19 digits"


def test_a_large_seed_is_kept(controls: Controls) -> None:
    type_text(number(controls, "seed"), str(2**63 - 1))
    assert controls.request().problem.seed == 2**63 - 1
    assert controls.faults() == ()


def test_faults_come_in_the_order_of_the_form(controls: Controls) -> None:
    number(controls, "atol").set_text("")
    number(controls, "block_n").set_text("7")
    number(controls, "n").set_text("0")
    assert [fault.field for fault in controls.faults()] == ["n", "block_n", "atol"]


def test_set_request_emits_once_and_gives_it_back_whole(controls: Controls) -> None:
    request = RunRequest(
        Problem(33, 44, 55, seed=9, inputs="outliers"),
        TileConfig(64, 32, 8, 2),
        sdpa="math",
        device="interpreter",
        rtol=1.23456789e-4,
        atol=1e-5,
        trace=False,
        time_limit_s=7.0,
    )
    emitted: list[object] = []
    devices: list[str] = []
    controls.requestChanged.connect(emitted.append)
    controls.deviceChanged.connect(devices.append)
    controls.set_request(request)
    assert emitted == [request]
    assert devices == ["interpreter"]
    assert controls.request() == request
    controls.set_request(replace(request, problem=replace(request.problem, m=34)))
    assert len(emitted) == 2
    assert devices == ["interpreter"]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.name)
def test_choosing_a_preset_sets_all_of_it_and_emits_once(controls: Controls, preset: object) -> None:
    chosen = next(p for p in PRESETS if p is preset)
    other = PRESETS[-1] if chosen is PRESETS[0] else PRESETS[0]
    choice(controls, "preset").set_value(other.name)
    emitted: list[RunRequest] = []
    controls.requestChanged.connect(emitted.append)
    choice(controls, "preset").set_value(chosen.name)
    request = controls.request()
    assert (request.problem, request.tile, request.rtol, request.atol) == (
        chosen.problem,
        chosen.tile,
        chosen.rtol,
        chosen.atol,
    )
    assert emitted == [request]
    assert choice(controls, "preset").value() == chosen.name


def test_preset_becomes_custom_and_comes_back(controls: Controls) -> None:
    presets = choice(controls, "preset")
    presets.set_value("article-small")
    number(controls, "n").set_text("513")
    assert presets.value() == "Custom"
    number(controls, "n").set_text("512")
    assert presets.value() == "article-small"
    number(controls, "num_warps").set_text("8")  # a tile is no problem
    assert presets.value() == "article-small"


def test_custom_cannot_be_chosen_and_nothing_else_be_entered(controls: Controls) -> None:
    presets = choice(controls, "preset")
    presets.set_value(PRESETS[0].name)
    presets.setFocus()
    press_key(presets, Qt.Key.Key_Up)
    assert presets.value() == PRESETS[0].name
    assert not presets.isEditable()
    assert presets.count() == len(PRESETS) + 1


def test_the_open_list_of_presets_has_the_shape_of_each_in_whole(controls: Controls) -> None:
    presets = choice(controls, "preset")
    presets.showPopup()
    view = presets.view()
    assert view is not None
    delegate = presets.itemDelegate()
    assert isinstance(delegate, QStyledItemDelegate)
    viewport = view.viewport()
    assert viewport is not None
    for preset in PRESETS:
        text = delegate.displayText(preset.name, QLocale())
        assert text.startswith(preset.name)
        assert preset.problem.shape in text and preset.problem.dtype in text
        assert view.fontMetrics().horizontalAdvance(text) < viewport.width()
    presets.hidePopup()
    assert presets.value() in {preset.name for preset in PRESETS}
