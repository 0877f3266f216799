"""Many runs as one sequence, of which only those are read that are looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar, overload

from workbench.run.kept.marks import MARKED, NO_MARKS, Marks
from workbench.run.kept.rows import Value
from workbench.run.record import RunKey, RunRecord

T = TypeVar("T")

Numbered = Mapping[int, Value]

MOST_HELD = 512  # records: of a long run one has some 300 KB of samples


class Listing:
    """The keys of runs in the order in which they came, and what the index has of each, a column when it is asked for.

    It only grows: one from which runs were taken is another one.
    """

    def __init__(self, keys: Iterable[RunKey], column: Callable[[str], Mapping[str, Numbered]]) -> None:
        """`column` gives a value of all runs by its name: by their sources, and there by their numbers."""
        self.keys = list(keys)
        self._read = column
        self._columns: dict[str, list[Value]] = {}

    def append(self, key: RunKey, values: Mapping[str, Value]) -> None:
        """One run more."""
        self.keys.append(key)
        for name, column in self._columns.items():
            column.append(values.get(name))

    def column(self, name: str) -> Sequence[Value]:
        """The value called `name` of every run. KeyError for a name that there is not."""
        if name not in self._columns:
            found = self._read(name)
            self._columns[name] = [found[source].get(number) for source, number in self.keys]
        return self._columns[name]


class Runs(Sequence[RunRecord]):
    """Runs without their maps and states, in the order in which they came.

    `read` gives one that is looked at. They are those at `places` of a listing: what is added to it later is in the
    next one. `marks` are what is said of runs, by their keys; of most nothing is.
    """

    def __init__(
        self,
        listing: Listing,
        places: Sequence[int],
        read: Callable[[RunKey], RunRecord],
        marks: Mapping[RunKey, Marks],
    ) -> None:
        self._listing = listing
        self._places = places
        self._read = read
        self.marks = marks

    @property
    def keys(self) -> list[RunKey]:
        """Their identities."""
        return self._at(self._listing.keys)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> RunRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> RunRecord | Runs:
        if isinstance(index, slice):
            return Runs(self._listing, self._places[index], self._read, self.marks)
        return self._read(self._listing.keys[self._places[index]])

    def __iter__(self) -> Iterator[RunRecord]:
        return (self._read(self._listing.keys[place]) for place in self._places)

    def column(self, name: str) -> list[Value]:
        """The value called `name` of each, None where there is none. KeyError for a name that there is not."""
        if name == "run":
            return [key.number for key in self.keys]
        if name == "source":
            return [key.source for key in self.keys]
        if name in MARKED:
            return [getattr(self.marks.get(key, NO_MARKS), name) for key in self.keys]
        return self._at(self._listing.column(name))

    def chosen(self, places: Iterable[int]) -> Runs:
        """Those at `places` of these, in that order."""
        return Runs(self._listing, [self._places[place] for place in places], self._read, self.marks)

    def extends(self, other: object) -> bool:
        """Whether these are the runs of `other`, and maybe more after them."""
        if not isinstance(other, Runs) or other._listing is not self._listing:
            return False
        return self._places[: len(other)] == other._places

    def where(self, **values: Value) -> Runs:
        """Those that have all of `values`, by the names of columns."""
        places: Iterable[int] = range(len(self))
        for name, value in values.items():
            column = self.column(name)
            places = [place for place in places if column[place] == value]
        return self.chosen(places)

    def _at(self, values: Sequence[T]) -> list[T]:
        if isinstance(self._places, range) and self._places == range(len(self._places)):
            return list(values[: len(self._places)])
        return [values[place] for place in self._places]


def having(records: Sequence[RunRecord], **values: Value) -> Sequence[RunRecord]:
    """Of runs that are read as they are looked at, those that have `values`; of others all, as they cost nothing."""
    return records.where(**values) if isinstance(records, Runs) else records


class Held:
    """The records that were looked at last."""

    def __init__(self, most: int = MOST_HELD) -> None:
        self._most = most
        self._records: OrderedDict[RunKey, RunRecord] = OrderedDict()

    def get(self, key: RunKey, read: Callable[[RunKey], RunRecord]) -> RunRecord:
        """The record of `key`, which `read` gives where it is not held."""
        record = self._records.pop(key, None) or read(key)
        self._records[key] = record
        if len(self._records) > self._most:
            self._records.popitem(last=False)
        return record

    def forget(self, source: str) -> None:
        """Let go of those of one source."""
        for key in [key for key in self._records if key.source == source]:
            del self._records[key]
