"""Pictures of the window or of one panel, sharper than the screen."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path

from PyQt6.QtCore import QPoint, QRect, QSize, Qt
from PyQt6.QtGui import QFont, QGuiApplication, QImage, QPainter, QRegion
from PyQt6.QtWidgets import QWidget

from workbench.ui.plots.heatmap import HeatmapView
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.text.fit import ever_shorter, longest, text_width

DEFAULT_SCALE = 2.0
MARGIN = 8  # px around a caption


class PictureError(Exception):
    """A picture cannot be written; the text names the file and says why."""


def take_picture(widget: QWidget, scale: float = DEFAULT_SCALE, caption: Sequence[str] = ()) -> QImage:
    """`widget` as it is now, drawn anew with `scale` pixels per unit of the layout, and `caption` below it.

    A line ends only where a part of the caption does.
    """
    return exhausted(picture_steps(widget, scale, caption))


def exhausted(steps: Generator[None, None, QImage]) -> QImage:
    """The picture that `steps` end in, all of them at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            image: QImage = end.value
            return image


def picture_steps(
    widget: QWidget, scale: float = DEFAULT_SCALE, caption: Sequence[str] = ()
) -> Generator[None, None, QImage]:
    """Take a picture as `take_picture` does, each plot in a step of its own."""
    lines = _lines(caption, widget.font(), widget.width() - 2 * MARGIN) if caption else []
    below = widget.fontMetrics().lineSpacing() * len(lines) + 2 * MARGIN if lines else 0
    size = widget.size() + QSize(0, below)
    image = _blank(widget, size, scale)
    painter = QPainter(image)
    if painter.deviceTransform().m11() > scale:  # older Qt takes a ratio below 1 for 1: drawn at 1, and then shrunk
        painter.end()
        image = _blank(widget, size, 1.0)
        painter = QPainter(image)
    for part in _parts(widget) if scale.is_integer() else (None,):  # a border between pixels would be seen
        _render(widget, painter, scale, part)
        yield
    painter.setFont(widget.font())
    painter.setPen(widget.palette().windowText().color())
    area = QRect(MARGIN, widget.height() + MARGIN, widget.width() - 2 * MARGIN, below)
    painter.drawText(area, Qt.AlignmentFlag.AlignLeft, "\n".join(lines))
    painter.end()
    return image if image.devicePixelRatio() == scale else _shrunk(image, size * scale, scale)


def _blank(widget: QWidget, size: QSize, scale: float) -> QImage:
    """An image for `size` units of the layout, of `scale` pixels each, in the background's colour of `widget`."""
    image = QImage(size * scale, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(scale)
    image.fill(widget.palette().window().color())
    return image


def _shrunk(image: QImage, size: QSize, scale: float) -> QImage:
    """`image` at `size` pixels, of which `scale` make a unit of the layout."""
    small = image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation)
    small.setDevicePixelRatio(scale)
    return small


def _parts(widget: QWidget) -> list[QRegion]:
    """The plots within `widget` that can be seen, each by itself, and all the rest: plots take most of the time."""
    rest, parts = QRegion(widget.rect()), []
    for plots in widget.findChildren(PlotArea):
        part = QRegion(QRect(plots.mapTo(widget, QPoint()), plots.size())) & rest
        if plots.isVisibleTo(widget) and not plots.visibleRegion().isEmpty() and not part.isEmpty():
            parts.append(part)
            rest -= part
    return [*parts, rest]


def _render(widget: QWidget, painter: QPainter, scale: float, part: QRegion | None) -> None:
    """Draw `part` of `widget`, or all, with plots as they are now and maps as finely as the picture shows them."""

    def is_in(plots: QWidget) -> bool:
        return part is None or part.intersects(QRect(plots.mapTo(widget, QPoint()), plots.size()))

    with ExitStack() as finer:
        for plots in filter(is_in, widget.findChildren(PlotArea)):
            finer.enter_context(plots.pictured())
        for view in (widget, *widget.findChildren(HeatmapView)):
            if isinstance(view, HeatmapView) and is_in(view.graphics):
                finer.enter_context(view.drawn_at(scale))
                view.graphics.settle()
        if part is None:
            widget.render(painter)
        else:
            widget.render(painter, part.boundingRect().topLeft(), part)


def _lines(parts: Sequence[str], font: QFont, room: int) -> list[str]:
    """`parts` in lines of `room` pixels at most, where they allow that; a part is never parted."""
    lines: list[str] = []
    while parts:
        versions = ever_shorter(parts)
        lines.append(longest(versions, room, lambda line: text_width(line, font)))
        parts = parts[len(parts) - versions.index(lines[-1]) :]
    return lines


def save_picture(image: QImage, path: Path) -> None:
    """Write `image` in the format of the file's name. Raises PictureError if that fails."""
    if not image.save(str(path)):
        raise PictureError(f"{path} cannot be written; allowed is a .png or .jpg file in a folder that can")


def copy_picture(image: QImage) -> None:
    """Put `image` on the clipboard."""
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None
    clipboard.setImage(image)
