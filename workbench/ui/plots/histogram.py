"""Histograms: bins common to several groups, how many values lie in each, and their outline."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PyQt6.QtGui import QPainterPath

from workbench.stats.arrays import FloatArray


def histogram_edges(groups: Sequence[FloatArray], most: int = 80) -> FloatArray:
    """Bin edges common to all `groups`, as wide as the Freedman-Diaconis rule asks for the narrowest of them.

    Each group ascends. Works in axis positions, so that bins are even on a log axis too.
    """
    filled = [g for g in groups if g.size]
    if not filled:
        return np.array([0.0, 1.0])
    low, high = min(float(g[0]) for g in filled), max(float(g[-1]) for g in filled)
    if high - low <= 1e-12 * max(abs(high), 1e-9):
        half = max(abs(high) * 0.01, 1e-9)
        return np.array([low - half, high + half])
    spreads = [float(g[3 * g.size // 4] - g[g.size // 4]) * 2 / g.size ** (1 / 3) for g in filled]
    width = min((s for s in spreads if s > 0), default=(high - low) / 20)
    return np.linspace(low, high, int(np.clip(math.ceil((high - low) / width), 8, most)) + 1)


def bin_counts(ascending: FloatArray, edges: FloatArray) -> FloatArray:
    """How many of the `ascending` values lie in each bin; the last one holds its upper edge too."""
    below = np.searchsorted(ascending, edges)
    below[-1] = np.searchsorted(ascending, edges[-1], side="right")
    return np.diff(below)


def step_outline(counts: FloatArray, edges: FloatArray) -> QPainterPath:
    """The outline of a histogram lying on its side: counts along x, bins along y; nothing where a bin is empty."""
    path = QPainterPath()
    filled = np.flatnonzero(np.diff(np.concatenate([[0], counts > 0, [0]]))).reshape(-1, 2)
    for first, end in filled.tolist():
        path.moveTo(0, float(edges[first]))
        for i in range(first, end):
            path.lineTo(float(counts[i]), float(edges[i]))
            path.lineTo(float(counts[i]), float(edges[i + 1]))
        path.lineTo(0, float(edges[end]))
    return path
