"""MemoryPanel: why attention is tiled, in bytes: S and P whole, the fewest, and what each BLOCK_M asks for."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log2
from typing import Any

import pyqtgraph as pg
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QLabel

from workbench.analysis.numbers import unbroken
from workbench.analysis.traffic import size_text
from workbench.run.environment import DeviceInfo
from workbench.ui.panels.bases.ceilings import CeilingsPanel
from workbench.ui.panels.memory.numbers import MemoryNumbers, numbers_of, whole_size
from workbench.ui.plots.axes import NamedAxis, name_height, side_width
from workbench.ui.plots.line_labels import LineLabel, LineLabels
from workbench.ui.plots.themed import make_plot, style_plot
from workbench.ui.text.cards import Empty, swatch
from workbench.ui.text.fit import text_height
from workbench.ui.theme import Theme

EMPTY = Empty(
    "Press Run (F5) to see how many bytes S and P would take, and how many this tile asks for.",
    "Running.",
    "This run has no tile.",
)
MOST_LINES = 4
BLOCK_NAMES = ("BLOCK_M, query rows of one program", "BLOCK_M, query rows", "BLOCK_M")
BYTES_NAMES = ("bytes of one launch (log)", "bytes (log)", "bytes")


class BytesAxis(NamedAxis):
    """Positions are log2 of bytes; ticks are powers of two in the units people read them in."""

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
        """As many powers of two as there is room for, in even steps."""
        room = max(2, int(size / (2.2 * text_height())))
        low, high = ceil(minVal), floor(maxVal)
        step = next(s for s in (1, 2, 5, 10, 20) if (high - low) / s <= room or s == 20)
        return [(float(step), [float(v) for v in range(ceil(low / step) * step, high + 1, step)])]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """16 KiB, 4 MiB, 1 GiB."""
        return [whole_size(value) for value in values]


class BlockAxis(NamedAxis):
    """Positions are log2 of BLOCK_M; ticks are the values that are drawn."""

    values: tuple[int, ...] = ()

    def tickValues(self, *_: Any) -> list[tuple[float, list[float]]]:
        """A tick at every value."""
        return [(1.0, [log2(value) for value in self.values])]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Whole numbers."""
        return [f"{round(2**value)}" for value in values]


class MemoryPanel(CeilingsPanel):
    """Bytes over BLOCK_M: the curve of the run's kernel, and lines for what else there is to compare it with."""

    name = "memory"
    title = "Memory"

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.numbers: MemoryNumbers | None = None
        self.blocks = BlockAxis("bottom")
        self.plot = make_plot(theme, {"left": BytesAxis("left"), "bottom": self.blocks}, left="", bottom="")
        self.plot.setMouseEnabled(x=False, y=False)
        self.curve, self.points = pg.PlotCurveItem(), pg.ScatterPlotItem(size=7, useCache=False)
        self.lines = [pg.PlotCurveItem() for _ in range(MOST_LINES)]
        self.labels = LineLabels(self.plot)
        self.sentence, self.sizes = QLabel(), QLabel()
        self._lay_out()
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        for item in (*self.lines, self.curve, self.points):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.getAxis("left").set_names(*BYTES_NAMES)
        self.plot.getAxis("left").setWidth(side_width("000 MiB"))
        self.blocks.set_names(*BLOCK_NAMES)
        self.blocks.setHeight(name_height())
        self.graphics.addItem(self.plot)
        self.plot.vb.sigResized.connect(self.mark_stale)  # the sentence above it may have taken another line
        for label in (self.sentence, self.sizes):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.fill(self.sentence, self.sizes, self.graphics, growing=self.graphics, spacing=3)

    def draw(self) -> None:
        """Show the run's numbers, or why there are none."""
        run, self.numbers = self.run, None
        if run is None or run.has_nothing:
            self.stack.show_reason(EMPTY, run)
            return
        started = run.started
        spec = started.kernel
        if spec is None and self.ready is not None:  # an older run
            spec = next((k.spec for k in self.ready.kernels if k.name == started.request.kernel), None)
        self.numbers = numbers_of(started, run.measurement("kernel"), spec, self.known.of(started.device))
        self._write(self.numbers, started.device)
        self.stack.show_plots()
        self._show(self.numbers)

    def _write(self, numbers: MemoryNumbers, device: DeviceInfo) -> None:
        """The sentence, and the sizes behind it."""
        self.sentence.setText(unbroken(numbers.sentence()))
        whole, dtype = numbers.whole, numbers.problem.dtype
        parts = [
            f"S (fp32) {size_text(whole.scores)}",
            f"P ({dtype}) {size_text(whole.weights)}",
            f"together {size_text(whole.together)}",
        ]
        asked = ", ".join(f"{name} {size_text(size)}" for name, size in numbers.parts())
        parts += [f"tile {numbers.tile.label}: {asked}"] if asked else []
        if numbers.us is not None and numbers.movable is None:
            parts.append(self._no_rate_text(device))
        self.sizes.setText(" · ".join(", ".join(_whole(piece) for piece in part.split(", ")) for part in parts))
        self.sizes.setStyleSheet(f"color: {self.theme.muted}")

    def _no_rate_text(self, device: DeviceInfo) -> str:
        """Why nothing is said of what the device copies in the kernel's time."""
        if self.known.can_measure(device):
            return f"how fast {device.name} copies is not known: Run > Measure ceilings"
        return f"how fast {device.name} copies is not kept on this machine, it is measured where that GPU is"

    def _references(self, numbers: MemoryNumbers) -> list[tuple[float, str, str]]:
        """The lines across the plot: bytes, name, and the theme's colour."""
        whole, moved = numbers.whole.together, numbers.moved_if_materialised
        found: list[tuple[float, str, str]] = [
            (numbers.least, f"least that must move {size_text(numbers.least)}", "good"),
            (whole, f"S and P {size_text(whole)}", "warn"),
            (moved, f"least with S and P {size_text(moved)}", "warn"),
        ]
        if numbers.movable is not None:
            text = f"device copies {size_text(numbers.movable)} in {numbers.time_text}"
            found.append((numbers.movable, text, "accent"))
        return found

    def _show(self, numbers: MemoryNumbers) -> None:
        references, theme = self._references(numbers), self.theme
        blocks = [log2(block) for block, _ in numbers.curve] or [4.0, 8.0]
        low, high = min(blocks) - 0.25, max(blocks) + 0.25
        for i, line in enumerate(self.lines):
            line.setVisible(i < len(references))
            if i < len(references):
                size, _, token = references[i]
                line.setData([low, high], [log2(size)] * 2)
                line.setPen(pg.mkPen(theme.color(token), width=1.2, style=Qt.PenStyle.DashLine))
        labels = [LineLabel(log2(size), text, theme.color(token)) for size, text, token in references]
        if numbers.curve:
            last = numbers.curve[-1][1]
            labels.append(LineLabel(log2(last), f"{numbers.kernel} requests", theme.color("kernel")))
        self.labels.show(labels, theme.color("surface"))
        x, y = [log2(block) for block, _ in numbers.curve], [log2(size) for _, size in numbers.curve]
        present = [block == numbers.tile.block_m for block, _ in numbers.curve]
        self.curve.setData(x, y)
        self.points.setData(
            x,
            y,
            size=[12 if here else 6 for here in present],
            brush=[pg.mkBrush(theme.color("kernel", 255 if here else 150)) for here in present],
            pen=[pg.mkPen(QColor(theme.text) if here else None) for here in present],
        )
        self.blocks.values = tuple(block for block, _ in numbers.curve)
        self.blocks.picture = None
        self._set_range(low, high, [*y, *(log2(size) for size, _, _ in references)])

    def _set_range(self, low: float, high: float, y: Sequence[float]) -> None:
        """Show BLOCK_M from log2 `low` to `high`, the names of the lines right of that, and all of `y`."""
        names = self.labels.units(high - low)
        self.plot.setXRange(low, high + names, padding=0)
        margin = 0.08 * (max(y) - min(y)) + 0.3
        self.plot.setYRange(min(y) - margin, max(y) + margin, padding=0)
        self.labels.place(high)

    def hover_lines(self, scene_position: QPointF) -> list[str]:
        """What the BLOCK_M under the mouse asks for, as lines of rich text."""
        numbers = self.numbers
        if numbers is None or not self.plot.vb.sceneBoundingRect().contains(scene_position):
            return []
        x = self.plot.vb.mapSceneToView(scene_position).x()
        near = min(numbers.curve, key=lambda point: abs(log2(point[0]) - x), default=None)
        if near is None or abs(log2(near[0]) - x) > 0.5:
            return []
        block, size = near
        asked = swatch(f"BLOCK_M {block} requests {size_text(size)}", self.theme.kernel)
        return [asked, f"{size / numbers.least:.3g} times the least that must move"]

    def apply_theme(self, theme: Theme) -> None:
        super().apply_theme(theme)
        style_plot(self.plot, theme, grid=True)
        self.curve.setPen(pg.mkPen(theme.color("kernel"), width=1.6))


def _whole(text: str) -> str:
    """`text` in which no line ends."""
    return text.replace(" ", "\u00a0")
