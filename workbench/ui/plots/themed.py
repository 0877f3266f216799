"""A plot as all are here: in the theme's colours, without a menu, and with a view that says when it is clicked."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PyQt6.QtCore import Qt, pyqtSignal

from workbench.run.measurement import ROLES, Role
from workbench.ui.plots.axes import NamedAxis
from workbench.ui.theme import Theme

DRAWN: tuple[Role, ...] = tuple(reversed(ROLES))  # in drawing order: the kernel lies over SDPA


def configure_pyqtgraph() -> None:
    """Set the options of pyqtgraph that every plot here relies on; may be called again."""
    pg.setConfigOptions(imageAxisOrder="row-major", antialias=True)


class ZoomBox(pg.ViewBox):  # type: ignore[misc]
    """A view that pans and zooms with the mouse, and says when it is clicked or double-clicked."""

    clicked = pyqtSignal(object)
    reset_asked = pyqtSignal()

    def __init__(self) -> None:
        super().__init__(enableMenu=False)

    def mouseClickEvent(self, ev: Any) -> None:
        """Left clicks only: this view has no menu."""
        if ev.button() != Qt.MouseButton.LeftButton:
            return
        ev.accept()
        self.clicked.emit(self.mapSceneToView(ev.scenePos()))
        if ev.double():
            self.reset_asked.emit()


def make_plot(theme: Theme, axes: dict[str, Any] | None = None, **labels: str) -> Any:
    """A PlotItem in `theme`'s colours with `labels` for its axes (left="query row"); no menu, no buttons."""
    configure_pyqtgraph()
    axes = {side: NamedAxis(side) for side in labels} | (axes or {})
    plot = pg.PlotItem(viewBox=ZoomBox(), axisItems=axes, enableMenu=False)
    plot.hideButtons()
    plot.vb.disableAutoRange()
    for side in ("left", "right", "top", "bottom"):
        plot.getAxis(side).enableAutoSIPrefix(False)
    for side, text in labels.items():
        plot.showAxis(side)
        plot.getAxis(side).set_names(text)
    style_plot(plot, theme)
    return plot


def style_plot(plot: Any, theme: Theme, grid: bool = False) -> None:
    """Colour the axes, labels and frame of a PlotItem, and what of it is hidden: it may be shown later."""
    for side in ("left", "right", "top", "bottom"):
        axis = plot.getAxis(side)
        if not isinstance(axis, NamedAxis) and not axis.isVisibleTo(plot):
            continue  # never in use; each colour lays its label out anew, which at the start of the window counts
        axis.setPen(theme.border)
        axis.setTickPen(theme.color("grid", 110 if grid and side == "left" else 255))
        axis.setTextPen(theme.text)
        axis.labelStyle["color"] = theme.text
        if axis.labelText:
            axis.setLabel(axis.labelText, color=theme.text)
        axis.setGrid(90 if grid and side == "left" else False)
    plot.vb.setBorder(theme.border)
