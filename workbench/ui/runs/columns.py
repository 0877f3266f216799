"""The columns of the table of runs, from left to right, and the runs as text to copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from kernels.plain.launch_options import LAUNCH_OPTIONS
from workbench.run.record import RunRecord
from workbench.ui.runs import cells
from workbench.ui.runs import time_cells as times
from workbench.ui.runs.cells import Cell


@dataclass(frozen=True)
class Column:
    """A column: `export` names, with units, what is copied of it; `most` is its greatest first width, in digits.

    It is as wide as its cells need; one of words no wider than that, and longer ones end in an ellipsis. While all of
    them say `usual`, it is not shown. What tells runs apart at a glance comes first: in a small window the others are
    beyond its edge.
    """

    title: str
    tooltip: str
    export: tuple[str, ...]
    most: int
    cell: Callable[[RunRecord], Cell]
    is_number: bool = True
    usual: str = ""


_PROBLEM = ("M", "N", "D", "batch", "heads", "KV heads", "causal", "dtype", "seed", "inputs")

COLUMNS = (
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
        ("time (µs)", "time is", "median (µs)"),
        17,
        lambda r: times.time_cell(r, "kernel"),
    ),
    Column(
        "!", "what must be known beside the times", ("warnings",), 3, times.warnings_cell, False, usual=cells.MISSING
    ),
    Column(
        "SDPA",
        "SDPA's time, as the kernel's",
        ("SDPA time (µs)", "SDPA time is", "SDPA median (µs)"),
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
    Column(
        "Max error", "the kernel's, against float64", ("max error",), 9, lambda r: cells.max_error_cell(r, "kernel")
    ),
    Column(
        "±95%", "half the 95% interval of the kernel's median", ("interval half-width (%)",), 9, times.half_width_cell
    ),
    Column("p20 – p80", "the kernel's 20th to 80th percentile", ("p20 (µs)", "p80 (µs)"), 18, times.spread_cell),
    *(
        Column(one.heading, one.name, (one.name,), 6, partial(cells.option_cell, one), usual=one.auto_text)
        for one in LAUNCH_OPTIONS
    ),
    Column("SDPA backend", "what SDPA took", ("SDPA backend",), 12, cells.backend_cell, False),
    Column("SDPA max error", "SDPA's own", ("SDPA max error",), 13, lambda r: cells.max_error_cell(r, "baseline")),
    Column("TFLOP/s", f"of the kernel: {times.WORK_TEXT}", ("TFLOP/s",), 8, times.throughput_cell),
    Column("Regs / spills", "per thread", ("registers", "spills", "shared memory (B)"), 11, cells.resources_cell),
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


def tsv(records: list[RunRecord]) -> str:
    """Runs as tab-separated text with a header: plain numbers, their units in the header."""
    lines = [[name for column in COLUMNS for name in column.export]]
    lines += [[text for column in COLUMNS for text in column.cell(record).plain] for record in records]
    return "\n".join("\t".join(line) for line in lines) + "\n"
