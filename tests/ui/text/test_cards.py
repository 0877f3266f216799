"""The card for failures, and the stack that shows it instead of a plot."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from workbench.run.events import Failed, FailureKind
from workbench.ui.text.cards import MessageCard, PlotStack
from workbench.ui.theme import load_theme
from workbench.words.results import remedy_text

THEME = load_theme("dark")


@pytest.mark.parametrize(
    "kind", ["compile", "resources", "launch", "memory", "timeout", "died", "cancelled", "invalid"]
)
@pytest.mark.parametrize("remedy", ["smaller tiles", "Try smaller tiles.", ""])
def test_card_says_what_happened_and_what_to_try(qtbot: QtBot, kind: FailureKind, remedy: str) -> None:
    card = MessageCard(THEME)
    qtbot.addWidget(card)
    failed = Failed(kind, "a < b & c", remedy)
    card.show_failure(failed)
    text = card.label.text()
    assert "a &lt; b &amp; c" in text
    assert remedy_text(failed) in text  # as everywhere else
    assert bool(remedy) == ("Try" in text)


def test_stack_returns_to_the_plot(qtbot: QtBot) -> None:
    card = MessageCard(THEME)
    stack = PlotStack(THEME, card)
    qtbot.addWidget(stack)
    stack.show_text("nothing")
    assert not stack.shows_plots
    stack.show_plots()
    assert stack.shows_plots
