"""The grammar of the filter: every field can be asked for, and what is not understood is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernels.plain.tiles import TileConfig
from tests.samples import make_record
from workbench.analysis.listing.fields import FIELDS, INDEX, Field
from workbench.analysis.listing.filter import allowed_text, parse_filter
from workbench.analysis.metrics import METRICS
from workbench.run.events import Failed
from workbench.run.kept.rows import Value
from workbench.run.record import RunRecord
from workbench.run.request import Problem

KNOWN_AS = {field.name: field for field in FIELDS}


class Listed:
    """Runs as the library lists them, without any file."""

    def __init__(self, *records: RunRecord, **told: list[Value]) -> None:
        self._records = records
        self._rows = [INDEX.of(record) for record in records]
        self._told = told

    def __len__(self) -> int:
        return len(self._records)

    def column(self, name: str) -> list[Value]:
        if name in self._told:
            return self._told[name]
        if name in ("name", "note", "starred"):
            return [""] * len(self)
        if name in ("run", "source"):
            return [KNOWN_AS[name].find(record) for record in self._records]
        return [row[name] for row in self._rows]


FAST = make_record(1, Problem(32, 64, 16), TileConfig(64, 32), kernel_us=80.0, protocol="cold")
SLOW = make_record(2, Problem(48, 64, 16, dtype="fp16", causal=True), TileConfig(16, 16, 8), kernel_us=900.0)
WRONG = make_record(3, Problem(32, 64, 16), TileConfig(32, 32), passed=False)
FAILED = make_record(4, Problem(32, 64, 16), failure=Failed("resources", "shared memory: 300 KiB of 228", "less"))
OTHERS = replace(FAST, run_id=5, source="h200-watched")
RUNS = Listed(
    FAST, SLOW, WRONG, FAILED, OTHERS, name=["", "best so far", "", "", ""], note=["", "", "a race?", "", ""],
    starred=[True, False, False, False, True],
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [1, 2, 3, 4, 5]),
        ("   ", [1, 2, 3, 4, 5]),
        ("article", [1, 2, 3, 4, 5]),
        ("fp16", [2]),
        ("FP16", [2]),
        ("-fp16", [1, 3, 4, 5]),
        ("best", [2]),
        ('"best so far"', [2]),
        ('name:"best so far"', [2]),
        ("race", [3]),
        ("note:race -wrong", []),
        ("watched", [5]),
        ("source:h200", [5]),
        ("shared", [4]),
        ("starred", [1, 5]),
        ("-starred", [2, 3, 4]),
        ("failed", [4]),
        ("-failed", [1, 2, 3, 5]),
        ("wrong", [3]),
        ("passed", [1, 2, 5]),
        ("state:resources", [4]),
        ("time<100us", [1, 5]),
        ("time<0.1ms", [1, 5]),
        ("time<100µs", [1, 5]),
        ("time<100", [1, 5]),
        ("time>=0.5ms", [2]),
        ("time:50..100us", [1, 5]),
        ("-time<100us", [2, 3, 4]),
        ("error>1e-5", [3]),
        ("max_abs_error>1e-5", [3]),
        ("m=48", [2]),
        ("m:48", [2]),
        ("M!=48", [1, 3, 4, 5]),
        ("m:40..64", [2]),
        ("tile:64x32", [1, 5]),
        ("tile:64×32", [1, 5]),
        ("tile=16x16 warps=8", [2]),
        ("shape:48x64", [2]),
        ("64x32", [1, 5]),
        ("64×32", [1, 5]),
        ("causal", [2]),
        ("causal:no", [1, 3, 4, 5]),
        ("kernel:art time<100us -h200-watched", [1]),
        ("run:2", [2]),
        ("protocol=cold", [1, 5]),
    ],
)
def test_a_filter_finds(text: str, expected: list[int]) -> None:
    asked = parse_filter(text)
    assert asked.faults == ()
    assert [RUNS.column("run")[place] for place in asked.places(RUNS)] == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kernal:flash", "kernal is nothing that is known of a run; allowed are kernel"),
        ("time<", "time< lacks a value; allowed is for example time<100us"),
        ("time<fast", "fast is no value of time; allowed is a number in us"),
        ("time<3kg", "3kg is no value of time"),
        ("m:many", "many is no value of m; allowed is a number"),
        ("block:16", "block may be block_m, block_n, block_average"),
        ("kernel<flash", "kernel is a word; allowed are kernel:flash"),
        ("starred<3", "allowed are starred and -starred"),
    ],
)
def test_what_is_not_understood_is_said_and_the_rest_is_heeded(text: str, words: str) -> None:
    asked = parse_filter(f"{text} fp16")
    (fault,) = asked.faults
    assert words in fault and "\n" not in fault
    assert asked.places(RUNS) == [1], "by the word that was understood"


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_field_can_be_asked_for_by_its_name_and_its_title(field: Field) -> None:
    values = RUNS.column(field.name)
    for place, value in enumerate(values):
        if value in (None, ""):
            continue
        sign, text = ("=", f'"{value}"') if field.is_word else (":", f"{value}") if not field.is_flag else ("=", "yes")
        for name in (field.name, field.title.replace(" ", "_").replace("/", "_")):
            asked = parse_filter(f"{name}{sign}{text}")
            assert asked.faults == (), name
            assert (place in asked.places(RUNS)) == bool(value or not field.is_flag), (name, value)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_is_a_field_and_named_in_what_is_allowed(metric: object) -> None:
    name = getattr(metric, "name")  # noqa: B009
    assert name in KNOWN_AS and name in INDEX.names
    shown = KNOWN_AS[name].title if KNOWN_AS[name].title.isidentifier() else name
    assert shown in allowed_text()


def test_a_name_stands_for_one_field() -> None:
    assert len({field.name for field in FIELDS}) == len(FIELDS)
    assert set(INDEX.names) >= {field.name for field in FIELDS} - {"run", "source", "name", "note", "starred"}


def test_a_run_of_which_nothing_can_be_read_has_its_state_alone() -> None:
    row = INDEX.of(RunRecord.unreadable(7, Failed("damaged", "x.tilescope holds a damaged run 7")))
    assert row["state"] == "damaged" and row["failed"] == 1
    assert row["shape"] is row["m"] is row["kernel"] is row["figure"] is None and "damaged" in str(row["words"])
