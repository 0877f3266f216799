"""The runs of the table by their values, of which only those are read that are looked at; without Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from workbench.analysis.listing.fields import INDEX
from workbench.run.kept.marks import MARKED, NO_MARKS, Marks
from workbench.run.kept.rows import Value
from workbench.run.kept.runs import Runs
from workbench.run.record import RunKey, RunRecord

OWN = "own"  # whether a run is of this session: no value of the run itself


class Listed:
    """Runs in the order in which they came, each at its place; of two with the same key the later one counts.

    `column` gives a value of all by its place, as the columns of `Runs` do. `marks` is what is said of runs.
    """

    def __init__(self, runs: Sequence[RunRecord] = (), marks: Mapping[RunKey, Marks] | None = None) -> None:
        self._base = runs if isinstance(runs, Runs) else None
        self.marks = marks if marks is not None else runs.marks if isinstance(runs, Runs) else {}
        self._put: dict[int, tuple[RunRecord, dict[str, Value]]] = {}  # by place, what is not of the base
        self._columns: dict[str, list[Value]] = {}
        self.keys = [] if self._base is None else self._base.keys
        self._places = {key: place for place, key in enumerate(self.keys)}
        if self._base is None:
            for record in runs:
                self.put(record)

    def __len__(self) -> int:
        return len(self.keys)

    def place_of(self, key: RunKey) -> int | None:
        """Where the run `key` is, or None."""
        return self._places.get(key)

    def record(self, place: int) -> RunRecord:
        """The run at `place`, which is read now if it is one of a file."""
        if place in self._put:
            return self._put[place][0]
        assert self._base is not None
        return self._base[place]

    def records(self) -> Sequence[RunRecord]:
        """All of them."""
        if self._base is not None and not self._put:
            return self._base
        return tuple(self.record(place) for place in range(len(self)))

    def put(self, record: RunRecord) -> int:
        """Add a run, or put it in the place of the one with its key; returns the place."""
        place = self._places.setdefault(record.key, len(self.keys))
        values = INDEX.of(record)
        self._put[place] = record, values
        if place == len(self.keys):
            self.keys.append(record.key)
        for name, column in self._columns.items():
            column[place : place + 1] = [self._value(name, record.key, values)]
        return place

    def set_marks(self, marks: Mapping[RunKey, Marks]) -> None:
        """Take what is said of runs from now on."""
        self.marks = marks
        for name in MARKED:
            self._columns.pop(name, None)

    def column(self, name: str) -> list[Value]:
        """The value called `name` of every run, None where it has none. KeyError for a name that there is not."""
        if name not in self._columns:
            self._columns[name] = self._whole(name)
        return self._columns[name]

    def _whole(self, name: str) -> list[Value]:
        if name in (OWN, "run", "source", *MARKED):
            return [self._value(name, key, {}) for key in self.keys]
        column: list[Value] = [] if self._base is None else self._base.column(name)
        column += [None] * (len(self) - len(column))
        for place, (_, values) in self._put.items():
            column[place] = values[name]
        return column

    def _value(self, name: str, key: RunKey, values: Mapping[str, Value]) -> Value:
        match name:
            case "own":
                return int(not key.source)
            case "run":
                return key.number
            case "source":
                return key.source
            case _ if name in MARKED:
                value: Value = getattr(self.marks.get(key, NO_MARKS), name)
                return value
        return values[name]


class Order:
    """Places sorted by the values of columns, those without a value last in both directions."""

    def __init__(self, listed: Listed, by: Sequence[str], descending: bool) -> None:
        self._columns = [_sortable(listed.column(name)) for name in by]
        self._descending = descending
        self._has_value = listed.column(by[0])

    def sorted(self, places: Iterable[int]) -> list[int]:
        """All of `places` in this order."""
        several, has_value = list(places), self._has_value
        valued = [place for place in several if has_value[place] is not None]
        keys: Sequence[object] = self._columns[0] if len(self._columns) == 1 else list(zip(*self._columns, strict=True))
        get: Callable[[int], object] = keys.__getitem__
        valued.sort(key=get, reverse=self._descending)  # type: ignore[arg-type]
        return valued + [place for place in several if has_value[place] is None]

    def row_for(self, place: int, order: Sequence[int]) -> int:
        """The row at which `place` comes into an `order` that has it not yet: after those that are its equals."""
        if self._has_value[place] is None:
            return len(order)
        key, low, high = self._key(place), 0, len(order)
        while low < high:
            middle = (low + high) // 2
            other = order[middle]
            comes_after = self._has_value[other] is None or (
                self._key(other) < key if self._descending else key < self._key(other)
            )
            low, high = (low, middle) if comes_after else (middle + 1, high)
        return low

    def _key(self, place: int) -> tuple[Value, ...]:
        return tuple(column[place] for column in self._columns)


def _sortable(column: list[Value]) -> list[Value]:
    """A column whose values can be compared: of what is missing, or of other kinds in a file, as text."""
    kinds = set(map(type, column))
    if kinds <= {int, float} or kinds <= {str}:
        return column
    if kinds <= {int, float, type(None)}:
        return [float("-inf") if value is None else value for value in column]
    return ["" if value is None else str(value) for value in column]
