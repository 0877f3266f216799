"""How tests drive the form: its fields by name, keys, the wheel, and an engine's announcement."""

from __future__ import annotations

from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QWheelEvent
from PyQt6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.samples import GPU, make_kernel
from tests.ui.hands import press_key, type_keys
from workbench.run.environment import BaselineInfo, DeviceInfo
from workbench.run.events import Ready
from workbench.ui.form.controls import Controls
from workbench.ui.form.fields import Choice, Flag, FloatField, IntField


def open_form(qtbot: QtBot) -> Controls:
    widget = Controls()
    qtbot.addWidget(widget)
    widget.resize(290, 720)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


BLOCKS = (16, 32, 64, 128)
ANY = make_kernel("any", block_ms=BLOCKS, block_ns=BLOCKS)
ARTICLE = make_kernel(
    "article",
    dtypes=("fp32",),
    precisions=("ieee",),
    block_ms=BLOCKS,
    block_ns=BLOCKS,
    heads=False,
    causal=False,
    keeps_tile=True,
)
HALF = make_kernel("half", dtypes=("fp16", "bf16"), precisions=("ieee",), block_ms=(64, 128), block_ns=BLOCKS)
SPLIT = make_kernel("split_kv", title="Split", block_ms=BLOCKS, block_ns=BLOCKS, splits=True)
FAR = make_kernel("far", "kernel far needs a GPU of compute capability 12.0")


def ready(device: DeviceInfo = GPU) -> Ready:
    baselines = (
        BaselineInfo("auto", ("fp32", "fp16", "bf16")),
        BaselineInfo("math", ("fp32", "fp16", "bf16")),
        BaselineInfo("flash", ("fp16", "bf16")),
        BaselineInfo("flex", ("fp32", "fp16", "bf16"), "FlexAttention, compiled", unavailable="it needs a GPU"),
    )
    return Ready(device, (ARTICLE, ANY, SPLIT, HALF, FAR), baselines)


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


def hint(controls: Controls, name: str) -> str:
    label = controls.findChild(QLabel, f"{name}_hint")
    assert label is not None
    return label.text() if label.isVisible() else ""


def flag(controls: Controls, name: str) -> Flag:
    field = controls.findChild(Flag, name)
    assert field is not None
    return field


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
