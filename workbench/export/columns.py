"""The columns of the table of runs that other programs read: one list, for the clipboard and for every kind of file.

A name has its unit. A setting has its column from the dataclass that holds it, and a number about a measurement from
METRICS, so that a new one of either is in the table without a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from math import isfinite
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kernels.plain.launch_options import LAUNCH_OPTIONS
from kernels.plain.tiles import AUTO_SPLITS, TileConfig
from workbench.analysis.metrics import METRICS, Metric, comparable_ratio, find_metric, interval_of
from workbench.run.environment import DeviceInfo, Provenance
from workbench.run.events import Failed, Rechecked, TileStates
from workbench.run.measurement import ErrorStats, Latency, Measurement, Role
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.stats.summary import Interval, Ratio
from workbench.words.names import rival_text
from workbench.words.remarks import remarks_of
from workbench.words.results import NOT_PAIRED, PAIRED, state_text
from workbench.words.times import figure_text, modes_text

Value = str | int | float | bool | None
Part = Callable[[RunRecord], Any]
KINDS: tuple[type, ...] = (bool, int, float, str)


@dataclass(frozen=True)
class Column:
    """A column under `name`, which has its unit; what `find` gives of a run is of `kind`, or None where it has none."""

    name: str
    kind: type
    find: Callable[[RunRecord], Any]

    def value(self, record: RunRecord) -> Value:
        """What the run has there."""
        found = self.find(record)
        value: Value = None if found is None or found == "" else self.kind(found)  # NumPy's numbers become Python's
        return value


def _of(part: Part, name: str, kind: type, find: Callable[[Any], Any]) -> Column:
    """A column of what `find` gives of a part of the run, which the run may lack."""

    def of_record(record: RunRecord) -> Any:
        found = part(record)
        return None if found is None else find(found)

    return Column(name, kind, of_record)


def _settings(part: Part, holder: type, names: Mapping[str, str], but: Collection[str] = ()) -> Iterator[Column]:
    """A column for each field of a dataclass, called as `names` has it, or as itself; none for what has parts."""
    hints = get_type_hints(holder)
    for field in fields(holder):
        hint = hints[field.name]
        kind = _kind(hint)
        if kind is not None and field.name not in but:
            name = names.get(field.name, field.name.replace("_", " "))
            yield _of(part, name, kind, attrgetter(field.name))


def _kind(hint: Any) -> type | None:
    """The kind of value that a field holds, also where it may be None; None of what has parts."""
    if get_origin(hint) is Literal:
        return str
    hints = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return next((kind for kind in KINDS if kind in hints), None)


def _tile() -> Iterator[Column]:
    """The tile as it was launched."""
    for field in fields(TileConfig):
        name = field.name.upper() if field.name.startswith("block") else field.name
        yield Column(name, int, partial(_launched, field.name))
    yield Column("splits asked", int, lambda record: _chosen("splits", record.started.request.tile))


def _launched(name: str, record: RunRecord) -> int | None:
    return _chosen(name, record.launched_tile)


def _chosen(name: str, tile: TileConfig) -> int | None:
    """A field of a tile; None where it is left to the compiler, or to a rule."""
    value: int = getattr(tile, name)
    is_left = any(option.name == name and option.is_left(value) for option in LAUNCH_OPTIONS)
    return None if is_left or (name == "splits" and value == AUTO_SPLITS) else value


def _bounded(value: float) -> float | None:
    """An end of an interval; None of one that has none."""
    return value if isfinite(value) else None


def _ratio() -> Iterator[Column]:
    yield _of(_sdpa_ratio, "SDPA / kernel", float, lambda ratio: ratio.baseline_over_kernel)
    yield _of(_rival_ratio, "rival / kernel", float, lambda ratio: ratio.baseline_over_kernel)
    yield _of(_bounded_ratio, "ratio low", float, lambda ratio: ratio.low)
    yield _of(_bounded_ratio, "ratio high", float, lambda ratio: ratio.high)
    yield Column("ratio low to high is", str, _ratio_kind)


def _sdpa_ratio(record: RunRecord) -> Ratio | None:
    return comparable_ratio(record) if record.started.request.rival is None else None


def _rival_ratio(record: RunRecord) -> Ratio | None:
    return comparable_ratio(record) if record.started.request.rival is not None else None


def _bounded_ratio(record: RunRecord) -> Ratio | None:
    ratio = comparable_ratio(record)
    return ratio if ratio is not None and isfinite(ratio.high) else None


def _ratio_kind(record: RunRecord) -> str | None:
    if _bounded_ratio(record) is None:
        return None
    return PAIRED if record.comparison is not None else NOT_PAIRED


def _of_role(role: Role) -> Iterator[Column]:
    """Everything that is known of the kernel, or of SDPA beside it."""

    def measurement(record: RunRecord) -> Measurement | None:
        return record.measurement(role)

    def latency(record: RunRecord) -> Latency | None:
        found = record.measurement(role)
        return None if found is None else found.latency

    def interval(record: RunRecord) -> Interval | None:
        found = latency(record)
        return None if found is None else interval_of(found)

    yield _of(latency, "time is", str, figure_text)
    yield from (Column(m.label, int if m.is_count else float, partial(_metric, m, role)) for m in METRICS)
    yield _of(interval, "median 95% low (µs)", float, lambda found: _bounded(found.low))
    yield _of(interval, "median 95% high (µs)", float, lambda found: _bounded(found.high))
    yield _of(interval, "interval by the samples (%)", float, lambda found: _percent(found.sampling))
    yield _of(interval, "interval allowed between runs (%)", float, lambda found: _percent(found.unseen))
    yield _of(latency, "samples", int, lambda found: len(found.samples))
    named = {
        "clock": "timed by", "warmups": "warm-ups", "ended_by": "timing ended by", "flush_bytes": "flushed (B)",
    }  # fmt: skip
    # What METRICS has, and what is the same for both.
    said = ("protocol", "unit", "samples", "block_average_us", "kernel_us", "launched_us", "interval", "modes", "drift")
    yield from _settings(latency, Latency, named, (*said, "round_starts", "kernel_names"))
    yield _of(latency, "kernels", str, lambda found: ", ".join(found.kernel_names))
    yield _of(latency, "launch-bound", str, lambda found: found.launch_bound)
    yield _of(latency, "modes", str, lambda found: found.modes and modes_text(found.modes))
    yield _of(latency, "drift", str, lambda found: found.drift and found.drift.text)
    yield from _errors_of(role)


def _metric(metric: Metric, role: Role, record: RunRecord) -> float | None:
    """A metric; the error of an output is known before it is timed."""
    measured, error = record.measurement(role), record.error(role)
    if measured is None:
        return error.max_abs if error is not None and metric is find_metric("max_abs_error") else None
    return metric.value(measured, record.started.ceilings)


def _errors_of(role: Role) -> Iterator[Column]:
    def error(record: RunRecord) -> ErrorStats | None:
        return record.error(role)

    def again(record: RunRecord) -> Rechecked | None:
        return record.recheck(role)

    named = {
        "mean_abs": "mean error", "rms": "rms error", "rel_fro": "error relative to the whole output",
        "largest": "largest value expected", "non_finite": "NaN or infinite values",
        "worst_got": "worst value", "worst_expected": "worst value expected",
    }  # fmt: skip
    yield from _settings(error, ErrorStats, named, ("max_abs", "rtol", "atol", "worst"))
    yield _of(again, "max error after timing", float, lambda found: found.max_abs_after)
    yield _of(again, "same bits after timing", bool, lambda found: found.bits_equal)
    yield _of(again, "deterministic", bool, lambda found: found.deterministic)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _both_roles() -> Iterator[Column]:
    """The kernel's columns, and the same of SDPA after them."""
    yield from _of_role("kernel")
    yield Column("SDPA backend", str, lambda record: record.backend)
    for column in _of_role("baseline"):
        yield Column(f"SDPA {column.name}", column.kind, partial(_of_sdpa, column.find))
    yield Column("rival", str, _rival)
    yield _of(_rival_measured, "rival time (µs)", float, lambda found: found.latency.figure_us)
    yield _of(_rival_measured, "rival max error", float, lambda found: found.error.max_abs)


def _of_sdpa(find: Callable[[RunRecord], Any], record: RunRecord) -> Any:
    """What `find` gives of the baseline where that is SDPA, and no other kernel."""
    return find(record) if record.started.request.rival is None else None


def _rival(record: RunRecord) -> str | None:
    rival = record.started.request.rival
    return None if rival is None else rival_text(rival)


def _rival_measured(record: RunRecord) -> Measurement | None:
    return record.measurement("baseline") if record.started.request.rival is not None else None


def _states() -> Iterator[Column]:
    def states(record: RunRecord) -> TileStates | None:
        return record.states

    yield _of(states, "states bit-equal", bool, lambda found: found.bit_equal)
    yield _of(states, "states m error, relative", float, lambda found: found.m_error)
    yield _of(states, "states l error, relative", float, lambda found: found.l_error)
    yield _of(states, "no states because", str, lambda found: found.skipped)


def _failure(record: RunRecord) -> Failed | None:
    return record.end if isinstance(record.end, Failed) else None


def _request(record: RunRecord) -> RunRequest:
    return record.started.request


def _problem(record: RunRecord) -> Problem:
    return record.started.request.problem


def _device(record: RunRecord) -> DeviceInfo:
    return record.started.device


def _provenance(record: RunRecord) -> Provenance:
    return record.started.provenance


def _remarks(record: RunRecord) -> str:
    return "; ".join(remark.tooltip.replace("\n", ", ") for remark in remarks_of(record))


_OF_REQUEST = {
    "sdpa": "SDPA asked", "device": "device asked", "max_seconds": "max seconds (s)", "time_limit_s": "time limit (s)",
    "trace": "states asked",
}  # fmt: skip
_OF_PROBLEM = {"m": "M", "n": "N", "d": "D", "kv_heads": "KV heads"}
_OF_DEVICE = {
    "name": "device", "mode": "mode", "python": "Python", "memory_bytes": "device memory (B)", "cuda": "CUDA",
    "capability": "compute capability", "sm_count": "SMs", "shared_bytes": "most shared memory of a program (B)",
}  # fmt: skip
_OF_PROVENANCE = {
    "revision": "kernel revision", "source_sha256": "kernel SHA-256", "power_limit_w": "power limit (W)", "ecc": "ECC",
    "cpu_cores": "CPU cores",
}  # fmt: skip
_SETTINGS = tuple(_settings(_request, RunRequest, _OF_REQUEST, ("auto_tile",)))
_FIRST = ("kernel", "precision")
COLUMNS: tuple[Column, ...] = (
    Column("run", int, lambda record: record.run_id),
    Column("source", str, lambda record: record.source or "this session"),
    Column("started", str, lambda record: record.started.started_at),
    *(column for column in _SETTINGS if column.name in _FIRST),
    *_tile(),
    Column("state", str, state_text),
    _of(_failure, "failure", str, lambda failed: failed.message),
    *_both_roles(),
    *_ratio(),
    Column("warnings", str, _remarks),
    *_settings(_problem, Problem, _OF_PROBLEM),
    *(column for column in _SETTINGS if column.name not in _FIRST),
    *_states(),
    Column("clock", str, lambda record: record.started.device.mode_label),
    *_settings(_device, DeviceInfo, _OF_DEVICE),
    *_settings(_provenance, Provenance, _OF_PROVENANCE),
)
"""In the order of exploring: the run, its tile, what came of it and how fast it was; then what it was made of."""
