"""Colours, style sheet and icons, all read from `assets/`, so that a theme is one JSON file."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from string import Template

from PyQt6.QtCore import QByteArray, QSize, Qt
from PyQt6.QtGui import QColor, QIcon, QImage, QPainter, QPalette, QPixmap
from PyQt6.QtSvg import QSvgRenderer
from PyQt6.QtWidgets import QApplication

ASSETS = Path(__file__).resolve().parents[2] / "assets"
THEME_NAMES = ("dark", "light")


@dataclass(frozen=True)
class Theme:
    """The colours of one theme, as #rrggbb. `kernel` and `baseline` mean the same in every panel.

    The series tell further kernels apart where several stand beside each other.
    """

    name: str
    window: str
    surface: str
    raised: str
    border: str
    text: str
    muted: str
    accent: str
    on_accent: str
    kernel: str
    baseline: str
    good: str
    bad: str
    warn: str
    grid: str
    no_data: str
    minus_inf: str
    series_1: str
    series_2: str
    series_3: str
    series_4: str
    series_5: str
    series_6: str
    series_7: str

    def color(self, token: str, alpha: int = 255) -> QColor:
        """The colour called `token`, with `alpha` from 0 to 255."""
        color = QColor(getattr(self, token))
        color.setAlpha(alpha)
        return color

    def faint(self, token: str, share: float) -> str:
        """The colour called `token`, `share` of it on the ground of a panel, as #rrggbb."""
        over, ground = QColor(getattr(self, token)), QColor(self.surface)
        parts = ((over.red(), ground.red()), (over.green(), ground.green()), (over.blue(), ground.blue()))
        return QColor(*(round(share * a + (1 - share) * b) for a, b in parts)).name()


@cache
def load_theme(name: str) -> Theme:
    """Read a theme of THEME_NAMES from `assets/themes`."""
    colors = json.loads((ASSETS / "themes" / f"{name}.json").read_text(encoding="utf-8"))
    return Theme(name=name, **colors)


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Give the whole application the palette and the style sheet of `theme`."""
    app.setStyle("Fusion")
    app.setPalette(_palette(theme))
    template = Template((ASSETS / "themes" / "style.qss").read_text(encoding="utf-8"))
    colors = {f.name: getattr(theme, f.name) for f in fields(theme)}
    app.setStyleSheet(template.substitute(colors, icons=(ASSETS / "icons").as_posix()))


def icon(name: str, color: str) -> QIcon:
    """`assets/icons/NAME.svg` drawn in `color`, with a paler picture for disabled buttons."""
    source = (ASSETS / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    result.addPixmap(_render(source, color), QIcon.Mode.Normal)
    faded = QColor(color)
    faded.setAlpha(90)
    result.addPixmap(_render(source, color, opacity=faded.alphaF()), QIcon.Mode.Disabled)
    return result


def _render(source: str, color: str, opacity: float = 1.0) -> QPixmap:
    """An SVG's `currentColor` replaced by `color` and drawn large enough for 200% scale."""
    renderer = QSvgRenderer(QByteArray(source.replace("currentColor", color).encode()))
    image = QImage(QSize(64, 64), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setOpacity(opacity)
    renderer.render(painter)
    painter.end()
    return QPixmap.fromImage(image)


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    colors = {
        role.Window: theme.window,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.raised,
        role.Text: theme.text,
        role.Button: theme.raised,
        role.ButtonText: theme.text,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.PlaceholderText: theme.muted,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.Link: theme.accent,
        role.BrightText: theme.bad,
    }
    for which, color in colors.items():
        palette.setColor(which, QColor(color))
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.muted))
    return palette
