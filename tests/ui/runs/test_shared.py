"""What all runs share is said once above the table, and the cells say what differs, in one unit a column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import INTERPRETER, make_record
from tests.ui.runs.shown import shown_table, view
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.ui.runs.columns import COLUMNS, PLACES
from workbench.ui.runs.header import Header
from workbench.ui.runs.line import SharedLine
from workbench.ui.runs.listed import Listed
from workbench.ui.runs.shared import TRAITS, Sharing, Trait, common_start
from workbench.ui.runs.table import ResultsTable
from workbench.ui.text.fit import ELLIPSIS
from workbench.ui.text.whole_words import WholeWords

SMALL = Problem(8, 32, 4)
TIMES = [place for place, column in enumerate(COLUMNS) if column.is_time]


def run(run_id: int, request: RunRequest | None = None, us: float = 380.0, source: str = "") -> RunRecord:
    record = make_record(run_id, SMALL, kernel_us=us, baseline_us=us / 2, launches=5)
    return replace(record, source=source, started=replace(record.started, request=request or RunRequest(SMALL)))


@pytest.fixture
def table(qtbot: QtBot) -> Iterator[ResultsTable]:
    yield shown_table(qtbot, 600)


def texts(table: ResultsTable, place: int) -> list[str]:
    model = view(table).model()
    assert model is not None
    return [str(model.index(row, place).data()) for row in range(model.rowCount())]


def line(table: ResultsTable) -> SharedLine:
    found = table.findChild(SharedLine)
    assert found is not None
    return found


OTHERS: dict[str, Callable[[RunRecord], RunRecord]] = {
    "shape": lambda r: asked(r, problem=replace(SMALL, m=9)),
    "inputs": lambda r: asked(r, problem=replace(SMALL, inputs="zeros")),
    "seed": lambda r: asked(r, problem=replace(SMALL, seed=7)),
    "heads": lambda r: asked(r, problem=Problem(8, 32, 4, batch=2, heads=16)),
    "dtype": lambda r: asked(r, problem=replace(SMALL, dtype="bf16")),
    "mask": lambda r: asked(r, problem=replace(SMALL, causal=True)),
    "kernel": lambda r: asked(r, kernel="flash"),
    "precision": lambda r: asked(r, precision="tf32"),
    "protocol": lambda r: make_record(r.run_id, SMALL, protocol="cold"),
    "state": lambda r: replace(r, end=None),
    "device": lambda r: replace(r, started=replace(r.started, device=replace(r.started.device, name="Other"))),
    "clock": lambda r: replace(r, started=replace(r.started, device=INTERPRETER)),
    "backend": lambda r: of_backend(r, "other"),
    "versions": lambda r: replace(r, started=replace(r.started, device=replace(r.started.device, torch="1.0"))),
    "source": lambda r: replace(r, source="other.tilescope"),
}


def asked(record: RunRecord, **changes: object) -> RunRecord:
    request = replace(record.started.request, **changes)  # type: ignore[arg-type]
    return replace(record, started=replace(record.started, request=request))


def of_backend(record: RunRecord, name: str) -> RunRecord:
    measured = tuple(replace(m, measurement=replace(m.measurement, backend=name)) for m in record.measured)
    return replace(record, measured=measured)


@pytest.mark.parametrize("trait", TRAITS, ids=lambda trait: trait.name)
def test_a_trait_is_above_the_table_exactly_while_all_runs_have_it(table: ResultsTable, trait: Trait) -> None:
    column = PLACES[trait.column]
    one, two = of_backend(run(1), "efficient"), of_backend(run(2), "efficient")
    table.set_records([one])
    assert line(table).isHidden(), "one run shares nothing"
    table.upsert(two)
    said = trait.lined(trait.told(one))
    assert said.replace("×", " × ") in line(table).accessibleName()
    assert view(table).isColumnHidden(column)
    table.upsert(OTHERS[trait.name](replace(two, run_id=3)))
    assert trait.name not in table._runs.shared.common
    assert not view(table).isColumnHidden(column)
    assert len(set(texts(table, column))) == 2 and "" not in texts(table, column), "what differs is in the rows"
    table.set_records([one, two])
    assert view(table).isColumnHidden(column), "and goes as the run that differs does"


def test_counting_follows_runs_that_are_replaced() -> None:
    listed = Listed([run(1), run(2), run(3)])
    sharing = Sharing(listed)
    before = sharing.shared()
    for other in (run(3, RunRequest(replace(SMALL, causal=True))), run(3)):
        sharing.drop(2)
        sharing.take(listed.put(other))
        assert (sharing.shared() == before) == (not other.started.request.problem.causal)


def test_the_shape_says_only_what_differs(table: ResultsTable) -> None:
    heads = RunRequest(Problem(8, 32, 4, batch=2, heads=16, kv_heads=4))
    table.set_records([run(1), run(2), run(3, heads)])
    assert texts(table, PLACES["Shape"]) == ["2×16/4 heads", "1 head", "1 head"]
    assert "8 × 32 × 4" in line(table).accessibleName()


@pytest.mark.parametrize("place", TIMES, ids=[COLUMNS[place].title for place in TIMES])
@pytest.mark.parametrize(
    ("times", "unit"),
    [((90.0, 380.0), "µs"), ((380.0, 1500.0), "µs"), ((2500.0, 9000.0), "ms"), ((54.3, 408.9e3), "ms")],
)
def test_a_column_of_times_has_one_unit_in_its_heading(
    table: ResultsTable, place: int, times: tuple[float, float], unit: str
) -> None:
    table.set_records([run(i, us=us) for i, us in enumerate((*times, *times), 1)])
    for i, us in enumerate(times, 1):
        table.upsert(replace(run(i, us=us), measured=tuple(run(i, us=us).measured[:1])))
    model = view(table).model()
    assert model is not None
    assert model.headerData(place, Qt.Orientation.Horizontal) == f"{COLUMNS[place].title}, {unit}"
    assert not any(sign in text for text in texts(table, place) for sign in ("µs", "ms"))


def test_numbers_that_repeat_say_their_recording_and_sort_by_it(table: ResultsTable) -> None:
    a, b = "h200-article-shapes.tilescope", "h200-watched.tilescope"
    table.set_records([run(1, source=b), run(2), run(10, source=b), run(1)])
    assert texts(table, 0) == ["2", "1", "h200-watched 10", "h200-watched 1"]
    table.upsert(run(1, source=a))
    assert texts(table, 0) == ["2", "1", "watched 10", "watched 1", "article-shapes 1"]
    assert len(set(texts(table, 0))) == len(table.records())


@pytest.mark.parametrize("room", range(600, 40, -60))
def test_the_line_leaves_out_whole_parts_from_its_end(table: ResultsTable, room: int) -> None:
    table.set_records([run(1), run(2)])
    shown = line(table)
    shown.resize(room, shown.height())
    parts = table._runs.shared.parts
    text = shown.shown_text().removeprefix("all: ")
    kept = [part for part in text.split(" · ") if part != ELLIPSIS]
    assert tuple(kept) == parts[: len(kept)] or len(kept) == 1
    assert (ELLIPSIS in text) == (tuple(kept) != parts)
    assert all(part in shown.toolTip() for part in parts)


@pytest.mark.parametrize(
    ("several", "start"),
    [
        (("NVIDIA H100", "NVIDIA H200"), "NVIDIA "),
        (("h200-watched", "h200-article"), "h200-"),
        (("torch 2.11.0", "torch 2.11.1"), "torch "),  # no number is parted
        (("alone",), ""),
        ((), ""),
    ],
)
def test_what_is_cut_is_cut_where_it_does_not_differ(several: tuple[str, ...], start: str) -> None:
    assert common_start(several) == start


def test_a_long_cell_keeps_what_tells_it_from_others(table: ResultsTable) -> None:
    records = [run(i) for i in (1, 2)]
    names = ("A very long name of a device with a Z1", "A very long name of a device with a Z2")
    table.set_records(
        [
            replace(r, started=replace(r.started, device=replace(r.started.device, name=name)))
            for r, name in zip(records, names, strict=True)
        ]
    )
    shown = view(table)
    painted = []
    for row in range(2):
        option = QStyleOptionViewItem()
        option.initFrom(shown)
        option.rect.setWidth(shown.columnWidth(PLACES["Device"]))
        delegate, model = shown.itemDelegate(), shown.model()
        assert isinstance(delegate, WholeWords) and model is not None
        delegate.initStyleOption(option, model.index(row, PLACES["Device"]))
        painted.append(option.text)
    assert painted == [f"{ELLIPSIS}Z2", f"{ELLIPSIS}Z1"]


def test_a_picture_of_the_table_has_all_of_its_rows_and_columns(table: ResultsTable, qtbot: QtBot) -> None:
    table.set_records([run(i, RunRequest(SMALL, TileConfig(16 << i % 3, 16))) for i in range(1, 41)])
    whole, left_out = table.whole(2.0)
    qtbot.addWidget(whole)
    whole.grab()
    shown = view(whole)
    assert left_out == () and len(whole.records()) == 40
    viewport, header, rows = shown.viewport(), shown.horizontalHeader(), shown.verticalHeader()
    assert viewport is not None and header is not None and rows is not None
    assert viewport.width() >= header.length() and viewport.height() >= rows.length()
    assert texts(whole, 0) == texts(table, 0)
    some, left_out = table.whole(1200.0)  # as many pixels per unit as leave room for one row
    qtbot.addWidget(some)
    assert len(some.records()) == 1 and left_out == ("the first 1 of 40 runs, as sorted",)
    assert texts(some, 0) == texts(table, 0)[:1]


def test_one_more_run_of_many_measures_its_own_cells_alone(
    table: ResultsTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.set_records([run(i, us=300.0 + i) for i in range(1, 41)])
    measured: list[str] = []
    width = Header._width

    def count(self: Header, text: str, bold: bool = False) -> int:
        measured.append(text)
        return width(self, text, bold)

    monkeypatch.setattr(Header, "_width", count)
    table.upsert(run(41, us=777.0))
    assert not {"301.0", "passed"} & set(measured)
    model = view(table).model()
    assert model is not None
    assert len(measured) <= 3 * model.columnCount(), "of the run, of the heading, and of a digit"
