"""Launch times by size, beside their order, so that to draw them again while they arrive costs little."""

from __future__ import annotations

import numpy as np

from workbench.stats.arrays import FloatArray


class Launches:
    """The launch times of one role, us, in launch order in `values`. Thousands arrive a second.

    They are drawn 20 times a second, so nothing here sorts all of them again: new ones are merged into those that are
    sorted.
    """

    def __init__(self, values: FloatArray | None = None) -> None:
        self.values: FloatArray = np.empty(0) if values is None else values
        self._ordered: FloatArray = np.empty(0)

    def __len__(self) -> int:
        return len(self.values)

    def follow(self, values: FloatArray) -> None:
        """Take all launch times so far: those that are known, and further ones after them."""
        self.values = values

    @property
    def ordered(self) -> FloatArray:
        """All of them, ascending."""
        new = np.sort(self.values[len(self._ordered) :])
        if len(new):
            self._ordered = np.insert(self._ordered, np.searchsorted(self._ordered, new), new)
        return self._ordered

    def quantiles(self, *shares: float) -> list[float]:
        """The quantiles at `shares` of 1, between two launches as numpy's percentiles are. ValueError for no launch."""
        ordered = self.ordered
        if not len(ordered):
            raise ValueError("there is no launch")
        places = np.asarray(shares) * (len(ordered) - 1)
        return [float(value) for value in np.interp(places, np.arange(len(ordered)), ordered)]
