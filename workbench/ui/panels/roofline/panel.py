"""RooflinePanel: the run, its baseline and earlier runs under the device's ceilings, and the floor in words."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QPointF
from PyQt6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout

from workbench.analysis.numbers import TimeUnit, format_time, time_unit
from workbench.analysis.traffic import floor_time
from workbench.run.ceilings import NOT_MEASURED, Ceilings
from workbench.run.environment import DeviceInfo
from workbench.run.events import Checked, Measured, Progress, Rechecked
from workbench.run.measurement import Role
from workbench.run.record import RunRecord
from workbench.ui.panels.bases.ceilings import CeilingsPanel
from workbench.ui.panels.roofline.numbers import (
    Point,
    ceilings_text,
    ceilings_tip,
    earlier_points,
    floor_texts,
    floor_tip,
    notes_texts,
    point_of,
    precision_of,
    roofs,
    titled,
)
from workbench.ui.panels.roofline.plot import RooflinePlot
from workbench.ui.plots.themed import DRAWN
from workbench.ui.text.cards import Empty, swatch
from workbench.ui.text.spans import Span, SpanLine, swatch_spans
from workbench.ui.theme import Theme

MEASURE = "Measure ceilings (about 3 s)"
MEASURE_TIP = "How fast this GPU copies, and multiplies matrices in each number format; kept for later launches"
EMPTY = Empty("Press Run (F5) to see how far the kernel is from what the device can do.", "Running.", "")
INTERPRETED = "This run's times are the interpreter's, and a roofline is of GPU times."


class RooflinePanel(CeilingsPanel):
    """TFLOP/s over flop per byte. Without ceilings it offers to measure them."""

    name = "roofline"
    title = "Roofline"
    reads = (Checked, Measured, Rechecked)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._records: Sequence[RunRecord] = ()
        self._measuring = ""  # what of the ceilings is being measured
        self.view = RooflinePlot(theme)
        self.kernel, self.baseline, self.about = SpanLine(), SpanLine(), SpanLine()
        self.again = QPushButton("Measure again")
        self._lay_out()
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        self.graphics.addItem(self.view.plot)
        self.view.plot.vb.sigResized.connect(self.mark_stale)  # its names keep apart in pixels
        self.again.setToolTip(MEASURE_TIP)
        for button in (self.again, self.stack.card.button):
            button.clicked.connect(lambda: self.commandRequested.emit("ceilings"))
        lines, top = QVBoxLayout(), QHBoxLayout()
        lines.setSpacing(1)
        for line in (self.kernel, self.baseline, self.about):
            lines.addWidget(line)
        top.addLayout(lines, 1)
        top.addWidget(self.again)
        self.fill(top, self.graphics, growing=self.graphics)

    def show_measuring(self, on: bool, progress: Progress | None = None) -> None:
        phase = progress.phase if progress is not None else "measuring the device's ceilings"
        steps = f" ({progress.done} of {progress.total} done)" if progress is not None and progress.total else ""
        self._measuring = f"{phase[:1].upper()}{phase[1:]}{steps}" if on else ""
        self.mark_stale()

    def set_history(self, records: Sequence[RunRecord]) -> None:
        """Learn of the other runs that are drawn."""
        self._records = records
        self.mark_stale()

    def draw(self) -> None:
        """Show the plot, or say what it lacks."""
        if self.run is not None and self.run.has_nothing:
            self.stack.show_reason(EMPTY, self.run)
            return
        device = self._device()
        ceilings = self.known.of(device) if device is not None else None
        reason = self._reason(device, ceilings)
        if reason or device is None:
            can = device is not None and self.known.can_measure(device)
            self.stack.show_text(reason, MEASURE if can and not self._measuring else "", MEASURE_TIP)
            return
        self._write(device, ceilings)
        now = [point for point in map(self._point, DRAWN) if point is not None]
        kernel = self.run.measurement("kernel") if self.run is not None else None
        precision = precision_of(kernel) if kernel is not None else "ieee"
        floor = floor_time(kernel.problem, precision, ceilings) if kernel is not None and ceilings is not None else None
        levels = roofs(ceilings, floor, precision) if ceilings is not None else []
        self.stack.show_plots()
        self.view.show(ceilings, levels, [*earlier_points(self._records, self.run, device.name), *now])

    def _device(self) -> DeviceInfo | None:
        """The device of the shown run, else the engine's."""
        if self.run is not None:
            return self.run.started.device
        return self.ready.device if self.ready is not None else None

    def _reason(self, device: DeviceInfo | None, ceilings: Ceilings | None) -> str:
        """Why there is no plot, "" if there is one."""
        if device is None:
            return EMPTY.before
        if device.mode != "cuda":
            text = INTERPRETED if self.run is not None else ""
            return f"{text} The ceilings are {NOT_MEASURED}.".strip()
        if self._measuring:
            return f"{self._measuring}…"
        if ceilings is None and self.known.can_measure(device):
            return f"The ceilings of {device.name} are not known yet: how fast it copies and multiplies matrices."
        return ""

    def _point(self, role: Role) -> Point | None:
        """The shown run's own points; a wrong result has none."""
        run = self.run
        measurement = run.measurement(role) if run is not None and not run.is_wrong(role) else None
        return point_of(measurement) if measurement is not None else None

    @property
    def _unit(self) -> TimeUnit | None:
        """Of all times that the panel says: that of the run shown; None where it has none."""
        times = [point.us for point in map(self._point, DRAWN) if point is not None]
        return time_unit(times) if times else None

    def _write(self, device: DeviceInfo, ceilings: Ceilings | None) -> None:
        """The lines above the plot."""
        lines: tuple[tuple[Role, SpanLine], ...] = (("kernel", self.kernel), ("baseline", self.baseline))
        for role, line in lines:
            measurement = self.run.measurement(role) if self.run is not None else None
            line.setVisible(measurement is not None or (role == "kernel" and self.run is not None))
            if self.run is not None and not line.isHidden():
                tip = (
                    floor_tip(measurement, ceilings, self._unit)
                    if measurement is not None and ceilings is not None
                    else ""
                )
                line.set_spans(*self._spans(self.run, role, ceilings), tooltip=tip)
        self._write_about(device, ceilings)
        self.again.setVisible(ceilings is not None and self.known.can_measure(device))

    def _write_about(self, device: DeviceInfo, ceilings: Ceilings | None) -> None:
        """Where the ceilings are from, and what kept the device from its best while they were measured."""
        if ceilings is None:
            text = f"The ceilings of {device.name} are not kept on this machine; they are measured where that GPU is."
            self.about.set_spans([Span(text, self.theme.warn)])
            return
        where = Span(ceilings_text(ceilings), self.theme.muted)
        noted = [[where, Span(f" · {text}", self.theme.warn)] for text in notes_texts(ceilings)]
        shortest = [spans[1:] for spans in noted[-1:]]
        self.about.set_spans(*(noted or [[where]]), *shortest, tooltip=ceilings_tip(ceilings))

    def _spans(self, run: RunRecord, role: Role, ceilings: Ceilings | None) -> list[list[Span]]:
        """What a role reached, and the same in fewer words after it."""
        measurement = run.measurement(role)
        square, name = swatch_spans(titled(role, measurement, run.started), getattr(self.theme, role))
        if run.is_wrong(role):
            fail = Span("  FAIL: a wrong output has no speed", self.theme.bad, bold=True)
            return [[square, name, fail]]
        point = self._point(role)
        if measurement is None or point is None:
            return [[square, name, Span("  not timed yet" if run.end is None else "  not timed", self.theme.muted)]]
        rate = Span(f"  {point.tflops:.3g} TFLOP/s", bold=True)
        time, protocol = Span(f" in {format_time(point.us, self._unit)}"), Span(f" ({point.protocol})")
        times, made = floor_texts(measurement, ceilings, self._unit) if ceilings is not None else ("", "")
        tail = [Span(f" · {times}")] if times else []
        return [
            [square, name, rate, time, protocol, *tail, *([Span(f" ({made})", self.theme.muted)] if made else [])],
            [square, name, rate, time, protocol, *tail],
            [square, name, rate, protocol, *tail],
            [square, rate, protocol, *tail],
        ]

    def hover_lines(self, scene_position: QPointF) -> list[str]:
        """The run under the mouse, as lines of rich text."""
        point = self.view.hit(scene_position)
        if point is None:
            return []
        title = f"{point.title}, {point.run}" if point.run else point.title
        return [
            swatch(title, getattr(self.theme, point.role)),
            point.problem,
            f"<b>{point.tflops:.3g} TFLOP/s</b> in {format_time(point.us, self._unit)}, {point.protocol} protocol",
            f"{point.intensity:.3g} flop per byte",
        ]

    def apply_theme(self, theme: Theme) -> None:
        super().apply_theme(theme)
        self.view.apply_theme(theme)
