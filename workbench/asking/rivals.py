"""A rival in one word of the command line: "kernel=flash,block_m=64,block_n=32,num_stages=2", and read back."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from kernels.plain.precisions import EXACT
from kernels.plain.tiles import TileConfig
from workbench.run.request import Rival

TILE_NAMES = tuple(field.name for field in fields(TileConfig))
_COUNT = re.compile(r"[0-9]{1,9}")
_ALLOWED = f"kernel=NAME, precision=NAME, and of its tile {', '.join(f'{name}=COUNT' for name in TILE_NAMES)}"


def rival_words(rival: Rival) -> str:
    """The text that `read_rival` takes: the kernel, its whole tile, and a precision that is not the usual."""
    return ",".join(_parts(rival))


def _parts(rival: Rival) -> Iterator[str]:
    yield f"kernel={rival.kernel}"
    yield from (f"{name}={getattr(rival.tile, name)}" for name in TILE_NAMES)
    if rival.precision != EXACT:
        yield f"precision={rival.precision}"


def read_rival(text: str) -> Rival:
    """The rival that `text` names; whether it can run is said when the request is checked.

    Raises ArgumentTypeError, which names what is not understood.
    """
    rival, tile = Rival("article", TileConfig()), TileConfig()
    for part in text.split(","):
        name, mark, value = part.strip().partition("=")
        changes: dict[str, Any] = {name: value}
        if mark and name in ("kernel", "precision"):
            rival = replace(rival, **changes)
        elif mark and name in TILE_NAMES and _COUNT.fullmatch(value.strip()):
            tile = replace(tile, **{name: int(value)})
        else:
            raise argparse.ArgumentTypeError(f"{part.strip()!r} is no part of a rival; allowed are {_ALLOWED}")
    return replace(rival, tile=tile)
