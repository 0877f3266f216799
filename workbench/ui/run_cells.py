"""The cells of the table of runs: what each says of a run, how it sorts, and what is copied of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from kernels.tiles import AUTO_SPLITS
from workbench.metrics import find_metric, format_range, format_time, ratio
from workbench.model import ErrorStats, Failed, Measurement, Role, RunRecord
from workbench.ui.answer import Answer
from workbench.ui.measure_words import INTERVAL_TIP, half_width_text, interval_range_text, protocol_tip
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


def is_wrong(record: RunRecord) -> bool:
    """Whether the kernel's output did not pass, or an output changed while it was timed."""
    error = _error(record, "kernel")
    return (error is not None and not error.passed) or any(r.failed for r in record.rechecked)


def answer_of(record: RunRecord) -> Answer:
    """What the headline would say of the run."""
    answer = Answer(started=record.started)
    for event in record.events()[1:]:
        answer.take(event)
    return answer


def _error(record: RunRecord, role: Role) -> ErrorStats | None:
    check = record.check(role)
    measurement = record.measurement(role)
    return check.error if check is not None else measurement.error if measurement is not None else None


def _missing(count: int = 1, text: str = MISSING, tooltip: str = "") -> Cell:
    return Cell(text, None, ("",) * count, tooltip, "muted")


def number_cell(record: RunRecord) -> Cell:
    started = record.started
    order = (started.started_at, record.source, record.run_id)
    return Cell(str(record.run_id), order, (str(record.run_id), started.started_at), f"started {started.started_at}")


def state_cell(record: RunRecord) -> Cell:
    error = _error(record, "kernel")
    end = record.end
    if error is not None and not error.passed:
        reason = wrong_text(error)
        after = f"; {failure_words(end)}: {end.message}" if isinstance(end, Failed) else ""
        return Cell("WRONG", "0 wrong", ("WRONG",), reason + after, "bad", bold=True)
    if any(r.failed for r in record.rechecked):
        line = answer_of(record).lines("")["state"]
        return Cell(
            "CHANGED", "0 changed", ("changed while timing",), f"{line.value}\n{line.tooltip}", "bad", bold=True
        )
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


def problem_cell(record: RunRecord) -> Cell:
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


def kernel_cell(record: RunRecord) -> Cell:
    request = record.started.request
    text = kernel_text(request.kernel, request.precision)
    exact = ", which 16-bit products are exact in" if request.problem.dtype != "fp32" else ""
    tooltip = f"kernel {request.kernel}\nprecision of its products: {request.precision}{exact}"
    return Cell(text, text.lower(), (request.kernel, request.precision), tooltip)


def tile_cell(record: RunRecord) -> Cell:
    tile = record.started.request.tile
    tooltip = f"BLOCK_M {tile.block_m}, BLOCK_N {tile.block_n} rows\n{tile.num_warps} warps, {tile.num_stages} stages"
    plain = (str(tile.block_m), str(tile.block_n))
    return Cell(tile.label, float(tile.block_m * 10**6 + tile.block_n), plain, tooltip)


def splits_cell(record: RunRecord) -> Cell:
    """The key splits that were made; what a rule chose says so."""
    asked, kernel = record.started.request.tile, record.measurement("kernel")
    taken = kernel.tile if kernel is not None and kernel.tile is not None else asked
    text = splits_text(taken)
    if asked.splits != AUTO_SPLITS:
        return Cell(text, float(taken.splits), (text,), f"{text} programs share the keys of a block of query rows")
    return Cell(text, float(taken.splits), (text,), "asked for: auto, as many as fill the device")


def count_cell(value: int) -> Cell:
    return Cell(str(value), float(value), (str(value),))


def clock_cell(record: RunRecord) -> Cell:
    device = record.started.device
    versions = f"{device.name}\ntorch {device.torch}, triton {device.triton}, Python {device.python}"
    return _words(device.mode_label, versions, "" if device.mode == "cuda" else "warn")


def time_cell(record: RunRecord, role: Role, metric: Callable[[Measurement], float | None]) -> Cell:
    measurement = record.measurement(role)
    value = metric(measurement) if measurement is not None else None
    if measurement is None or value is None:
        return _missing()
    latency = measurement.latency
    device = record.started.device
    tooltip = f"{device.mode_label}\n{latency.protocol} protocol: {latency.launches} launches, {latency.clock}"
    interval = interval_range_text(latency)
    tooltip += f"\n{INTERVAL_TIP} {interval}" if interval else ""
    tooltip += f"\nblock average {format_time(latency.block_average_us)}" if latency.protocol == "article" else ""
    error = _error(record, role) or measurement.error
    changed = next((r.text for r in record.rechecked if r.role == role and r.failed), "")
    if error.passed and not changed:
        tone: Tone = "" if device.mode == "cuda" else "warn"
        return Cell(format_time(value), value, (f"{value:.6g}",), tooltip, tone)
    why = changed or wrong_text(error)
    return Cell(format_time(value), value, (f"{value:.6g}",), f"{why}\n{tooltip}", "muted", struck=True)


def median_cell(record: RunRecord) -> Cell:
    """The kernel's median; what is not GPU time says so in the cell itself."""
    cell = time_cell(record, "kernel", MEDIAN)
    if cell.sort is None or record.started.device.mode == "cuda":
        return cell
    return replace(cell, text=f"{INTERPRETER_MARK} {cell.text}")


def half_width_cell(record: RunRecord) -> Cell:
    """How well the kernel's median is known."""
    measurement = record.measurement("kernel")
    half = measurement.latency.half_width if measurement is not None else None
    if measurement is None or half is None:
        return _missing()
    latency = measurement.latency
    if not half_width_text(latency):
        return _missing(tooltip="too few launches for an interval of the median")
    tooltip = f"{INTERVAL_TIP} {interval_range_text(latency)}\n{answer_of(record).method()[1]}"
    return Cell(half_width_text(latency), half, (f"{100 * half:.3g}",), tooltip, "muted" if is_wrong(record) else "")


def protocol_cell(record: RunRecord) -> Cell:
    """How the launches were timed."""
    measurement = record.measurement("kernel")
    name = measurement.latency.protocol if measurement is not None else record.started.request.protocol
    return _words(name, protocol_tip(name))


def warnings_cell(record: RunRecord) -> Cell:
    """A mark where something must be known beside the times; the sentences are its tooltip and what is copied."""
    chips = answer_of(record).chips()
    if not chips:
        return _missing(tooltip="nothing is known that would have changed the times")
    sentences = "; ".join(chip.tooltip.replace("\n", ", ") for chip in chips)
    order = f"{'0' if any(c.tone == 'warn' for c in chips) else '1'} {len(chips)}"
    return Cell("!", order, (sentences,), "\n".join(chip.tooltip for chip in chips), "warn", bold=True)


def spread_cell(record: RunRecord) -> Cell:
    measurement = record.measurement("kernel")
    if measurement is None:
        return _missing(2)
    low, high = measurement.latency.p20, measurement.latency.p80
    plain = (f"{low:.6g}", f"{high:.6g}")
    wrong = is_wrong(record)
    tooltip = f"p80 - p20 is {format_time(high - low)}"
    tone: Tone = "muted" if wrong else "" if record.started.device.mode == "cuda" else "warn"
    return Cell(format_range(low, high), high - low, plain, tooltip, tone, struck=wrong)


def backend_cell(record: RunRecord) -> Cell:
    check, measurement = record.check("baseline"), record.measurement("baseline")
    taken = measurement.backend if measurement is not None else check.backend if check is not None else ""
    asked = record.started.request.sdpa
    return _words(taken, f"asked for: {asked}") if taken else _missing(tooltip=f"asked for: {asked}")


def ratio_cell(record: RunRecord) -> Cell:
    kernel, baseline = record.measurement("kernel"), record.measurement("baseline")
    if kernel is None or baseline is None:
        return _missing(3)
    if record.started.device.mode == "interpreter":
        return _missing(3, "n/a", record.started.device.mode_label)
    if is_wrong(record) or not baseline.error.passed:
        return _missing(3, "n/a", "no ratio for a wrong result")
    r = record.comparison.ratio if record.comparison is not None else ratio(kernel, baseline)
    plain = tuple(f"{value:.4g}" for value in (r.baseline_over_kernel, r.low, r.high))
    faster = "the kernel is faster" if r.baseline_over_kernel > 1 else "SDPA is faster"
    faster = "level: the interval contains 1" if r.is_level else faster
    paired = record.comparison is not None
    how = "in brackets the 95% interval from paired rounds" if paired else "in brackets p20 / p80 to p80 / p20"
    protocol = f"{kernel.latency.protocol} protocol"
    tooltip = f"SDPA's median over the kernel's: {faster}\n{how}\n{protocol}"
    return Cell(ratio_text(r), r.baseline_over_kernel, plain, tooltip)


def throughput_cell(record: RunRecord) -> Cell:
    kernel = record.measurement("kernel")
    if record.started.device.mode == "interpreter":
        return _missing(text="n/a", tooltip=record.started.device.mode_label)
    value = TFLOPS(kernel) if kernel is not None else None
    if value is None:
        return _missing()
    wrong = is_wrong(record)
    return Cell(f"{value:.3g}", value, (f"{value:.4g}",), WORK_TEXT, "muted" if wrong else "", struck=wrong)


def resources_cell(record: RunRecord) -> Cell:
    kernel = record.measurement("kernel")
    taken = kernel.resources if kernel is not None else None
    if taken is None:
        return _missing(3)
    plain = (str(taken.registers), str(taken.spills), str(taken.shared_bytes))
    tooltip = f"{taken.registers} registers and {taken.spills} spilled per thread\n{taken.shared_bytes} B shared memory"
    tone: Tone = "warn" if taken.spills else ""
    return Cell(f"{taken.registers} / {taken.spills}", float(taken.registers + taken.spills), plain, tooltip, tone)


def max_error_cell(record: RunRecord, role: Role) -> Cell:
    error = _error(record, role)
    if error is None:
        return _missing()
    tooltip = f"rtol {error.rtol:g}, atol {error.atol:g}, mean {error_text(error.mean_abs)}"
    plain = (f"{error.max_abs:.4e}",)
    if error.passed:
        return Cell(error_text(error.max_abs), error.max_abs, plain, tooltip)
    return Cell(error_text(error.max_abs), error.max_abs, plain, f"{wrong_text(error)}\n{tooltip}", "bad", bold=True)


def source_cell(record: RunRecord) -> Cell:
    tooltip = f"recorded on {record.started.device.name}" if record.source else "measured since the window was opened"
    return _words(record.source or "this session", tooltip, "" if record.source else "muted")
