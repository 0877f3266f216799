"""Runs as a table for other programs: each kind of file reads back as what the runs hold."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, INTERPRETER, make_record, recorded_state
from workbench.analysis.metrics import METRICS, Metric, comparable_ratio, interval_of
from workbench.export.columns import COLUMNS, Column, Value
from workbench.export.files import WRITERS, ExportError, export_runs, tsv_text
from workbench.run.events import Failed, Measured
from workbench.run.measurement import ROLES
from workbench.run.record import RunRecord
from workbench.run.request import Problem, Rival, RunRequest
from workbench.run.session import Session

RECORDINGS = Path(__file__).resolve().parents[2] / "assets" / "recordings"


def runs() -> list[RunRecord]:
    """Runs of every kind: right, wrong, failed with a long message, without a GPU, in turns, never begun."""
    problem = Problem(32, 64, 16, 2, 4, 2, "fp16", True, 7, "uniform")
    told = make_record(1, problem, TileConfig(32, 64, 8, 2), protocol="cold", device_state=recorded_state("throttled"))
    failed = Failed("resources", 'too much "shared memory",\tsay\nthe tools', resource="shared memory")
    return [
        told,
        make_record(2, protocol="block"),
        make_record(3, passed=False),
        make_record(4, device=INTERPRETER),
        replace(make_record(5), measured=(), end=failed),
        replace(make_record(6), measured=(), checked=(), end=None),
        make_record(7, launches=3),  # too few for an interval
    ]


def read_separated(path: Path) -> list[dict[str, Value]]:
    """As a program reads it that knows what each column holds."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    kinds: dict[str, Callable[[str], Value]] = {column.name: parse(column) for column in COLUMNS}
    return [{name: kinds[name](text) if text else None for name, text in row.items()} for row in rows]


def parse(column: Column) -> Callable[[str], Value]:
    if column.kind is bool:
        return {"true": True, "false": False}.__getitem__
    return column.kind


def read_json(path: Path) -> list[dict[str, Value]]:
    found: list[dict[str, Value]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def read_parquet(path: Path) -> list[dict[str, Value]]:
    import pyarrow.parquet as pq

    found: list[dict[str, Value]] = pq.read_table(path).to_pylist()
    return found


READERS = {".csv": read_separated, ".tsv": read_separated, ".json": read_json, ".parquet": read_parquet}


def held(records: Sequence[RunRecord]) -> list[dict[str, Value]]:
    return [{column.name: column.value(record) for column in COLUMNS} for record in records]


@pytest.mark.parametrize("ending", WRITERS)
def test_what_is_written_reads_back_as_what_the_runs_hold(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"runs{ending}"
    export_runs(runs(), path)
    assert READERS[ending](path) == held(runs())
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("recording", sorted(RECORDINGS.glob("*.tilescope")), ids=lambda path: path.stem)
def test_recorded_runs_are_written_without_a_gpu(ending: str, recording: Path, tmp_path: Path) -> None:
    records = Session(recording, read_only=True).summaries()
    path = tmp_path / f"runs{ending}"
    export_runs(records, path)
    assert READERS[ending](path) == held(records)


def test_no_number_is_json_s_null(tmp_path: Path) -> None:
    record = make_record(1)
    kernel = record.measured[0].measurement
    broken = replace(kernel, error=replace(kernel.error, rms=float("nan"), mean_abs=float("inf")))
    checked = replace(record.checked[0], error=broken.error)
    record = replace(record, measured=(Measured(broken),), checked=(checked,))
    export_runs([record], tmp_path / "runs.json")
    (row,) = read_json(tmp_path / "runs.json")
    assert row["rms error"] is None and row["mean error"] is None


def test_every_name_is_there_once_and_both_ends_of_every_interval() -> None:
    names = [column.name for column in COLUMNS]
    assert len(names) == len(set(names))
    record = make_record(1, protocol="cold")
    row = dict(zip(names, (column.value(record) for column in COLUMNS), strict=True))
    for role, prefix in zip(ROLES, ("", "SDPA "), strict=True):
        measured = record.measurement(role)
        assert measured is not None
        interval = interval_of(measured.latency)
        assert interval is not None
        assert row[f"{prefix}median 95% low (µs)"] == interval.low
        assert row[f"{prefix}median 95% high (µs)"] == interval.high
    ratio = comparable_ratio(record)
    assert ratio is not None and (row["ratio low"], row["ratio high"]) == (ratio.low, ratio.high)


def changed(name: str, value: object) -> object:
    if isinstance(value, bool):
        return not value
    if name == "rival":
        return Rival("flash", TileConfig())
    return f"{value}x" if isinstance(value, str) else (value or 0) + 1  # type: ignore[operator]


@pytest.mark.parametrize("part", [Problem, TileConfig, RunRequest], ids=lambda part: part.__name__)
def test_every_setting_has_a_column(part: type) -> None:
    """Two runs that differ in one setting differ in the table, also in a setting that is added later."""
    record = replace(make_record(1), measured=(), checked=())
    request = record.started.request
    holders: dict[type, Any] = {Problem: request.problem, TileConfig: request.tile, RunRequest: request}
    for field in fields(part):
        if field.name in ("problem", "tile", "auto_tile"):  # parts of their own, and what no run in a file has
            continue
        holder: Any = replace(holders[part], **{field.name: changed(field.name, getattr(holders[part], field.name))})
        other: dict[str, Any] = {Problem: {"problem": holder}, TileConfig: {"tile": holder}}.get(part, {})
        asked = replace(request, **other) if other else holder
        altered = replace(record, started=replace(record.started, request=asked))
        assert held([altered]) != held([record]), field.name


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_is_there_for_kernel_and_baseline(metric: Metric) -> None:
    names = {column.name for column in COLUMNS}
    assert {metric.label, f"SDPA {metric.label}"} <= names


def test_no_ratio_is_written_that_the_program_does_not_show() -> None:
    for record in (make_record(1, device=INTERPRETER), make_record(2, passed=False)):
        (row,) = held([record])
        assert row["SDPA / kernel"] is row["ratio low"] is row["ratio high"] is None


def test_another_ending_and_a_folder_that_is_not_there_are_a_line(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"runs\.xls is no table's name; allowed are names that end in \.csv, \.tsv"):
        export_runs(runs(), tmp_path / "runs.xls")
    with pytest.raises(ExportError, match=r"runs\.csv cannot be written: No such file"):
        export_runs(runs(), tmp_path / "none" / "runs.csv")
    assert not list(tmp_path.iterdir())


def test_without_pyarrow_parquet_says_what_to_install_and_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "runs.parquet"
    path.write_text("mine")
    with pytest.raises(ExportError, match="pip install pyarrow"):
        export_runs(runs(), path)
    assert path.read_text() == "mine" and len(list(tmp_path.iterdir())) == 1


def test_the_clipboard_has_the_very_table(tmp_path: Path) -> None:
    export_runs(runs(), tmp_path / "runs.tsv")
    assert (tmp_path / "runs.tsv").read_text(encoding="utf-8") == tsv_text(runs())


def test_numbers_are_whole_and_of_python() -> None:
    record = make_record(1, device=GPU)
    for column in COLUMNS:
        value = column.value(record)
        assert value is None or type(value) is column.kind, column.name
        assert not isinstance(value, np.generic)
