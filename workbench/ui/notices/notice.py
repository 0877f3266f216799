"""What a message says, and of what: one that is of the same replaces it, and an event can make it old."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum, auto


class Kind(IntEnum):
    """How much it matters, the most first."""

    ERROR = 0
    WARNING = 1
    INFO = 2

    @property
    def word(self) -> str:
        """The kind in a word."""
        return self.name.capitalize()

    @property
    def icon(self) -> str:
        """The name of its icon in `assets/icons`."""
        return self.name.lower()

    @property
    def color(self) -> str:
        """The token of the theme for its word and icon, which say the same."""
        return {Kind.ERROR: "bad", Kind.WARNING: "warn", Kind.INFO: "accent"}[self]


class Topic(Enum):
    """What a message is of, and with it what makes it old."""

    RUN = auto()  # the next run
    FORM = auto()  # a form that can work
    KEEPING = auto()  # what is only in memory is saved
    FILE = auto()  # another file is read or written
    ENGINE = auto()  # the engine is there
    CEILINGS = auto()  # they are measured again
    RESUME = auto()  # something else is begun
    PROGRAM = auto()  # nothing: somebody must have read it


@dataclass(frozen=True)
class Notice:
    """One line, `details` on demand, and what can be done about it, as the texts of buttons and what they do."""

    kind: Kind
    topic: Topic
    line: str
    details: str = ""
    actions: tuple[tuple[str, Callable[[], None]], ...] = ()
