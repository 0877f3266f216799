"""The line at the foot of the window: how far the engine is, in what people count."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from workbench.run.events import Failed, Progress
from workbench.ui.text.cards import MessageCard
from workbench.ui.theme import load_theme
from workbench.ui.window.status import StatusBar


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (Progress("timing kernel and baseline in turns: warm", 7608, 20_000, "ms"), "in turns: warm: 7.6 of 20 s"),
        (Progress("timing article", 20, 100), "Timing article: 20 of 100"),
        (Progress("compiling"), "Compiling"),
    ],
)
def test_progress_is_in_steps_or_in_seconds(qtbot: QtBot, progress: Progress, words: str) -> None:
    status = StatusBar()
    qtbot.addWidget(status)
    status.take(progress)
    assert words in status.text() and "7608" not in status.text()


def test_a_card_says_try_once(qtbot: QtBot) -> None:
    card = MessageCard(load_theme("dark"))
    qtbot.addWidget(card)
    card.show_failure(Failed("timeout", "silent for 180 s", "Try a smaller tile."))
    assert "Try a smaller tile." in card.label.text() and "What to try" not in card.label.text()
