"""Files of earlier versions: what they name otherwise is found, and what they lack is made of what they have."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.samples import make_record, recorded_state
from workbench.analysis.caveats import FLATTERING
from workbench.run import codec
from workbench.run.ceilings import FILE, Ceilings, best_fit, kept_ceilings, save_ceilings
from workbench.run.device_state import DeviceWarning
from workbench.run.events import DeviceState, Failed
from workbench.run.protocols import BLOCK, PROTOCOLS
from workbench.run.record import RunRecord
from workbench.run.request import Problem

CEILINGS = Ceilings(
    "GPU",
    "1",
    "2",
    "2026-11-30",
    4e12,
    warnings=("copy: clocks not steady: from 1 to 2 MHz",),
    labels=("copy: clocks",),
)


def aged(value: Any, age: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """What a file holds, with `age` done to every dataclass in it."""
    if isinstance(value, list):
        return [aged(item, age) for item in value]
    return age({key: aged(item, age) for key, item in value.items()}) if isinstance(value, dict) else value


def as_it_once_was(data: dict[str, Any]) -> dict[str, Any]:
    """A dataclass as files had it before warnings had labels, failures a resource, and other things their name."""
    if data.get("protocol") == BLOCK.name:
        data = {**data, "protocol": "article"}
    kind = {"DeviceReadings": "DeviceTrace"}.get(data.get("$type", ""), data.get("$type"))
    without = {key: value for key, value in data.items() if key not in ("label", "labels", "resource", "$type")}
    renamed = {"trace" if key == "readings" else key: value for key, value in without.items()}
    return {"$type": kind, **renamed} if kind else renamed


def read_again(record: RunRecord) -> RunRecord:
    data, arrays = codec.encode(record)
    return codec.decode(aged(json.loads(json.dumps(data)), as_it_once_was), arrays)


@pytest.mark.parametrize("name", ["steady", "unsteady", "throttled", "shared"])
def test_what_a_device_did_is_read_under_its_old_name(name: str) -> None:
    state = recorded_state(name)
    found = read_again(make_record(1, Problem(8, 32, 4), device_state=state)).device_state
    assert found is not None and found.warnings == state.warnings
    assert list(found.readings.t) == list(state.readings.t) and found.readings.timed == state.readings.timed


@pytest.mark.parametrize("warning", FLATTERING.values(), ids=FLATTERING)
def test_labels_that_no_sentence_begins_with_are_found(warning: DeviceWarning) -> None:
    state = DeviceState(recorded_state("steady").readings, (warning,))
    found = read_again(make_record(1, Problem(8, 32, 4), device_state=state)).device_state
    assert found is not None and found.warnings == (warning,)


@pytest.mark.parametrize(
    ("message", "resource"),
    [
        ("the tile needs 393216 B of shared memory; this device allows 232448 B", "shared memory"),
        ("the PTX assembler refused the kernel: Register allocation failed", "registers"),
        ("CUDA error: invalid configuration argument", ""),
    ],
)
def test_the_resource_is_that_of_the_message(message: str, resource: str) -> None:
    record = make_record(1, Problem(8, 32, 4), failure=Failed("resources", message, resource="else"))
    assert read_again(record).end == Failed("resources", message, resource=resource)
    other = replace(record, end=Failed("launch", message))
    assert read_again(other).end == other.end


def test_kept_ceilings_have_labels_without_figures(tmp_path: Path) -> None:
    save_ceilings(CEILINGS, tmp_path)
    assert best_fit(kept_ceilings("GPU", "1", "2", tmp_path)) == CEILINGS
    kept = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps([{k: v for k, v in entry.items() if k != "labels"} for entry in kept]))
    found = best_fit(kept_ceilings("GPU", "1", "2", tmp_path))
    assert found is not None and found.brief_notes == ("copy: clocks not steady",)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_protocol_is_read_by_the_name_it_has_today(protocol: str) -> None:
    record = make_record(1, Problem(8, 32, 4), protocol=protocol)
    found = read_again(record)
    assert found.started.request == record.started.request
    latencies = [measured.measurement.latency for measured in found.measured]
    assert [latency.protocol for latency in latencies] == [protocol] * 2
    assert [latency.figure_us for latency in latencies] == [m.measurement.latency.figure_us for m in record.measured]


def test_a_request_that_could_name_no_protocol_had_the_one_there_was() -> None:
    data, arrays = codec.encode(make_record(1, Problem(8, 32, 4)))
    del data["started"]["request"]["protocol"]
    assert codec.decode(data, arrays).started.request.protocol == BLOCK.name
