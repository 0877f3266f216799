"""What the runs of a table share, kept as they come and change: it is said once, in a line above the table.

The cells then say only what differs, and all times are in one unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from workbench.analysis.numbers import MICROSECONDS, MILLISECONDS, TimeUnit
from workbench.run.events import Finished
from workbench.run.measurement import ROLES
from workbench.run.record import RunRecord
from workbench.words.names import versions_text

LONG_US = 10e3  # from here on a time in microseconds has too many digits to be read
OWN = "this session"


@dataclass(frozen=True)
class Trait:
    """What a run tells of its settings or circumstances; "" tells nothing.

    `column` is the title of the table's column that it stands in. What is `usual` is not said, unless it is to be told
    from others; the line above the table says it where it is `always` worth a word.
    """

    name: str
    column: str
    told: Callable[[RunRecord], str]
    usual: str = ""
    always: bool = False

    def lined(self, told: str) -> str:
        """What the line above the table says, "" for nothing."""
        return told if self.always or told != self.usual else ""


def _heads(record: RunRecord) -> str:
    p = record.started.request.problem
    shared = f"/{p.kv_heads}" if p.kv_heads != p.heads else ""
    return f"{p.batch}×{p.heads}{shared} heads" if p.total_heads > 1 else "1 head"


def _backend(record: RunRecord) -> str:
    check, measurement = record.check("baseline"), record.measurement("baseline")
    return measurement.backend if measurement is not None else check.backend if check is not None else ""


def _passed(record: RunRecord) -> str:
    """Only what is in order is worth no column: everything else is to be seen in its row."""
    is_whole = record.error("kernel") is not None and isinstance(record.end, Finished) and record.passed
    return "passed" if is_whole else f"run {record.key}"


TRAITS = (
    Trait("shape", "Shape", lambda r: r.started.request.problem.shape.replace(" × ", "×"), always=True),
    Trait("inputs", "Shape", lambda r: r.started.request.problem.inputs, "normal"),
    Trait("seed", "Shape", lambda r: f"seed {r.started.request.problem.seed}", "seed 0"),
    Trait("heads", "Shape", _heads, "1 head"),
    Trait("dtype", "Shape", lambda r: r.started.request.problem.dtype, "fp32", always=True),
    Trait("mask", "Shape", lambda r: "causal" if r.started.request.problem.causal else "no mask", "no mask"),
    Trait("kernel", "Kernel", lambda r: r.started.request.kernel, always=True),
    Trait("precision", "Kernel", lambda r: r.started.request.precision, always=True),
    Trait("protocol", "Protocol", lambda r: r.started.request.protocol, always=True),
    Trait("state", "State", _passed, always=True),
    Trait("device", "Device", lambda r: r.started.device.name, always=True),
    Trait("clock", "Clock", lambda r: r.started.device.mode_label, "GPU"),
    Trait("backend", "SDPA backend", lambda r: f"SDPA {_backend(r)}" if _backend(r) else "", always=True),
    Trait("versions", "Versions", lambda r: versions_text(r.started), always=True),
    Trait("source", "Source", lambda r: r.source or OWN, OWN),
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
        """A recording in a word: its name, without what all of them begin with."""
        return source_mark(source).removeprefix(self.start)

    def has_all_of(self, column: str) -> bool:
        """Whether the line says all that the column called `column` has to say."""
        names = {trait.name for trait in TRAITS if trait.column == column}
        return bool(names) and names <= self.common


class Sharing:
    """Counts what the runs tell, so that one more or one less costs the same however many there are."""

    def __init__(self, records: Iterable[RunRecord] = ()) -> None:
        self._count = 0
        self._told: dict[str, Counter[str]] = {trait.name: Counter() for trait in TRAITS}
        self._times = Counter[str]()
        self._sources = Counter[str]()
        for record in records:
            self.count(record)

    def count(self, record: RunRecord, by: int = 1) -> None:
        """Take one more run into account, or one less where `by` is -1."""
        self._count += by
        for trait in TRAITS:
            _change(self._told[trait.name], trait.told(record), by)
        for measurement in filter(None, map(record.measurement, ROLES)):
            us = measurement.latency.figure_us
            _change(self._times, "short" if us < MILLISECONDS.us else "long" if us >= LONG_US else "between", by)
        _change(self._sources, record.source, by)

    def shared(self) -> Shared:
        """What the runs share now; one alone shares nothing."""
        is_short = self._times["short"] or not self._times
        unit = MILLISECONDS if self._times["long"] or not is_short else MICROSECONDS
        start = common_start(source_mark(source) for source in self._sources if source)
        if self._count < 2:
            return Shared(unit=unit, start=start)
        told = {name: next(iter(counter)) for name, counter in self._told.items() if len(counter) == 1}
        return Shared(frozenset(told), _parts(told), unit, start)


def _change(counter: Counter[str], told: str, by: int) -> None:
    if told:
        counter[told] += by
        if not counter[told]:
            del counter[told]


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
