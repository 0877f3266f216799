"""The strip above all panels: whether the output is right, how fast the kernel is, and how that is known."""

from __future__ import annotations

from time import perf_counter

from PyQt6.QtCore import QSize, Qt, QTimer
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.analysis.numbers import duration_text
from workbench.run.events import Failed, Finished, Progress, Ready, RunEvent, Samples, Started, TileStates
from workbench.run.record import RunRecord
from workbench.ui.headline.findings import Method, method_of
from workbench.ui.headline.lines import STARTING, idle_line, lines_of
from workbench.ui.headline.method import MethodRow
from workbench.ui.headline.reference import ReferenceChip
from workbench.ui.text.elided import Block
from workbench.ui.theme import Theme
from workbench.words.names import source_text
from workbench.words.remarks import remarks_of

HEIGHT = 82
LEAST_WIDTH = 240
CLOCK_MS = 500


class Headline(QWidget):
    """The answer to a run: wrong first, then times, who is faster, and the error; below it how they were obtained.

    It reads the same record as the panels, and names the recording that this is from.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("headline")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # so that it is read where nothing is seen
        self._theme = theme
        self._run: RunRecord | None = None
        self._ready: Ready | None = None
        self._progress = STARTING
        self._stale = False
        self._beside = ReferenceChip()
        self._since = 0.0
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

    def show_run(self, run: RunRecord, change: RunEvent | None = None) -> None:
        """Take `run`, which has grown by `change` (None: it is another run than before); `tick` shows it."""
        self._run = run
        if change is None:
            self._progress = STARTING
        if isinstance(change, Progress):
            self._progress = change
        if change is None or isinstance(change, Finished | Failed):
            self._beside.look_at(run)
        if change is None or isinstance(change, Started):
            self._since = perf_counter()
        if change is None or isinstance(change, Started | Finished | Failed):
            self._run_clock()
        # A Progress follows Samples, and says more; the states are no part of the headline.
        self._stale = self._stale or not isinstance(change, Samples | TileStates)

    def show_nothing(self) -> None:
        """Show no run, as at first."""
        self._run, self._stale = None, True
        self._run_clock()

    def learn(self, ready: Ready) -> None:
        """Learn which device the engine is on."""
        self._ready, self._stale = ready, True

    def set_reference(self, reference: RunRecord | None) -> None:
        """Hold the run shown against `reference` as well from now on; None: against none."""
        self._beside.set_reference(reference)
        self._stale = True

    def tick(self) -> bool:
        """Show what has changed; says whether anything had."""
        changed, self._stale = self._beside.tick() or self._stale, False
        if changed:
            self._show()
        return changed

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
        """Count the seconds of a live run."""
        if self._run is not None and self._run.is_live:
            self._clock.start()
        else:
            self._clock.stop()

    def _show(self) -> None:
        run = self._run
        lines = {"state": idle_line(self._ready)}
        if run is not None:
            elapsed = duration_text(perf_counter() - self._since) if run.is_live else ""
            lines = lines_of(run, self._progress, elapsed)
        muted = self._theme.color("muted")
        for name, block in self._blocks.items():
            line = lines.get(name)
            block.setVisible(line is not None)
            if line is not None:
                block.caption.set_text(line.caption, muted, short=line.short_caption)
                block.set_value(line.value, self._theme.color(line.color), line.tooltip, line.short_value)
                block.set_note(line.note, line.short_note, muted, line.tooltip)
        self._row.show_method(method_of(run) if run is not None else Method(), muted)
        self._row.show_source(source_text(run) if run is not None else "", muted)
        beside = (self._beside.remark,) if self._beside.remark is not None else ()
        self.chips.set_chips((*beside, *remarks_of(run)) if run is not None else ())
        self._row.place()
        self.setAccessibleName(self.text())
