"""The latency panel's lines above its plots: what the times come to, and how they were obtained."""

from __future__ import annotations

from PyQt6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from workbench.run.measurement import ROLES
from workbench.ui.panels.latency.run import LatencyRun
from workbench.ui.text.fit import ever_shorter
from workbench.ui.text.spans import Span, SpanLine, shorten_together
from workbench.ui.theme import Theme


class LatencyHeader(QWidget):
    """Kernel above SDPA with `corner` at their right, and below how they were timed.

    What has no room ends in an ellipsis, and the tooltip has it; only the interpreter's label is never cut.
    """

    def __init__(self, corner: QWidget) -> None:
        super().__init__()
        self.kernel, self.baseline, self.protocol = SpanLine(), SpanLine(), SpanLine()
        self.clock = SpanLine(elides=False)
        shorten_together(self.kernel, self.baseline)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(8)
        layout.setVerticalSpacing(1)
        layout.addWidget(self.kernel, 0, 0)
        layout.addWidget(self.baseline, 1, 0)
        layout.addWidget(corner, 0, 1, 2, 1)
        layout.setColumnStretch(0, 1)
        below = QHBoxLayout()
        below.setSpacing(10)
        below.addWidget(self.clock)
        below.addWidget(self.protocol, 1)
        layout.addLayout(below, 2, 0, 1, 2)

    def show_run(self, run: LatencyRun | None, theme: Theme) -> None:
        """Say what is known of `run`; None: nothing."""
        if run is None:
            for line in (self.kernel, self.baseline, self.clock, self.protocol):
                line.set_spans([])
            self.clock.hide()
            return
        details = run.details()
        for role, line in zip(ROLES, (self.kernel, self.baseline), strict=True):
            line.set_spans(*run.legend(role, theme), tooltip=run.wrong_text() if role == "kernel" else "")
        self.clock.set_spans(run.clock(theme), tooltip=details)
        self.clock.setVisible(bool(run.clock(theme)))
        self.protocol.set_spans(*([Span(text, theme.muted)] for text in ever_shorter(run.protocol())), tooltip=details)

    def plain(self) -> str:
        """All of it, line by line."""
        lines = ((self.kernel,), (self.baseline,), (self.clock, self.protocol))
        return "\n".join(" ".join(part.plain() for part in line) for line in lines)

    def colors(self) -> dict[str, str]:
        """The colour of each piece of text."""
        lines = (self.kernel, self.baseline, self.clock, self.protocol)
        return {text: color for line in lines for text, color in line.colors().items()}
