"""The device's clock and power over a run's time, as a thin strip: two traces, and where the clocks were held back."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PyQt6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QHelpEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PyQt6.QtWidgets import QSizePolicy, QToolTip, QWidget

from workbench.run.device_state import DeviceReadings
from workbench.run.events import DeviceState
from workbench.stats.arrays import FloatArray
from workbench.ui.plots.kept_picture import KeptPicture
from workbench.ui.theme import Theme

LANE = 17  # px of one readings
LANE_GAP = 4
NARROW = 420  # px: a narrower strip shows no ranges, its tooltip has them
MOST_POINTS = 2000  # of a readings; more than any strip has pixels


@dataclass(frozen=True)
class Lane:
    """One readings: its title, unit, readings, and the theme's colour it is drawn in."""

    title: str
    unit: str
    values: FloatArray
    token: str

    @property
    def range_text(self) -> str:
        """The least and the greatest reading with the unit; one number where they are the same."""
        known = self.values[np.isfinite(self.values)]
        if not len(known):
            return "not known"
        low, high = f"{known.min():,.0f}", f"{known.max():,.0f}"
        return f"{low} {self.unit}" if low == high else f"{low}–{high} {self.unit}"


Held = tuple[float, float, tuple[str, ...]]  # begin and end, s, and NVML's reasons


def held_spans(readings: DeviceReadings) -> list[Held]:
    """Spans (begin, end, NVML's reasons) in which something held the clocks back, in seconds since the run started.

    A reading stands for the time until the next one.
    """
    count = len(readings.t)
    if not count:
        return []
    usual = float(np.median(np.diff(readings.t))) if count > 1 else 0.02
    ends = np.append(readings.t[1:], readings.t[-1] + usual)
    reasons = np.nan_to_num(readings.reasons).astype(np.int64)
    starts = np.flatnonzero(np.append(True, reasons[1:] != reasons[:-1]))
    spans: list[Held] = []
    for first, following in pairwise([*starts.tolist(), count]):
        names = tuple(readings.sample(first).throttles)
        if names:
            spans.append((float(readings.t[first]), float(ends[following - 1]), names))
    return spans


class DeviceStrip(QWidget):
    """SM clock above power, over the seconds of a run; hidden where there is nothing to read."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._kept = KeptPicture()
        self._readings: DeviceReadings | None = None
        self.lanes: tuple[Lane, ...] = ()
        self.held: list[Held] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setObjectName("device_strip")
        self.hide()

    def show_state(self, state: DeviceState | None) -> None:
        """Show what was read so far; nothing with None, or without readings."""
        readings = state.readings if state is not None else None
        if readings is None or not len(readings.t):
            self._readings, self.lanes, self.held = None, (), []
            self.hide()
            return
        if readings is not self._readings:
            self._readings = readings
            self.lanes = (
                Lane("SM clock", "MHz", readings.sm_mhz, "accent"),
                Lane("power", "W", readings.power_w, "good"),
            )
            self.held = held_spans(readings)
            self.setAccessibleName(self.summary())
            self._kept.forget()
            self.update()
        self.show()

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        self._kept.forget()
        self.update()

    def summary(self) -> str:
        """What the strip shows, in lines."""
        lines = [f"{lane.title} {lane.range_text}" for lane in self.lanes]
        readings = self._readings
        if readings is not None:
            heat = readings.temperature_c[np.isfinite(readings.temperature_c)]
            lines += [f"temperature up to {heat.max():.0f} °C"] if len(heat) else []
            lines += [f"{missing.reading}: {missing.reason}" for missing in readings.missing]
        reasons = sorted({name for _, _, names in self.held for name in names})
        lines += [f"clocks held back (shaded): {', '.join(reasons)}"] if reasons else []
        return "\n".join([*lines, "The line at the foot marks when launches were timed."])

    def at(self, x: float) -> str:
        """The reading nearest to the pixel `x`, in a line; "" where there is none."""
        readings, plot = self._readings, self._plot()
        if readings is None or not plot.left() <= x <= plot.right():
            return ""
        seconds = (x - plot.left()) / max(1.0, plot.width()) * self._seconds()
        i = int(np.argmin(np.abs(readings.t - seconds)))
        sample = readings.sample(i)
        parts = [f"{sample.t:.2f} s", f"{sample.sm_mhz:,.0f} MHz", f"{sample.power_w:.0f} W"]
        parts += [f"{sample.temperature_c:.0f} °C"] if np.isfinite(sample.temperature_c) else []
        return ", ".join([*parts, *sample.throttles, "timed" if readings.is_timed[i] else "not timed"])

    def sizeHint(self) -> QSize:
        """Two lanes and the numbers of seconds below."""
        return QSize(300, 2 * LANE + LANE_GAP + self.fontMetrics().height() + 4)

    def minimumSizeHint(self) -> QSize:
        """As tall, and narrow."""
        return QSize(120, self.sizeHint().height())

    def event(self, a0: QEvent | None) -> bool:
        """The tooltip is of the reading under the mouse."""
        if isinstance(a0, QHelpEvent):
            text = "\n".join(filter(None, (self.at(a0.pos().x()), self.summary())))
            QToolTip.showText(a0.globalPos(), text, self)
            return True
        return super().event(a0)

    def paintEvent(self, _: QPaintEvent | None) -> None:
        if self._readings is None:
            return
        painter = QPainter(self)
        self._kept.draw(painter, self.size(), self._paint, self.devicePixelRatioF())
        painter.end()

    def changeEvent(self, a0: QEvent | None) -> None:
        """Another font, or another style, needs another picture."""
        super().changeEvent(a0)
        self._kept.forget()

    def _paint(self, painter: QPainter) -> None:
        painter.setFont(self.font())
        plot, seconds = self._plot(), self._seconds()
        self._paint_ground(painter, plot, seconds)
        for i, lane in enumerate(self.lanes):
            top = plot.top() + i * (LANE + LANE_GAP)
            self._paint_lane(painter, lane, QRectF(plot.left(), top, plot.width(), LANE), seconds)
        foot = QRectF(plot.left(), plot.bottom() + 2, plot.width(), self.fontMetrics().height())
        painter.setPen(self._theme.color("muted"))
        painter.drawText(foot, Qt.AlignmentFlag.AlignLeft, "0 s")
        painter.drawText(foot, Qt.AlignmentFlag.AlignHCenter, "time since the run started")
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight, f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s")

    def _paint_ground(self, painter: QPainter, plot: QRectF, seconds: float) -> None:
        """Where the clocks were held back, where launches were timed, and the frame."""
        assert self._readings is not None
        theme, scale = self._theme, plot.width() / seconds
        for begin, end, _ in self.held:
            span = QRectF(plot.left() + begin * scale, plot.top(), max(1.5, (end - begin) * scale), plot.height())
            painter.fillRect(span.intersected(plot), theme.color("warn", 70))
        for begin, end in self._readings.timed:
            foot = QRectF(plot.left() + begin * scale, plot.bottom() - 2, max(1.0, (end - begin) * scale), 2)
            painter.fillRect(foot.intersected(plot), theme.color("muted"))
        painter.setPen(theme.color("border"))
        painter.drawRect(plot)

    def _paint_lane(self, painter: QPainter, lane: Lane, area: QRectF, seconds: float) -> None:
        assert self._readings is not None
        color = self._theme.color(lane.token)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(color)
        painter.drawText(QRectF(0, area.top(), area.left() - 6, LANE), middle | Qt.AlignmentFlag.AlignRight, lane.title)
        if self.width() >= NARROW:
            right = QRectF(area.right() + 6, area.top(), self.width() - area.right() - 6, LANE)
            painter.drawText(right, middle, lane.range_text)
        known = np.isfinite(lane.values)
        t, values = self._readings.t[known], lane.values[known]
        if not len(t):
            return
        step = -(-len(t) // MOST_POINTS)
        t, values = t[::step], values[::step]
        low, high = float(values.min()), float(values.max())
        # A clock that stays within a step of it is drawn as the level line that it is.
        reach = max(high - low, 0.02 * abs(high), 1e-9)
        middle_value = (low + high) / 2
        x = area.left() + t / seconds * area.width()
        y = area.center().y() - (values - middle_value) / reach * (LANE - 5)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pixel = 1 / painter.deviceTransform().m11()  # more than a unit in a picture smaller than the screen
        painter.setPen(QPen(color, max(1.3, pixel)))
        painter.drawPolyline(QPolygonF([QPointF(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _plot(self) -> QRectF:
        """Where the traces are drawn."""
        metrics = self.fontMetrics()
        left = metrics.horizontalAdvance("SM clock") + 8
        right = max((metrics.horizontalAdvance(lane.range_text) for lane in self.lanes), default=0) + 8
        right = right if self.width() >= NARROW else 4
        return QRectF(left, 1, max(20, self.width() - left - right), 2 * LANE + LANE_GAP)

    def _seconds(self) -> float:
        """The length of the time axis."""
        assert self._readings is not None
        ends = [end for _, end in self._readings.timed]
        return max(float(self._readings.t[-1]), *ends, 0.05)
