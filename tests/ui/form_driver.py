"""How tests drive the form: its fields by name, keys, the wheel, and an engine's announcement."""

from __future__ import annotations

from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QWheelEvent
from PyQt6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.samples import GPU
from tests.ui.hands import press_key, type_keys
from workbench.model import BaselineInfo, DeviceInfo, Ready, VariantInfo
from workbench.ui.controls import Controls
from workbench.ui.fields import Choice, FloatField, IntField


def open_form(qtbot: QtBot) -> Controls:
    widget = Controls()
    qtbot.addWidget(widget)
    widget.resize(290, 720)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def variant(name: str, dtypes: tuple[str, ...] = ("fp32",)) -> VariantInfo:
    return VariantInfo(name, name.title(), "a kernel", dtypes, ("ieee",), 256, (16, 32), False, False, False)


def ready(device: DeviceInfo = GPU) -> Ready:
    baselines = (
        BaselineInfo("auto", ("fp32", "fp16")),
        BaselineInfo("math", ("fp32", "fp16")),
        BaselineInfo("flash", ("fp16",)),
    )
    return Ready(device, (variant("article"), variant("half", ("fp16",))), baselines)


def number(controls: Controls, name: str) -> IntField | FloatField:
    field = controls.findChild(QWidget, name)
    assert isinstance(field, IntField | FloatField)
    return field


def choice(controls: Controls, name: str) -> Choice:
    field = controls.findChild(Choice, name)
    assert field is not None
    return field


def fault_line(controls: Controls, name: str) -> str:
    label = controls.findChild(QLabel, f"{name}_fault")
    assert label is not None
    return label.text() if label.isVisible() else ""


def type_text(field: IntField | FloatField, text: str) -> None:
    field.setFocus()
    field.selectAll()
    press_key(field, Qt.Key.Key_Delete)
    type_keys(field, text)


def wheel(field: QWidget, up: bool = True) -> None:
    delta = QPoint(0, 120 if up else -120)
    centre = QPointF(field.rect().center())
    event = QWheelEvent(
        centre,
        QPointF(field.mapToGlobal(field.rect().center())),
        QPoint(),
        delta,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(field, event)
