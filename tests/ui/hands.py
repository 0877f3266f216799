"""Keys and clicks, with types: pytest-qt's have none, and PyQt6's stubs give QTest's a second `self`."""

from __future__ import annotations

from typing import Any

from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QWidget

_test: Any = QTest
NO_MODIFIER = Qt.KeyboardModifier.NoModifier


def press_key(widget: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = NO_MODIFIER) -> None:
    """Press and release one key."""
    _test.keyClick(widget, key, modifier)


def type_keys(widget: QWidget, text: str) -> None:
    """Type `text`, key by key."""
    _test.keyClicks(widget, text)


def click(widget: QWidget, place: QPoint) -> None:
    """Click with the left button."""
    _test.mouseClick(widget, Qt.MouseButton.LeftButton, NO_MODIFIER, place)


def drag(widget: QWidget, start: QPoint, by: QPoint) -> None:
    """Press the left button at `start`, move it `by` so much in two steps, and let go."""
    button = Qt.MouseButton.LeftButton
    _test.mousePress(widget, button, NO_MODIFIER, start)
    for place in (start + by / 2, start + by):
        _test.mouseMove(widget, place)
        QApplication.processEvents()
    _test.mouseRelease(widget, button, NO_MODIFIER, start + by)
    QApplication.processEvents()
