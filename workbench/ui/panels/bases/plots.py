"""What the panels of pictures share: the card beside the mouse, the reason for no picture, and their layout."""

from __future__ import annotations

import pyqtgraph as pg
from PyQt6.QtCore import QEvent, QObject, QPointF
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QLayout, QVBoxLayout, QWidget

from workbench.ui.panels.bases.panel import Panel
from workbench.ui.text.cards import HoverCard, PlotStack
from workbench.ui.theme import Theme


class PicturePanel(Panel):
    """A picture in `graphics` with its card under the mouse, or the reason why there is none.

    Subclasses put it and what stands around it into `content`.
    """

    def __init__(self, theme: Theme, graphics: pg.GraphicsLayoutWidget) -> None:
        super().__init__(theme)
        self.graphics = graphics
        self.content = QWidget()
        self.stack = PlotStack(theme, self.content)
        self.hover = HoverCard(theme, graphics)
        self.box = QVBoxLayout(self)
        self.box.setContentsMargins(8, 6, 8, 4)
        self.box.setSpacing(2)
        self.box.addWidget(self.stack, 1)

    def fill(self, *parts: QWidget | QLayout, growing: QWidget, spacing: int = 2) -> None:
        """Put `parts` into `content`, one below another, with all the height that is left for the one `growing`."""
        inner = QVBoxLayout(self.content)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(spacing)
        for part in parts:
            if isinstance(part, QWidget):
                inner.addWidget(part, int(part is growing))
            else:
                inner.addLayout(part)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the picture's ground and the cards."""
        super().apply_theme(theme)
        self.graphics.setBackground(theme.surface)
        self.stack.card.apply_theme(theme)
        self.hover.apply_theme(theme)


class PlotPanel(PicturePanel):
    """Subclasses override `hover_lines`."""

    def __init__(self, theme: Theme, graphics: pg.GraphicsLayoutWidget) -> None:
        super().__init__(theme, graphics)
        graphics.scene().sigMouseMoved.connect(self._on_mouse)
        graphics.viewport().installEventFilter(self)

    def hover_lines(self, scene_position: QPointF) -> list[str]:
        """What is under the mouse, as lines of rich text; empty if that is nothing."""
        raise NotImplementedError

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
