"""The columns of the table of runs, from left to right, and the runs as text to copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.analysis.metrics import METRICS, Metric, find_metric
from workbench.run.record import RunRecord
from workbench.ui.runs import cells
from workbench.ui.runs import time_cells as times
from workbench.ui.runs.cells import Cell


@dataclass(frozen=True)
class Column:
    """A column: `export` names, with units, what is copied of it; `most` is its greatest first width, in digits.

    It is as wide as its cells need; one of words no wider than that, and longer ones end in an ellipsis. Unless it is
    `at_first` it is not shown before it is asked for, nor while all of them say `usual`. What tells runs apart at a
    glance comes first: in a small window the others are beyond its edge.
    """

    title: str
    tooltip: str
    export: tuple[str, ...]
    most: int
    cell: Callable[[RunRecord], Cell]
    is_number: bool = True
    usual: str = ""
    at_first: bool = True


def _labels(*names: str) -> tuple[str, ...]:
    """What the metrics called `names` are copied under."""
    return tuple(find_metric(name).label for name in names)


_PROBLEM = ("M", "N", "D", "batch", "heads", "KV heads", "causal", "dtype", "seed", "inputs")

TIME, MEDIAN, MAX_ERROR = _labels("figure", "median", "max_abs_error")
TFLOPS = find_metric("tflops")

_WITH_WORDS = (
    Column("Run", "the run's number", ("run", "started"), 5, cells.number_cell),
    Column("State", "whether the output is right, before how fast it is", ("state",), 20, cells.state_cell, False),
    Column(
        "Protocol",
        "how the launches were timed; the time beside it is an average of an unbroken block, or a median",
        ("protocol",),
        18,
        times.protocol_cell,
        False,
    ),
    Column(
        "Time",
        "the kernel's, as the protocol has it: under article the average of its block, else the median",
        (TIME, "time is", MEDIAN),
        17,
        lambda r: times.time_cell(r, "kernel"),
    ),
    Column(
        "!", "what must be known beside the times", ("warnings",), 3, times.warnings_cell, False, usual=cells.MISSING
    ),
    Column(
        "SDPA",
        "SDPA's time, as the kernel's",
        (f"SDPA {TIME}", "SDPA time is", f"SDPA {MEDIAN}"),
        10,
        lambda r: times.time_cell(r, "baseline"),
    ),
    Column(
        "vs SDPA",
        "how the kernel's time is beside SDPA's",
        ("SDPA / kernel", "ratio low", "ratio high", "ratio low to high is"),
        14,
        times.ratio_cell,
    ),
    Column(
        "M × N × D",
        "the problem, then its inputs, seed, heads (batch × heads / KV), dtype and mask where not the plain ones",
        _PROBLEM,
        36,
        cells.problem_cell,
        False,
    ),
    Column(
        "Kernel",
        "the Triton kernel, and its precision where not ieee",
        ("kernel", "precision"),
        18,
        cells.kernel_cell,
        False,
    ),
    Column("Tile", "BLOCK_M × BLOCK_N, rows", ("BLOCK_M", "BLOCK_N"), 8, cells.tile_cell, False),
    Column("Splits", "key splits", ("splits",), 6, cells.splits_cell, usual="1"),
    Column("Max error", "the kernel's, against float64", (MAX_ERROR,), 9, lambda r: cells.max_error_cell(r, "kernel")),
    Column("±95%", "half the 95% interval of the kernel's median", _labels("half_width"), 9, times.half_width_cell),
    Column("p20 – p80", "the kernel's 20th to 80th percentile", _labels("p20", "p80"), 18, times.spread_cell),
    Column("Warps", "num_warps", ("num_warps",), 6, lambda r: cells.count_cell(r.started.request.tile.num_warps)),
    Column("Stages", "num_stages", ("num_stages",), 6, lambda r: cells.count_cell(r.started.request.tile.num_stages)),
    Column("SDPA backend", "what SDPA took", ("SDPA backend",), 12, cells.backend_cell, False),
    Column("SDPA max error", "SDPA's own", (f"SDPA {MAX_ERROR}",), 13, lambda r: cells.max_error_cell(r, "baseline")),
    Column(
        "TFLOP/s",
        f"of the kernel: {TFLOPS.tip}",
        (TFLOPS.label,),
        8,
        lambda r: cells.metric_cell(r, TFLOPS, "{:.3g}".format),
    ),
    Column("Regs / spills", "per thread", _labels("registers", "spills", "shared_bytes"), 11, cells.resources_cell),
    Column("Clock", "what the times are: only GPU time is GPU time", ("clock",), 24, cells.clock_cell, False),
    Column("Device", "what it ran on", ("device", "driver", "CUDA", "power limit (W)"), 20, cells.device_cell, False),
    Column(
        "Versions",
        "what it ran with: torch, triton, and the revision of the kernel's source",
        ("torch", "triton", "Python", "kernel revision", "kernel SHA-256"),
        36,
        cells.versions_cell,
        False,
    ),
    Column("Source", "this session, or the recording", ("source",), 20, cells.source_cell, False),
)


def _column_of(metric: Metric) -> Column:
    """A column of one metric; what another column copies already is not copied twice."""
    export = () if metric.label in _COPIED else (metric.label,)

    def cell(record: RunRecord) -> Cell:
        found = cells.metric_cell(record, metric)
        return replace(found, plain=found.plain[: len(export)])

    title = metric.title[:1].upper() + metric.title[1:]
    return Column(title, f"of the kernel: {metric.tip}", export, 12, cell, at_first=metric.at_first)


_COPIED = frozenset(name for column in _WITH_WORDS for name in column.export)
_OWN = (metric for metric in METRICS if not (metric.at_first and metric.label in _COPIED))
COLUMNS = (*_WITH_WORDS, *map(_column_of, _OWN))


def tsv(records: list[RunRecord]) -> str:
    """Runs as tab-separated text with a header: plain numbers, their units in the header."""
    lines = [[name for column in COLUMNS for name in column.export]]
    lines += [[text for column in COLUMNS for text in column.cell(record).plain] for record in records]
    return "\n".join("\t".join(line) for line in lines) + "\n"
