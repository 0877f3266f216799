"""Launch times as they arrive, kept in their order and by size, so that to draw them again costs little."""

from __future__ import annotations

import numpy as np

from workbench.stats.arrays import FloatArray

FIRST_ROOM = 256


class Launches:
    """The launch times of one role, us. Thousands arrive a second and are drawn 20 times a second.

    So nothing here sorts or copies all of them again: new ones are merged into those that are sorted.
    """

    def __init__(self, values: FloatArray | None = None) -> None:
        self._room: FloatArray = np.empty(FIRST_ROOM)
        self._count = 0
        self._ordered: FloatArray = np.empty(0)
        if values is not None:
            self.append(values)

    def __len__(self) -> int:
        return self._count

    def append(self, values: FloatArray) -> None:
        """Take the times of further launches."""
        end = self._count + len(values)
        if end > len(self._room):
            self._room = np.concatenate([self.values, np.empty(max(end, 2 * self._count) - self._count)])
        self._room[self._count : end] = values
        self._count = end

    @property
    def values(self) -> FloatArray:
        """All of them in launch order."""
        return self._room[: self._count]

    @property
    def ordered(self) -> FloatArray:
        """All of them, ascending."""
        new = np.sort(self._room[len(self._ordered) : self._count])
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
