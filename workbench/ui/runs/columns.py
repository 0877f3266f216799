"""The columns of the table of runs, from left to right, and the runs as text to copy."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from functools import partial

from kernels.plain.launch_options import LAUNCH_OPTIONS, LaunchOption
from workbench.analysis.metrics import METRICS, Metric, find_metric
from workbench.analysis.numbers import MICROSECONDS, TimeUnit
from workbench.run.kept.marks import NO_MARKS, Marks
from workbench.run.measurement import ROLES
from workbench.run.record import RunRecord
from workbench.ui.runs import cells
from workbench.ui.runs import time_cells as times
from workbench.ui.runs.cells import Cell
from workbench.ui.runs.listed import OWN


@dataclass(frozen=True)
class Column:
    """A column: `export` names, with units, what is copied of it; `most` is the first width of words, in digits.

    It is as wide as its cells need; one of words no wider than that, and longer ones end in an ellipsis. One of numbers
    has no such limit. Unless it is `at_first` it waits to be asked for, and while all of it is `usual` it is not shown.
    What is explored comes first: in a small window the others are beyond its edge. Where it `is_time` all of it is in
    one unit, which its heading states. Its title is its name in what is kept between launches.

    Runs are sorted `by` these of their FIELDS, which no run has to be read for. A column that is `told` is of what a
    person says of a run. Of a run that cannot be read only those that are `of_any` run say something.
    """

    title: str
    tooltip: str
    export: tuple[str, ...]
    cell: Callable[[RunRecord], Cell]
    by: tuple[str, ...]
    most: int = 0
    usual: str = ""
    at_first: bool = True
    is_time: bool = False
    told: Callable[[Marks], Cell] | None = None
    of_any: bool = False

    def of(self, record: RunRecord, marks: Marks = NO_MARKS) -> Cell:
        """What it says of a run, and of what was said of it."""
        if self.told is not None:
            return self.told(marks)
        return cells.missing_cell(len(self.export)) if record.is_unreadable and not self.of_any else self.cell(record)

    def heading(self, unit: TimeUnit) -> str:
        """The title, with the unit of its times."""
        return f"{self.title}, {unit.name}" if self.is_time else self.title

    @property
    def is_number(self) -> bool:
        """Whether its cells are numbers, which are never cut."""
        return not self.most


def _labels(*names: str) -> tuple[str, ...]:
    """What the metrics called `names` are copied under."""
    return tuple(find_metric(name).label for name in names)


def _column_of(metric: Metric, text: Callable[[float], str] | None = None, copied: Container[str] = ()) -> Column:
    """A column of one metric, which `text` shows; what is `copied` with another column is not copied twice."""
    export = () if metric.label in copied else (metric.label,)

    def cell(record: RunRecord) -> Cell:
        found = cells.metric_cell(record, metric, text)
        return replace(found, plain=found.plain[: len(export)])

    title = metric.title[:1].upper() + metric.title[1:]
    is_time = metric.unit == MICROSECONDS.name
    tip = f"of the kernel: {metric.tip}"
    return Column(title, tip, export, cell, (metric.name,), at_first=metric.at_first, is_time=is_time)


_TIME, _MEDIAN, _ERROR = _labels("figure", "median", "max_abs_error")
_SDPA_TIME = (f"SDPA {_TIME}", "SDPA time is", f"SDPA {_MEDIAN}")
_RATIO = ("SDPA / kernel", "ratio low", "ratio high", "ratio low to high is")
_PROBLEM = ("M", "N", "D", "batch", "heads", "KV heads", "causal", "dtype", "seed", "inputs")
_VERSIONS = ("torch", "triton", "Python", "kernel revision", "kernel SHA-256")
_PROBLEM_TIP = "what differs of M × N × D, inputs, seed, heads (batch × heads / KV heads), dtype and mask"
_KERNEL = ("kernel", "precision")
_TILE_TIP = (
    "BLOCK_M × BLOCK_N in rows; then what is not the usual: w warps, s stages, "
    f"{cells.SPLITS_MARK} key splits, r registers at most"
)
_PROTOCOL_TIP = "how the launches were timed; the time beside it is an average of an unbroken block, or a median"
_TIME_TIP = "the kernel's, as the protocol has it: under block the average of its block, else the median"
_SPREAD_TIP = "the kernel's 20th to 80th percentile"
_HALF_WIDTH = ("half_width",)
_VERSIONS_TIP = "what it ran with: torch, triton, and the revision of the kernel's source"


def _waits(one: LaunchOption) -> Column:
    """A column of an option by itself, for whom the tile's is too full."""
    return Column(one.heading, one.name, (one.name,), partial(cells.option_cell, one), (one.name,), at_first=False)


_RUN_TIP = "the run's number, after the recording that it is from"
_NAME_TIP = "what you call the run, after a star that you gave it"
_STATE_TIP = "whether the output is right, before how fast it is"
_DEVICE = ("device", "driver", "CUDA", "power limit (W)")
_VERSIONS_BY = ("torch", "triton", "revision")
_RESOURCES = _labels("registers", "spills", "shared_bytes")
_kernel_time, _sdpa_time = (partial(times.time_cell, role=role) for role in ROLES)
_kernel_error, _sdpa_error = (partial(cells.max_error_cell, role=role) for role in ROLES)
_no_cell = partial(cells.missing_cell, 0)

_WITH_WORDS = (
    Column("Run", _RUN_TIP, ("run", "started"), cells.number_cell, (OWN, "source", "run"), 14, of_any=True),
    Column("Name", _NAME_TIP, (), _no_cell, ("starred", "name"), 24, usual=cells.MISSING, told=cells.name_cell),
    Column("Kernel", "the Triton kernel, and its precision where not ieee", _KERNEL, cells.kernel_cell, _KERNEL, 18),
    Column("Tile", _TILE_TIP, ("BLOCK_M", "BLOCK_N"), cells.tile_cell, ("tile_order",), 19),
    Column("Time", _TIME_TIP, (_TIME, "time is", _MEDIAN), _kernel_time, ("figure",), is_time=True, of_any=True),
    Column(
        "!", "what must be known beside the times", ("warnings",), times.warnings_cell, ("warnings",), 3, cells.MISSING
    ),
    Column("vs SDPA", "how the kernel's time is beside SDPA's", _RATIO, times.ratio_cell, ("ratio",)),
    Column("Max error", "the kernel's, against float64", (_ERROR,), _kernel_error, ("max_abs_error",)),
    Column("State", _STATE_TIP, ("state",), cells.state_cell, ("standing",), 15, of_any=True),
    Column("Shape", _PROBLEM_TIP, _PROBLEM, cells.problem_cell, ("flops",), 36),
    Column("Protocol", _PROTOCOL_TIP, ("protocol",), times.protocol_cell, ("protocol",), 18),
    Column("SDPA", "SDPA's time, as the kernel's", _SDPA_TIME, _sdpa_time, ("sdpa_figure",), is_time=True),
    Column(
        "±95%",
        "half the 95% interval of the kernel's median",
        _labels("half_width"),
        times.half_width_cell,
        _HALF_WIDTH,
    ),
    Column("p20 – p80", _SPREAD_TIP, _labels("p20", "p80"), times.spread_cell, ("spread",), is_time=True),
    Column("Splits", "key splits", ("splits",), cells.splits_cell, ("splits",), at_first=False),
    *map(_waits, LAUNCH_OPTIONS),
    Column("SDPA backend", "what SDPA took", ("SDPA backend",), cells.backend_cell, ("backend",), 12),
    Column("SDPA max error", "SDPA's own", (f"SDPA {_ERROR}",), _sdpa_error, ("sdpa_max_abs_error",)),
    _column_of(find_metric("tflops"), "{:.3g}".format),
    Column("Regs / spills", "per thread", _RESOURCES, cells.resources_cell, ("registers", "spills")),
    Column("Clock", "what the times are: only GPU time is GPU time", ("clock",), cells.clock_cell, ("mode",), 24),
    Column("Device", "what it ran on", _DEVICE, cells.device_cell, ("device",), 20),
    Column("Versions", _VERSIONS_TIP, _VERSIONS, cells.versions_cell, _VERSIONS_BY, 36),
    Column("Source", "this session, or the recording", ("source",), cells.source_cell, ("source",), 20, of_any=True),
    Column("Note", "what you noted of the run", (), _no_cell, ("note",), 36, usual=cells.MISSING, told=cells.note_cell),
)
_COPIED = frozenset(name for column in _WITH_WORDS for name in column.export)
_OWN = (metric for metric in METRICS if not (metric.at_first and metric.label in _COPIED))
COLUMNS = (*_WITH_WORDS, *(_column_of(metric, copied=_COPIED) for metric in _OWN))


PLACES = {column.title: place for place, column in enumerate(COLUMNS)}


def tsv(records: list[RunRecord]) -> str:
    """Runs as tab-separated text with a header: plain numbers, their units in the header."""
    lines = [[name for column in COLUMNS for name in column.export]]
    lines += [[text for column in COLUMNS for text in column.of(record).plain] for record in records]
    return "\n".join("\t".join(line) for line in lines) + "\n"
