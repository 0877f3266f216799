"""The form after the engine has spoken: kernels and backends, the estimate, and how it looks in its dock."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QStandardItemModel
from PyQt6.QtWidgets import QApplication, QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from tests.samples import GPU, INTERPRETER
from tests.ui.form_driver import choice, fault_line, number, open_form, ready, variant
from workbench.model import Problem, Ready, RunRequest
from workbench.ui.controls import Controls
from workbench.ui.fields import Choice
from workbench.ui.form import FIELDS
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
    assert kernels["article"] is None
    assert kernels["half"] == "dtype is fp32; kernel half takes fp16"
    assert [name for name, reason in backends.items() if reason] == ["flash"]
    assert "flash, which cannot take fp32 on Test GPU" in (backends["flash"] or "")


def test_reasons_follow_the_request(controls: Controls) -> None:
    controls.set_ready(ready())
    controls.set_request(RunRequest(Problem(32, 64, 16, dtype="fp16"), kernel="half"))
    assert items(choice(controls, "sdpa"))["flash"] is None
    assert items(choice(controls, "kernel"))["article"] == "dtype is fp16; kernel article takes fp32"
    assert controls.faults() == ()


def test_a_request_that_this_device_cannot_do_is_shown_with_its_faults(qtbot: QtBot, controls: Controls) -> None:
    controls.set_request(RunRequest(Problem(32, 64, 16), kernel="elsewhere", sdpa="flash"))
    with qtbot.waitSignal(controls.requestChanged, check_params_cb=lambda request: request is None):
        controls.set_ready(ready())
    assert controls.request().kernel == "elsewhere"
    assert "allowed are article, half" in fault_line(controls, "kernel")
    assert "cannot take fp32" in fault_line(controls, "sdpa")


def test_ready_that_changes_nothing_is_not_announced(qtbot: QtBot, controls: Controls) -> None:
    with qtbot.assertNotEmitted(controls.requestChanged):
        controls.set_ready(ready())


def test_faults_of_what_has_no_field_are_said_too(controls: Controls) -> None:
    controls.set_ready(ready())
    controls.set_request(RunRequest(Problem(32, 64, 16, heads=4)))
    label = controls.findChild(QLabel, "general_fault")
    assert label is not None and label.isVisible()
    assert label.text() == "heads is 4; kernel article takes 1"
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
    assert [label for label in controls.findChildren(QLabel) if label.buddy() is field]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_whole_form_fits_its_dock(qtbot: QtBot, theme: str) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    before = app.styleSheet()
    apply_theme(app, load_theme(theme))
    try:
        widget = Controls()
        qtbot.addWidget(widget)
        widget.set_ready(Ready(INTERPRETER, (variant("article"),), ()))
        widget.resize(290, 690)
        with qtbot.waitExposed(widget):
            widget.show()
        scroll = widget.findChild(QScrollArea)
        assert scroll is not None
        bar, form = scroll.verticalScrollBar(), scroll.widget()
        assert bar is not None and form is not None
        assert bar.maximum() == 0
        assert scroll.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        assert form.width() <= 290
        for child in form.findChildren(QWidget):
            if child.isVisible() and child.parent() is form:
                assert form.rect().contains(child.geometry()), child.objectName()
    finally:
        app.setStyleSheet(before)
