"""What the panels of plots share: a card beside the mouse that says what is under it, and room for their labels."""

from __future__ import annotations

import pyqtgraph as pg
from PyQt6.QtCore import QEvent, QObject, QPointF
from PyQt6.QtGui import QResizeEvent

from workbench.ui.panels.bases.panel import Panel
from workbench.ui.text.cards import HoverCard, PlotStack


class PlotPanel(Panel):
    """Subclasses make `graphics`, `stack` and `hover`, call `watch_mouse`, and override `hover_lines`."""

    graphics: pg.GraphicsLayoutWidget
    stack: PlotStack
    hover: HoverCard

    def hover_lines(self, scene_position: QPointF) -> list[str]:
        """What is under the mouse, as lines of rich text; empty if that is nothing."""
        raise NotImplementedError

    def watch_mouse(self) -> None:
        """Show and hide the card from now on."""
        self.graphics.scene().sigMouseMoved.connect(self._on_mouse)
        self.graphics.viewport().installEventFilter(self)

    def _on_mouse(self, scene_position: QPointF) -> None:
        lines = self.hover_lines(scene_position) if self.stack.shows_plots else []
        if lines:
            self.hover.show_at(self.graphics.mapFromScene(scene_position), lines)
        else:
            self.hover.hide()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """pyqtgraph does not say when the mouse leaves the plots."""
        if event is not None and event.type() == QEvent.Type.Leave:
            self._on_mouse(QPointF(-1e6, -1e6))
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Names and labels may fit now, or no longer."""
        super().resizeEvent(event)
        self.mark_stale()
