"""What the engine wrote, run after run."""

from __future__ import annotations

import re
from collections import deque

from PyQt6.QtGui import (
    QFontDatabase,
    QGuiApplication,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PyQt6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from workbench.run.events import CeilingsMeasured, Failed, Log, Ready, Started
from workbench.ui.panels.bases.panel import Panel
from workbench.ui.theme import Theme, icon
from workbench.words.names import kernel_text, problem_text, tile_text
from workbench.words.results import failure_words, remedy_text

MAX_BLOCKS = 5000
PIECE = 8 * 1024  # characters appended per tick: a chunk of any size leaves the window responsive
MAX_WAITING = 2 * 2**20  # characters; what waits longer than that would be pushed out by MAX_BLOCKS anyway
LONGEST_LINE = 2000  # Qt lays out a line as a whole, each time it grows
RUN_MARK = "── "
FAILURE_MARK = "✕ "

# CSI sequences (colours, cursor), OSC sequences (titles, links), and other two-byte escapes.
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
UNFINISHED_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]{0,200}\x1b?)?\Z")


class LogPanel(Panel):
    """The engine's output as text, with a line where each run begins. It keeps the last MAX_BLOCKS lines."""

    name = "log"
    title = "Log"
    shows_run = False

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._waiting: deque[str] = deque()
        self._waiting_size = 0
        self._unfinished = ""  # an escape sequence whose end comes with the next chunk
        self._at_line_start = True
        self._column = 0
        self._text = QPlainTextEdit()
        self._text.setObjectName("log_text")
        self._text.setAccessibleName("Engine log")
        self._text.setReadOnly(True)
        self._text.setUndoRedoEnabled(False)
        self._text.setMaximumBlockCount(MAX_BLOCKS)
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setPlaceholderText("What the engine writes appears here")
        self._marks = _Marks(theme, self._text.document())
        self._clear = QPushButton("Clear")
        self._clear.setToolTip("Empty the log")
        self._clear.clicked.connect(self.clear)
        self._copy = QPushButton("Copy")
        self._copy.setToolTip("Copy what is selected, or all of the log")
        self._copy.clicked.connect(self.copy)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(6, 4, 6, 4)
        buttons.setSpacing(6)
        buttons.addStretch()
        buttons.addWidget(self._copy)
        buttons.addWidget(self._clear)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._text)
        layout.addLayout(buttons)
        self._set_icons()

    def hear(self, event: Ready | CeilingsMeasured | Log | Started | Failed) -> None:
        """Queue the engine's text, a line where a run begins, and all there is about a failure."""
        match event:
            case Log(text):
                self._queue(self._plain(text))
            case Started():
                request = event.request
                when = event.started_at.replace("T", " ")[:19]
                kernel = f"{kernel_text(request.kernel, request.precision)} {tile_text(request.tile)}"
                problem = request.problem
                dtype = "" if problem.dtype != "fp32" else ", fp32"  # any other is in the problem's own words
                self._queue_lines(f"{RUN_MARK}{when}  {kernel}, {problem_text(problem)}{dtype}")
            case Failed():
                lines = [f"{FAILURE_MARK}{failure_words(event)}: {event.message}"]
                lines += [remedy_text(event)] if event.remedy else []
                lines += [event.traceback.rstrip("\n")] if event.traceback else []
                self._queue_lines("\n".join(lines))

    def draw(self) -> None:
        """Append the next piece of what waits; the rest follows at the next ticks."""
        pieces, size = [], 0
        while self._waiting and size < PIECE:
            pieces.append(self._waiting.popleft())
            size += len(pieces[-1])
        self._waiting_size -= size
        if pieces:
            self._append("".join(pieces))
        if self._waiting:
            self.mark_stale()

    def clear(self) -> None:
        """Empty the log, also of what has not been shown yet."""
        self._waiting.clear()
        self._waiting_size = 0
        self._text.clear()
        self._at_line_start, self._column = True, 0

    def copy(self) -> None:
        """Copy the selected text, or all if none is selected."""
        clipboard = QGuiApplication.clipboard()
        if self._text.textCursor().hasSelection():
            self._text.copy()
        elif clipboard is not None:
            clipboard.setText(self._text.toPlainText() + "".join(self._waiting))

    def text(self) -> str:
        """What is shown so far."""
        return self._text.toPlainText()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the marked lines and the buttons."""
        super().apply_theme(theme)
        self._marks.apply_theme(theme)
        self._set_icons()

    def _set_icons(self) -> None:
        self._clear.setIcon(icon("clear", self.theme.text))
        self._copy.setIcon(icon("copy", self.theme.text))

    def _plain(self, text: str) -> str:
        """`text` without escape sequences, also those that are cut in two by the end of a chunk."""
        text = self._unfinished + text
        cut = UNFINISHED_ANSI.search(text)
        self._unfinished = text[cut.start() :] if cut else ""
        plain = ANSI.sub("", text[: cut.start()] if cut else text)
        return plain.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")

    def _queue_lines(self, text: str) -> None:
        """Queue whole lines, beginning on one of their own."""
        self._queue(("" if self._at_line_start else "\n") + text + "\n")

    def _queue(self, text: str) -> None:
        if not text:
            return
        self._at_line_start = text.endswith("\n")
        text = self._broken(text)
        self._waiting.extend(text[i : i + PIECE] for i in range(0, len(text), PIECE))
        self._waiting_size += len(text)
        dropped = 0
        while self._waiting_size > MAX_WAITING:
            piece = self._waiting.popleft()
            self._waiting_size -= len(piece)
            dropped += len(piece)
        if dropped:
            notice = f"\n[{dropped} characters left out here]\n"
            self._waiting.appendleft(notice)
            self._waiting_size += len(notice)
        self.mark_stale()

    def _broken(self, text: str) -> str:
        """`text` with a line break wherever a line would grow beyond LONGEST_LINE, over chunks too."""
        broken: list[str] = []
        for i, line in enumerate(text.split("\n")):
            if i:
                broken.append("\n")
                self._column = 0
            while self._column + len(line) > LONGEST_LINE:
                room = LONGEST_LINE - self._column
                broken += [line[:room], "\n"]
                line, self._column = line[room:], 0
            broken.append(line)
            self._column += len(line)
        return "".join(broken)

    def _append(self, text: str) -> None:
        """Append without moving the view, unless it is at the end already: then follow."""
        bar = self._text.verticalScrollBar()
        assert bar is not None
        follow = bar.value() >= bar.maximum() - 1
        cursor = QTextCursor(self._text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)
        if follow:
            bar.setValue(bar.maximum())


class _Marks(QSyntaxHighlighter):
    """Colours the lines that the panel wrote itself; a highlighter, so that a new theme recolours old lines."""

    def __init__(self, theme: Theme, document: QTextDocument | None) -> None:
        super().__init__(document)
        self._theme = theme

    def apply_theme(self, theme: Theme) -> None:
        """Colour all lines anew."""
        self._theme = theme
        self.rehighlight()

    def highlightBlock(self, text: str | None) -> None:
        for mark, token in ((RUN_MARK, "accent"), (FAILURE_MARK, "bad")):
            if text and text.startswith(mark):
                form = QTextCharFormat()
                form.setForeground(self._theme.color(token))
                self.setFormat(0, len(text), form)
