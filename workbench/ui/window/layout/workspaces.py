"""WORKSPACES: arrangements of the docks, each for one kind of work. The first is that of a first launch.

A new one is one entry here; its key and its line in the View menu follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from workbench.ui.places import Place

Part = TypeVar("Part")


@dataclass(frozen=True)
class Cell:
    """Docks in one place, the first in front and the others as its tabs: those named, then those of a `place`.

    `share` is of the width of its row. A name that no dock has is passed over.
    """

    share: float
    names: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()

    def docks(self, places: Mapping[str, Place]) -> list[str]:
        """The names of its docks, of those in `places`."""
        named = [name for name in self.names if name in places]
        return named + [n for place in self.places for n, own in places.items() if own is place and n not in named]


@dataclass(frozen=True)
class Row:
    """Cells beside one another; `share` is of the height of the docks."""

    share: float
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Workspace:
    """An arrangement: rows, and whether the form stands left of them. Docks that it does not name are closed.

    `name` is what settings call it, `title` its menu's entry and `purpose` what it is for.
    """

    name: str
    title: str
    purpose: str
    has_form: bool
    rows: tuple[Row, ...]


WORKSPACES = (
    Workspace(
        "explore",
        "Explore",
        "To find a tile: the form, the times with their trend, and all runs",
        True,
        (
            # The table of runs has many columns, so that the left side is the wider one.
            Row(0.55, (Cell(0.6, places=(Place.UPPER,)), Cell(0.4, places=(Place.UPPER_RIGHT,)))),
            Row(
                0.45,
                (Cell(0.6, places=(Place.LOWER, Place.BEHIND_LOWER)), Cell(0.4, places=(Place.LOWER_RIGHT,))),
            ),
        ),
    ),
    Workspace(
        "state",
        "State",
        "To see what the softmax did in each tile, beside the error that came of it",
        False,
        (Row(0.74, (Cell(0.62, ("softmax",)), Cell(0.38, ("error",)))), Row(0.26, (Cell(1.0, ("results",)),))),
    ),
    Workspace(
        "compare",
        "Compare",
        "To hold runs against one another: what differs, beside the runs to choose from",
        False,
        (Row(1.0, (Cell(0.58, ("compare", "latency")), Cell(0.42, ("results",)))),),
    ),
    Workspace(
        "report",
        "Report",
        "For a picture: times, states, error and roofline of one run, without the form",
        False,
        (
            Row(0.5, (Cell(0.58, ("latency",)), Cell(0.42, ("softmax",)))),
            Row(0.5, (Cell(0.58, ("roofline",)), Cell(0.42, ("error",)))),
        ),
    ),
)


def find_workspace(name: object) -> Workspace:
    """The workspace called `name`, the first for any other value, as settings of another program may hold one."""
    return next((workspace for workspace in WORKSPACES if workspace.name == name), WORKSPACES[0])


FilledRow = tuple[float, list[tuple[float, list[str]]]]


def filled_rows(workspace: Workspace, places: Mapping[str, Place]) -> list[FilledRow]:
    """(share, cells) of each row and (share, names) of each cell that has docks; the shares of a whole add up to 1."""
    rows = []
    for row in workspace.rows:
        cells = [(cell.share, names) for cell in row.cells if (names := cell.docks(places))]
        if cells:
            rows.append((row.share, _whole(cells)))
    return _whole(rows)


def _whole(parts: Sequence[tuple[float, Part]]) -> list[tuple[float, Part]]:
    total = sum(share for share, _ in parts)
    return [(share / total, part) for share, part in parts]
