"""The words for what came of a run."""

from __future__ import annotations

import pytest

from workbench.run.events import Failed
from workbench.words.results import remedy_text


@pytest.mark.parametrize(
    ("remedy", "words"),
    [("fewer stages", "Try: fewer stages"), ("Try a smaller\ntile.", "Try a smaller tile."), ("", "")],
)
def test_what_to_try_says_try_once(remedy: str, words: str) -> None:
    assert remedy_text(Failed("timeout", "", remedy)) == words
