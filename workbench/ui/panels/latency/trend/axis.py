"""The axis below the trend: run numbers, or the values that a field has."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from workbench.ui.panels.latency.trend.places import Places
from workbench.ui.plots.axes import NamedAxis
from workbench.ui.text.fit import ELLIPSIS, elided, text_height, text_width

SPACE = 10  # px between two texts in a line
LONGEST = 6  # of the last texts, to know how wide they become


class PlaceAxis(NamedAxis):
    """As many of the values as there is room for; words in two lines by turns, cut in their middle as a last resort."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self._places: Places | None = None
        self._texts: dict[float, str] = {}

    def set_places(self, places: Places) -> None:
        """Take the values and where they stand."""
        self._places = places
        self.picture = None
        self.update()

    def needed_height(self, width: float) -> float:
        """Pixels that texts and the axis label take in a plot `width` pixels wide."""
        lines = 2 if self._in_turns(width) else 1
        return (lines + 1) * text_height() + 8

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
        """The values that are seen; of run numbers round ones."""
        if self._places is None:
            return []
        seen = [(x, text) for x, text in self._places.ticks if minVal <= x <= maxVal]
        if not self._places.ordered:
            self._texts = dict(self._turned(seen, size))
        else:
            self._texts = dict(_thinned(seen, size / max(1e-9, maxVal - minVal)))
        return [(1.0, list(self._texts))]

    def tickStrings(self, values: Sequence[float], *_: Any) -> list[str]:
        """The texts of the values."""
        return [self._texts.get(value, "") for value in values]

    def _in_turns(self, width: float) -> bool:
        places = self._places
        if places is None or places.ordered or not places.ticks:
            return False
        return _widest([text for _, text in places.ticks]) + SPACE > width / len(places.ticks)

    def _turned(self, seen: Sequence[tuple[float, str]], size: float) -> list[tuple[float, str]]:
        """Every second word a line lower where they do not fit side by side."""
        lines = 2 if self._in_turns(size) else 1
        room = lines * size / max(1, len(seen)) - SPACE
        return [(x, "\n" * (i % lines) + middle_elided(text, room)) for i, (x, text) in enumerate(seen)]


def middle_elided(text: str, room: float) -> str:
    """`text` without its middle where that has no room: names that begin alike, or end alike, stay apart."""
    if text_width(text) <= room:
        return text
    end = next((text[-n:] for n in range(len(text) // 2, 0, -1) if text_width(ELLIPSIS + text[-n:]) <= room / 2), "")
    return elided(text, max(0.0, room - text_width(end))) + end


def _widest(texts: Sequence[str]) -> float:
    return max(map(text_width, texts), default=0.0)


def _thinned(seen: Sequence[tuple[float, str]], pixels: float) -> list[tuple[float, str]]:
    """Those whose texts do not meet at `pixels` a unit; of many evenly apart round numbers."""
    if len(seen) > 2 and all(text.isdigit() for _, text in seen[:LONGEST]) and seen[1][0] - seen[0][0] == 1.0:
        step = _round_step((_widest([text for _, text in seen[-LONGEST:]]) + SPACE) / pixels)
        round_ones = [(x, text) for x, text in seen if not text.isdigit() or int(text) % step == 0]
        seen = round_ones if round_ones else seen[::step]
    kept: list[tuple[float, str]] = []
    end = -1e300
    for x, text in seen:
        half = text_width(text) / 2
        if x * pixels - half >= end:
            kept.append((x, text))
            end = x * pixels + half + SPACE / 2
    return kept


def _round_step(least: float) -> int:
    """1, 2, 5, 10, 20, ...: the first that is no less than `least`."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= ceil(least):
                return factor * power
        power *= 10
