"""The strip above all panels: whether the output is right, and how fast the kernel is beside SDPA."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import assert_never

from PyQt6.QtCore import QSize, Qt, QTimer
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from workbench.metrics import format_range, format_time, ratio
from workbench.model import (
    INTERPRETER_LABEL,
    Checked,
    Failed,
    Finished,
    Log,
    Measured,
    Measurement,
    Progress,
    Ready,
    Role,
    RunEvent,
    Samples,
    Started,
    Tensors,
    TileStates,
)
from workbench.ui import words
from workbench.ui.elided import Badge, Block
from workbench.ui.theme import Theme

HEIGHT = 64
LEAST_WIDTH = 240
CLOCK_MS = 500


@dataclass(frozen=True)
class Line:
    """What one block shows: `color` is a token of the theme."""

    caption: str
    value: str
    color: str = "text"
    tooltip: str = ""


class Verdict(QWidget):
    """The answer to a run in one line: wrong first, then times, who is faster, and the error.

    It takes the same events as the panels, live or recorded. `show_source` names the recording.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("verdict")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self._theme = theme
        self._ready: Ready | None = None
        self._started: Started | None = None
        self._progress = Progress("starting")
        self._checks: dict[Role, Checked] = {}
        self._measured: dict[Role, Measurement] = {}
        self._end: Finished | Failed | None = None
        self._stale = False
        self._since = 0.0
        self._source = ""
        self._blocks = {name: Block() for name in ("state", "kernel", "baseline", "ratio", "error")}
        self._blocks["detail"] = Block(scale=1)
        self._badge = Badge()
        self._clock = QTimer(self)
        self._clock.setInterval(CLOCK_MS)
        self._clock.timeout.connect(self._show)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 0, 14, 0)
        layout.setSpacing(26)
        for block in self._blocks.values():
            layout.addWidget(block)
        layout.addWidget(self._badge)
        # Both take what the others leave, and elide: a long message must not push out what failed.
        for last in (self._blocks["detail"], self._badge):
            last.setSizePolicy(QSizePolicy.Policy.Ignored, last.sizePolicy().verticalPolicy())
            layout.setStretchFactor(last, 1000)
        layout.addStretch(1)
        self._show()

    def sizeHint(self) -> QSize:
        """Narrow: a tool bar hides what asks for more room than there is, and this elides instead."""
        return QSize(LEAST_WIDTH, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """As the size hint."""
        return self.sizeHint()

    def take(self, event: RunEvent) -> None:
        """Store what `event` changes about the answer; `tick` shows it."""
        match event:
            case Started():
                self._begin(event)
            case Ready():
                self._ready = event
            case Progress():
                self._progress = event
            case Checked():
                self._checks[event.role] = event
            case Measured():
                self._measured[event.measurement.role] = event.measurement
            case Finished() | Failed():
                self._end = event
                self._run_clock()
            case Samples() | TileStates() | Tensors() | Log():
                return
            case _:
                assert_never(event)
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
        self._show()

    def text(self) -> str:
        """All that is shown, in reading order."""
        self.tick()
        shown = [block for block in self._blocks.values() if not block.isHidden()]
        return "  ".join(f"{block.caption.text()} {block.value.text()}".strip() for block in shown)

    def _begin(self, started: Started) -> None:
        self._started = started
        self._progress = Progress("starting")
        self._checks.clear()
        self._measured.clear()
        self._end = None
        self._since = perf_counter()
        self._run_clock()

    def _run_clock(self) -> None:
        """Count the seconds of a live run; a recording that lacks its end must not count for ever."""
        if self._started is not None and self._end is None and not self._source:
            self._clock.start()
        else:
            self._clock.stop()

    def _show(self) -> None:
        lines = self._lines()
        for name, block in self._blocks.items():
            line = lines.get(name)
            block.setVisible(line is not None)
            if line is not None:
                block.caption.set_text(line.caption, self._theme.color("muted"))
                block.value.set_text(line.value, self._theme.color(line.color), line.tooltip)
        self._badge.setVisible(bool(self._source))
        self._badge.set_text(self._source, self._theme.color("muted"))
        self.setAccessibleName(self.text())

    def _lines(self) -> dict[str, Line]:
        """What each block shows; one that is missing is hidden."""
        lines: dict[str, Line] = {}
        if self._started is None:
            return {"state": self._idle()}
        check = self._checks.get("kernel")
        if isinstance(self._end, Failed):
            lines |= self._failure(self._end)
        if check is not None and not check.error.passed:
            # Whatever else happened, a wrong output is what must be seen first.
            where = f"; {words.failure_words(self._end)}" if isinstance(self._end, Failed) else self._running_text()
            lines["state"] = Line(f"{self._subject()}{where}", words.wrong_text(check.error), "bad")
            lines.pop("detail", None)
        elif self._end is None:
            lines["state"] = Line(self._subject(), self._running_text().removeprefix(", "), "accent")
        if not isinstance(self._end, Failed):
            lines |= self._times()
            lines |= self._comparison()
            lines |= self._error(check)
        return lines

    def _idle(self) -> Line:
        if self._ready is None:
            return Line("no run yet", "starting the engine", "muted")
        device = self._ready.device
        label = f", {INTERPRETER_LABEL}" if device.mode == "interpreter" else ""
        return Line(f"{device.name}{label}", "Ready to run", "text")

    def _subject(self) -> str:
        """What is being run."""
        assert self._started is not None
        request = self._started.request
        kernel = words.kernel_text(request.kernel, request.precision)
        return f"{kernel} {words.tile_text(request.tile)}, {words.problem_text(request.problem)}"

    def _running_text(self) -> str:
        if self._end is not None:
            return ""
        progress = self._progress
        steps = f" {progress.done} of {progress.total}" if progress.total else ""
        elapsed = "" if self._source else f", {words.duration_text(perf_counter() - self._since)}"
        return f", {progress.phase}{steps}{elapsed}"

    def _failure(self, failed: Failed) -> dict[str, Line]:
        color = "muted" if failed.kind == "cancelled" else "bad"
        lines = {"state": Line(self._subject(), words.failure_words(failed), color, failed.message)}
        message = " ".join(failed.message.split())
        if failed.remedy:
            remedy = f"Try: {' '.join(failed.remedy.split())}"
            lines["detail"] = Line(message, remedy, "text", f"{failed.message}\n{remedy}")
        elif message:
            lines["detail"] = Line("", message, "text", failed.message)
        return lines

    def _times(self) -> dict[str, Line]:
        lines: dict[str, Line] = {}
        for role, measurement in self._measured.items():
            latency = measurement.latency
            spread = format_range(latency.p20, latency.p80)
            caption = words.implementation_text(measurement)
            color = str(role)
            if not measurement.error.passed or not self._is_right():
                color = "muted"
            if role == "kernel" and self._is_right():
                caption += f", {words.problem_text(measurement.problem)}"
            elif not measurement.error.passed:
                caption += ", WRONG"
            lines[role] = Line(
                caption, format_time(latency.median), color, f"{caption}\nmedian; 20th to 80th percentile {spread}"
            )
        return lines

    def _comparison(self) -> dict[str, Line]:
        """Who is faster: on a GPU only, and only of two outputs that are right."""
        assert self._started is not None
        kernel, baseline = self._measured.get("kernel"), self._measured.get("baseline")
        if self._started.device.mode == "interpreter":
            return {"ratio": Line("times are", INTERPRETER_LABEL, "warn")} if self._measured else {}
        if kernel is None or baseline is None or not (self._is_right() and baseline.error.passed):
            return {}
        result, name = ratio(kernel, baseline), words.baseline_text(baseline.backend)
        interval = words.interval_text(result)
        color = "text" if result.is_level else "good" if result.baseline_over_kernel > 1 else "text"
        tooltip = f"medians compared; {interval} from the 20th and 80th percentiles of both"
        return {"ratio": Line(f"p20 to p80: {interval}", words.comparison_text(result, name), color, tooltip)}

    def _error(self, check: Checked | None) -> dict[str, Line]:
        if check is None or not check.error.passed:
            return {}
        error = check.error
        caption = f"max error, {words.tolerance_text(error)}"
        return {"error": Line(caption, f"{words.error_text(error.max_abs)}, passed", "good")}

    def _is_right(self) -> bool:
        check = self._checks.get("kernel")
        return check is None or check.error.passed
