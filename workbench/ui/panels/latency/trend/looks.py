"""How the runs of a kernel look: one colour a kernel, one shape a kernel and precision, the same in every session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

Name = TypeVar("Name")

SYMBOLS = {"o": "●", "s": "■", "d": "◆", "t1": "▲", "h": "⬢", "star": "★", "t": "▼", "p": "⬟"}
TOKENS = ("kernel", *(f"series_{i}" for i in range(1, 8)))  # of the theme; one of the symbols each
SALT = "10"  # the kernels that come with the program have slots of their own, the usual one the kernels' colour


@dataclass(frozen=True, order=True)
class Series:
    """What is of one look: a kernel with its precision."""

    kernel: str
    precision: str


@dataclass(frozen=True)
class Look:
    """A token of the theme, and a symbol of pyqtgraph's."""

    token: str
    symbol: str

    @property
    def glyph(self) -> str:
        """The symbol in text."""
        return SYMBOLS[self.symbol]


def looks_of(series: Iterable[Series]) -> dict[Series, Look]:
    """A look for each of `series`.

    By their names alone; only where two would look alike does one give way, and with more than there are looks some do.
    """
    found = sorted(set(series))
    colors = _placed(sorted({one.kernel for one in found}), slot_of, len(TOKENS))
    preferred = {one: colors[one.kernel] + slot_of(one.precision) - slot_of("ieee") for one in found}
    symbols = list(SYMBOLS)
    shapes = _placed(found, lambda one: preferred[one] % len(symbols), len(symbols))
    return {one: Look(TOKENS[colors[one.kernel]], symbols[shapes[one]]) for one in found}


def slot_of(name: str) -> int:
    """A slot that follows from a name, the same in every process."""
    return sha256(f"{SALT}{name}".encode()).digest()[0] % len(TOKENS)


def _placed(names: Iterable[Name], slot: Callable[[Name], int], count: int) -> dict[Name, int]:
    """A slot of `count` for each name: its own, or the next that is free."""
    found: dict[Name, int] = {}
    for name in names:
        wanted = [(slot(name) + i) % count for i in range(count)]
        found[name] = next((one for one in wanted if one not in found.values()), wanted[0])
    return found
