"""Lines in several colours: each shortens before it is cut, and those that belong together do it together."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from workbench.ui.text.spans import Span, SpanLine, shorten_together


def line(qtbot: QtBot, width: int, elides: bool = True) -> SpanLine:
    made = SpanLine(elides)
    qtbot.addWidget(made)
    made.resize(width, 20)
    return made


def test_line_shortens_and_then_elides_and_its_tooltip_has_the_whole(qtbot: QtBot) -> None:
    whole, shorter = [Span("kernel ", "#f00"), Span("12.5 µs, and more words")], [Span("kernel 12.5 µs")]
    made = line(qtbot, 600)
    made.set_spans(whole, shorter)
    assert made.shown() == made.plain() == "kernel 12.5 µs, and more words"
    assert "#f00" in made.text()
    made.resize(made.fontMetrics().horizontalAdvance("kernel 12.5 µs") + 4, 20)
    assert made.shown() == "kernel 12.5 µs"
    made.resize(60, 20)
    assert made.shown().endswith("…") and made.shown().startswith("ke")
    assert made.toolTip() == made.plain()


def test_line_that_must_be_read_is_never_cut(qtbot: QtBot) -> None:
    made = line(qtbot, 30, elides=False)
    made.set_spans([Span("interpreter, not GPU time", bold=True)])
    assert made.shown() == "interpreter, not GPU time"
    assert made.minimumSizeHint().width() > 100


def test_lines_that_shorten_together_say_the_same_of_each(qtbot: QtBot) -> None:
    lines = [line(qtbot, width) for width in (400, 60)]
    shorten_together(*lines)
    for made in lines:
        made.set_spans([Span("median 12.5 µs (p20–p80 12–13)")], [Span("12.5 µs")])
    assert [made.shown() for made in lines] == ["12.5 µs", "12.5 µs"]
    lines[1].resize(400, 20)
    assert {made.shown() for made in lines} == {"median 12.5 µs (p20–p80 12–13)"}
