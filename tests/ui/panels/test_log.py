"""The log: raw text of the engine, in order, in bounded pieces."""

from __future__ import annotations

import pytest
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, make_record
from tests.ui.growing import grow
from tests.yardstick import slowness, thread_ms
from workbench.run.events import Failed, Log, Started
from workbench.run.request import Problem, RunRequest
from workbench.ui.panels.log import MAX_BLOCKS, MAX_WAITING, PIECE, LogPanel
from workbench.ui.theme import load_theme


@pytest.fixture
def panel(qtbot: QtBot) -> LogPanel:
    widget = LogPanel(load_theme("dark"))
    qtbot.addWidget(widget)
    widget.resize(600, 300)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def settle(panel: LogPanel) -> int:
    """Tick until all is shown; how many ticks that took."""
    ticks = 0
    while panel._waiting:
        panel.tick()
        ticks += 1
    return ticks


def test_a_run_begins_with_its_kernel_and_problem(panel: LogPanel) -> None:
    problem = Problem(16, 32, 8, heads=2, kv_heads=1, dtype="bf16", causal=True)
    grow(panel, Started(RunRequest(problem, TileConfig(64, 32, splits=0), "split_kv"), GPU, "2026-01-31T12:00:00"))
    plain = Started(RunRequest(Problem(16, 32, 8), precision="bf16x3"), GPU, "2026-01-31T12:00:00")
    grow(panel, plain)
    settle(panel)
    first, second = (line for line in panel.text().splitlines() if line)
    assert first.endswith("split_kv 64×32, auto splits, 16 × 32 × 8, 2 / 1 KV heads, bf16, causal")
    assert second.endswith("article bf16x3 16×16, 16 × 32 × 8, fp32")


def edit(panel: LogPanel) -> QPlainTextEdit:
    found = panel.findChild(QPlainTextEdit)
    assert found is not None
    return found


def press(panel: LogPanel, text: str) -> None:
    next(button for button in panel.findChildren(QPushButton) if button.text() == text).click()


def test_text_is_kept_as_it_comes_over_chunks(panel: LogPanel) -> None:
    for text in ("half a ", "line\n  indented\n\nx", "y\r\n50%\r100%\n"):
        grow(panel, Log(text))
    settle(panel)
    assert panel.text() == "half a line\n  indented\n\nxy\n50%\n100%\n"


def test_escape_sequences_are_stripped_also_when_cut_in_two(panel: LogPanel) -> None:
    stream = "\x1b[1;31merror\x1b[0m: \x1b]8;;http://x\x1b\\link\x1b]8;;\x07 array[3] \x1b[2K\x1b[?25lend\n"
    for cut in range(len(stream)):
        grow(panel, Log(stream[:cut]))
        grow(panel, Log(stream[cut:]))
    settle(panel)
    assert set(panel.text().splitlines()) == {"error: link array[3] end"}


def test_a_run_begins_with_a_line_of_its_own_and_resets_nothing(panel: LogPanel) -> None:
    grow(panel, Log("no newline at the end"))
    grow(panel, make_record().started)
    grow(panel, Log("of the second run"))
    settle(panel)
    lines = panel.text().splitlines()
    assert lines[0] == "no newline at the end"
    assert "2026-01-31 12:00:00" in lines[1] and "article 16×16" in lines[1] and "128 × 512 × 64" in lines[1]
    assert lines[2] == "of the second run"


def test_a_failure_has_its_words_and_traceback(panel: LogPanel) -> None:
    grow(panel, Failed("compile", "arange", "powers of two", "Traceback (most recent call last):\n  boom\n"))
    settle(panel)
    assert panel.text().splitlines() == [
        "✕ does not compile: arange",
        "Try: powers of two",
        "Traceback (most recent call last):",
        "  boom",
    ]


@pytest.mark.parametrize("newline", ["\n", ""], ids=["lines", "one-line"])
def test_a_large_chunk_comes_in_pieces_that_do_not_freeze(panel: LogPanel, newline: str) -> None:
    grow(panel, Log(("x" * 99 + (newline or "x")) * 2000))  # 200 kB
    ticks, worst = 0, 0.0
    while panel._waiting:
        shown = len(panel.text())
        worst = max(worst, thread_ms(panel.tick))
        ticks += 1
        assert len(panel.text()) - shown <= 2 * PIECE
    assert ticks >= 200_000 // (2 * PIECE)
    assert worst < 250 * slowness()
    assert len(panel.text().replace("\n", "")) == (200_000 if not newline else 198_000)


def test_the_log_is_bounded_on_screen_and_while_hidden(panel: LogPanel) -> None:
    grow(panel, Log("line\n" * (MAX_BLOCKS + 500)))
    settle(panel)
    assert edit(panel).blockCount() == MAX_BLOCKS
    panel.clear()
    panel.hide()
    for i in range(40):
        grow(panel, Log(f"{i:>99}\n" * 1000))
        panel.tick()
    assert panel.text() == ""
    assert sum(map(len, panel._waiting)) <= MAX_WAITING + 100
    panel.show()
    panel.tick()
    assert "characters left out here" in panel.text()
    settle(panel)
    assert panel.text().rstrip().endswith("39")


def test_it_follows_the_end_unless_the_reader_has_scrolled_up(panel: LogPanel) -> None:
    bar = edit(panel).verticalScrollBar()
    assert bar is not None
    grow(panel, Log("line\n" * 300))
    settle(panel)
    assert bar.value() == bar.maximum() > 0
    bar.setValue(10)
    grow(panel, Log("line\n" * 300))
    settle(panel)
    assert bar.value() == 10


def test_clear_and_copy(panel: LogPanel) -> None:
    grow(panel, Log("first\nsecond\n"))
    settle(panel)
    press(panel, "Copy")
    board = QGuiApplication.clipboard()
    assert board is not None
    assert board.text() == "first\nsecond\n"
    grow(panel, Log("never shown\n"))
    press(panel, "Clear")
    panel.tick()
    assert panel.text() == ""


def test_marked_lines_follow_the_theme(panel: LogPanel) -> None:
    light = load_theme("light")
    grow(panel, make_record().started)
    settle(panel)
    panel.apply_theme(light)
    layout = edit(panel).document().firstBlock().layout()  # type: ignore[union-attr]
    assert layout is not None
    assert [form.format.foreground().color() for form in layout.formats()] == [light.color("accent")]


@pytest.mark.usefixtures("styled")
def test_it_can_only_be_read(panel: LogPanel) -> None:
    assert edit(panel).isReadOnly()
    assert edit(panel).font().fixedPitch() or edit(panel).fontInfo().fixedPitch()
