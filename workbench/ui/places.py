"""Where things stand in the window at first. Each form, panel and table says its own place."""

from __future__ import annotations

from enum import Enum


class Place(Enum):
    """The places of a first launch; of several that have one place, the first is in front and the others are tabs."""

    LEFT = "the form, over the whole height"
    UPPER = "above, beside the form"
    UPPER_RIGHT = "above, at the right"
    BESIDE_RUNS = "below, where the table of runs is"
    LOWER_RIGHT = "below, at the right"
