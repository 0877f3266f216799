"""Where things stand in the window at first. The form, each panel and the table say their own place."""

from __future__ import annotations

from enum import Enum, auto
from typing import ClassVar, Protocol


class Place(Enum):
    """The places of a first launch. Of several things in one place the first is in front, the others are tabs."""

    LEFT = auto()  # over the whole height
    UPPER = auto()
    UPPER_RIGHT = auto()
    LOWER = auto()
    LOWER_RIGHT = auto()
    BEHIND_LOWER = auto()  # a tab behind what stands there


class Docked(Protocol):
    """What stands in a dock of its own.

    `name` is what a saved layout calls it, and the command line for a picture of it; `title` is its dock's, and its
    entry in the menus.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[Place]
