"""The strip above all panels: whether the output is right, how fast the kernel is, and how that is known."""

from __future__ import annotations

from time import perf_counter

from PyQt6.QtCore import QSize, Qt, QTimer
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.run.events import Failed, Finished, RunEvent, Started
from workbench.run.record import RunRecord
from workbench.ui.headline.lines import Answer
from workbench.ui.headline.method import MethodRow
from workbench.ui.text.elided import Block
from workbench.ui.theme import Theme
from workbench.words import runs as words

HEIGHT = 82
LEAST_WIDTH = 240
CLOCK_MS = 500


class Headline(QWidget):
    """The answer to a run: wrong first, then times, who is faster, and the error; below it how they were obtained.

    It takes the same events as the panels, live or recorded. `show_source` names the recording.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("headline")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self._theme = theme
        self._answer = Answer()
        self._stale = False
        self._since = 0.0
        self._source = ""
        self._blocks = {name: Block() for name in ("state", "kernel", "baseline", "ratio", "error")}
        self._blocks["detail"] = Block(scale=1)
        self._row = MethodRow(theme)
        self.protocol, self.ending, self.chips = self._row.protocol, self._row.ending, self._row.chips
        self._clock = QTimer(self)
        self._clock.setInterval(CLOCK_MS)
        self._clock.timeout.connect(self._show)
        self._lay_out()
        self._show()

    def _lay_out(self) -> None:
        above = QHBoxLayout()
        above.setSpacing(26)
        for block in self._blocks.values():
            above.addWidget(block)
        # It takes what the others leave, and elides: a long message must not push out what failed.
        last = self._blocks["detail"]
        last.setSizePolicy(QSizePolicy.Policy.Ignored, last.sizePolicy().verticalPolicy())
        above.setStretchFactor(last, 1000)
        above.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 4, 14, 5)
        layout.setSpacing(2)
        layout.addLayout(above, 1)
        layout.addWidget(self._row)

    def sizeHint(self) -> QSize:
        """Narrow: a tool bar hides what asks for more room than there is, and this elides instead."""
        return QSize(LEAST_WIDTH, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """As the size hint."""
        return self.sizeHint()

    def take(self, event: RunEvent) -> None:
        """Store what `event` changes about the answer; `tick` shows it."""
        if isinstance(event, Started):
            self._answer = Answer(self._answer.ready, RunRecord(0, event))
            self._since = perf_counter()
        elif not self._answer.take(event):
            return
        if isinstance(event, Started | Finished | Failed):
            self._run_clock()
        self._stale = True

    def tick(self) -> bool:
        """Show what has changed; says whether anything had."""
        changed, self._stale = self._stale, False
        if changed:
            self._show()
        return changed

    def show_source(self, text: str) -> None:
        """Say in a badge that the run is a recorded one ("recording: NAME, NVIDIA H200"); "" for a live run."""
        self._source = text
        self._run_clock()
        self._show()

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        self.chips.apply_theme(theme)
        self._show()

    def text(self) -> str:
        """All that is shown, in reading order."""
        self.tick()
        shown = [block for block in self._blocks.values() if not block.isHidden()]
        values = [f"{block.caption.text()} {block.value.text()} {block.note.text()}".strip() for block in shown]
        method = f"{self.protocol.text()} {self.ending.text()}".strip()
        return "  ".join(filter(None, (*values, method, *self.chips.texts())))

    def _run_clock(self) -> None:
        """Count the seconds of a live run; a recording that lacks its end must not count for ever."""
        if self._answer.is_running and not self._source:
            self._clock.start()
        else:
            self._clock.stop()

    def _show(self) -> None:
        lines = self._answer.lines("" if self._source else words.duration_text(perf_counter() - self._since))
        muted = self._theme.color("muted")
        for name, block in self._blocks.items():
            line = lines.get(name)
            block.setVisible(line is not None)
            if line is not None:
                block.caption.set_text(line.caption, muted, short=line.short_caption)
                block.set_value(line.value, self._theme.color(line.color), line.tooltip, line.short_value)
                block.set_note(line.note, line.short_note, muted, line.tooltip)
        self._row.show_method(self._answer.method(), muted)
        self._row.show_source(self._source, muted)
        self.chips.set_chips(self._answer.chips())
        self._row.place()
        self.setAccessibleName(self.text())
