"""Chips: each whole or counted, none cut, with its sentence as tooltip."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from workbench.ui.headline.chips import ChipRow
from workbench.ui.theme import load_theme
from workbench.words.remarks import Remark

DARK = load_theme("dark")
CHIPS = (
    Remark("clocks not steady", "clocks not steady: from 1200 to 1980 MHz while timed"),
    Remark("throttled by power", "throttled by power: SwPowerCap in 93% of the timed readings"),
    Remark("two modes: 383.6 µs (82%) and 389.6 µs (18%)", "the median is one number for both", "baseline"),
)


@pytest.fixture
def row(qtbot: QtBot) -> ChipRow:
    row = ChipRow(DARK)
    qtbot.addWidget(row)
    row.show()
    return row


def test_every_chip_is_whole_where_there_is_room(row: ChipRow) -> None:
    row.set_chips(CHIPS)
    row.resize(row.sizeHint())
    assert [label.text() for label in row.shown()] == [chip.text for chip in CHIPS]
    assert all(label.shown_text() == label.text() for label in row.shown())
    assert [label.toolTip() for label in row.shown()] == [chip.tooltip for chip in CHIPS]
    assert row.shown()[2].color() == DARK.color("baseline")


@pytest.mark.parametrize("width", [400, 300, 200, 120])
def test_what_has_no_room_is_counted_and_its_sentences_kept(row: ChipRow, width: int) -> None:
    row.set_chips(CHIPS)
    row.resize(width, row.sizeHint().height())
    *whole, more = row.shown()
    left = CHIPS[len(whole) :]
    assert left and more.text() in (f"+{len(left)}", "3 warnings")
    assert more.toolTip() == "\n".join(chip.tooltip for chip in left)
    assert all(label.shown_text() == label.text() for label in row.shown())
    assert max(label.geometry().right() for label in row.shown()) < width


def test_notes_are_not_counted_as_warnings(row: ChipRow) -> None:
    row.set_chips(
        [Remark("not recorded: device state, source, recheck", "whether it was steady is not known", "muted")]
    )
    row.resize(row.width_of(whole=False), row.sizeHint().height())
    assert [label.text() for label in row.shown()] == ["1 note"]


def test_none_takes_no_room(row: ChipRow) -> None:
    row.set_chips(CHIPS)
    row.set_chips(())
    assert row.isHidden()
    assert row.shown() == []


def test_theme_recolours_what_is_shown(row: ChipRow) -> None:
    row.set_chips(CHIPS[:1])
    row.resize(row.sizeHint())
    light = load_theme("light")
    row.apply_theme(light)
    assert row.shown()[0].color() == light.color("warn")
