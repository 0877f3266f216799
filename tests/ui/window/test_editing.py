"""What the form and the table say is copied as a command line, and one that is pasted becomes the form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QClipboard, QGuiApplication
from PyQt6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, make_record
from tests.ui.conftest import MakeWindow
from tests.ui.form.driver import fault_line, number, ready, type_text
from tests.ui.hands import press_key
from workbench.asking.line import command_line, read_line
from workbench.run.request import Problem, Rival, RunRequest
from workbench.ui.form.specs import FIELDS
from workbench.ui.window.main import MainWindow

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
MINE = RunRequest(Problem(96, 160, 32, seed=3), TileConfig(32, 64), kernel="any", max_samples=77)


@pytest.fixture
def clipboard() -> Iterator[QClipboard]:
    found = QGuiApplication.clipboard()
    assert found is not None
    yield found
    found.clear()


@pytest.fixture
def window(make_test_window: MakeWindow, qtbot: QtBot) -> MainWindow:
    made = make_test_window()
    made._on_ready(ready())
    qtbot.waitUntil(made.isActiveWindow)
    return made


def test_the_form_is_copied_whole_also_what_has_no_field(window: MainWindow, clipboard: QClipboard) -> None:
    window.controls.set_request(MINE)
    press_key(number(window.controls, "m"), Qt.Key.Key_C, CONTROL | SHIFT)
    assert clipboard.text() == command_line(MINE)
    window.controls.set_request(RunRequest(Problem(5, 5, 5)))
    window.command("paste_line").trigger()
    assert window.controls.request() == MINE
    assert window.command("undo").text() == "Undo pasted command line"
    window.command("undo").trigger()
    assert window.controls.request().problem == Problem(5, 5, 5)


def test_the_key_pastes_a_line_from_wherever_the_focus_is_in_the_form(
    window: MainWindow, clipboard: QClipboard
) -> None:
    for name in (spec.name for spec in FIELDS):
        field = window.controls.findChild(QWidget, name)
        assert field is not None
        window.controls.set_request(RunRequest(Problem(5, 5, 5), kernel="any"))
        clipboard.setText(command_line(MINE))
        press_key(field, Qt.Key.Key_V, CONTROL)
        assert window.controls.request() == MINE, name


def test_a_number_is_pasted_into_its_field(window: MainWindow, clipboard: QClipboard) -> None:
    m = number(window.controls, "m")
    clipboard.setText("512")
    m.setFocus()
    m.selectAll()
    press_key(m, Qt.Key.Key_V, CONTROL)
    assert m.text() == "512"


def test_of_a_line_what_is_left_open_is_chosen_before_or_once_the_engine_is_known(
    make_test_window: MakeWindow, clipboard: QClipboard
) -> None:
    clipboard.setText("python main.py run -m 512 -n 512 -d 64 --dtype fp16 --kernel half --block-n 16")
    window = make_test_window()
    window.command("paste_line").trigger()
    window._on_ready(ready())
    late = window.controls.request().tile
    window.controls.set_request(MINE)
    window.command("paste_line").trigger()
    assert window.controls.request().tile == late
    assert late.block_n == 16 and late.block_m in (64, 128)


def test_what_cannot_work_is_pasted_and_marked(window: MainWindow, clipboard: QClipboard) -> None:
    clipboard.setText("python main.py run -m 0")
    window.command("paste_line").trigger()
    assert "M is 0" in fault_line(window.controls, "m")
    assert not window.command("run").isEnabled()


@pytest.mark.parametrize("text", ["", "hello", "python main.py run --blockm 3", "python main.py run -m twelve"])
def test_what_is_not_understood_changes_nothing_and_is_said(
    window: MainWindow, clipboard: QClipboard, text: str
) -> None:
    before = window.controls.state()
    clipboard.setText(text)
    window.command("paste_line").trigger()
    assert window.controls.state() == before
    assert window.status.currentMessage().startswith("Not pasted: ")


def test_a_form_with_a_field_that_is_no_number_is_not_copied(window: MainWindow, clipboard: QClipboard) -> None:
    clipboard.setText("what was there")
    type_text(number(window.controls, "n"), "1e3")
    window.command("copy_line").trigger()
    assert clipboard.text() == "what was there"
    assert window.status.currentMessage() == f"Not copied: {fault_line(window.controls, 'n')}"


def test_runs_are_copied_as_they_were_made_a_line_each(window: MainWindow, clipboard: QClipboard) -> None:
    records = [make_record(number, Problem(32, 64, 16, seed=number), device=GPU) for number in (1, 2)]
    window.results.set_records(records)
    window.results._view.selectAll()
    window.results.copy_lines()
    asked = [read_line(line).request for line in clipboard.text().splitlines()]
    assert sorted(one.problem.seed for one in asked) == [1, 2]
    for one, record in zip(sorted(asked, key=lambda r: r.problem.seed), records, strict=True):
        assert one == replace(record.started.request, trace=True, keep_tensors=False)


@pytest.mark.parametrize("way", ["pasted", "settings"])
def test_a_rival_that_the_form_has_no_room_for_is_not_dropped_without_a_word(
    window: MainWindow, clipboard: QClipboard, way: str
) -> None:
    request = replace(MINE, kernel="article", sdpa="none", rival=Rival("flash", TileConfig(64, 32)))
    if way == "pasted":
        clipboard.setText(command_line(request))
        window.command("paste_line").trigger()
    else:
        window.results.settingsRequested.emit(request)
    assert "rival" in window.status.currentMessage() and "the form has not" in window.status.currentMessage()
