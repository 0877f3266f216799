"""FIELDS: what is known of a run in one value each, from the request, the metrics and how it ended.

The index of a session file keeps them, the table sorts by them, and a filter asks for them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from kernels.plain.tiles import AUTO_SPLITS, TileConfig
from workbench.analysis.metrics import METRICS, Metric, comparable_ratio
from workbench.run.events import Failed
from workbench.run.kept.marks import Marks
from workbench.run.kept.rows import Index, Value
from workbench.run.measurement import Role
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest

# Of a request, what says how it is carried out, and not what is run: nobody looks for runs by it.
_HOW = ("trace", "keep_tensors", "time_limit_s", "max_seconds", "max_samples")


@dataclass(frozen=True)
class Field:
    """One value of a run: `find` gives it, None where there is none; numbers are in `unit`.

    `name` is what it is called in the index and in a filter, where the words of `title` do as well. A value is a word
    where `is_word`, else a number; a flag, which is 0 or 1, is a number that is asked for by its name alone.
    """

    name: str
    find: Callable[[RunRecord], Value]
    title: str
    unit: str = ""
    is_word: bool = False
    is_flag: bool = False


def _asked(owner: type, get: Callable[[RunRecord], Any]) -> list[Field]:
    """The plain values of a part of the request."""
    example = owner(1, 1, 1) if owner is Problem else RunRequest(Problem(1, 1, 1)) if owner is RunRequest else owner()

    def field(name: str, kind: type) -> Field:
        return Field(
            name,
            lambda record: _plain(getattr(get(record), name)),
            name.replace("_", " "),
            is_word=kind is str,
            is_flag=kind is bool,
        )

    kinds = {one.name: type(getattr(example, one.name)) for one in fields(owner) if one.name not in _HOW}
    return [field(name, kind) for name, kind in kinds.items() if kind in (str, bool, int, float)]


def _plain(value: Any) -> Value:
    return int(value) if isinstance(value, bool) else value


def _measured(metric: Metric, role: Role = "kernel", prefix: str = "") -> Field:
    """A metric of one role, on the ceilings that were known as it ran."""

    def find(record: RunRecord) -> Value:
        measurement = record.measurement(role)
        return None if measurement is None else metric.value(measurement, record.started.ceilings)

    return Field(f"{prefix}{metric.name}", find, f"{prefix.replace('_', ' ')}{metric.title}", metric.unit)


def _error(record: RunRecord, role: Role) -> Value:
    error = record.error(role)
    return None if error is None else error.max_abs


def _spread(record: RunRecord) -> Value:
    kernel = record.measurement("kernel")
    return None if kernel is None else kernel.latency.p80 - kernel.latency.p20


def _splits(record: RunRecord) -> Value:
    splits = record.launched_tile.splits
    return None if splits == AUTO_SPLITS else splits


def _state(record: RunRecord) -> Value:
    """How it ended, in one word: a wrong result before anything else."""
    if record.is_wrong("kernel"):
        return "wrong"
    if isinstance(record.end, Failed):
        return "stopped" if record.end.kind == "cancelled" else record.end.kind
    if record.error("kernel") is None:
        return "unchecked"
    return "unfinished" if record.end is None else "passed"


def _ratio(record: RunRecord) -> Value:
    ratio = comparable_ratio(record)
    return None if ratio is None else ratio.baseline_over_kernel


def _revision(record: RunRecord) -> Value:
    """What tells the source of one kernel from an earlier one."""
    return (record.started.provenance.revision or record.started.provenance.source_sha256)[:8]


def _warnings(record: RunRecord) -> Value:
    """How many warnings the device gave while it was watched."""
    return None if record.device_state is None else len(record.device_state.warnings)


_ASKED = [
    *_asked(Problem, lambda record: record.started.request.problem),
    *_asked(TileConfig, lambda record: record.launched_tile),
    *_asked(RunRequest, lambda record: record.started.request),
]
_OWN = [
    Field("splits", _splits, "splits"),
    Field("tile", lambda record: record.launched_tile.label.replace("×", "x"), "tile", is_word=True),
    Field("shape", lambda record: record.started.request.problem.shape.replace(" × ", "x"), "shape", is_word=True),
    Field("state", _state, "state", is_word=True),
    Field("failed", lambda record: int(isinstance(record.end, Failed)), "failed", is_flag=True),
    Field("wrong", lambda record: int(record.is_wrong()), "wrong", is_flag=True),
    Field("passed", lambda record: int(record.passed and _state(record) == "passed"), "passed", is_flag=True),
    Field("device", lambda record: record.started.device.name, "device", is_word=True),
    Field("mode", lambda record: record.started.device.mode, "mode", is_word=True),
    Field("torch", lambda record: record.started.device.torch, "torch", is_word=True),
    Field("triton", lambda record: record.started.device.triton, "triton", is_word=True),
    Field("backend", lambda record: record.backend or None, "SDPA backend", is_word=True),
    Field("started", lambda record: record.started.started_at, "started", is_word=True),
    Field("ratio", _ratio, "SDPA / kernel"),
    Field("warnings", _warnings, "warnings"),
    Field("flops", lambda record: float(record.started.request.problem.flops), "flops"),
    Field("revision", _revision, "revision", is_word=True),
    *(_measured(metric) for metric in METRICS),
    *(_measured(metric, "baseline", "sdpa_") for metric in METRICS if metric.name in ("figure", "max_abs_error")),
    Field("max_abs_error", partial(_error, role="kernel"), "max error"),  # known before any time is
    Field("sdpa_max_abs_error", partial(_error, role="baseline"), "sdpa max error"),
    Field("spread", _spread, "p80 − p20", "µs"),
]
# What the engine made of a request stands for what was asked, where both have a name.
_OF_RECORDS = (*({field.name: field for field in (*_ASKED, *_OWN)}).values(),)
_ENDS = ("state", "failed", "wrong", "passed")
_UNSAID = ("started", "sdpa", "mode")  # a date is asked for by its name, and the others are of nearly every run
_WORDS = [field for field in _OF_RECORDS if field.is_word and field.name not in _UNSAID]


def _value(field: Field, record: RunRecord) -> Value:
    """The value of a field; of a run of which nothing can be read only that is known."""
    return None if record.is_unreadable and field.name not in _ENDS else field.find(record)


def _words(record: RunRecord) -> Value:
    """Everything of a run that is said in words, so that a word can be looked for at once."""
    message = record.end.message if isinstance(record.end, Failed) else ""
    return " ".join([*(str(_value(field, record) or "") for field in _WORDS), message[:200]]).lower()


SETTING = tuple(
    field.name
    for field in (*_asked(Problem, lambda r: r), *_asked(RunRequest, lambda r: r))
    if field.name not in ("sdpa", "rtol", "atol")
)
SETTING += ("state", "passed", "mode", "backend", "torch", "triton", "revision")
"""What often is the same for all runs of a list, and is then said once; the tile is what is explored."""

_BETWEEN = "\x1f"


def _setting(record: RunRecord) -> Value:
    return _BETWEEN.join(str(_value(_BY_NAME[name], record)) for name in SETTING)


def parts_of_setting(setting: Value) -> list[str]:
    """The values of SETTING, in its order, of which the index has one text."""
    return str(setting).split(_BETWEEN)


def _tile_order(record: RunRecord) -> Value:
    """What tiles are sorted by, in one value: the blocks first, then what is set of the launch."""
    tile = record.launched_tile
    several = (tile.block_m, tile.block_n, tile.num_warps, tile.num_stages, tile.splits, tile.maxnreg)
    return None if record.is_unreadable else " ".join(f"{number:06}" for number in several)


def _standing(record: RunRecord) -> Value:
    """What states are sorted by: what is wrong, what failed, and then what is in order."""
    return " ".join(str(_value(_BY_NAME[name], record)) for name in ("passed", "failed", "state"))


_BY_NAME = {field.name: field for field in _OF_RECORDS}
# Several values in one, which a list of many runs would otherwise have to put together at every look.
_JOINED = {"words": _words, "setting": _setting, "tile_order": _tile_order, "standing": _standing}
INDEX = Index(
    (*_BY_NAME, *_JOINED),
    lambda record: (*(_value(field, record) for field in _OF_RECORDS), *(find(record) for find in _JOINED.values())),
)
"""What a session file keeps of each run beside it."""

_OF_KEYS = (Field("run", lambda record: record.run_id, "run"), Field("source", lambda r: r.source, "source", "", True))
_TOLD = tuple(
    Field(
        one.name,
        lambda _: None,
        one.name,
        is_word=isinstance(one.default, str),
        is_flag=isinstance(one.default, bool),
    )
    for one in fields(Marks)
    if one.name != "deleted"
)
FIELDS = (*_OF_KEYS, *_TOLD, *_OF_RECORDS)
"""All by which runs can be asked for; those of keys and marks are in no index."""
