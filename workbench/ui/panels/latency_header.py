"""The latency panel's two lines above its plots: what the times come to, and how they were obtained."""

from __future__ import annotations

from PyQt6.QtWidgets import QGridLayout, QWidget

from workbench.model import Role
from workbench.ui.panels.latency_run import LatencyRun
from workbench.ui.spans import Span, SpanLine
from workbench.ui.theme import Theme


class LatencyHeader(QWidget):
    """Kernel and SDPA at the left, at their right what clock the times are of, and how many there are.

    What has no room ends in an ellipsis, and the tooltip has it; only the interpreter's label is never cut.
    """

    def __init__(self) -> None:
        super().__init__()
        self.kernel, self.baseline, self.protocol = SpanLine(), SpanLine(), SpanLine()
        self.clock = SpanLine(elides=False)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(18)
        layout.setVerticalSpacing(1)
        for row, lines in enumerate(((self.kernel, self.clock), (self.baseline, self.protocol))):
            for column, line in enumerate(lines):
                layout.addWidget(line, row, column)
        layout.setColumnStretch(1, 1)

    def _legends(self) -> tuple[tuple[Role, SpanLine], ...]:
        return ("kernel", self.kernel), ("baseline", self.baseline)

    def show_run(self, run: LatencyRun, theme: Theme) -> None:
        """Say what is known of `run`."""
        if run.started is None or not run.samples():
            for line in (self.kernel, self.baseline, self.clock, self.protocol):
                line.set_spans([])
            return
        details = run.details()
        for role, line in self._legends():
            whole, *shorter = run.legend(role, theme)
            line.set_spans(whole, run.wrong_text() if role == "kernel" else "", shorter)
        self.clock.set_spans(run.clock(theme), details)
        parts = run.protocol()
        versions = [[Span(" · ".join(parts[:end]), theme.muted)] for end in range(len(parts), 0, -1)]
        self.protocol.set_spans(versions[0], details, versions[1:])

    def plain(self) -> str:
        """All of it, line by line."""
        lines = ((self.kernel, self.clock), (self.baseline, self.protocol))
        return "\n".join(" ".join(part.plain() for part in line) for line in lines)

    def colors(self) -> dict[str, str]:
        """The colour of each piece of text."""
        lines = (self.kernel, self.baseline, self.clock, self.protocol)
        return {text: color for line in lines for text, color in line.colors().items()}
