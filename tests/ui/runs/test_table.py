"""The table of runs: right before fast, sorting by value, selection, and what is copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PyQt6.QtCore import QEvent, QItemSelectionModel, QPoint, Qt
from PyQt6.QtGui import QAction, QGuiApplication
from PyQt6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import INTERPRETER, make_record, recorded_state, unchanged
from tests.ui import hands
from tests.ui.hands import press_key
from tests.ui.runs.shown import shown_table, view
from workbench.analysis.metrics import METRICS, Metric
from workbench.cli.outcome import result_object
from workbench.run.ceilings import Ceilings
from workbench.run.device_state import DeviceReadings
from workbench.run.environment import Provenance
from workbench.run.events import DeviceState, Failed, Measured
from workbench.run.record import RunKey, RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.stats.summary import Interval
from workbench.ui.headline.lines import lines_of
from workbench.ui.runs.cells import Cell
from workbench.ui.runs.columns import COLUMNS, tsv
from workbench.ui.runs.header import PADDING
from workbench.ui.runs.table import ResultsTable
from workbench.ui.text.whole_words import fitting
from workbench.ui.theme import load_theme

DARK = load_theme("dark")
CEILINGS = Ceilings("Test GPU", "580.0", "2.13.0", "2026-01-01", 4e12, fp32=50e12)
TIMES = {"block_average_us": 371.25, "launched_us": 372.5, "kernel_us": 360.0}
TITLES = [column.title for column in COLUMNS]


def small(run_id: int, us: float = 380.0, failure: Failed | None = None, passed: bool = True) -> RunRecord:
    started = f"2026-01-31T12:00:{run_id:02}"
    record = make_record(run_id, Problem(8, 32, 4), kernel_us=us, failure=failure, passed=passed, launches=5)
    return replace(record, started=replace(record.started, started_at=started))


def no_arrays(record: RunRecord) -> RunRecord:
    """As a session loads it: without error maps and states."""
    return replace(record, checked=tuple(replace(c, error_map=None) for c in record.checked), states=None)


def kept_whole(record: RunRecord) -> RunRecord:
    """`record` with all that a run keeps today."""
    provenance = Provenance("kernels/article.py", "0123abcd4567", "f" * 64, 700.0)
    return replace(
        record,
        started=replace(record.started, provenance=provenance),
        rechecked=tuple(unchanged(check) for check in record.checked),
        device_state=record.device_state or recorded_state("steady"),
    )


STOPPED = small(4, failure=Failed("cancelled", "stopped by you"))
OVER = small(5, failure=Failed("resources", "shared memory: 458752 B needed", "fewer stages", resource="shared memory"))
RECORDS = [small(1, 300.0), small(2, 1500.0), small(3, 90.0, passed=False), STOPPED, OVER]


@pytest.fixture
def table(qtbot: QtBot) -> Iterator[ResultsTable]:
    widget = shown_table(qtbot, 1400)
    widget.set_records([no_arrays(record) for record in RECORDS])
    yield widget


def texts(table: ResultsTable, title: str) -> list[str]:
    model = view(table).model()
    assert model is not None
    return [str(model.index(row, TITLES.index(title)).data()) for row in range(model.rowCount())]


def cell(record: RunRecord, title: str) -> Cell:
    return COLUMNS[TITLES.index(title)].cell(record)


def click(table: ResultsTable, row: int) -> None:
    shown = view(table)
    model, viewport = shown.model(), shown.viewport()
    assert model is not None and viewport is not None
    place = shown.visualRect(model.index(row, 0)).center()
    hands.click(viewport, place)


def clipboard() -> str:
    board = QGuiApplication.clipboard()
    assert board is not None
    return board.text()


def test_newest_is_first_and_a_time_that_counts_for_nothing_says_so_itself(table: ResultsTable) -> None:
    assert texts(table, "Run") == ["5", "4", "3", "2", "1"]
    assert texts(table, "State") == ["shared memory", "stopped", "WRONG", "passed", "passed"]
    assert texts(table, "Time")[:3] == ["failed", "stopped", f"WRONG {texts(table, 'Time')[2].split()[1]}"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Qt.SortOrder.AscendingOrder, ["3", "1", "2"]),
        (Qt.SortOrder.DescendingOrder, ["2", "1", "3"]),
    ],
)
def test_times_sort_by_value_with_missing_ones_last(
    table: ResultsTable, order: Qt.SortOrder, expected: list[str]
) -> None:
    view(table).sortByColumn(TITLES.index("Time"), order)
    assert texts(table, "Run")[:3] == expected
    assert set(texts(table, "Run")[3:]) == {"4", "5"}  # no times there; 1.5 ms is more than 300 µs


def test_a_wrong_run_is_marked_and_its_speed_is_not_claimed() -> None:
    wrong = RECORDS[2]
    assert cell(wrong, "State").text == "WRONG"
    assert (cell(wrong, "State").tone, cell(wrong, "State").bold) == ("bad", True)
    time = cell(wrong, "Time")
    assert time.text.startswith("WRONG ") and (time.tone, time.bold) == ("bad", True)
    assert cell(wrong, "vs SDPA").text == "n/a"
    assert cell(wrong, "Max error").tone == "bad"
    assert cell(wrong, "SDPA max error").tone == ""


def test_wrong_stays_wrong_when_the_run_failed_later() -> None:
    record = replace(RECORDS[2], end=Failed("timeout", "silent for 180 s"))
    assert cell(record, "State").text == "WRONG"
    assert "took too long" in cell(record, "State").tooltip


def test_a_passing_gpu_run_has_ratio_and_throughput() -> None:
    record = make_record(1, kernel_us=95.0, baseline_us=190.0)
    assert cell(record, "vs SDPA").text.startswith(("1.9", "2"))
    assert cell(record, "vs SDPA").text.endswith("× faster")
    assert cell(record, "TFLOP/s").sort == pytest.approx(4 * 128 * 512 * 64 / 95e6, rel=0.1)


@pytest.mark.parametrize("title", ["vs SDPA", "TFLOP/s"])
def test_interpreter_times_are_not_compared(title: str) -> None:
    shown = cell(make_record(1, device=INTERPRETER), title)
    assert (shown.text, shown.sort, shown.tooltip) == ("n/a", None, "interpreter, not GPU time")


def test_interpreter_times_are_named_in_their_row() -> None:
    assert cell(make_record(1, device=INTERPRETER), "Clock").text == "interpreter, not GPU time"
    assert cell(make_record(1), "Clock").text == "GPU"
    assert cell(make_record(1, device=INTERPRETER), "Time").text.startswith("interp. ")
    assert cell(make_record(1, device=INTERPRETER), "Time").tone == "warn"
    assert cell(make_record(1, device=INTERPRETER), "Time").tooltip.startswith("interpreter, not GPU time")


def test_a_failed_run_says_so_where_there_is_room() -> None:
    state = cell(OVER, "State")
    assert (state.tone, state.plain) == ("bad", ("failed: out of shared memory",))
    assert state.tooltip.startswith("failed: out of shared memory\nshared memory: 458752 B needed")


def right_of(table: ResultsTable, title: str) -> int:
    column = TITLES.index(title)
    return view(table).columnViewportPosition(column) + view(table).columnWidth(column)


def test_what_is_explored_is_whole_in_a_small_window_whatever_the_runs(table: ResultsTable) -> None:
    """600 px has the table in a window of 1280 x 720, less its scroll bar."""
    problem = Problem(1024, 16, 2048)  # as long in words as large problems, and quick to make
    slow = make_record(1, Problem(8, 32, 4), TileConfig(16, 16, splits=4), 408.9e3, 13.29e3, INTERPRETER)
    warned = make_record(2, Problem(8, 32, 4), protocol="warm", device_state=recorded_state("throttled"))
    full = TileConfig(128, 128, 16, 4, splits=0, maxnreg=128)
    heads = of_request(RunRequest(Problem(8, 32, 4, 2, 16, 4, dtype="bf16", causal=True), full, kernel="split_kv"), 9)
    wrong = replace(make_record(99, problem, TileConfig(128, 64, 8), passed=False), source="h200-watched.tilescope")
    table.set_records([no_arrays(record) for record in (slow, warned, wrong, heads, OVER)])
    for title in ("Run", "Kernel", "Tile", "Time", "vs SDPA"):
        assert not view(table).isColumnHidden(TITLES.index(title))
        assert right_of(table, title) <= 585, title


@pytest.mark.parametrize(
    ("text", "room", "is_number", "shown"),
    [
        ("interp. 408.9 ms", "interp. 408.9 ms", True, "interp. 408.9 ms"),
        ("interp. 408.9 ms", "interp. 408.9 m", True, "…"),
        ("8×32×4 zeros seed 7", "8×32×4 zeros …", False, "8×32×4 zeros …"),
        ("1024×4096×128", "1024×4096×12", False, "…"),
        ("NVIDIA", "NVI", False, "NVIDIA"),  # a word may be cut
        ("408.9 ms", "", True, ""),
    ],
)
def test_no_number_is_cut(table: ResultsTable, text: str, room: str, is_number: bool, shown: str) -> None:
    assert fitting(text, table.fontMetrics().horizontalAdvance(room), table.font(), is_number) == shown


def test_the_edge_of_the_view_cuts_no_number(table: ResultsTable) -> None:
    """Two times that differ in their last digits alone look alike where these are beyond the edge."""
    shown, time = view(table), TITLES.index("Time")
    pictures = []
    for us in (123.4, 123.9):
        table.set_records([no_arrays(of_kernel(small(1), block_average_us=us))])
        viewport = shown.viewport()
        assert viewport is not None
        beyond = shown.width() - viewport.width()
        table.resize(shown.columnViewportPosition(time) + 30 + beyond, 300)  # px: less than a time takes
        QApplication.processEvents()
        place = shown.visualRect(table._runs.index(0, time)) & viewport.rect()
        assert place.width() == 30
        pictures.append(viewport.grab(place).toImage())
    assert pictures[0] == pictures[1]


def test_why_a_run_failed_is_never_cut(table: ResultsTable) -> None:
    column = TITLES.index("State")
    needed = max(table.fontMetrics().horizontalAdvance(text) for text in texts(table, "State"))
    assert "shared memory" in texts(table, "State")
    assert view(table).columnWidth(column) >= needed + PADDING


def of_request(request: RunRequest, run_id: int = 8) -> RunRecord:
    record = small(run_id)
    return replace(record, started=replace(record.started, request=request))


def test_a_problem_says_its_heads_dtype_and_mask_where_they_are_not_the_plain_ones() -> None:
    assert cell(small(8), "Shape").text == "8×32×4"
    assert cell(make_record(8, Problem(8, 32, 4, seed=7, inputs="zeros")), "Shape").text == "8×32×4 zeros seed 7"
    grouped = Problem(8, 32, 4, batch=2, heads=16, kv_heads=4, dtype="bf16", causal=True)
    shown = cell(of_request(RunRequest(grouped)), "Shape")
    assert shown.text == "8×32×4 2×16/4 heads bf16 causal"
    assert "batch 2, heads 16, KV heads 4\ncausal mask" in shown.tooltip
    assert dict(zip(COLUMNS[TITLES.index("Shape")].export, shown.plain, strict=True)) == {
        "M": "8",
        "N": "32",
        "D": "4",
        "batch": "2",
        "heads": "16",
        "KV heads": "4",
        "causal": "yes",
        "dtype": "bf16",
        "seed": "0",
        "inputs": "normal",
    }


def test_kernels_and_their_precisions_can_be_told_apart() -> None:
    exact, split = (of_request(RunRequest(Problem(8, 32, 4), kernel="flash", precision=p)) for p in ("ieee", "bf16x3"))
    assert (cell(exact, "Kernel").text, cell(split, "Kernel").text) == ("flash", "flash bf16x3")
    assert cell(split, "Kernel").plain == ("flash", "bf16x3")


@pytest.mark.parametrize(
    ("tile", "shown"),
    [
        (TileConfig(128, 64), "128 × 64"),
        (TileConfig(128, 64, num_warps=8), "128 × 64 · 8w 3s"),
        (TileConfig(128, 64, num_stages=2), "128 × 64 · 4w 2s"),
        (TileConfig(16, 16, splits=4), "16 × 16 · ÷4"),
        (TileConfig(16, 16, 8, 2, splits=0, maxnreg=96), "16 × 16 · 8w 2s ÷auto 96r"),
    ],
)
def test_the_tile_says_what_is_not_the_usual_of_it(tile: TileConfig, shown: str) -> None:
    found = cell(of_request(RunRequest(Problem(8, 32, 4), tile)), "Tile")
    assert found.text == shown
    assert all(words in found.tooltip for words in tile.option_words)
    other = cell(of_request(RunRequest(Problem(8, 32, 4), replace(tile, num_warps=16))), "Tile")
    assert found.sort != other.sort and found.text != other.text


def test_splits_by_rule_give_the_number_that_was_made() -> None:
    record = of_request(RunRequest(Problem(8, 32, 4), TileConfig(splits=0)))
    measured = record.measured[0].measurement
    made = replace(record.measured[0], measurement=replace(measured, tile=TileConfig(splits=7)))
    assert cell(replace(record, measured=()), "Splits").text == "auto"
    shown = cell(replace(record, measured=(made, record.measured[1])), "Splits")
    assert (shown.text, shown.plain) == ("7", ("7",))
    assert "asked for: auto" in shown.tooltip


def test_a_width_that_the_user_chose_stays(table: ResultsTable) -> None:
    shown, kernel = view(table), TITLES.index("Tile")
    shown.setColumnWidth(kernel, 333)
    table.upsert(small(8))
    assert shown.columnWidth(kernel) == 333


def test_unfinished_run_is_running() -> None:
    assert cell(replace(make_record(1), end=None, measured=()), "State").text == "running"


def test_every_time_has_its_unit() -> None:
    record = make_record(1, kernel_us=1500.0, baseline_us=90.0)
    for title in ("Time", "p20 – p80", "SDPA"):
        assert cell(record, title).text.endswith((" µs", " ms"))


def test_exported_cells_match_their_header() -> None:
    for record in [*RECORDS, make_record(9, device=INTERPRETER)]:
        for column in COLUMNS:
            assert len(column.cell(record).plain) == len(column.export), column.title


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_is_copied_and_printed_and_has_a_column_from_its_one_entry(
    qtbot: QtBot, table: ResultsTable, metric: Metric
) -> None:
    started = make_record(1).started
    record = replace(of_kernel(make_record(1), **TIMES), started=replace(started, ceilings=CEILINGS))
    kernel = record.measurement("kernel")
    value = metric.value(kernel, CEILINGS) if kernel is not None else None
    assert value is not None
    header, line = (row.split("\t") for row in tsv([record]).splitlines())
    assert dict(zip(header, line, strict=True))[metric.label] == metric.plain(value)
    printed = result_object(record)["results"][0]["metrics"]
    assert printed[metric.name] == {"value": value, "unit": metric.unit}
    of_its_own = [i for i, title in enumerate(TITLES) if title.lower() == metric.title.lower()]
    assert of_its_own or metric.at_first, "one that is not seen at first can be asked for by its title"
    for column in of_its_own:
        assert view(table).isColumnHidden(column) is not metric.at_first
        assert COLUMNS[column].cell(record).sort == value


@pytest.mark.parametrize("column", range(1, len(COLUMNS)), ids=TITLES[1:])
def test_every_column_can_be_hidden_and_shown(table: ResultsTable, column: int) -> None:
    header = view(table).horizontalHeader()
    assert header is not None
    for _ in range(2):
        header.customContextMenuRequested.emit(QPoint(20, 10))
        (menu,) = table.findChildren(QMenu)
        action = next(action for action in menu.actions() if action.text() == TITLES[column])
        was_hidden = view(table).isColumnHidden(column)
        assert action.text() == TITLES[column] and action.isChecked() is not was_hidden
        action.trigger()
        menu.close()
        QApplication.sendPostedEvents(menu, QEvent.Type.DeferredDelete)
        assert view(table).isColumnHidden(column) is not was_hidden
        table.upsert(small(9))
        assert view(table).isColumnHidden(column) is not was_hidden, "a new run leaves what was chosen"


def test_click_and_keys_announce_the_run_once_and_select_does_not(table: ResultsTable) -> None:
    seen: list[int] = []
    table.recordSelected.connect(lambda record: seen.append(record.run_id))
    table.select(RunKey("", 2))
    assert seen == []
    assert table.selected() == table.records()[1]
    click(table, 0)
    assert seen == [5]
    click(table, 0)  # once more: to see it again after a live run
    assert seen == [5, 5]
    press_key(view(table), Qt.Key.Key_Down)
    assert seen == [5, 5, 4]


def test_upsert_adds_and_replaces_without_touching_the_selection(qtbot: QtBot, table: ResultsTable) -> None:
    table.select(RunKey("", 2))
    with qtbot.assertNotEmitted(table.recordSelected):
        table.upsert(replace(small(6), end=None, measured=()))
        assert texts(table, "State")[0] == "running"
        table.upsert(small(6))
        table.upsert(replace(small(2), source="other.tilescope"))  # another run: the key has the source
        table.set_records(table.records())
    assert texts(table, "State")[0] == "passed"
    assert len(table.records()) == 7
    chosen = table.selected()
    assert chosen is not None and (chosen.source, chosen.run_id) == ("", 2)


def test_copy_puts_plain_numbers_under_a_header_with_units(table: ResultsTable) -> None:
    table.select(RunKey("", 2))
    press_key(view(table), Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    header, *rows = [line.split("\t") for line in clipboard().splitlines()]
    assert len(rows) == 1
    values = dict(zip(header, rows[0], strict=True))
    assert (values["M"], values["N"], values["D"], values["state"]) == ("8", "32", "4", "passed")
    measured = table.records()[1].measurement("kernel")
    assert measured is not None
    assert float(values["median (µs)"]) == pytest.approx(measured.latency.median, rel=1e-5)
    assert float(values["p20 (µs)"]) <= float(values["median (µs)"]) <= float(values["p80 (µs)"])


def test_copy_all_follows_the_order_shown(table: ResultsTable) -> None:
    view(table).sortByColumn(0, Qt.SortOrder.AscendingOrder)
    table.copy_all()
    assert [line.split("\t")[0] for line in clipboard().splitlines()] == ["run", "1", "2", "3", "4", "5"]


def test_copy_takes_every_selected_row(table: ResultsTable) -> None:
    model, selection = view(table).model(), view(table).selectionModel()
    assert model is not None and selection is not None
    rows = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for row in (3, 1):
        selection.select(model.index(row, 0), rows)
    table.copy_selected()
    assert [line.split("\t")[0] for line in clipboard().splitlines()] == ["run", "4", "2"]


def test_context_menu_offers_the_settings_of_a_run(qtbot: QtBot, table: ResultsTable) -> None:
    table.upsert(
        replace(small(7), started=replace(small(7).started, request=RunRequest(Problem(9, 9, 9), TileConfig(64))))
    )
    click(table, 0)
    view(table).customContextMenuRequested.emit(QPoint(20, 10))
    menu = table.findChild(QMenu)
    assert menu is not None
    actions: dict[str, QAction] = {action.text(): action for action in menu.actions()}
    assert {"Use these settings", "Copy", "Copy all", "Export…"} <= actions.keys()
    with qtbot.waitSignal(
        table.settingsRequested, check_params_cb=lambda r: r == RunRequest(Problem(9, 9, 9), TileConfig(64))
    ):
        actions["Use these settings"].trigger()
    menu.close()


def test_an_empty_table_takes_everything(qtbot: QtBot) -> None:
    table = ResultsTable(DARK)
    qtbot.addWidget(table)
    table.show()
    table.select(RunKey("", 1))
    table.copy_selected()
    table.copy_all()
    table.apply_theme(load_theme("light"))
    table.set_records([])
    assert table.selected() is None
    assert not table.grab().isNull()


def test_colours_follow_the_theme(table: ResultsTable) -> None:
    model = view(table).model()
    assert model is not None
    state = model.index(2, TITLES.index("State"))
    assert state.data(Qt.ItemDataRole.ForegroundRole) == DARK.color("bad")
    table.apply_theme(load_theme("light"))
    assert state.data(Qt.ItemDataRole.ForegroundRole) == load_theme("light").color("bad")


def test_the_interval_and_the_protocol_have_columns_and_are_copied() -> None:
    record = make_record(1, Problem(8, 32, 4), protocol="cold")
    median = record.measured[0].measurement.latency.median
    record = of_kernel(record, interval=Interval(median * 0.993, median * 1.007))
    latency = record.measured[0].measurement.latency
    assert latency.half_width is not None and latency.interval is not None
    shown = cell(record, "±95%")
    assert shown.text == f"±{100 * latency.half_width:.1f}%"
    assert shown.plain == (f"{100 * latency.half_width:.3g}",)
    assert shown.sort == latency.half_width
    assert "95% interval of the median" in shown.tooltip
    assert "kernel ±0.7%, SDPA " in shown.tooltip
    assert cell(record, "Protocol").text == "cold median"
    assert "L2 cache flushed" in cell(record, "Protocol").tooltip
    assert "cold: median" in cell(record, "Time").tooltip and "cold: median" in cell(record, "SDPA").tooltip
    assert "cold protocol" in cell(record, "vs SDPA").tooltip
    header, line = (row.split("\t") for row in tsv([record]).splitlines())
    copied = dict(zip(header, line, strict=True))
    assert copied["protocol"] == "cold" and copied["interval half-width (%)"] == shown.plain[0]
    lopsided = cell(of_kernel(record, interval=Interval(median * 0.55, median * 3.7)), "±95%")
    assert lopsided.text == "−45%/+270%" and "kernel −45%/+270%" in lopsided.tooltip
    few = make_record(1, Problem(8, 32, 4), launches=5)
    assert cell(few, "±95%").text == "–" and "too few" in cell(few, "±95%").tooltip


def test_the_protocol_names_the_figure() -> None:
    record = of_kernel(make_record(1, Problem(8, 32, 4)), block_average_us=371.25)
    assert (cell(record, "Protocol").text, cell(record, "Time").text) == ("block avg", "371.2 µs")
    assert "block: average of 50 launches in one unbroken block" in cell(record, "Time").tooltip
    assert cell(record, "Time").sort == 371.25
    median = record.measured[0].measurement.latency.median
    assert cell(record, "Time").plain == ("371.25", "average of 50 launches", f"{median:.6g}")


def test_tooltips_by_the_hosts_clock_speak_of_no_block_and_no_events() -> None:
    for protocol in ("block", "warm"):
        record = make_record(1, Problem(8, 32, 4), device=INTERPRETER, protocol=protocol)
        record = of_kernel(record, block_average_us=380.0)  # as earlier versions have it
        tips = [column.cell(record).tooltip for column in COLUMNS]
        assert any("host's clock" in tip for tip in tips)
        assert not any("block average" in tip or "unbroken" in tip or "CUDA events" in tip for tip in tips)


def test_replays_are_not_called_launches() -> None:
    record = of_kernel(make_record(1, Problem(8, 32, 4), protocol="graph"), launches=1250, launches_per_sample=25)
    assert "50 replays × 25 launches: median" in cell(record, "Time").tooltip


def of_kernel(record: RunRecord, **changes: object) -> RunRecord:
    """`record` with other findings about the kernel's times."""
    kernel, baseline = record.measured
    latency = replace(kernel.measurement.latency, **changes)  # type: ignore[arg-type]
    return replace(record, measured=(Measured(replace(kernel.measurement, latency=latency)), baseline))


def test_the_ratio_is_said_in_the_words_of_the_headline() -> None:
    record = make_record(1, Problem(8, 32, 4), kernel_us=380.0, baseline_us=190.0, protocol="cold")
    assert record.comparison is not None
    shown, ratio = cell(record, "vs SDPA"), record.comparison.ratio
    assert shown.sort == ratio.baseline_over_kernel
    assert float(shown.text.removesuffix("× slower")) == pytest.approx(1 / ratio.baseline_over_kernel, abs=0.005)
    headline = lines_of(record)["ratio"].value
    assert headline == f"{shown.text} than SDPA"
    assert "95% interval" in shown.tooltip and "from paired rounds" in shown.tooltip
    assert shown.plain[3] == "95% interval"


def test_without_paired_rounds_the_interval_says_so() -> None:
    for us in (380.0, 190.0):
        shown = cell(make_record(1, Problem(8, 32, 4), kernel_us=us), "vs SDPA")
        assert "95% interval, not paired" in shown.tooltip and shown.plain[3] == "95% interval, not paired"
        assert "not timed in turns: a drift between the two is not cancelled" in shown.tooltip
    assert shown.text == "level" and "the interval contains 1" in shown.tooltip
    assert "level with SDPA" in shown.tooltip
    few = cell(make_record(1, Problem(8, 32, 4), launches=3), "vs SDPA")
    assert few.text == "no interval" and "too few launches for an interval" in few.tooltip


def test_warnings_have_a_mark_whose_tooltip_is_the_sentence(table: ResultsTable) -> None:
    table.set_records([no_arrays(kept_whole(small(1)))])
    assert view(table).isColumnHidden(TITLES.index("!"))  # nothing to mark
    state = recorded_state("throttled")
    record = kept_whole(make_record(7, Problem(8, 32, 4), protocol="cold", device_state=state))
    table.upsert(no_arrays(record))
    assert not view(table).isColumnHidden(TITLES.index("!"))
    shown = cell(record, "!")
    assert (shown.text, shown.tone) == ("!", "warn")
    assert shown.tooltip == "\n".join(warning.text for warning in state.warnings)
    assert "throttled by power" in shown.plain[0]


def test_only_a_run_that_was_watched_says_that_nothing_is_known() -> None:
    known = "nothing is known that would have changed the times"
    watched = cell(kept_whole(small(1)), "!")
    assert watched.text == "–" and known in watched.tooltip
    unwatched = cell(small(1), "!")
    assert (unwatched.text, unwatched.tone) == ("?", "muted")
    assert "other processes on the device: whether it was steady is not known" in unwatched.tooltip
    assert "revision and hash" in unwatched.plain[0]
    assert cell(STOPPED, "!").tooltip == "no times were taken"
    host = DeviceState(DeviceReadings.without("the interpreter runs on the CPU"))
    on_host = cell(kept_whole(replace(small(1), device_state=host)), "!")
    assert known not in on_host.tooltip and "the interpreter runs on the CPU" in on_host.tooltip


def test_a_copied_run_says_what_it_was_made_on_and_with() -> None:
    header, line = (row.split("\t") for row in tsv([kept_whole(small(1))]).splitlines())
    copied = dict(zip(header, line, strict=True))
    assert len(header) == len(set(header))
    assert copied["device"] == "Test GPU" and copied["driver"] == "580.0" and copied["CUDA"] == "13.0"
    assert copied["torch"] == "2.13.0" and copied["triton"] == "3.9.0" and copied["Python"] == "3.11.7"
    assert copied["kernel revision"] == "0123abcd4567" and copied["kernel SHA-256"] == "f" * 64
    assert copied["power limit (W)"] == "700"
    assert "source revision not recorded" in cell(small(1), "Versions").tooltip


def test_the_source_says_when_and_where_it_was_measured() -> None:
    earlier = cell(small(1), "Source")
    assert earlier.text == "this session"
    assert "measured 2026-01-31 12:00:01 on Test GPU" in earlier.tooltip and "opened" not in earlier.tooltip
    assert "recording h200" in cell(replace(small(1), source="h200"), "Source").tooltip


def test_what_to_try_is_said_once() -> None:
    record = small(5, failure=Failed("timeout", "silent for 180 s", "Try a smaller tile."))
    assert cell(record, "State").tooltip.endswith("\nTry a smaller tile.")
    assert cell(OVER, "State").tooltip.endswith("\nTry: fewer stages")


def test_an_output_that_changed_while_timing_is_no_pass() -> None:
    record = make_record(1, Problem(8, 32, 4), protocol="cold")
    text = "changed while timing: suspect a race"
    changed = replace(record.rechecked[0], failed=True, max_abs_after=0.5, text=text)
    record = replace(record, rechecked=(changed, record.rechecked[1]))
    state = cell(record, "State")
    assert (state.text, state.tone, state.plain) == ("CHANGED", "bad", ("changed while timing",))
    assert "5.0e-1 after" in state.tooltip
    assert cell(record, "Time").text.startswith("CHANGED ") and text in cell(record, "Time").tooltip
    assert cell(record, "vs SDPA").text == "n/a"
