"""The form after the engine has spoken: kernels and backends, the estimate, and how it looks in its dock."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QStandardItemModel
from PyQt6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QStyle, QStyleOptionComboBox, QWidget
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, INTERPRETER
from tests.ui.form.driver import ANY, ARTICLE, choice, fault_line, flag, hint, number, open_form, ready, type_text
from tests.ui.hands import press_key
from workbench.run.events import Ready
from workbench.run.protocols import PROTOCOL_CHOICES, PROTOCOLS
from workbench.run.request import Problem, RunRequest
from workbench.ui.form.controls import LEAST_WIDTH, Controls
from workbench.ui.form.fields import Choice, Flag
from workbench.ui.form.specs import FIELDS, FieldSpec
from workbench.ui.theme import apply_theme, load_theme


@pytest.fixture
def controls(qtbot: QtBot) -> Controls:
    return open_form(qtbot)


def items(field: Choice) -> dict[str, str | None]:
    """Names of the list, with the reason of those that are disabled."""
    model = field.model()
    assert isinstance(model, QStandardItemModel)
    found = [model.item(row) for row in range(field.count())]
    return {item.text(): None if item.isEnabled() else item.toolTip() for item in found if item is not None}


def estimate(widget: Controls) -> QLabel:
    label = widget.findChild(QLabel, "estimate")
    assert label is not None
    return label


def test_before_ready_there_is_the_article_kernel(controls: Controls) -> None:
    assert items(choice(controls, "kernel")) == {"article": None}
    assert controls.faults() == ()


def test_ready_disables_what_cannot_work_with_the_reason(controls: Controls) -> None:
    controls.set_ready(ready())
    kernels, backends = items(choice(controls, "kernel")), items(choice(controls, "sdpa"))
    assert [name for name, reason in kernels.items() if reason] == ["far"]
    assert "compute capability 12.0" in (kernels["far"] or "")
    refused = [name for name, reason in backends.items() if reason]
    assert refused == ["efficient", "flash", "cudnn", "flex", "flash_attn", "flash_attn_3"]
    assert "flash, which cannot take fp32 on Test GPU" in (backends["flash"] or "")
    assert "it needs a GPU" in (backends["flex"] or "")


def test_dtype_and_precision_are_disabled_one_by_one(controls: Controls) -> None:
    controls.set_ready(ready())
    assert items(choice(controls, "dtype"))["bf16"] == "dtype is bf16; kernel article takes fp32"
    assert items(choice(controls, "precision"))["bf16x3"] == "precision is bf16x3; kernel article takes ieee"
    choice(controls, "kernel").set_value("any")
    assert items(choice(controls, "dtype"))["bf16"] is None
    assert [name for name, reason in items(choice(controls, "precision")).items() if reason] == ["tf32x3", "fp16x3"]


def test_causal_and_splits_are_disabled_as_a_whole_but_never_with_a_value_that_must_go(controls: Controls) -> None:
    controls.set_ready(ready())
    causal, splits = flag(controls, "causal"), number(controls, "splits")
    assert (causal.isEnabled(), splits.isEnabled()) == (False, False)
    assert causal.toolTip() == "kernel article has no causal mask"
    assert splits.toolTip() == "kernel article takes 1"
    controls.set_request(RunRequest(Problem(32, 64, 16, causal=True), TileConfig(splits=3)))
    assert (causal.isEnabled(), splits.isEnabled()) == (True, True)
    assert fault_line(controls, "causal") and fault_line(controls, "splits")
    causal.setChecked(False)
    choice(controls, "kernel").set_value("split_kv")
    assert (causal.isEnabled(), splits.isEnabled(), controls.faults()) == (True, True, ())
    assert "lower right" in causal.toolTip()


def test_sixteen_bits_leave_no_precision_to_choose_and_say_why(controls: Controls) -> None:
    controls.set_ready(ready())
    controls.set_request(RunRequest(Problem(32, 64, 16), kernel="any", precision="bf16x3"))
    precision = choice(controls, "precision")
    choice(controls, "dtype").set_value("bf16")
    assert (precision.value(), precision.isEnabled()) == ("ieee", False)
    assert hint(controls, "precision").startswith("was bf16x3: bf16 takes ieee alone")
    assert "bf16 takes ieee alone" in precision.toolTip()
    assert controls.faults() == ()
    number(controls, "m").set_text("48")  # what was changed is news once; why there is no choice stays
    assert hint(controls, "precision") == "products of 16-bit values are exact in fp32"
    choice(controls, "dtype").set_value("fp32")
    assert precision.isEnabled() and not hint(controls, "precision")


def test_a_kernel_that_cannot_take_the_dtype_is_no_dead_end(qtbot: QtBot, controls: Controls) -> None:
    controls.set_ready(ready())
    with qtbot.waitSignal(controls.requestChanged, check_params_cb=lambda request: request is not None):
        choice(controls, "kernel").set_value("half")
    assert controls.faults() == ()
    assert choice(controls, "dtype").value() == "fp16"
    assert hint(controls, "dtype") == "was fp32: kernel half takes fp16, bf16"
    assert number(controls, "block_m").value() == 64
    choice(controls, "kernel").set_value("article")
    assert (choice(controls, "dtype").value(), controls.faults()) == ("fp32", ())


def test_what_follows_leaves_a_text_alone_that_is_no_number(controls: Controls) -> None:
    controls.set_ready(ready())
    type_text(number(controls, "m"), "1e3")
    choice(controls, "kernel").set_value("half")
    assert number(controls, "m").text() == "1e3"


def test_blocks_step_through_those_of_the_kernel(controls: Controls) -> None:
    controls.set_ready(ready())
    choice(controls, "kernel").set_value("half")
    block = number(controls, "block_m")
    block.stepBy(-1)
    assert block.value() == 64
    block.stepBy(1)
    assert block.value() == 128


def test_best_tile_is_set_at_once_and_says_where_it_is_from(qtbot: QtBot, controls: Controls) -> None:
    button = controls.findChild(QPushButton, "best_tile")
    assert button is not None and not button.isEnabled()
    assert "kernels/measured/tiles.json" in button.toolTip() and "Ctrl+B" in button.toolTip()
    controls.set_ready(ready())
    controls.set_request(RunRequest(Problem(512, 2048, 128), TileConfig(16, 32, 8, 1), kernel="any"))
    best = ANY.spec.default_tile(Problem(512, 2048, 128), GPU)
    with qtbot.waitSignal(controls.requestChanged, check_params_cb=lambda request: request.tile == best):
        button.click()
    button.click()
    assert hint(controls, "block_m") == "this is the best tile known already"
    number(controls, "m").set_text("0")
    assert not button.isEnabled()


def test_splits_by_rule_read_auto_and_give_their_number_here(controls: Controls) -> None:
    controls.set_ready(ready())
    controls.set_request(RunRequest(Problem(64, 4096, 64), TileConfig(64, 64, splits=0), kernel="split_kv"))
    splits, unit = number(controls, "splits"), controls.findChild(QLabel, "splits_unit")
    assert unit is not None
    assert (splits.text(), unit.text()) == ("auto", "here 64")
    splits.stepBy(1)
    assert (controls.request().tile.splits, unit.text()) == (1, "key splits")
    splits.stepBy(-1)
    assert (splits.text(), controls.request().tile.splits) == ("auto", 0)
    type_text(splits, "0")
    assert (controls.request().tile.splits, controls.faults()) == (0, ())
    type_text(splits, "often")
    assert fault_line(controls, "splits") == "splits is often; allowed are whole numbers and auto"


def test_kv_heads_follow_the_heads_until_they_are_chosen(controls: Controls) -> None:
    controls.set_ready(ready())
    choice(controls, "kernel").set_value("any")
    type_text(number(controls, "heads"), "16")
    assert controls.request().problem.kv_heads == 16
    type_text(number(controls, "kv_heads"), "3")
    assert "divisors of heads" in fault_line(controls, "kv_heads")
    type_text(number(controls, "kv_heads"), "1")
    type_text(number(controls, "heads"), "16")  # by way of 1, which is as many as there are of keys
    assert (controls.request().problem.kv_heads, controls.faults()) == (1, ())


def test_a_whole_problem_is_shown_and_given_back(controls: Controls) -> None:
    controls.set_ready(ready())
    request = RunRequest(
        Problem(33, 44, 56, 2, 8, 4, "fp16", True), TileConfig(64, 32, 8, 2, 3), kernel="split_kv", precision="ieee"
    )
    controls.set_request(request)
    assert controls.request() == request
    assert controls.faults() == ()


def test_the_form_keeps_no_tile_open(controls: Controls) -> None:
    controls.set_request(RunRequest(Problem(32, 64, 16), auto_tile=("block_m",)))
    assert controls.request().auto_tile == ()


def test_a_request_that_this_device_cannot_do_is_shown_with_its_faults(qtbot: QtBot, controls: Controls) -> None:
    controls.set_request(RunRequest(Problem(32, 64, 16), kernel="elsewhere", sdpa="flash"))
    with qtbot.waitSignal(controls.requestChanged, check_params_cb=lambda request: request is None):
        controls.set_ready(ready())
    assert controls.request().kernel == "elsewhere"
    assert "allowed are article, any, split_kv, half" in fault_line(controls, "kernel")
    assert "cannot take fp32" in fault_line(controls, "sdpa")


def test_ready_that_changes_nothing_is_not_announced(qtbot: QtBot, controls: Controls) -> None:
    with qtbot.assertNotEmitted(controls.requestChanged):
        controls.set_ready(ready())


def test_faults_of_what_has_no_field_are_said_too(controls: Controls) -> None:
    controls.set_ready(ready())
    controls.set_request(RunRequest(Problem(32, 64, 16), time_limit_s=-1.0))
    label = controls.findChild(QLabel, "general_fault")
    assert label is not None and label.isVisible()
    assert label.text() == "time limit is -1 s; allowed are finite numbers above 0"
    controls.set_request(RunRequest(Problem(32, 64, 16)))
    assert not label.isVisible()


def test_device_is_announced_before_the_request(controls: Controls) -> None:
    order: list[object] = []
    controls.deviceChanged.connect(order.append)
    controls.requestChanged.connect(lambda request: order.append(type(request)))
    choice(controls, "device").set_value("interpreter")
    assert order == ["interpreter", RunRequest]


def test_estimate_is_shown_on_the_interpreter_only(controls: Controls) -> None:
    assert not estimate(controls).isVisible()
    controls.set_ready(ready(INTERPRETER))
    assert estimate(controls).isVisible()
    choice(controls, "device").set_value("cuda")
    assert not estimate(controls).isVisible()
    controls.set_ready(ready(GPU))
    choice(controls, "device").set_value("interpreter")
    assert estimate(controls).isVisible()


def test_estimate_follows_size_and_speed_and_warns(controls: Controls) -> None:
    controls.set_ready(ready(INTERPRETER))
    controls.set_seconds_per_tile(1e-3)
    small = estimate(controls).text()
    assert small.startswith("about ") and small.endswith(" on the interpreter")
    assert not estimate(controls).property("level")
    controls.set_request(RunRequest(Problem(1024, 4096, 64)))
    assert estimate(controls).text() != small
    assert estimate(controls).property("level") == "warn"
    number(controls, "block_n").set_text("0")  # nothing to estimate, and nothing to divide by
    assert not estimate(controls).isVisible()


@pytest.mark.parametrize("spec", FIELDS, ids=lambda s: s.name)
def test_every_field_can_be_named_and_explained(controls: Controls, spec: object) -> None:
    name = next(s.name for s in FIELDS if s is spec)
    field = controls.findChild(QWidget, name)
    assert field is not None
    assert field.accessibleName()
    assert field.toolTip()
    named = isinstance(field, Flag) and field.text()
    assert named or [label for label in controls.findChildren(QLabel) if label.buddy() is field and label.text()]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_whole_form_fits_its_dock(qtbot: QtBot, theme: str) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    before = app.styleSheet()
    apply_theme(app, load_theme(theme))
    try:
        widget = Controls()
        qtbot.addWidget(widget)
        widget.set_ready(Ready(INTERPRETER, (ARTICLE, ANY), ()))
        widget.resize(LEAST_WIDTH, 740)  # what a window of 1440 x 900 leaves it
        with qtbot.waitExposed(widget):
            widget.show()
        scroll = widget.findChild(QScrollArea)
        assert scroll is not None
        bar, form = scroll.verticalScrollBar(), scroll.widget()
        assert bar is not None and form is not None
        assert bar.maximum() == 0
        viewport = scroll.viewport()
        assert viewport is not None and form.minimumSizeHint().width() <= viewport.width(), "nor is it cut at its side"
        assert scroll.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        assert form.width() <= LEAST_WIDTH
        for child in form.findChildren(QWidget):
            if child.isVisible() and child.parent() is form:
                assert form.rect().contains(child.geometry()), child.objectName()
    finally:
        app.setStyleSheet(before)


def test_a_low_window_cuts_no_name_in_the_form(qtbot: QtBot, styled: None) -> None:
    widget = open_form(qtbot)
    widget.set_ready(ready())
    widget.resize(LEAST_WIDTH, 400)  # a scroll bar takes its share
    with qtbot.waitExposed(widget):
        widget.show()
    for field in widget.findChildren(Choice):
        option = QStyleOptionComboBox()
        field.initStyleOption(option)
        style = field.style()
        assert style is not None
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, field).width()
        assert field.fontMetrics().horizontalAdvance(field.value()) <= room, field.objectName()


@pytest.mark.parametrize(
    ("asked", "said"),
    [(2, ""), (9, "8 of 9 are made"), (0, "")],
    ids=["made as asked", "more than there are shares", "auto"],
)
def test_a_number_of_splits_that_is_not_made_is_said(qtbot: QtBot, asked: int, said: str) -> None:
    widget = open_form(qtbot)
    widget.set_ready(ready())
    request = RunRequest(Problem(64, 256, 32), TileConfig(16, 16, splits=asked), kernel="split_kv")
    widget.set_request(request)
    assert widget.faults() == ()
    assert hint(widget, "splits").startswith(said) and bool(hint(widget, "splits")) == bool(said)


def test_protocols_have_their_meaning_and_the_interpreter_s_lack_a_reason(controls: Controls) -> None:
    controls.set_ready(ready())
    protocols = choice(controls, "protocol")
    assert items(protocols) == dict.fromkeys(PROTOCOL_CHOICES)
    assert protocols.itemData(2, Qt.ItemDataRole.ToolTipRole) == PROTOCOLS["cold"].meaning
    controls.set_ready(ready(INTERPRETER))
    reasons = {name: reason for name, reason in items(protocols).items() if reason}
    assert reasons.keys() == {one.name for one in PROTOCOLS.values() if one.needs_gpu}
    on_host = ", ".join(one.name for one in PROTOCOLS.values() if one.on_host)
    assert all(f"on the interpreter allowed are {on_host}" in (reason or "") for reason in reasons.values())
    protocols.set_value("cold")
    assert "which flushes the L2 cache of a GPU" in fault_line(controls, "protocol")


def test_the_limit_of_time_is_for_protocols_without_a_fixed_count(controls: Controls) -> None:
    seconds = number(controls, "max_seconds")
    for device, is_heeded in ((GPU, True), (INTERPRETER, False)):  # whose usual protocols differ
        controls.set_ready(ready(device))
        assert seconds.isEnabled() is is_heeded, device.name
    controls.set_ready(ready())
    choice(controls, "protocol").set_value("block")
    assert not seconds.isEnabled() and "fixed number of launches" in seconds.toolTip()
    choice(controls, "protocol").set_value("cold")
    assert seconds.isEnabled() and controls.request().protocol == "cold"
    seconds.setFocus()
    press_key(seconds, Qt.Key.Key_Up)
    assert controls.request().max_seconds == 10
    press_key(seconds, Qt.Key.Key_Down)
    press_key(seconds, Qt.Key.Key_Down)
    assert controls.request().max_seconds == 2
    type_text(seconds, "0")
    assert "max seconds is 0" in fault_line(controls, "max_seconds")
    choice(controls, "protocol").set_value("block")
    assert seconds.isEnabled()  # what is wrong with it can be mended


def test_a_gpu_that_is_not_there_cannot_be_chosen(controls: Controls) -> None:
    controls.set_ready(replace(ready(), has_gpu=False))
    assert "no NVIDIA GPU" in (items(choice(controls, "device"))["cuda"] or "")
    controls.set_ready(ready())
    assert not items(choice(controls, "device"))["cuda"]


@pytest.mark.parametrize("spec", FIELDS, ids=lambda spec: spec.name)
def test_no_tooltip_over_a_field_names_a_value_that_it_has_not(controls: Controls, spec: FieldSpec) -> None:
    """A field that is disabled as a whole says what is left to it, not what is wrong with something else."""
    for kernel in ready().kernels:
        controls.set_ready(ready())
        choice(controls, "kernel").set_value(kernel.name)
        field = controls.findChild(QWidget, spec.name)
        assert field is not None
        said = re.match(rf"{spec.name} is (\S+);", field.toolTip(), re.IGNORECASE)
        assert field.isEnabled() or said is None
