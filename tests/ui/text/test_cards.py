"""The card for failures, and the stack that shows it instead of a plot."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from workbench.run.events import Failed, FailureKind
from workbench.ui.text.cards import MessageCard, PlotStack
from workbench.ui.theme import load_theme

THEME = load_theme("dark")


@pytest.mark.parametrize(
    "kind", ["compile", "resources", "launch", "memory", "timeout", "died", "cancelled", "invalid"]
)
def test_card_says_what_happened_and_what_to_try(qtbot: QtBot, kind: FailureKind) -> None:
    card = MessageCard(THEME)
    qtbot.addWidget(card)
    card.show_failure(Failed(kind, "a < b & c", "smaller tiles"))
    text = card.label.text()
    assert "a &lt; b &amp; c" in text
    assert "What to try: " in text
    assert "smaller tiles" in text


def test_stack_returns_to_the_plot(qtbot: QtBot) -> None:
    card = MessageCard(THEME)
    stack = PlotStack(THEME, card)
    qtbot.addWidget(stack)
    stack.show_text("nothing")
    assert not stack.shows_plots
    stack.show_plots()
    assert stack.shows_plots
