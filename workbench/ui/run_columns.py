"""The columns of the table of runs: what a run's cells say, how they sort, and what is copied of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from kernels.tiles import AUTO_SPLITS
from workbench.metrics import find_metric, format_range, format_time, ratio
from workbench.model import ErrorStats, Failed, Measurement, Role, RunRecord
from workbench.ui.words import error_text, failure_words, kernel_text, ratio_text, splits_text, wrong_text

Tone = Literal["", "muted", "good", "bad", "warn"]
SortValue = float | str | tuple[str, str, int]

MEDIAN = find_metric("median").value
TFLOPS = find_metric("tflops").value
MISSING = "–"
INTERPRETER_MARK = "interp."
WORK_TEXT = "4 D for every pair of a query row and a key that it sees, in all heads, / median"


@dataclass(frozen=True)
class Cell:
    """One cell: `sort` is None where there is no value; `plain` is what is copied, one text per exported column."""

    text: str
    sort: SortValue | None
    plain: tuple[str, ...]
    tooltip: str = ""
    tone: Tone = ""
    bold: bool = False
    struck: bool = False


@dataclass(frozen=True)
class Column:
    """A column: `export` names, with units, what is copied of it; `most` is its greatest first width, in digits.

    It is as wide as its cells need, up to that; longer ones end in an ellipsis. While all of them say `usual`, it is
    not shown.
    """

    title: str
    tooltip: str
    export: tuple[str, ...]
    most: int
    cell: Callable[[RunRecord], Cell]
    is_number: bool = True
    usual: str = ""


def is_wrong(record: RunRecord) -> bool:
    """Whether the kernel's output did not pass."""
    error = _error(record, "kernel")
    return error is not None and not error.passed


def _error(record: RunRecord, role: Role) -> ErrorStats | None:
    check = record.check(role)
    measurement = record.measurement(role)
    return check.error if check is not None else measurement.error if measurement is not None else None


def _missing(count: int = 1, text: str = MISSING, tooltip: str = "") -> Cell:
    return Cell(text, None, ("",) * count, tooltip, "muted")


def _number(record: RunRecord) -> Cell:
    started = record.started
    order = (started.started_at, record.source, record.run_id)
    return Cell(str(record.run_id), order, (str(record.run_id), started.started_at), f"started {started.started_at}")


def _state(record: RunRecord) -> Cell:
    error = _error(record, "kernel")
    end = record.end
    if error is not None and not error.passed:
        reason = wrong_text(error)
        after = f"; {failure_words(end)}: {end.message}" if isinstance(end, Failed) else ""
        return Cell("WRONG", "0 wrong", ("WRONG",), reason + after, "bad", bold=True)
    if isinstance(end, Failed):
        words = failure_words(end)
        tooltip = "\n".join(filter(None, (end.message, end.remedy and f"Try: {end.remedy}")))
        if end.kind == "cancelled":
            return Cell(words, f"2 {words}", (words,), tooltip, "muted")
        return Cell(words, f"1 {words}", (f"failed: {words}",), f"failed: {words}\n{tooltip}", "bad")
    if end is None:
        return Cell("running", "3", ("running",), "not finished yet", "warn")
    if error is None:
        return Cell("not checked", "4", ("not checked",), "the output was not compared with float64", "warn")
    return Cell("passed", "5", ("passed",), f"max error {error_text(error.max_abs)}", "good")


def _problem(record: RunRecord) -> Cell:
    p = record.started.request.problem
    shared = f"/{p.kv_heads}" if p.kv_heads != p.heads else ""
    heads = f"{p.batch}×{p.heads}{shared}" if p.total_heads > 1 else ""
    special = (heads, p.dtype if p.dtype != "fp32" else "", "causal" if p.causal else "")
    text = " ".join(filter(None, (p.shape.replace(" × ", "×"), *special)))
    mask = "causal mask, aligned to the lower right" if p.causal else "no mask"
    tooltip = f"M × N × D = {p.shape}, {p.dtype}\nbatch {p.batch}, heads {p.heads}, KV heads {p.kv_heads}\n{mask}"
    tooltip += f"\nseed {p.seed}, inputs {p.inputs}"
    sides = (str(side) for side in (p.m, p.n, p.d, p.batch, p.heads, p.kv_heads))
    plain = (*sides, "yes" if p.causal else "no", p.dtype, str(p.seed), p.inputs)
    return Cell(text, float(p.flops), plain, tooltip)


def _words(text: str, tooltip: str = "", tone: Tone = "") -> Cell:
    return Cell(text, text.lower(), (text,), tooltip, tone)


def _kernel(record: RunRecord) -> Cell:
    request = record.started.request
    text = kernel_text(request.kernel, request.precision)
    exact = ", which 16-bit products are exact in" if request.problem.dtype != "fp32" else ""
    tooltip = f"kernel {request.kernel}\nprecision of its products: {request.precision}{exact}"
    return Cell(text, text.lower(), (request.kernel, request.precision), tooltip)


def _tile(record: RunRecord) -> Cell:
    tile = record.started.request.tile
    tooltip = f"BLOCK_M {tile.block_m}, BLOCK_N {tile.block_n} rows\n{tile.num_warps} warps, {tile.num_stages} stages"
    plain = (str(tile.block_m), str(tile.block_n))
    return Cell(tile.label, float(tile.block_m * 10**6 + tile.block_n), plain, tooltip)


def _splits(record: RunRecord) -> Cell:
    """The key splits that were made; what a rule chose says so."""
    asked, kernel = record.started.request.tile, record.measurement("kernel")
    taken = kernel.tile if kernel is not None and kernel.tile is not None else asked
    text = splits_text(taken)
    if asked.splits != AUTO_SPLITS:
        return Cell(text, float(taken.splits), (text,), f"{text} programs share the keys of a block of query rows")
    return Cell(text, float(taken.splits), (text,), "asked for: auto, as many as fill the device")


def _count(value: int) -> Cell:
    return Cell(str(value), float(value), (str(value),))


def _clock(record: RunRecord) -> Cell:
    device = record.started.device
    versions = f"{device.name}\ntorch {device.torch}, triton {device.triton}, Python {device.python}"
    return _words(device.mode_label, versions, "" if device.mode == "cuda" else "warn")


def _time(record: RunRecord, role: Role, metric: Callable[[Measurement], float | None]) -> Cell:
    measurement = record.measurement(role)
    value = metric(measurement) if measurement is not None else None
    if measurement is None or value is None:
        return _missing()
    latency = measurement.latency
    device = record.started.device
    tooltip = f"{device.mode_label}\n{latency.launches} launches, {latency.clock}"
    tooltip += f"\nblock average {format_time(latency.block_average_us)}"
    error = _error(record, role) or measurement.error
    if error.passed:
        tone: Tone = "" if device.mode == "cuda" else "warn"
        return Cell(format_time(value), value, (f"{value:.6g}",), tooltip, tone)
    return Cell(format_time(value), value, (f"{value:.6g}",), f"{wrong_text(error)}\n{tooltip}", "muted", struck=True)


def _median(record: RunRecord) -> Cell:
    """The kernel's median; what is not GPU time says so in the cell itself."""
    cell = _time(record, "kernel", MEDIAN)
    if cell.sort is None or record.started.device.mode == "cuda":
        return cell
    return replace(cell, text=f"{INTERPRETER_MARK} {cell.text}")


def _spread(record: RunRecord) -> Cell:
    measurement = record.measurement("kernel")
    if measurement is None:
        return _missing(2)
    low, high = measurement.latency.p20, measurement.latency.p80
    plain = (f"{low:.6g}", f"{high:.6g}")
    wrong = is_wrong(record)
    tooltip = f"p80 - p20 is {format_time(high - low)}"
    tone: Tone = "muted" if wrong else "" if record.started.device.mode == "cuda" else "warn"
    return Cell(format_range(low, high), high - low, plain, tooltip, tone, struck=wrong)


def _backend(record: RunRecord) -> Cell:
    check, measurement = record.check("baseline"), record.measurement("baseline")
    taken = measurement.backend if measurement is not None else check.backend if check is not None else ""
    asked = record.started.request.sdpa
    return _words(taken, f"asked for: {asked}") if taken else _missing(tooltip=f"asked for: {asked}")


def _ratio(record: RunRecord) -> Cell:
    kernel, baseline = record.measurement("kernel"), record.measurement("baseline")
    if kernel is None or baseline is None:
        return _missing(3)
    if record.started.device.mode == "interpreter":
        return _missing(3, "n/a", record.started.device.mode_label)
    if is_wrong(record) or not baseline.error.passed:
        return _missing(3, "n/a", "no ratio for a wrong result")
    r = ratio(kernel, baseline)
    plain = tuple(f"{value:.4g}" for value in (r.baseline_over_kernel, r.low, r.high))
    faster = "the kernel is faster" if r.baseline_over_kernel > 1 else "SDPA is faster"
    tooltip = f"SDPA's median over the kernel's: {faster}\nin brackets p20 / p80 to p80 / p20"
    return Cell(ratio_text(r), r.baseline_over_kernel, plain, tooltip)


def _throughput(record: RunRecord) -> Cell:
    kernel = record.measurement("kernel")
    if record.started.device.mode == "interpreter":
        return _missing(text="n/a", tooltip=record.started.device.mode_label)
    value = TFLOPS(kernel) if kernel is not None else None
    if value is None:
        return _missing()
    wrong = is_wrong(record)
    return Cell(f"{value:.3g}", value, (f"{value:.4g}",), WORK_TEXT, "muted" if wrong else "", struck=wrong)


def _resources(record: RunRecord) -> Cell:
    kernel = record.measurement("kernel")
    taken = kernel.resources if kernel is not None else None
    if taken is None:
        return _missing(3)
    plain = (str(taken.registers), str(taken.spills), str(taken.shared_bytes))
    tooltip = f"{taken.registers} registers and {taken.spills} spilled per thread\n{taken.shared_bytes} B shared memory"
    tone: Tone = "warn" if taken.spills else ""
    return Cell(f"{taken.registers} / {taken.spills}", float(taken.registers + taken.spills), plain, tooltip, tone)


def _max_error(record: RunRecord, role: Role) -> Cell:
    error = _error(record, role)
    if error is None:
        return _missing()
    tooltip = f"rtol {error.rtol:g}, atol {error.atol:g}, mean {error_text(error.mean_abs)}"
    plain = (f"{error.max_abs:.4e}",)
    if error.passed:
        return Cell(error_text(error.max_abs), error.max_abs, plain, tooltip)
    return Cell(error_text(error.max_abs), error.max_abs, plain, f"{wrong_text(error)}\n{tooltip}", "bad", bold=True)


def _source(record: RunRecord) -> Cell:
    tooltip = f"recorded on {record.started.device.name}" if record.source else "measured since the window was opened"
    return _words(record.source or "this session", tooltip, "" if record.source else "muted")


_PROBLEM = ("M", "N", "D", "batch", "heads", "KV heads", "causal", "dtype", "seed", "inputs")

COLUMNS = (
    Column("Run", "the run's number", ("run", "started"), 5, _number),
    Column("State", "whether the output is right, before how fast it is", ("state",), 10, _state, False),
    Column(
        "M × N × D", "the problem, then its heads (batch × heads / KV), dtype and mask", _PROBLEM, 36, _problem, False
    ),
    Column(
        "Kernel", "the Triton kernel, and its precision where not ieee", ("kernel", "precision"), 18, _kernel, False
    ),
    Column("Tile", "BLOCK_M × BLOCK_N, rows", ("BLOCK_M", "BLOCK_N"), 8, _tile, False),
    Column("Splits", "key splits", ("splits",), 6, _splits, usual="1"),
    Column("Median", "the kernel's median launch", ("median (µs)",), 17, _median),
    Column("SDPA", "SDPA's median launch", ("SDPA median (µs)",), 10, lambda r: _time(r, "baseline", MEDIAN)),
    Column("SDPA/kernel", "above 1 the kernel is faster", ("SDPA / kernel", "ratio low", "ratio high"), 20, _ratio),
    Column("Max error", "the kernel's, against float64", ("max error",), 9, lambda r: _max_error(r, "kernel")),
    Column("p20 – p80", "the kernel's 20th to 80th percentile", ("p20 (µs)", "p80 (µs)"), 18, _spread),
    Column("Warps", "num_warps", ("num_warps",), 6, lambda r: _count(r.started.request.tile.num_warps)),
    Column("Stages", "num_stages", ("num_stages",), 6, lambda r: _count(r.started.request.tile.num_stages)),
    Column("SDPA backend", "what SDPA took", ("SDPA backend",), 12, _backend, False),
    Column("SDPA max error", "SDPA's own", ("SDPA max error",), 13, lambda r: _max_error(r, "baseline")),
    Column("TFLOP/s", f"of the kernel: {WORK_TEXT}", ("TFLOP/s",), 8, _throughput),
    Column("Regs / spills", "per thread", ("registers", "spills", "shared memory (B)"), 11, _resources),
    Column("Clock", "what the times are: only GPU time is GPU time", ("clock",), 24, _clock, False),
    Column("Source", "this session, or the recording", ("source",), 20, _source, False),
)


def tsv(records: list[RunRecord]) -> str:
    """Runs as tab-separated text with a header: plain numbers, their units in the header."""
    lines = [[name for column in COLUMNS for name in column.export]]
    lines += [[text for column in COLUMNS for text in column.cell(record).plain] for record in records]
    return "\n".join("\t".join(line) for line in lines) + "\n"
