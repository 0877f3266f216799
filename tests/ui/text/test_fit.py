"""The longest text that fits is shown, its shorter versions in their order, and nothing wider than the room."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from PyQt6.QtGui import QColor, QFont
from pytestqt.qtbot import QtBot

from workbench.ui.text.elided import Badge, ElidedLabel
from workbench.ui.text.fit import ELLIPSIS, elided, ever_shorter, fitted, level, longest, text_height, text_width
from workbench.ui.text.spans import Span, SpanLine

VERSIONS = ("median 381.9 µs, 95% interval 381.2–382.6 µs", "median 381.9 µs, ±0.2%", "381.9 µs")
WIDTHS = range(400)  # px, from none to more than the longest takes
GRAY = QColor("gray")

LETTERS = "AVWTofij.,! 0123×µ–…·"

pytestmark = pytest.mark.usefixtures("qapp")


def least(text: str, font: QFont | None = None) -> float:
    """The least room that holds `text`: half a pixel of it may be lost where widths are rounded."""
    return max(0.0, text_width(text, font) - 0.5)


def large() -> QFont:
    font = QFont()
    font.setPointSize(17)
    font.setBold(True)
    return font


@pytest.mark.parametrize("count", range(len(VERSIONS)))
def test_a_version_is_taken_from_its_exact_width_on(count: int) -> None:
    room = least(VERSIONS[count])
    assert level(VERSIONS, room, text_width) == count
    assert longest(VERSIONS, room, text_width) == fitted(VERSIONS, room) == VERSIONS[count]
    assert level(VERSIONS, room - 0.01, text_width) == count + 1


def test_where_none_fits_the_shortest_remains_and_is_cut_at_its_end() -> None:
    room = least(VERSIONS[-1]) - 1
    assert level(VERSIONS, room, text_width) == len(VERSIONS)
    assert longest(VERSIONS, room, text_width) == VERSIONS[-1]
    assert fitted(VERSIONS, room) == elided(VERSIONS[-1], room)
    kept, end = fitted(VERSIONS, room)[:-1], fitted(VERSIONS, room)[-1]
    assert end == ELLIPSIS and kept and VERSIONS[-1].startswith(kept)


def test_anything_that_has_a_width_can_be_chosen() -> None:
    assert longest(range(9, -1, -1), 25, lambda count: 10 * count) == 2
    assert longest([(3, 4), (1, 1)], 6, sum) == (1, 1)


@pytest.mark.parametrize("font", [None, large()])
@pytest.mark.parametrize("versions", [VERSIONS, VERSIONS[:1], (*VERSIONS, ""), ("",), ("WWW", "iii", "…")])
def test_nothing_is_wider_than_the_room_and_more_room_shows_no_less(
    versions: tuple[str, ...], font: QFont | None
) -> None:
    shown = [fitted(versions, width, font) for width in WIDTHS]
    for width, text in zip(WIDTHS, shown, strict=True):
        assert least(text, font) <= width
        assert text in versions or text.endswith(ELLIPSIS) or not text
    levels = [level(versions, width, lambda text: text_width(text, font)) for width in WIDTHS]
    assert all(more <= less for less, more in pairwise(levels)), "a wider room never shows a shorter version"


def test_a_last_version_of_nothing_leaves_out_what_would_be_cut() -> None:
    shown = {fitted((*VERSIONS, ""), width) for width in WIDTHS}
    assert shown == {*VERSIONS, ""}


@pytest.mark.parametrize("size", [8.0, 9.5, 13.0, 17.3])
def test_a_text_of_any_letters_is_cut_to_any_room(size: float) -> None:
    rng, font = np.random.default_rng(0), QFont()
    font.setPointSizeF(size)
    for length in range(1, 40):
        text = "".join(rng.choice(list(LETTERS), length))
        for room in rng.uniform(0, 200, 20).tolist():
            shown = elided(text, room, font)
            assert least(shown, font) <= room
            assert shown in (text, "") or text.startswith(shown[:-1])
            if shown != text:
                assert least(text[: len(shown)] + ELLIPSIS, font) > room, "no letter more would have room"


@pytest.mark.parametrize("room", [-3.0, 0.0, 0.5])
def test_without_room_there_is_no_text(room: float) -> None:
    assert elided("text", room) == fitted(VERSIONS, room) == ""
    assert elided("", 100) == fitted(("",), 100) == ""


def test_texts_are_measured_in_the_font_they_are_painted_in() -> None:
    assert text_width(VERSIONS[0], large()) > text_width(VERSIONS[0])
    assert text_height(large()) > text_height()
    assert text_width("") == 0


def test_what_comes_last_is_left_out_first() -> None:
    assert ever_shorter(["a", "b", "c"]) == ["a · b · c", "a · b", "a"]
    assert ever_shorter(["8×32×4", "zeros"], " ") == ["8×32×4 zeros", "8×32×4"]
    assert ever_shorter([]) == []


@pytest.mark.parametrize(
    "label", [ElidedLabel, Badge, lambda: ElidedLabel(cuts=False), lambda: ElidedLabel(1.55, True)]
)
def test_a_label_is_whole_in_the_room_it_asks_for_and_never_reaches_out_of_less(
    qtbot: QtBot, label: type[ElidedLabel]
) -> None:
    made = label()
    qtbot.addWidget(made)
    made.set_text(VERSIONS[0], GRAY, short=VERSIONS[1])
    for width in range(made.sizeHint().width() + 20):
        made.resize(width, 20)
        assert least(made.shown_text(), made.font()) <= width
    made.resize(made.sizeHint())
    assert made.shown_text() == made.text()


def test_a_label_that_cuts_nothing_shows_a_version_or_none(qtbot: QtBot) -> None:
    made = ElidedLabel(cuts=False)
    qtbot.addWidget(made)
    made.set_text(VERSIONS[1], GRAY, short=VERSIONS[2])
    seen = set()
    for width in WIDTHS:
        made.resize(width, 20)
        seen.add(made.shown_text())
    assert seen == {VERSIONS[1], VERSIONS[2], ""}
    assert made.minimumSizeHint().width() == 0


def test_a_label_without_text_takes_no_room(qtbot: QtBot) -> None:
    for made in (ElidedLabel(), Badge(), ElidedLabel(cuts=False)):
        qtbot.addWidget(made)
        assert made.width_of(whole=True) == made.width_of(whole=False) == 0


def test_a_coloured_line_shortens_as_a_plain_text_does(qtbot: QtBot) -> None:
    made = SpanLine()
    qtbot.addWidget(made)
    made.set_spans(*([Span(part, "#f00") for part in re.split(r"(?<=,)", text)] for text in VERSIONS))
    places = []
    for width in range(20, 400):
        made.resize(width, 20)
        shown = made.shown()
        assert least(shown, made.font()) <= width
        places.append(VERSIONS.index(shown) if shown in VERSIONS else len(VERSIONS))
    assert places == sorted(places, reverse=True) and set(places) == {0, 1, 2, 3}
