"""Pictures of the window or of one panel, sharper than the screen."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtGui import QGuiApplication, QImage, QPainter
from PyQt6.QtWidgets import QWidget

DEFAULT_SCALE = 2.0


class PictureError(Exception):
    """A picture cannot be written; the text names the file and says why."""


def take_picture(widget: QWidget, scale: float = DEFAULT_SCALE) -> QImage:
    """`widget` as it is now, drawn anew with `scale` pixels per unit of the layout."""
    size = widget.size() * scale
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(scale)
    image.fill(widget.palette().window().color())
    painter = QPainter(image)
    widget.render(painter)
    painter.end()
    return image


def save_picture(image: QImage, path: Path) -> None:
    """Write `image` in the format of the file's name. Raises PictureError if that fails."""
    if not image.save(str(path)):
        raise PictureError(f"{path} cannot be written; allowed is a .png or .jpg file in a folder that can")


def copy_picture(image: QImage) -> None:
    """Put `image` on the clipboard."""
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None
    clipboard.setImage(image)
