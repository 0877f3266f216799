"""The latency panel's two plots of one run: its launches in order, and how their times are distributed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtWidgets import QGraphicsPathItem

from workbench.analysis.numbers import TimeUnit
from workbench.run.measurement import ROLES, Latency, Role
from workbench.run.protocols import protocol_of
from workbench.stats.arrays import FloatArray
from workbench.ui.panels.latency.launches import Launches
from workbench.ui.panels.latency.marks import LatencyMarks
from workbench.ui.plots.axes import CountAxis, IndexAxis, ValueAxis
from workbench.ui.plots.histogram import bin_counts, histogram_edges, step_outline
from workbench.ui.plots.point_cloud import PointCloud
from workbench.ui.plots.scale import Scale
from workbench.ui.plots.themed import DRAWN, make_plot, style_plot
from workbench.ui.theme import Theme

HOVER_PIXELS = 14.0
FEW = 400  # points that leave room between them; more are paler, so that the median's line is seen over them
POINT_ALPHA, CROWD_ALPHA = 255, 130
LINE_Z = 10  # over the points

SamplesByRole = Mapping[Role, Launches]


def time_plot(theme: Theme, bottom: Any, label: str) -> Any:
    """A plot whose y axis is a ValueAxis."""
    return make_plot(theme, {"left": ValueAxis("left"), "bottom": bottom}, left="", bottom=label)


class MedianLines:
    """A dashed line across a plot at each role's median."""

    def __init__(self, plot: Any) -> None:
        self.lines = {role: pg.InfiniteLine(angle=0, movable=False) for role in DRAWN}
        for line in self.lines.values():
            line.hide()
            line.setZValue(LINE_Z)
            plot.addItem(line, ignoreBounds=True)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        for role, line in self.lines.items():
            line.setPen(pg.mkPen(theme.color(role), width=1, style=Qt.PenStyle.DashLine))

    def show(self, samples: SamplesByRole, scale: Scale) -> None:
        """Move the lines to the medians of `samples` (us)."""
        for role, line in self.lines.items():
            values = samples.get(role)
            if values is not None:
                line.setPos(float(scale.to_axis(values.quantiles(0.5)[0])))
            line.setVisible(values is not None)


class SamplesPlot:
    """Launch times as points in launch order."""

    def __init__(self, theme: Theme) -> None:
        self.plot = time_plot(theme, IndexAxis("bottom"), "launch")
        self.marks = LatencyMarks(self.plot)
        self.medians = MedianLines(self.plot)
        self.points = {role: PointCloud() for role in DRAWN}
        for item in self.points.values():
            self.plot.addItem(item, ignoreBounds=True)
        self.ring = pg.ScatterPlotItem(size=11, brush=None, useCache=False)
        self.plot.addItem(self.ring)
        self._samples: SamplesByRole = {}
        self._scale = Scale()
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        style_plot(self.plot, theme, grid=True)
        self.medians.apply_theme(theme)
        self.marks.apply_theme(theme)
        self.ring.setPen(pg.mkPen(theme.text, width=1.5))

    def show(
        self,
        samples: SamplesByRole,
        scale: Scale,
        latencies: Mapping[Role, Latency],
        protocol: str = "",
        time_unit: TimeUnit | None = None,
    ) -> None:
        """Draw `samples`, taken under `protocol`, and what is known of finished `latencies`."""
        self._samples, self._scale = samples, scale
        for role, item in self.points.items():
            values = samples[role].values if role in samples else np.empty(0)
            item.set_points(np.arange(1.0, len(values) + 1), scale.to_axis(values))
            item.set_color(self._theme.color(role, POINT_ALPHA if len(values) <= FEW else CROWD_ALPHA))
        self.medians.show(samples, scale)
        self.marks.show(latencies, scale, time_unit)
        unit = f"{scale.unit} (log)" if scale.log else scale.unit
        names = (f"time per launch, {unit}", f"time, {unit}", unit)
        longer = [f"{name}, {protocol} protocol" for name in names[:2]] if protocol else []
        self.plot.getAxis("left").set_names(*longer, *([f"{unit}, {protocol}"] if protocol else []), *names[1:])
        self.plot.getAxis("bottom").set_names("replay" if protocol_of(protocol).replays else "launch")

    def set_range(self) -> None:
        """Show all launches."""
        most = max((len(v) for v in self._samples.values()), default=1)
        margin = max(0.5, 0.02 * most)
        self.plot.setXRange(1 - margin, most + margin, padding=0)
        self.marks.place_labels()

    def hit(self, scene_position: QPointF) -> tuple[Role, int] | None:
        """The role and launch number (from 1) of the point under the mouse; a ring marks it."""
        found, least = None, HOVER_PIXELS**2
        box = self.plot.vb
        position = box.mapSceneToView(scene_position)
        width, height = box.viewPixelSize()
        for role in ROLES:
            if role not in self._samples:
                continue
            values = self._samples[role].values
            dx = (np.arange(1, len(values) + 1) - position.x()) / width
            dy = (self._scale.to_axis(values) - position.y()) / height
            distance = dx * dx + dy * dy
            nearest = int(np.argmin(distance))
            if distance[nearest] < least:
                found, least = (role, nearest + 1), float(distance[nearest])
        if found is None:
            self.ring.setData([], [])
        else:
            role, launch = found
            self.ring.setData([launch], [float(self._scale.to_axis(self._samples[role].values[launch - 1]))])
        return found


class DistributionPlot:
    """The same launches as histograms lying on their sides, in bins common to both roles."""

    def __init__(self, theme: Theme) -> None:
        self.plot = time_plot(theme, CountAxis("bottom"), "count")
        self.plot.getAxis("left").setStyle(showValues=False)
        self.plot.setMouseEnabled(x=False, y=True)
        self.medians = MedianLines(self.plot)
        self.outlines = {role: QGraphicsPathItem() for role in DRAWN}
        for item in self.outlines.values():
            self.plot.addItem(item, ignoreBounds=True)
        self._most = 1.0
        self._counts: dict[Role, FloatArray] = {}
        self._edges: FloatArray = np.array([0.0, 1.0])
        self._scale = Scale()
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        style_plot(self.plot, theme, grid=True)
        self.medians.apply_theme(theme)
        for role, item in self.outlines.items():
            item.setPen(pg.mkPen(theme.color(role), width=1.2))
            item.setBrush(pg.mkBrush(theme.color(role, 110)))

    def show(self, samples: SamplesByRole, scale: Scale) -> None:
        """Count `samples`."""
        self._scale = scale
        positions = {role: scale.to_axis(launches.ordered) for role, launches in samples.items()}
        self._edges = histogram_edges(list(positions.values()))
        self._counts = {role: bin_counts(p, self._edges) for role, p in positions.items()}
        self._most = float(max((c.max() for c in self._counts.values()), default=1))
        for role, item in self.outlines.items():
            item.setVisible(role in self._counts)
            if role in self._counts:
                item.setPath(step_outline(self._counts[role], self._edges))
        self.medians.show(samples, scale)

    def set_range(self) -> None:
        """Show the fullest bin."""
        self.plot.setXRange(0, self._most * 1.08, padding=0)

    def hit(self, scene_position: QPointF) -> tuple[float, float, dict[Role, int]] | None:
        """The bin under the mouse: its bounds in us, and the launches of each role in it."""
        y = self.plot.vb.mapSceneToView(scene_position).y()
        i = int(np.searchsorted(self._edges, y, side="right")) - 1
        if not 0 <= i < len(self._edges) - 1 or not any(c[i] for c in self._counts.values()):
            return None
        low, high = (10**e if self._scale.log else e for e in self._edges[i : i + 2].tolist())
        return low * self._scale.size, high * self._scale.size, {r: int(c[i]) for r, c in self._counts.items() if c[i]}
