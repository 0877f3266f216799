"""Messages that matter stand one at a time, until they are dismissed or old."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.hands import press_key
from workbench.ui.notices.bar import NoticeBar
from workbench.ui.notices.notice import Kind, Notice, Topic
from workbench.ui.theme import ASSETS, THEME_NAMES, load_theme

ERROR = Notice(Kind.ERROR, Topic.FILE, "x.tilescope cannot be opened", "all of it")
INFO = Notice(Kind.INFO, Topic.RESUME, "Go on?")


@pytest.fixture
def bar(qtbot: QtBot, styled: None) -> Iterator[NoticeBar]:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 80)
    bar = NoticeBar(load_theme("dark"))
    QVBoxLayout(window).addWidget(bar)
    with qtbot.waitExposed(window):
        window.show()
    yield bar
    window.close()  # held until now: without its parent the bar is gone


def buttons(bar: NoticeBar) -> list[str]:
    """Those that can be pressed, from left to right."""
    seen = [button for button in bar.findChildren(QPushButton) if button.isVisible()]
    return [button.text() for button in sorted(seen, key=lambda button: button.x())]


def press(bar: NoticeBar, text: str) -> None:
    next(button for button in bar.findChildren(QPushButton) if button.isVisible() and button.text() == text).click()


@pytest.mark.parametrize("kind", Kind)
def test_each_kind_is_told_by_a_word_and_an_icon_of_its_own(bar: NoticeBar, kind: Kind) -> None:
    assert not bar.isVisible()
    bar.take(Notice(kind, Topic.FILE, "a line"))
    assert bar.isVisible() and bar.text() == f"{kind.word}: a line"
    assert (ASSETS / "icons" / f"{kind.icon}.svg").is_file()
    assert len({other.word for other in Kind}) == len({other.icon for other in Kind}) == len(Kind)


@pytest.mark.parametrize("theme", THEME_NAMES)
def test_it_takes_the_colours_of_a_theme(bar: NoticeBar, theme: str) -> None:
    bar.take(ERROR)
    bar.apply_theme(load_theme(theme))
    assert bar._kind.color() == load_theme(theme).color("bad")


def test_of_several_what_matters_most_is_first_and_their_number_is_said(bar: NoticeBar) -> None:
    for notice in (INFO, ERROR, Notice(Kind.WARNING, Topic.FORM, "BLOCK_M is 48")):
        bar.take(notice)
    lines = []
    for place in (1, 2, 3):
        assert f"{place} of 3" in bar.text()
        lines.append(bar.text().split(": ")[1])
        press(bar, "Next")
    assert lines == [ERROR.line, "BLOCK_M is 48", INFO.line]
    press(bar, "Dismiss")
    assert "1 of 2" in bar.text() and ERROR not in bar.notices()


def test_a_message_replaces_the_one_of_its_topic_and_a_topic_takes_it_away(bar: NoticeBar) -> None:
    bar.take(ERROR)
    newer = Notice(Kind.ERROR, ERROR.topic, "y.tilescope cannot be opened")
    bar.take(newer)
    assert bar.notices() == (newer,)
    bar.take(Topic.RUN)
    assert bar.notices() == (newer,), "of something else"
    bar.take(newer.topic)
    assert bar.notices() == () and not bar.isVisible()


def test_escape_dismisses_the_message_with_focus_and_stops_no_run(bar: NoticeBar, qtbot: QtBot) -> None:
    window = bar.window()
    assert window is not None
    stop = QAction("Stop", window)
    stop.setShortcut(QKeySequence("Esc"))
    stopped: list[bool] = []
    stop.triggered.connect(stopped.append)
    window.addAction(stop)
    bar.take(ERROR)
    window.activateWindow()
    bar._dismiss.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(bar._dismiss.hasFocus)
    press_key(bar._dismiss, Qt.Key.Key_Escape)
    assert bar.notices() == () and stopped == []


def test_details_are_there_on_demand_and_can_be_copied(bar: NoticeBar) -> None:
    bar.take(INFO)
    assert "Details…" not in buttons(bar)
    bar.take(ERROR)
    press(bar, "Details…")
    box = next(w for w in QApplication.topLevelWidgets() if w.objectName() == "notice_details" and w.isVisible())
    assert "all of it" in box.informativeText()  # type: ignore[attr-defined]
    box.close()


def test_what_can_be_done_about_it_is_a_button_and_done_with_once_it_is_pressed(bar: NoticeBar) -> None:
    done: list[str] = []
    bar.take(Notice(Kind.INFO, Topic.RESUME, "Go on?", actions=(("Go on", lambda: done.append("on")),)))
    assert buttons(bar) == ["Go on", "Dismiss"]
    press(bar, "Go on")
    assert done == ["on"] and bar.notices() == ()
    bar.take(ERROR)
    assert "Go on" not in buttons(bar)


@pytest.mark.parametrize("width", [420, 700, 1400])
def test_nothing_is_outside_at_any_width(bar: NoticeBar, width: int, qtbot: QtBot) -> None:
    window = bar.window()
    assert window is not None
    bar.take(INFO)
    bar.take(Notice(Kind.ERROR, Topic.RUN, "long words " * 60, "details"))
    window.resize(width, 80)
    qtbot.waitUntil(lambda: window.width() == width)
    QApplication.processEvents()
    for button in bar.findChildren(QPushButton):
        if button.isVisible():
            assert bar.rect().contains(button.geometry()), button.text()
