"""Where the words beside one mark stand, so that they cover no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.stats.arrays import FloatArray

SHIFTS = 5  # places from the left end to the right end of what the mark allows


@dataclass(frozen=True)
class Placed:
    """Words whose box begins at `left` and `top`, px from the plot's upper left; `covered` marks lie under it."""

    text: str
    left: float
    top: float
    covered: int


def place_words(
    texts: Sequence[str],
    width_of: Callable[[str], float],
    height: float,
    mark: tuple[float, float],
    others: FloatArray,
    room: tuple[float, float],
    off: float,
) -> Placed:
    """The longest of `texts` that covers none of `others`, above or below `mark` by `off`; else what covers the fewest.

    `others` are the centres of the other marks, [marks, 2]; `room` is the plot's width and height; all in px. Of texts
    too wide for the plot only the shortest is taken.
    """
    fitting = [text for text in texts if width_of(text) <= room[0]] or [texts[-1]]
    best: Placed | None = None
    for text in fitting:
        for left, top in _boxes(width_of(text), height, mark, room, off):
            x, y = others[:, 0], others[:, 1]
            reach = off / 2  # of a mark around its centre
            under = (
                (x > left - reach)
                & (x < left + width_of(text) + reach)
                & (y > top - reach)
                & (y < top + height + reach)
            )
            placed = Placed(text, left, top, int(np.count_nonzero(under)))
            if not placed.covered:
                return placed
            if best is None or placed.covered < best.covered:
                best = placed
    assert best is not None
    return best


def _boxes(
    width: float, height: float, mark: tuple[float, float], room: tuple[float, float], off: float
) -> Iterator[tuple[float, float]]:
    """Left and top of where a box can stand beside `mark`, the middle of the plot first."""
    x, y = mark
    above, below = y - off - height, y + off
    tops = (above, below) if y > room[1] / 2 else (below, above)
    for top in tops:
        if not 0 <= top <= room[1] - height and top != tops[0]:
            continue
        for share in sorted(np.linspace(0, 1, SHIFTS).tolist(), key=lambda share: abs(share - 0.5)):
            yield min(max(0.0, x - share * width), max(0.0, room[0] - width)), top
