"""Every tooltip is wrapped, and nothing of it is cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.conftest import MakeWindow
from workbench.cli.app import make_application
from workbench.ui.text.tips import most_width

AROUND = 40  # px of a tip's padding and frame
LONG = "The norm of the error over that of float64, which a tolerance may be larger than. " * 4


def tip_of(text: str, over: QWidget) -> QLabel:
    """The tooltip that shows `text`."""
    QToolTip.showText(QPoint(200, 200), text, over)
    labels = [top for top in QApplication.topLevelWidgets() if isinstance(top, QLabel)]
    return next(tip for tip in labels if tip.windowType() == Qt.WindowType.ToolTip and tip.text() == text)


def is_whole(tip: QLabel) -> bool:
    """Whether it is narrow enough, and as high as its text needs."""
    return tip.width() <= most_width(tip) + AROUND and tip.height() >= tip.heightForWidth(tip.width())


@pytest.fixture
def over(qtbot: QtBot) -> Iterator[QWidget]:
    """A widget that is seen."""
    make_application()
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    yield widget
    QToolTip.hideText()


@pytest.mark.parametrize("text", [LONG, f"{LONG}\n\n{LONG}", "x " * 400], ids=["long", "paragraphs", "very long"])
def test_a_long_one_is_wrapped(over: QWidget, text: str) -> None:
    assert is_whole(tip_of(text, over))


def test_a_short_one_stays_in_one_line(over: QWidget) -> None:
    tip = tip_of("Time axis", over)
    assert not tip.wordWrap() and tip.height() < 2 * tip.fontMetrics().height() + AROUND


def test_one_that_takes_the_place_of_another_is_wrapped_too(over: QWidget) -> None:
    for text in ("short", LONG, "short again", f"{LONG} {LONG}"):
        assert tip_of(text, over).wordWrap() == (len(text) > 80)
        assert is_whole(tip_of(text, over))


def test_all_of_a_window_are_whole(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    QApplication.processEvents()
    things: list[QWidget | QAction] = [*window.findChildren(QWidget), *window.findChildren(QAction)]
    texts = {thing.toolTip() for thing in things if thing.toolTip()}
    assert texts
    for text in texts:
        assert is_whole(tip_of(text, window)), text
    QToolTip.hideText()
