"""Heads are counted from 1 wherever they are named, and all maps of the window show the same one."""

from __future__ import annotations

import re

import pytest
from PyQt6.QtWidgets import QStyle, QStyleOptionComboBox
from pytestqt.qtbot import QtBot

from tests.samples import make_record
from workbench.run.request import Problem
from workbench.ui.panels.bases.maps import MapPanel
from workbench.ui.theme import load_theme
from workbench.ui.window.stage import Stage
from workbench.words.names import head_text

PROBLEM = Problem(16, 32, 8, batch=2, heads=4, kv_heads=2)


@pytest.fixture
def maps(qtbot: QtBot) -> list[MapPanel]:
    stage = Stage(load_theme("dark"))
    for panel in (stage.headline, *stage.panels.values()):
        qtbot.addWidget(panel)
    stage.show_run(make_record(problem=PROBLEM))
    found = [panel for panel in stage.panels.values() if isinstance(panel, MapPanel)]
    draw(found)
    return found


def draw(maps: list[MapPanel]) -> None:
    for panel in maps:
        panel.draw_now()


def test_all_maps_begin_with_the_same_head(maps: list[MapPanel]) -> None:
    assert len(maps) > 1
    assert len({panel.head_box.number() for panel in maps}) == 1


def test_a_head_chosen_in_one_map_is_shown_in_all(maps: list[MapPanel]) -> None:
    for panel in maps:
        for index in (5, 2):
            panel.head_box.setCurrentIndex(index)
            draw(maps)
            assert {other.head_box.number() for other in maps} == {index}


def test_every_place_that_names_a_head_counts_from_1(maps: list[MapPanel]) -> None:
    said = []
    for panel in maps:
        for index in range(panel.head_box.count()):
            panel.head_box.setCurrentIndex(index)
            draw(maps)
            panel.view.hovered.emit((0, 0))
            panel.draw_now()
            said += [panel.head_box.currentText(), panel.head_box.toolTip(), panel.hover.text()]
    said += [head_text(PROBLEM, number) for number in range(PROBLEM.total_heads)]
    most = {"batch": PROBLEM.batch, "KV head": PROBLEM.kv_heads, "head": PROBLEM.heads}
    found = re.findall(r"(batch|KV head|(?<!KV )head) (\d+)", "\n".join(said))
    for kind, count in most.items():
        assert {int(number) for name, number in found if name == kind} == set(range(1, count + 1)), kind


@pytest.mark.usefixtures("styled")
def test_the_name_of_a_head_is_never_cut(maps: list[MapPanel]) -> None:
    for box in (panel.head_box for panel in maps):
        box.resize(box.minimumSizeHint())
        option = QStyleOptionComboBox()
        box.initStyleOption(option)
        style = box.style()
        assert style is not None
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, box).width()
        assert box.fontMetrics().horizontalAdvance(box.currentText()) <= room - 2
