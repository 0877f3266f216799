"""Names at the right of a plot for the lines that cross it, moved apart where the lines are close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyqtgraph as pg
from PyQt6.QtGui import QColor

from workbench.ui.text.fit import text_height, text_width

MARGIN = 6  # px on either side of the names
MOST_SHARE = 0.7  # of the plot's width


@dataclass(frozen=True)
class LineLabel:
    """A name for the line at `y` (in the plot's own units)."""

    y: float
    text: str
    color: QColor


class LineLabels:
    """Text items in a strip that the plot's range leaves free at its right: see `units`."""

    def __init__(self, plot: Any) -> None:
        self._plot = plot
        self._labels: tuple[LineLabel, ...] = ()
        self.items: list[Any] = []

    def show(self, labels: Sequence[LineLabel], ground: QColor) -> None:
        """Show `labels` on `ground`; `place` puts them where they belong once the range is set."""
        self._labels = tuple(sorted(labels, key=lambda label: label.y))
        while len(self.items) < len(labels):
            item = pg.TextItem(anchor=(0.0, 0.5))
            item.setZValue(20)
            self._plot.addItem(item, ignoreBounds=True)
            self.items.append(item)
        for i, item in enumerate(self.items):
            item.setVisible(i < len(labels))
            if i < len(labels):
                item.setText(self._labels[i].text, self._labels[i].color)
                item.fill = pg.mkBrush(ground)
                item.textItem.document().setDocumentMargin(0)  # its own would cover the neighbours
                item.updateTextPos()

    def texts(self) -> list[str]:
        """What is shown, from below."""
        return [label.text for label in self._labels]

    def units(self, data: float) -> float:
        """How much of the x axis, in its units, the names need beside `data` units of lines."""
        widest = max((text_width(label.text) for label in self._labels), default=0.0)
        room = max(1.0, float(self._plot.vb.width()))
        share = min(MOST_SHARE, (widest + 2 * MARGIN) / room) if widest else 0.02
        return data * share / (1 - share)

    def place(self, x: float) -> None:
        """Put the names right of `x`, where the lines end, each as near to its line as the others allow."""
        (left, right), (low, high) = self._plot.vb.viewRange()
        x += MARGIN * (right - left) / max(1.0, float(self._plot.vb.width()))
        pixel = (high - low) / max(1.0, float(self._plot.vb.height()))
        half = 0.5 * text_height() * pixel
        wanted = spread([label.y for label in self._labels], 2 * half)
        for item, y in zip(self.items, fitted(wanted, 2 * half, low + half, high - half), strict=False):
            item.setPos(x, y)


def spread(positions: Sequence[float], least: float) -> list[float]:
    """Ascending `positions` moved as little as can be, so that neighbours are at least `least` apart.

    The least sum of squared moves: neighbours that would meet are pooled around their common middle.
    """
    pools: list[list[float]] = []  # of positions less what their order adds
    for i, position in enumerate(positions):
        pools.append([position - i * least])
        while len(pools) > 1 and _mean(pools[-2]) > _mean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    levels = [_mean(pool) for pool in pools for _ in pool]
    return [level + i * least for i, level in enumerate(levels)]


def fitted(positions: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Ascending `positions`, at least `least` apart, pushed between `low` and `high`; too many go below `low`."""
    found = list(positions)
    for i in range(len(found)):
        found[i] = max(found[i], low if i == 0 else found[i - 1] + least)
    for i in reversed(range(len(found))):
        found[i] = min(found[i], high if i == len(found) - 1 else found[i + 1] - least)
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
