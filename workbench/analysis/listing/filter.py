"""The words and terms by which a person asks for some runs: `flash time<100us -failed`.

A term is the name of a field, a sign and a value; a word is looked for in everything that is said in words. All must
hold. What is not understood is told, and the others are heeded all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import Protocol

from workbench.analysis.listing.fields import FIELDS, Field
from workbench.run.kept.rows import Value

Test = Callable[[Value], bool]

_TOKEN = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
_TERM = re.compile(r"(?P<name>[^\s:=<>!]+)(?P<sign><=|>=|!=|[:=<>])(?P<value>.*)")
_NUMBER = re.compile(r"(?P<number>[-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s*(?P<unit>.*)", re.IGNORECASE)
_BETWEEN = ".."
_TIMES = {"": 1.0, "us": 1.0, "µs": 1.0, "μs": 1.0, "ns": 1e-3, "ms": 1e3, "s": 1e6}
_FACTORS = {"µs": _TIMES, "B": {"": 1.0, "b": 1.0, "kib": 1024.0, "mib": 1024.0**2}}
_YES, _NO = ("yes", "true", "1", "on"), ("no", "false", "0", "off")
_SPOKEN = ("words", "name", "note", "source")  # columns in which a word is looked for


class Columns(Protocol):
    """Runs, of which a value of each can be had."""

    def __len__(self) -> int: ...
    def column(self, name: str) -> list[Value]: ...


class NotUnderstoodError(ValueError):
    """A term says nothing that can be looked for; the text names it and what is allowed."""


@dataclass(frozen=True)
class Term:
    """What must hold of one of `columns`, or where `is_not` of none of them."""

    columns: tuple[str, ...]
    holds: Test
    is_not: bool = False

    def among(self, runs: Columns, places: Iterable[int]) -> list[int]:
        """Those of `places` where it holds."""
        columns, holds, is_not = [runs.column(name) for name in self.columns], self.holds, self.is_not
        if len(columns) == 1:
            (column,) = columns
            return [place for place in places if holds(column[place]) != is_not]
        return [place for place in places if any(holds(column[place]) for column in columns) != is_not]


@dataclass(frozen=True)
class Filter:
    """What a text asks for; `faults` are lines about what of it is not understood, which nothing is asked by."""

    terms: tuple[Term, ...] = ()
    faults: tuple[str, ...] = ()

    def places(self, runs: Columns) -> list[int]:
        """Where among `runs` those are of which everything holds, in ascending order."""
        places: Iterable[int] = range(len(runs))
        for term in self.terms:
            places = term.among(runs, places)
        return list(places)

    def admits(self, runs: Columns, place: int) -> bool:
        """Whether everything holds of the run at `place`."""
        return all(term.among(runs, [place]) for term in self.terms)


def parse_filter(text: str) -> Filter:
    """What `text` asks for; nothing is asked by an empty one, which every run meets."""
    terms: list[Term] = []
    faults: list[str] = []
    for token in _TOKEN.findall(text):
        try:
            terms.append(_term(token))
        except NotUnderstoodError as error:
            faults.append(str(error))
    return Filter(tuple(terms), tuple(faults))


def allowed_text() -> str:
    """All that can be asked for, a line a kind."""
    numbers = [_named(field) for field in FIELDS if not field.is_word and not field.is_flag]
    words = [field.name for field in FIELDS if field.is_word]
    flags = [field.name for field in FIELDS if field.is_flag]
    return "\n".join(
        (
            "Words are looked for in kernel, dtype, tile, state, device, name, note and source; -word leaves out.",
            f"Numbers, with = < > <= >= or 16..64: {', '.join(numbers)}.",
            f"Words, with : (has) or = (is): {', '.join(words)}.",
            f"Alone: {', '.join(flags)}.",
        )
    )


def _named(field: Field) -> str:
    """How a field is asked for: by its title where that is one word, with its unit."""
    name = field.title if field.title.isidentifier() else field.name
    return f"{name} ({field.unit})" if field.unit else name


def _term(token: str) -> Term:
    is_not = token.startswith("-") and len(token) > 1
    asked = token[1:] if is_not else token
    found = _TERM.fullmatch(asked) if not asked.startswith('"') else None
    if found is None:
        return _of_word(asked.replace('"', "").lower(), is_not)
    field = _field(found["name"])
    value = found["value"].replace('"', "").strip()
    if not value:
        raise NotUnderstoodError(f"{token} lacks a value; allowed is for example {_example(field)}")
    test, turned = _test(field, found["sign"], value)
    return Term((field.name,), test, is_not != turned)


def _of_word(word: str, is_not: bool) -> Term:
    flag = next((field for field in FIELDS if field.is_flag and field.name == word), None)
    if flag is not None:
        return Term((flag.name,), bool, is_not)
    plain = word.replace("×", "x")
    return Term(_SPOKEN, lambda value: isinstance(value, str) and plain in value.lower(), is_not)


def _field(asked: str) -> Field:
    """The field called `asked` by its name or its title, or by one of their words where that is of one alone."""
    name = _spelled(asked)
    for field in FIELDS:
        if name in (field.name, _spelled(field.title)):
            return field
    hits = [field for field in FIELDS if name in {*field.name.split("_"), *_spelled(field.title).split("_")}]
    hits = [field for field in hits if not field.name.startswith("sdpa_")] or hits
    if len(hits) == 1:
        return hits[0]
    if hits:
        raise NotUnderstoodError(f"{asked} may be {', '.join(field.name for field in hits)}: allowed is one of them")
    every = list(dict.fromkeys(_named(field).split(" ")[0] for field in FIELDS))
    near = get_close_matches(name, every, 4, 0.5) or every[:8]
    raise NotUnderstoodError(f"{asked} is nothing that is known of a run; allowed are {', '.join(near)} and others")


def _spelled(text: str) -> str:
    return re.sub(r"[\s\-/×_]+", "_", text.strip().lower())


def _test(field: Field, sign: str, value: str) -> tuple[Test, bool]:
    """What must hold of the value of a field, and whether it must not."""
    if field.is_flag:
        return _flag_test(field, sign, value)
    if field.is_word:
        return _word_test(field, sign, value)
    if _BETWEEN in value and sign in (":", "="):
        low, high = (_number(field, part)[0] for part in value.split(_BETWEEN, 1))
        return (lambda found: isinstance(found, int | float) and low <= found <= high), False
    number, half = _number(field, value)

    def equal(found: float) -> bool:
        return abs(found - number) <= half

    tests: dict[str, Callable[[float], bool]] = {
        "<": lambda found: found < number,
        "<=": lambda found: found <= number,
        ">": lambda found: found > number,
        ">=": lambda found: found >= number,
    }
    test = tests.get(sign, equal)
    if sign == "!=":
        return lambda found: not isinstance(found, int | float) or test(found), True
    return lambda found: isinstance(found, int | float) and test(found), False


def _flag_test(field: Field, sign: str, value: str) -> tuple[Test, bool]:
    if sign not in (":", "=") or value.lower() not in (*_YES, *_NO):
        raise NotUnderstoodError(
            f"{field.name}{sign}{value} is not understood; allowed are {field.name} and -{field.name}"
        )
    return bool, value.lower() in _NO


def _word_test(field: Field, sign: str, value: str) -> tuple[Test, bool]:
    if sign not in (":", "=", "!="):
        raise NotUnderstoodError(f"{field.name} is a word; allowed are {field.name}:{value} and {field.name}={value}")
    wanted = re.sub(r"\s*[×x]\s*(?=\d)", "x", value.lower())
    if sign == ":":
        return lambda found: isinstance(found, str) and wanted in found.lower(), False
    return lambda found: isinstance(found, str) and wanted == found.lower(), sign == "!="


def _number(field: Field, text: str) -> tuple[float, float]:
    """A number in the unit of `field`, and half of what its last digit stands for: 753.6 is 753.55 to 753.65."""
    found = _NUMBER.fullmatch(text.strip().replace("\N{MINUS SIGN}", "-"))
    factors = _FACTORS.get(field.unit, {"": 1.0, field.unit.lower(): 1.0} | ({"x": 1.0} if field.unit == "×" else {}))
    factor = factors.get(found["unit"].strip().lower()) if found is not None else None
    if found is None or factor is None:
        units = f" in {', '.join(unit for unit in factors if unit)}" if field.unit else ""
        raise NotUnderstoodError(
            f"{text} is no value of {field.title}; allowed is a number{units}, as {_example(field)}"
        )
    try:
        exact = Decimal(found["number"].replace(",", ""))
    except InvalidOperation:
        raise NotUnderstoodError(f"{text} is no number; allowed is for example {_example(field)}") from None
    exponent = exact.as_tuple().exponent
    half = 10.0 ** min(0, exponent if isinstance(exponent, int) else 0) / 2
    return float(exact) * factor, half * factor * (1 + 1e-9)


def _example(field: Field) -> str:
    name = _named(field).split(" ")[0]
    if field.is_flag:
        return field.name
    return f"{name}:flash" if field.is_word else f"{name}<100us" if field.unit == "µs" else f"{name}>16"
