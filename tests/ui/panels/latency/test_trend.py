"""The latency panel's trend: which runs are drawn, over what, how they look, and what is said of the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, INTERPRETER, events_of, make_record
from tests.ui.growing import feed, grow
from workbench.analysis.metrics import METRICS, Metric
from workbench.run.events import Failed, Measured, Samples
from workbench.run.library import Library
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.run.session import Session
from workbench.ui.panels.latency.panel import LatencyPanel
from workbench.ui.panels.latency.trend.along import ALONG, ORDER, Along
from workbench.ui.panels.latency.trend.axis import PlaceAxis
from workbench.ui.panels.latency.trend.card import card_lines
from workbench.ui.panels.latency.trend.history import History
from workbench.ui.panels.latency.trend.looks import TOKENS, Series, looks_of
from workbench.ui.panels.latency.trend.places import places_of
from workbench.ui.panels.latency.trend.plot import RING
from workbench.ui.panels.latency.trend.runs import figures_of
from workbench.ui.text.fit import text_width
from workbench.ui.theme import THEME_NAMES, load_theme

PROBLEM = Problem(32, 64, 16)


@pytest.fixture
def panel(qtbot: QtBot) -> LatencyPanel:
    panel = LatencyPanel(load_theme("dark"))
    qtbot.addWidget(panel)
    panel.resize(1000, 500)
    panel.show()
    return panel


def cold(number: int, tile: TileConfig | None = None, us: float = 380.0, **request: Any) -> RunRecord:
    """A run under `cold`; `request` changes what it was asked for, a field of the problem included."""
    record = make_record(number, PROBLEM, tile, us, protocol="cold")
    asked = record.started.request
    of_problem = {name: value for name, value in request.items() if hasattr(asked.problem, name)}
    others = {name: value for name, value in request.items() if name not in of_problem}
    problem = replace(asked.problem, **of_problem)
    asked = replace(asked, problem=problem, **others)
    return replace(record, started=replace(record.started, request=asked))


def draw_all(panel: LatencyPanel) -> None:
    """Draw until nothing is left, as for a picture."""
    while panel.tick(inf):
        pass


def stopped(record: RunRecord) -> RunRecord:
    parts = tuple(Samples(m.measurement.role, m.measurement.latency.samples[:20]) for m in record.measured)
    end = Failed("cancelled", "Stopped.")
    return replace(record, measured=(), comparison=None, rechecked=(), states=None, partial=parts, end=end)


def wrong(record: RunRecord) -> RunRecord:
    changed = replace(record.rechecked[0], failed=True, text="changed")
    return replace(record, rechecked=(changed, *record.rechecked[1:]))


def older(record: RunRecord) -> RunRecord:
    return replace(record, started=replace(record.started, device=replace(GPU, torch="2.11.0")))


def show(panel: LatencyPanel, records: Sequence[RunRecord], shown: int = -1, along: Along | str = ORDER) -> None:
    """Draw the trend of `records` with one of them shown."""
    name = along if isinstance(along, str) else along.name
    panel.along_box.setCurrentIndex([one.name for one in ALONG].index(name))
    panel.set_history(records)
    panel.show_run(records[shown])
    draw_all(panel)
    QApplication.processEvents()
    draw_all(panel)


def drawn(panel: LatencyPanel) -> list[int]:
    return [run.record.run_id for run in panel.trend_plot.runs]


def labels(panel: LatencyPanel) -> list[str]:
    return [text for _, text in panel.trend_plot.places.ticks]


def place_of(panel: LatencyPanel, number: int) -> QPointF:
    """Where the mark of run `number` is in the scene."""
    plot = panel.trend_plot
    i = drawn(panel).index(number)
    y = plot.y[i] if np.isfinite(plot.y[i]) else plot.foot.items[0].getData()[1][0]
    where: QPointF = plot.plot.vb.mapViewToScene(QPointF(plot.places.x[i], y))
    return where


@pytest.mark.parametrize("count", [1, 5, 41, 500])
def test_every_run_of_the_problem_is_drawn_however_many_there_are(panel: LatencyPanel, count: int) -> None:
    base = cold(1)
    show(panel, [replace(base, run_id=i) for i in range(1, count + 1)])
    assert drawn(panel) == list(range(1, count + 1))
    assert "not drawn" not in panel.legend.plain()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (make_record(9, PROBLEM, protocol="warm"), "1 of protocol warm"),
        (make_record(9, PROBLEM, protocol="cold", device=replace(GPU, name="Another GPU")), "1 on Another GPU"),
        (make_record(9, PROBLEM, protocol="cold", device=INTERPRETER), "1 on Test CPU"),
    ],
    ids=["protocol", "device", "interpreter"],
)
def test_what_is_of_another_protocol_or_device_is_counted_and_not_drawn(
    panel: LatencyPanel, other: RunRecord, words: str
) -> None:
    show(panel, [other, cold(1), cold(2)])
    assert drawn(panel) == [1, 2]
    assert f"not drawn: {words}" in panel.legend.plain()


OTHER_VALUES = {
    "m": 48, "n": 128, "d": 32, "batch": 2, "heads": 2, "kv_heads": 1, "dtype": "fp16", "causal": True,
    "inputs": "outliers",
}  # fmt: skip


@pytest.mark.parametrize("along", ALONG, ids=lambda along: along.name)
@pytest.mark.parametrize("name", [field.name for field in fields(Problem) if field.name != "seed"])
def test_another_problem_is_drawn_only_along_the_field_in_which_it_differs(
    panel: LatencyPanel, along: Along, name: str
) -> None:
    more: dict[str, Any] = {"kv_heads": 2} if name == "heads" else {"heads": 2} if name == "kv_heads" else {}
    base: dict[str, Any] = {"heads": 2, "kv_heads": 2} if name == "kv_heads" else {}
    show(panel, [cold(1, **{**base, **more, name: OTHER_VALUES[name]}), cold(2, **base)], along=along)
    assert drawn(panel) == ([1, 2] if along.name == name else [2])
    assert (panel.trend_plot.best is None) == (not along.keeps_kind)


TILES = {field.name: replace(TileConfig(16, 16, 4, 3, 1), **{field.name: 32}) for field in fields(TileConfig)}
VALUES: dict[str, Callable[[], tuple[RunRecord, RunRecord]]] = {
    **{name: (lambda tile=tile: (cold(1), cold(2, tile))) for name, tile in TILES.items()},  # type: ignore[misc]
    **{
        name: (lambda name=name, value=value: (cold(1), cold(2, **{name: value})))  # type: ignore[misc]
        for name, value in {"kernel": "flash", "precision": "tf32", "seed": 7, "rtol": 1e-3, "atol": 1e-3,
                            "max_seconds": 9.0}.items()
    },
    "protocol": lambda: (cold(1), make_record(2, PROBLEM, protocol="warm")),
    "device": lambda: (cold(1), make_record(2, PROBLEM, protocol="cold", device=replace(GPU, name="Another GPU"))),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_runs_stand_at_their_values_along_any_field(panel: LatencyPanel, name: str) -> None:
    records = list(VALUES[name]())
    for i, record in enumerate(records):
        launched = replace(record.measured[0].measurement, tile=record.started.request.tile)
        records[i] = replace(record, measured=(Measured(launched), *record.measured[1:]))
    show(panel, records, along=name)
    assert drawn(panel) == [1, 2]
    x = panel.trend_plot.places.x
    assert len(labels(panel)) == 2 and x[0] != x[1]
    title = next(along.title for along in ALONG if along.name == name)
    assert panel.trend_plot.axis.names[0].startswith(title)


def test_every_field_of_a_problem_and_of_a_tile_can_be_the_axis() -> None:
    names = {along.name for along in ALONG}
    assert {field.name for field in fields(Problem)} | {field.name for field in fields(TileConfig)} <= names
    assert {"kernel", "precision", "sdpa", "protocol", "device"} <= names & {f.name for f in fields(RunRequest)}


def test_powers_of_two_are_evenly_apart_with_their_real_values(panel: LatencyPanel) -> None:
    records = [cold(i, TileConfig(block, 16)) for i, block in enumerate((16, 32, 128), 1)]
    show(panel, records, along="block_m")
    assert labels(panel) == ["16", "32", "128"]
    at = [x for x, _ in panel.trend_plot.places.ticks]
    assert at[2] - at[1] == pytest.approx(2 * (at[1] - at[0]))
    assert "BLOCK_M, query rows" in panel.trend_plot.axis.names[0]


def test_what_is_left_open_is_called_auto_and_stands_before_the_numbers(panel: LatencyPanel) -> None:
    show(panel, [cold(1, TileConfig(maxnreg=64)), cold(2, TileConfig(maxnreg=0))], along="maxnreg")
    assert labels(panel)[0] == "auto"


@pytest.mark.parametrize("count", [7, 60, 500])
@pytest.mark.parametrize("width", [150, 400, 900])
def test_labels_below_the_trend_are_run_numbers_that_do_not_meet(panel: LatencyPanel, count: int, width: int) -> None:
    base = cold(1)
    history = History()
    history.set_records([replace(base, run_id=i) for i in range(1, count + 1)])
    axis = PlaceAxis()
    places = places_of(history.trend(base).runs, ORDER)
    axis.set_places(places)
    low, high = places.ends
    ticks = axis.tickValues(low, high, width)[0][1]
    texts = axis.tickStrings(ticks)
    assert texts and all(text.isdigit() for text in texts)
    pixels = width / (high - low)
    for (a, left), (b, right) in pairwise(list(zip(ticks, texts, strict=True))):
        assert (b - a) * pixels >= (text_width(left) + text_width(right)) / 2
    assert axis.needed_height(width) < 60


def test_words_are_whole_or_keep_their_ends(panel: LatencyPanel) -> None:
    devices = ["A very long name of a device of 80 GB", "A very long name of a device of 40 GB"]
    records = [make_record(i, PROBLEM, protocol="cold", device=replace(GPU, name=n)) for i, n in enumerate(devices, 1)]
    panel.resize(460, 400)
    show(panel, records, along="device")
    axis = panel.trend_plot.axis
    low, high = panel.trend_plot.plot.vb.viewRange()[0]
    texts = axis.tickStrings(axis.tickValues(low, high, axis.width())[0][1])
    assert len(set(texts)) == 2, "cut where they differ"


def test_a_kernel_has_one_colour_and_shape_in_whatever_company() -> None:
    kernels = ("article", "flash", "materialized", "split_kv", "hopper")
    alone = {name: looks_of([Series(name, "ieee")])[Series(name, "ieee")] for name in kernels}
    together = looks_of(Series(name, "ieee") for name in reversed(kernels))
    assert {series.kernel: look for series, look in together.items()} == alone
    assert len({look.token for look in alone.values()}) == len({look.symbol for look in alone.values()}) == len(kernels)
    precisions = looks_of([*(Series("flash", p) for p in ("ieee", "tf32", "bf16x3")), Series("article", "ieee")])
    assert len({look.symbol for look in precisions.values()}) == 4
    assert len({look.token for look in precisions.values()}) == 2


@pytest.mark.parametrize("name", THEME_NAMES)
def test_the_colours_of_kernels_differ_and_are_none_that_mean_something_else(name: str) -> None:
    theme = load_theme(name)
    colors = [getattr(theme, token) for token in TOKENS]
    assert len({*colors, theme.baseline, theme.bad, theme.good}) == len(colors) + 3


def test_the_legend_names_each_kernel_with_its_mark(panel: LatencyPanel) -> None:
    show(panel, [cold(1), cold(2, kernel="flash", precision="bf16x3")])
    for series, look in panel.trend_plot.looks.items():
        assert f"{look.glyph} {series.kernel}" in panel.legend.plain()


@pytest.mark.parametrize("along", [ORDER.name, "block_n", "kernel"])
def test_wrong_and_failed_runs_are_off_the_line_and_named(panel: LatencyPanel, along: str) -> None:
    records = [
        cold(1, TileConfig(16, 16), 400),
        wrong(cold(2, TileConfig(16, 32), 100)),
        make_record(3, PROBLEM, TileConfig(16, 64), failure=Failed("resources", "no"), protocol="cold"),
        stopped(cold(4, TileConfig(16, 64))),
        cold(5, TileConfig(16, 128), 300),
    ]
    show(panel, records, along=along)
    plot = panel.trend_plot
    assert drawn(panel) == [1, 2, 3, 4, 5]
    assert np.isnan(plot.y).tolist() == [False, False, True, True, False]
    assert all(path.y.min() > 200 for path in plot.paths) and len(plot.paths) == (along != "kernel")
    assert plot.best is not None and plot.best.record.run_id == 5
    crosses = [item for item in plot.marks.items if item.isVisible() and item.opts["symbol"] == "x"]
    assert [len(item.getData()[0]) for item in crosses] == [1]
    low, high = plot.plot.vb.viewRange()[1]
    foot = plot.foot.items[0].getData()
    assert len(foot[0]) == 2 and np.all(foot[1] > low) and np.all(foot[1] < low + 0.2 * (high - low))
    assert "WRONG" in panel.legend.plain() and "failed" in panel.legend.plain()
    card = card_lines([plot.runs[2]], plot.trend, plot.looks, panel.theme) if plot.trend else []
    assert any("unfinished" in line for line in card)


@pytest.mark.parametrize("change", [stopped, older], ids=["unfinished", "other versions"])
def test_why_a_mark_is_hollow_is_said(panel: LatencyPanel, change: Callable[[RunRecord], RunRecord]) -> None:
    records = [cold(1), change(cold(2))]
    show(panel, [cold(1), cold(3)])
    assert "hollow" not in panel.legend.plain()
    show(panel, records)
    assert "hollow: unfinished" in panel.legend.plain() or "hollow: other versions" in panel.legend.plain()
    assert len(panel.trend_plot.paths) == (1 if change is stopped else 2), "never joined"


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_the_best_right_run_is_named_with_its_tile_where_a_way_is_better(panel: LatencyPanel, metric: Metric) -> None:
    panel.metric_box.setCurrentIndex(METRICS.index(metric))
    show(panel, [cold(1, TileConfig(16, 16), 300), cold(2, TileConfig(32, 16), 200)])
    plot = panel.trend_plot
    known = bool(plot.runs) and metric.better != "neither"
    assert (plot.best is not None) == known
    if plot.best is not None:
        sign = 1 if metric.better == "lower" else -1
        values = [sign * run.figures["kernel"].value for run in plot.runs]
        assert sign * plot.best.figures["kernel"].value == min(values)
        assert plot.best.record.started.request.tile.label in plot.best_texts[0]
        assert plot.label.isVisible()
        box = plot.plot.vb
        assert box.sceneBoundingRect().adjusted(-2, -2, 2, 2).contains(plot.label.sceneBoundingRect())


def test_the_line_is_the_best_so_far_and_at_each_value(panel: LatencyPanel) -> None:
    records = [cold(i, TileConfig(16, n), us) for i, (n, us) in enumerate(((16, 300), (32, 500), (32, 200)), 1)]
    figures = [r.measured[0].measurement.latency.figure_us for r in records]
    show(panel, records)
    (path,) = panel.trend_plot.paths
    assert path.y.tolist() == pytest.approx(np.repeat([figures[0], figures[0], figures[2]], 2).tolist())
    show(panel, records, along="block_n")
    (path,) = panel.trend_plot.paths
    assert path.y.tolist() == pytest.approx([figures[0], figures[2]])


def test_bars_are_the_intervals(panel: LatencyPanel) -> None:
    record = cold(1)
    show(panel, [record])
    latency, bars = record.measured[0].measurement.latency, panel.trend_plot.bars.opts
    assert latency.interval is not None
    assert bars["y"] + bars["top"] == pytest.approx(latency.interval.high)
    assert bars["y"] - bars["bottom"] == pytest.approx(latency.interval.low)


def of_average(record: RunRecord, us: float | None) -> RunRecord:
    """`record` with `us` as the average of its block."""
    kernel = record.measured[0].measurement
    changed = replace(kernel, latency=replace(kernel.latency, block_average_us=us))
    return replace(record, measured=(Measured(changed), *record.measured[1:]))


def test_figures_are_those_of_the_headline_and_two_kinds_are_not_joined(panel: LatencyPanel) -> None:
    """As of a recording that is older than the block: launch-bound, an average is far from the median beside it."""
    records = [of_average(make_record(i, PROBLEM, kernel_us=57), us) for i, us in ((1, None), (2, 110.0), (3, 78.4))]
    show(panel, records)
    plot = panel.trend_plot
    figures = [record.measured[0].measurement.latency.figure_us for record in records]
    assert (plot.y * plot.scale.size).tolist() == pytest.approx(figures)
    assert figures[1:] == [110.0, 78.4] and len(plot.paths) == 2
    assert plot.plot.getAxis("left").names[0] == "block average or median, bar: 95% interval, µs"
    assert len(plot.bars.opts["x"]) == 1, "an average has none"
    assert plot.best is not None and plot.best.record.run_id == 3, "of the kind of the run shown"


def test_a_run_has_no_point_on_a_trend_of_averages_before_it_has_its_own(panel: LatencyPanel) -> None:
    earlier, record = make_record(1, PROBLEM), make_record(2, PROBLEM, TileConfig(64, 16))
    panel.set_history([earlier])
    grow(panel, record.started, Samples("kernel", np.array([5.0, 6.0])))
    draw_all(panel)
    assert panel.shown is not None and drawn(panel) == [1]


@pytest.mark.parametrize(("kernel", "is_hollow"), [("article", True), ("flash", False)])
def test_sources_are_compared_within_one_kernel_only(panel: LatencyPanel, kernel: str, is_hollow: bool) -> None:
    provenance = replace(cold(1).started.provenance, source_sha256="b" * 64)
    other = cold(1, kernel=kernel)
    show(panel, [replace(other, started=replace(other.started, provenance=provenance)), cold(2)])
    assert bool(panel.trend_plot.hollow.reason(panel.trend_plot.runs[0])) == is_hollow
    assert not panel.trend_plot.hollow.reason(panel.trend_plot.runs[0], "baseline")


@pytest.mark.parametrize("protocol", ["graph-cold", "block"])
def test_the_protocol_of_a_trend_is_named_however_little_room_there_is(panel: LatencyPanel, protocol: str) -> None:
    show(panel, [make_record(1, PROBLEM, protocol=protocol)])
    assert all(protocol in name for name in panel.trend_plot.axis.names)


def test_runs_at_one_value_are_told_apart(panel: LatencyPanel) -> None:
    records = [cold(i, kernel=kernel) for i, kernel in enumerate(("article", "article", "flash"), 1)]
    show(panel, records, along="block_m")
    x = panel.trend_plot.places.x
    assert len(set(x.tolist())) == 3
    assert abs(x[0] - x[1]) < abs(x[0] - x[2])


def test_sdpa_is_a_line_in_a_band_from_its_least_to_its_most(panel: LatencyPanel) -> None:
    records = [make_record(i, PROBLEM, baseline_us=us, protocol="cold") for i, us in ((1, 100), (2, 140), (3, 120))]
    figures = [r.measured[1].measurement.latency.figure_us for r in records]
    show(panel, records)
    (level,) = panel.trend_plot.levels
    assert (level.low[0], level.middle[0], level.high[0]) == pytest.approx((min(figures), figures[2], max(figures)))
    assert "SDPA (efficient)" in panel.legend.plain()
    show(panel, [cold(1), cold(2, n=128)], along="n")
    (level,) = panel.trend_plot.levels
    assert len(set(level.x.tolist())) == 2, "of each problem its own"


@pytest.mark.parametrize("along", [ORDER.name, "block_m"])
def test_a_click_asks_for_the_run_and_hovering_tells_all_of_it(panel: LatencyPanel, qtbot: QtBot, along: str) -> None:
    tile = TileConfig(32, 16, num_warps=8, num_stages=2)
    failed = make_record(3, PROBLEM, TileConfig(128, 16), failure=Failed("resources", "no"), protocol="cold")
    records = [cold(1, tile, 300), cold(2, TileConfig(64, 16), 380), failed]
    show(panel, records, shown=1, along=along)
    lines = panel.hover_lines(place_of(panel, 1))
    text = re.sub("<[^>]*>", "", " ".join(lines))
    for words in ("article 32×16", "8 warps, 2 stages", "run 1", "32 × 64 × 16", "cold protocol", "torch 2.13.0",
                  "median", "SDPA", "max error"):  # fmt: skip
        assert words in text
    for number in (1, 3):
        position = panel.graphics.mapFromScene(place_of(panel, number))
        with qtbot.waitSignal(panel.recordChosen) as chosen:
            qtbot.mouseClick(panel.graphics.viewport(), Qt.MouseButton.LeftButton, pos=position)  # type: ignore[no-untyped-call]
        assert chosen.args[0].run_id == number


def test_the_run_shown_is_ringed_and_whole_in_sight(panel: LatencyPanel) -> None:
    records = [cold(i, us=300.0 + 10 * i) for i in range(1, 6)]
    for shown in (0, 2, 4):
        show(panel, records, shown=shown)
        plot = panel.trend_plot
        x, y = plot.ring.getData()
        assert x.tolist() == [plot.places.x[shown]]
        box = plot.plot.vb
        at = box.mapViewToScene(QPointF(x[0], y[0]))
        around = box.sceneBoundingRect().adjusted(RING / 2 - 1, RING / 2 - 1, 1 - RING / 2, 1 - RING / 2)
        assert around.contains(at)


def test_a_live_run_moves_alone(panel: LatencyPanel) -> None:
    earlier, record = cold(1), cold(2, TileConfig(64, 16))
    panel.set_history([earlier])
    for event in events_of(record):
        grow(panel, event)
        panel.tick()
        if panel.shown is not None and panel.trend_plot.shown is not None:
            assert len(panel.trend_plot.runs) == 2
            assert bool(panel.trend_plot.shown.unfinished) is (event is not record.end)
    kept = panel.trend_plot.trend
    panel.mark_stale()
    panel.tick()
    assert panel.trend_plot.trend is kept


def test_one_more_run_reads_no_other_again(monkeypatch: pytest.MonkeyPatch) -> None:
    base, history, read = cold(1), History(), list[int]()
    records = [replace(base, run_id=i) for i in range(1, 51)]
    history.set_records(records)
    assert len(history.trend(base).runs) == 50

    def count(record: RunRecord, metric: Metric) -> object:
        read.append(record.run_id)
        return figures_of(record, metric)

    monkeypatch.setattr("workbench.ui.panels.latency.trend.history.figures_of", count)
    history.set_records([*records, replace(base, run_id=51)])
    assert len(history.trend(base).runs) == 51 and read == [51]
    history.set_records(records[1:])
    assert [run.record.run_id for run in history.trend(base).runs] == list(range(2, 51))


def test_many_runs_are_read_a_piece_at_a_time_and_that_is_said(panel: LatencyPanel) -> None:
    base, history = cold(1), History()
    records = [replace(base, run_id=i) for i in range(1, 21)]
    history.set_records(records)
    waiting = [history.trend(base, seconds=-1.0).waiting for _ in range(40)]
    assert waiting[0] == 19 and waiting[-1] == 0
    assert len(history.trend(base, seconds=-1.0).runs) == 20


def test_a_session_opened_again_as_its_recording_doubles_nothing(panel: LatencyPanel, tmp_path: Path) -> None:
    library = Library(Session(tmp_path / "own.tilescope"))
    for i in (1, 2, 3):
        record = cold(i, TileConfig(16, 16 * i))
        library.add(library.session.add(stopped(record) if i == 2 else record), saved=True)
    library.save_copy(tmp_path / "copy.tilescope", sealed=True)
    library.open_recording(tmp_path / "copy.tilescope")
    panel.set_history(library.records())
    for record in library.records():
        feed(panel, library.load(record))
        assert drawn(panel) == [1, 2, 3]
        assert panel.trend_plot._shown_at == record.run_id - 1


@pytest.mark.parametrize("theme", THEME_NAMES)
@pytest.mark.parametrize("size", [(426, 392), (1000, 500)], ids=str)
def test_a_card_fits_the_panel(panel: LatencyPanel, theme: str, size: tuple[int, int]) -> None:
    panel.apply_theme(load_theme(theme))
    panel.resize(*size)
    device = replace(GPU, torch="2.11.0+cu130", triton="3.6.0", driver="580.159.04")
    record = cold(1, TileConfig(128, 128, splits=4), 1234.5)
    record = replace(record, started=replace(record.started, device=device))
    show(panel, [record, cold(2)], shown=0)
    panel._on_mouse(place_of(panel, 1))
    assert panel.hover.isVisible() and panel.graphics.rect().contains(panel.hover.geometry())
