"""The table of tiles that were measured, `kernels/measured/tiles.json`, from the problem nearest to another on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from math import log2
from pathlib import Path
from typing import Any

from kernels.plain.tiles import AUTO_SPLITS, TileConfig, Work, padded_d

TABLE = Path(__file__).parents[1] / "measured" / "tiles.json"


def measured_tiles(kernel: str, work: Work, precision: str) -> Iterator[TileConfig]:
    """The tiles that were measured for `kernel` and the dtype class of `work`, those of the nearest problem first.

    Nearest means: the same precision, then the same padded D and mask, and the least distance in log2 of D, the heads,
    M and N. Splits are by the rule, unless this very problem was measured.
    """
    alike = ("fp32",) if work.dtype == "fp32" else ("fp16", "bf16")  # the 16-bit types take the same time
    near = [entry for entry in _table() if entry["kernel"] == kernel and entry["dtype"] in alike]
    near.sort(key=lambda entry: (entry["precision"] != precision, *_distance(entry, work)))
    for entry in near:
        tile = TileConfig(**{f.name: int(entry[f.name]) for f in fields(TileConfig) if f.name in entry})
        yield tile if tile.splits == 1 or _is_problem(entry, work) else replace(tile, splits=AUTO_SPLITS)


@cache
def _table() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(TABLE.read_text(encoding="utf-8"))["entries"]) if TABLE.exists() else ()


def _is_problem(entry: dict[str, Any], work: Work) -> bool:
    heads = (entry["batch"] * entry["heads"], work.batch * work.heads)
    return heads[0] == heads[1] and all(entry[name] == getattr(work, name) for name in ("m", "n", "d", "causal"))


def _distance(entry: dict[str, Any], work: Work) -> tuple[bool, bool, float]:
    padded = padded_d(work.d)
    sizes = (
        (entry["d"], padded),
        (entry["batch"] * entry["heads"], work.batch * work.heads),
        (entry["m"], work.m),
        (entry["n"], work.n),
    )
    return (
        entry["d"] != padded,
        entry["causal"] != work.causal,
        sum(abs(log2(measured / max(1, wanted))) for measured, wanted in sizes),
    )
