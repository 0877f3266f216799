"""The cells of a map as they are drawn: which part of the data they show, how many values each stands for, its colour.

Plain numpy, without Qt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import FloatArray

# Palette: 253 colours of the map, then one for cells that were left out, one for −inf and one for NaN.
COLORS, MASKED, MINUS_INF, NAN = 253, 253, 254, 255
MAX_CELLS = 512 * 1024  # on the screen, where they must be made within a frame; a picture may take its time

IntArray = npt.NDArray[np.int64]
Palette = npt.NDArray[np.uint8]


def quantise(values: FloatArray, low: float, high: float, masked: npt.NDArray[np.bool_] | None = None) -> Palette:
    """Palette indices of `values`: `low` to `high` over the colours, −inf and other non-finite ones apart.

    A NaN is one that was left out where `masked` is true, and a fault elsewhere.
    """
    finite = np.isfinite(values)
    whole = bool(finite.all())
    scaled = ((values if whole else np.where(finite, values, low)) - low) * ((COLORS - 1) / (high - low))
    index = np.clip(scaled, 0, COLORS - 1).astype(np.uint8)
    if not whole:
        index[~finite] = NAN
        index[values == -np.inf] = MINUS_INF
        if masked is not None:
            index[masked & np.isnan(values)] = MASKED
    return index


def pool(data: npt.NDArray[Any], rows: int, columns: int) -> npt.NDArray[Any]:
    """`data` with every `rows` x `columns` block made one cell: its largest value; NaN wins."""
    return _largest(_largest(data, rows).T, columns).T


def pool_present(data: FloatArray, rows: int, columns: int, left_out: npt.NDArray[np.bool_]) -> FloatArray:
    """`pool` of the cells that are there: a NaN where `left_out` is true wins only in blocks of nothing else."""
    absent = left_out & np.isnan(data)
    cells = pool(np.where(absent, -np.inf, data), rows, columns).copy()
    cells[~pool(~absent, rows, columns)] = np.nan
    return cells


def _largest(data: npt.NDArray[Any], step: int) -> npt.NDArray[Any]:
    """Largest of every `step` rows. Whole-row maxima of strided slices: far faster than a reduction over blocks."""
    if step == 1:
        return data
    starts = np.arange(0, data.shape[0], step)
    whole = data.shape[0] // step
    result = data[starts].copy()
    for offset in range(1, step):
        np.maximum(result[:whole], data[offset : whole * step : step], out=result[:whole])
    if whole < len(starts):
        result[whole] = np.maximum.reduce(data[whole * step :])
    return result


@dataclass(frozen=True)
class Part:
    """Rows `top` to `end` and columns `left` to `right` of a map, of which `steps` rows and columns make one cell."""

    top: int
    end: int
    left: int
    right: int
    steps: tuple[int, int] = (1, 1)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the map is seen."""
        return self.end <= self.top or self.right <= self.left

    def fitted(self, shape: tuple[int, int], pixels: tuple[float, float], most: float) -> Part:
        """What is drawn of a map of `shape` when this is seen, in an area of so many `pixels` down and across.

        No cell is smaller than a pixel, and there are `most` of them at most. Of a small map that is all of it, so that
        panning draws nothing anew; and of a large one the blocks stay the same ones while panning.
        """
        rows, columns = self.end - self.top, self.right - self.left
        down, across = (
            max(1, math.ceil(count / max(1.0, room))) for count, room in zip((rows, columns), pixels, strict=True)
        )
        while rows * columns > most * down * across:
            down += 1
        if down == across == 1 and shape[0] * shape[1] <= MAX_CELLS:
            return Part(0, shape[0], 0, shape[1])
        return Part(self.top - self.top % down, self.end, self.left - self.left % across, self.right, (down, across))

    def cells(self, data: FloatArray, levels: tuple[float, float], ends: IntArray | None) -> Palette:
        """Palette indices of this part of `data`, of each block those of its largest value; as `HeatmapView.set_data`
        has `levels` and `ends`.
        """
        seen = data[self.top : self.end, self.left : self.right]
        if ends is None or int(ends[self.top : self.end].min()) >= self.right:
            return np.ascontiguousarray(quantise(pool(seen, *self.steps), *levels))
        left_out = np.arange(self.left, self.right)[None, :] >= ends[self.top : self.end, None]
        if self.steps != (1, 1):
            # A block is left out where nothing of it was not.
            seen, left_out = pool_present(seen, *self.steps, left_out), ~pool(~left_out, *self.steps)
        return np.ascontiguousarray(quantise(seen, *levels, left_out))
