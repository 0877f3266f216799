"""What somebody does to the form can be taken back and made again, step by step, with the keys that everybody knows."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction, QUndoCommand
from PyQt6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.ui.form.driver import choice, flag, number, open_form, ready, type_text
from tests.ui.hands import press_key, type_keys
from workbench.run.request import Problem, RunRequest
from workbench.ui.form.controls import Controls
from workbench.ui.form.fields import Choice, Flag, NumberField
from workbench.ui.form.specs import FIELDS
from workbench.ui.form.state import FormState
from workbench.ui.window.undo import FormUndo, Undo

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class Desk:
    """A form with its history."""

    def __init__(self, controls: Controls) -> None:
        self.controls = controls
        self.undo, self.redo = QAction(controls), QAction(controls)
        self.undo.setShortcut("Ctrl+Z")
        self.redo.setShortcut("Ctrl+Shift+Z")
        controls.addActions([self.undo, self.redo])
        self.history = Undo(controls, self.undo, self.redo)
        self.form = FormUndo(self.history, controls)
        controls.set_ready(ready())


@pytest.fixture
def desk(qtbot: QtBot) -> Desk:
    return Desk(open_form(qtbot))


def change(field: QWidget) -> None:
    """Another value than there is, as a person would choose it."""
    field.setFocus()
    match field:
        case NumberField():
            field.stepBy(1)
        case Choice():
            field.setCurrentIndex((field.currentIndex() + 1) % field.count())
        case Flag():
            field.toggle()


@pytest.mark.parametrize("name", [spec.name for spec in FIELDS])
def test_a_change_of_any_field_is_one_step_that_comes_back_and_goes_again(desk: Desk, name: str) -> None:
    controls = desk.controls
    choice(controls, "kernel").set_value("any")
    before = controls.state()
    field = controls.findChild(QWidget, name)
    assert field is not None
    change(field)
    after = controls.state()
    assert after != before
    desk.undo.trigger()
    assert controls.state() == before
    desk.redo.trigger()
    assert controls.state() == after
    assert desk.redo.text() == "Redo" and desk.undo.text().startswith("Undo ")


def a_preset(desk: Desk) -> None:
    choice(desk.controls, "preset").set_value("article-large")


def the_best_tile(desk: Desk) -> None:
    desk.controls.use_best_tile()


def settings_of_a_run(desk: Desk) -> None:
    desk.controls.set_request(RunRequest(Problem(9, 9, 9), TileConfig(32, 64), kernel="any"), "settings of a run")


def no_number(desk: Desk) -> None:
    type_text(number(desk.controls, "n"), "12x")


STEPS: dict[Callable[[Desk], None], str] = {
    a_preset: "Undo preset article-large",
    the_best_tile: "Undo best tile ",
    settings_of_a_run: "Undo settings of a run",
    no_number: "Undo N 12x",
}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_what_changes_many_fields_is_one_step_that_says_what_it_was(desk: Desk, step: Callable[[Desk], None]) -> None:
    choice(desk.controls, "kernel").set_value("any")
    number(desk.controls, "block_m").set_text("128")
    before = desk.controls.state()
    step(desk)
    assert desk.controls.state() != before
    assert desk.undo.text().startswith(STEPS[step])
    after = desk.controls.state()
    desk.undo.trigger()
    assert desk.controls.state() == before
    desk.redo.trigger()
    assert desk.controls.state() == after


def test_what_is_typed_in_one_field_is_one_step_until_it_is_left(desk: Desk) -> None:
    m, n = number(desk.controls, "m"), number(desk.controls, "n")
    start = m.value()
    type_text(m, "512")
    n.setFocus()
    type_text(m, "1024")
    type_text(n, "77")
    desk.undo.trigger()
    assert m.value() == 1024 and desk.undo.text() == "Undo M 1024"
    desk.undo.trigger()
    assert m.value() == 512
    desk.undo.trigger()
    assert m.value() == start and not desk.undo.isEnabled()


def test_a_run_between_two_values_of_a_field_parts_them(desk: Desk) -> None:
    block = number(desk.controls, "block_m")
    block.set_text("32")
    desk.form.seal()
    block.set_text("64")
    desk.undo.trigger()
    assert block.value() == 32


def test_what_comes_back_to_where_it_was_is_no_step(desk: Desk) -> None:
    type_keys(number(desk.controls, "seed"), "")
    number(desk.controls, "seed").set_text("5")
    number(desk.controls, "seed").set_text("0")
    assert not desk.undo.isEnabled()


@pytest.mark.parametrize("name", [spec.name for spec in FIELDS])
def test_the_keys_reach_the_form_s_history_from_every_field(desk: Desk, qtbot: QtBot, name: str) -> None:
    choice(desk.controls, "kernel").set_value("any")
    other = "causal" if name != "causal" else "inputs"
    changed = desk.controls.findChild(QWidget, other)
    assert changed is not None
    before = desk.controls.state()
    change(changed)
    after = desk.controls.state()
    field = desk.controls.findChild(QWidget, name)
    assert field is not None
    field.setFocus()
    press_key(field, Qt.Key.Key_Z, CONTROL)
    assert desk.controls.state() == before
    press_key(field, Qt.Key.Key_Z, CONTROL | SHIFT)
    assert desk.controls.state() == after


def test_a_field_s_own_history_changes_nothing_where_the_form_has_none(desk: Desk) -> None:
    m = number(desk.controls, "m")
    type_text(m, "99")
    desk.undo.trigger()
    kept = m.text()
    press_key(m, Qt.Key.Key_Z, CONTROL)
    assert m.text() == kept


def test_what_the_program_sets_itself_is_no_step(desk: Desk) -> None:
    desk.controls.set_request(RunRequest(Problem(5, 5, 5)))
    assert not desk.undo.isEnabled()


def test_another_stack_of_the_group_takes_its_turn_when_it_is_pushed_to_or_has_the_focus(
    desk: Desk, qtbot: QtBot
) -> None:
    other = Flag("other", desk.controls)
    other.show()
    stack = desk.history.add_stack(other)
    flag(desk.controls, "causal")
    number(desk.controls, "m").set_text("70")
    stack.push(QUndoCommand("name of run 3"))
    assert desk.undo.text() == "Undo name of run 3"
    number(desk.controls, "n").setFocus()
    assert desk.undo.text() == "Undo M 70"
    other.setFocus()
    assert desk.undo.text() == "Undo name of run 3"


def test_a_state_goes_through_json_with_what_is_no_number(desk: Desk) -> None:
    controls = desk.controls
    type_text(number(controls, "m"), "1e3")
    type_text(number(controls, "kv_heads"), "2")
    state = controls.state()
    assert FormState.from_json(json.loads(json.dumps(state.to_json()))) == state
    controls.set_request(RunRequest(Problem(8, 8, 8)))
    controls.restore(state)
    assert controls.state() == state and number(controls, "m").text() == "1e3"
    assert controls.faults()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: None,
        lambda data: [],
        lambda data: {**data, "typed": 3},
        lambda data: {**data, "request": {**data["request"], "$type": "Problem"}},
        lambda data: {**data, "request": {**data["request"], "problem": "large"}},
        lambda data: {**data, "request": {**data["request"], "device": 3}},
        lambda data: {**data, "request": {**data["request"], "$type": []}},
    ],
)
def test_a_state_that_is_none_is_refused(spoil: Callable[[dict[str, object]], object]) -> None:
    state = FormState(RunRequest(Problem(4, 4, 4)))
    with pytest.raises(ValueError):
        FormState.from_json(spoil(state.to_json()))
