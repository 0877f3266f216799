"""The longest text that fits: versions are given from the longest to the shortest, and measured here alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeVar

from PyQt6.QtGui import QFont, QFontMetricsF
from PyQt6.QtWidgets import QApplication

HALF = 0.5  # px: widgets and columns, whose widths are whole, may be as much narrower than what they were made for
ELLIPSIS = "…"
SEPARATOR = " · "  # between the parts of a line
Version = TypeVar("Version")


def text_width(text: str, font: QFont | None = None) -> float:
    """Width of `text` in pixels, in the application's font unless another is given."""
    return QFontMetricsF(font or QApplication.font()).horizontalAdvance(text)


def text_height(font: QFont | None = None) -> float:
    """Height of a line of text in pixels, in the application's font unless another is given."""
    return QFontMetricsF(font or QApplication.font()).height()


def level(versions: Sequence[Version], room: float, width: Callable[[Version], float]) -> int:
    """The place of the first of `versions` that is at most `room` pixels wide; how many there are where none is."""
    return next((i for i, version in enumerate(versions) if width(version) <= room + HALF), len(versions))


def longest(versions: Sequence[Version], room: float, width: Callable[[Version], float]) -> Version:
    """The first of `versions` that is at most `room` pixels wide; the last of them where none is."""
    return versions[min(level(versions, room, width), len(versions) - 1)]


def elided(text: str, room: float, font: QFont | None = None) -> str:
    """`text` with an ellipsis for the end that has no room; "" in less room than the ellipsis takes.

    Qt's own elided text may be wider than the room, by a pixel or as a whole.
    """
    if text_width(text, font) <= room + HALF:
        return text
    fit = bisect_right(range(len(text)), room + HALF, key=lambda count: text_width(text[:count] + ELLIPSIS, font))
    return text[: fit - 1] + ELLIPSIS if fit else ""


def fitted(versions: Sequence[str], room: float, font: QFont | None = None) -> str:
    """The longest of `versions` that fits, or else the shortest, elided: never wider than `room` pixels."""
    return elided(longest(versions, room, lambda text: text_width(text, font)), room, font)


def ever_shorter(parts: Sequence[str], between: str = SEPARATOR) -> list[str]:
    """All of `parts` joined, then all but the last, and so on to the first alone: the most important comes first."""
    return [between.join(parts[:end]) for end in range(len(parts), 0, -1)]
