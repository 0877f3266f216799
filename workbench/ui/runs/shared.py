"""What the runs of a table share, kept as they come and change: it is said once, in a line above the table.

The cells then say only what differs, and all times are in one unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from math import inf
from pathlib import PurePath

from workbench.analysis.listing.fields import SETTING, parts_of_setting
from workbench.analysis.numbers import MICROSECONDS, MILLISECONDS, TimeUnit
from workbench.run.events import Finished
from workbench.run.kept.rows import Value
from workbench.run.record import RunRecord
from workbench.ui.runs.listed import Listed
from workbench.words.names import versions_text

LONG_US = 10e3  # from here on a time in microseconds has too many digits to be read
OWN = "this session"
PLAIN = "no mask"
FIGURES = ("figure", "sdpa_figure")
Alike = tuple[Value, Value]  # where runs are from, and their setting
NAMES = ("source", *SETTING)  # of the values that tell runs apart here


@dataclass(frozen=True)
class Trait:
    """What a run tells of its settings or circumstances; "" tells nothing.

    `column` is the title of the table's column that it stands in. What is `usual` is not said, unless it is to be told
    from others; the line above the table says it where it is `always` worth a word. It follows from the values that
    are called `of`: where they are the same it is too, so that no run is read to compare them.
    """

    name: str
    column: str
    told: Callable[[RunRecord], str]
    of: tuple[str, ...]
    usual: str = ""
    always: bool = False

    def lined(self, told: str) -> str:
        """What the line above the table says, "" for nothing."""
        return told if self.always or told != self.usual else ""


def _shape(record: RunRecord) -> str:
    return record.started.request.problem.shape.replace(" × ", "×")


def _heads(record: RunRecord) -> str:
    p = record.started.request.problem
    shared = f"/{p.kv_heads}" if p.kv_heads != p.heads else ""
    return f"{p.batch}×{p.heads}{shared} heads" if p.total_heads > 1 else "1 head"


def _backend(record: RunRecord) -> str:
    return f"SDPA {record.backend}" if record.backend else ""


def _passed(record: RunRecord) -> str:
    """Only what is in order is worth no column: everything else is to be seen in its row."""
    is_whole = record.error("kernel") is not None and isinstance(record.end, Finished) and record.passed
    return "passed" if is_whole else ""


TRAITS = (
    Trait("source", "Source", lambda r: r.source or OWN, ("source",), OWN),
    Trait(
        "shape", "Shape", lambda r: r.started.request.problem.shape.replace(" × ", "×"), ("m", "n", "d"), always=True
    ),
    Trait("inputs", "Shape", lambda r: r.started.request.problem.inputs, ("inputs",), "normal"),
    Trait("seed", "Shape", lambda r: f"seed {r.started.request.problem.seed}", ("seed",), "seed 0"),
    Trait("heads", "Shape", _heads, ("batch", "heads", "kv_heads"), "1 head"),
    Trait("dtype", "Shape", lambda r: r.started.request.problem.dtype, ("dtype",), "fp32", always=True),
    Trait("mask", "Shape", lambda r: "causal" if r.started.request.problem.causal else PLAIN, ("causal",), PLAIN),
    Trait("kernel", "Kernel", lambda r: r.started.request.kernel, ("kernel",), always=True),
    Trait("precision", "Kernel", lambda r: r.started.request.precision, ("precision",), always=True),
    Trait("protocol", "Protocol", lambda r: r.started.request.protocol, ("protocol",), always=True),
    Trait("state", "State", _passed, ("state", "passed"), always=True),
    Trait("device", "Device", lambda r: r.started.device.name, ("device",), always=True),
    Trait("clock", "Clock", lambda r: r.started.device.mode_label, ("mode",), "GPU"),
    Trait("backend", "SDPA backend", _backend, ("backend",), always=True),
    Trait("versions", "Versions", lambda r: versions_text(r.started), ("torch", "triton", "revision"), always=True),
)
"""In the order in which the line says them; what has no room there is left out from the end."""


def shape_text(record: RunRecord, common: Container[str] = ()) -> str:
    """The problem without what is `common` to all runs, and without the usual unless that alone is left."""
    told = [(trait, trait.told(record)) for trait in TRAITS if trait.column == "Shape" and trait.name not in common]
    words = [word for trait, word in told if word != trait.usual] or [word for _, word in told[:1]]
    return " ".join(words)


def source_mark(source: str) -> str:
    """A recording's name without its suffix; "" of this session."""
    return PurePath(source).stem if source else ""


@dataclass(frozen=True)
class Shared:
    """What all runs of a table share: the names of `common` TRAITS, what the line says, the unit and the marks.

    `start` is what the names of all the recordings begin with.
    """

    common: frozenset[str] = frozenset()
    parts: tuple[str, ...] = ()
    unit: TimeUnit = MICROSECONDS
    start: str = ""

    def mark(self, source: str) -> str:
        """A recording in a word: its name, without what all of them begin with; "" where all runs are of one."""
        if "source" in self.common:
            return ""
        return source_mark(source).removeprefix(self.start)

    def has_all_of(self, column: str) -> bool:
        """Whether the line says all that the column called `column` has to say."""
        names = {trait.name for trait in TRAITS if trait.column == column}
        return bool(names) and names <= self.common


class Sharing:
    """Counts runs by what they share, so that one more or one less costs the same however many there are.

    None is read to be counted: of all that are alike in it one is looked at, when the line is written.
    """

    def __init__(self, listed: Listed) -> None:
        self._listed = listed
        self._alike = Counter[Alike]()
        self._example: dict[Alike, int] = {}  # the place of one of those alike
        self._values: tuple[Counter[str], ...] = tuple(Counter() for _ in NAMES)
        self._least, self._most = inf, -inf  # times, us, also of runs that were replaced since
        self._count(zip(listed.column("source"), listed.column("setting"), strict=True))
        self._note_times(*(us for name in FIGURES for us in listed.column(name)))

    def take(self, place: int) -> None:
        """Count the run at `place`."""
        self._change(self._alike_at(place), 1, place)
        self._note_times(*(self._listed.column(name)[place] for name in FIGURES))

    def drop(self, place: int) -> None:
        """Count the run at `place` no more, before another comes there."""
        self._change(self._alike_at(place), -1, place)

    def _alike_at(self, place: int) -> Alike:
        return self._listed.column("source")[place], self._listed.column("setting")[place]

    def _count(self, several: Iterable[Alike]) -> None:
        alike = list(several)
        counted = Counter(alike)
        example = {one: place for place, one in enumerate(alike)}
        for one, count in counted.items():
            self._change(one, count, example[one])

    def _change(self, alike: Alike, by: int, place: int) -> None:
        before = self._alike[alike]
        self._alike[alike] = after = before + by
        if by > 0:
            self._example[alike] = place
        if not after:
            del self._alike[alike], self._example[alike]
        if not (before and after):
            for values, value in zip(self._values, _values(alike), strict=True):
                _add(values, value, 1 if after else -1)

    def _note_times(self, *several: Value) -> None:
        times = [us for us in several if isinstance(us, float)]
        self._least, self._most = min((self._least, *times)), max((self._most, *times))

    def shared(self) -> Shared:
        """What the runs share now; one alone shares nothing."""
        is_short = self._least < MILLISECONDS.us or self._least == inf
        unit = MILLISECONDS if self._most >= LONG_US or not is_short else MICROSECONDS
        start = common_start(source_mark(source) for source in self._values[0] if source != OWN)
        if sum(self._alike.values()) < 2:
            return Shared(unit=unit, start=start)
        told = {trait.name: word for trait in TRAITS if (word := self._told_by_all(trait))}
        return Shared(frozenset(told), _parts(told), unit, start)

    def _told_by_all(self, trait: Trait) -> str:
        """What every run tells that tells anything; "" where they differ."""
        at = [NAMES.index(name) for name in trait.of]
        if any(len(self._values[place]) > 1 for place in at):
            return ""
        having = (one for one in self._alike if all(_values(one)[place] for place in at[:1]))
        example = next(having, None)
        return "" if example is None else trait.told(self._listed.record(self._place_of(example)))

    def _place_of(self, alike: Alike) -> int:
        """The place of one of those alike; the one that was noted may have become another since."""
        if self._alike_at(self._example[alike]) != alike:
            self._example[alike] = next(p for p in range(len(self._listed)) if self._alike_at(p) == alike)
        return self._example[alike]


def _values(alike: Alike) -> list[str]:
    """What is counted of runs that are alike, by NAMES; "" of what is not known."""
    source, setting = alike
    return [str(source or OWN), *("" if value == "None" else value for value in parts_of_setting(setting))]


def _add(counter: Counter[str], value: str, by: int) -> None:
    if value:
        counter[value] += by
        if not counter[value]:
            del counter[value]


def _parts(told: dict[str, str]) -> tuple[str, ...]:
    """What the line says, a part for each column."""
    words: dict[str, list[str]] = {}
    for trait in TRAITS:
        word = trait.lined(told[trait.name]) if trait.name in told else ""
        if word:
            words.setdefault(trait.column, []).append(word.replace("×", " × ") if trait.name == "shape" else word)
    return tuple((", " if column == "Shape" else " ").join(some) for column, some in words.items())


def common_start(texts: Iterable[str]) -> str:
    """What all of two or more texts begin with, up to the end of a word of it; no number is parted."""
    several = set(texts)
    if len(several) < 2:
        return ""
    first, last = min(several), max(several)  # by the alphabet: what these two share all of them do
    start = first[: next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    return start[: max(start.rfind(sign) for sign in " -_") + 1]
