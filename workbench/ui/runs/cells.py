"""The cells of the table of runs: what each says of a run, how it sorts, and what is copied of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from kernels.plain.launch_options import LAUNCH_OPTIONS, LaunchOption
from kernels.plain.tiles import AUTO_SPLITS, TileConfig
from workbench.analysis.metrics import Metric, find_metric
from workbench.analysis.numbers import MICROSECONDS, error_text
from workbench.run.events import Failed
from workbench.run.kept.marks import Marks
from workbench.run.measurement import Role
from workbench.run.record import RunRecord
from workbench.ui.headline.lines import changed_line
from workbench.ui.runs.shared import Shared, shape_text, source_mark
from workbench.ui.text.fit import SEPARATOR
from workbench.words.names import kernel_text, splits_text, versions_text
from workbench.words.results import failure_words, remedy_text, wrong_text

Tone = Literal["", "muted", "good", "bad", "warn"]
SortValue = float | str | tuple[bool, str, int] | tuple[int, ...]

MISSING = "–"
STAR = "★"
SPLITS_MARK = "÷"


@dataclass(frozen=True)
class Cell:
    """One cell: `sort` is None where there is no value; `plain` is what is copied, one text per exported column.

    `text` is what it says by itself, `said` what it says among other runs: without what is common to all of them, and
    in the unit of the column. `shorter` are versions of it for less room, the longest first.
    """

    text: str
    sort: SortValue | None
    plain: tuple[str, ...]
    tooltip: str = ""
    tone: Tone = ""
    bold: bool = False
    struck: bool = False
    said: Callable[[Shared], str] | None = field(default=None, compare=False)
    shorter: tuple[str, ...] = ()

    def among(self, shared: Shared) -> str:
        """What the cell says in a table whose runs share that."""
        return self.text if self.said is None else self.said(shared)


def missing_cell(count: int = 1, text: str = MISSING, tooltip: str = "") -> Cell:
    """A cell without a value; `count` is how many columns are copied of it."""
    return Cell(text, None, ("",) * count, tooltip, "muted")


def copied(record: RunRecord, *names: str, role: Role = "kernel") -> tuple[str, ...]:
    """The metrics called `names` of a role, as bare numbers; "" for what it has not."""
    measured, ceilings = record.measurement(role), record.started.ceilings
    metrics = map(find_metric, names)
    return tuple("" if measured is None else metric.plain(metric.value(measured, ceilings)) for metric in metrics)


def metric_cell(record: RunRecord, metric: Metric, text: Callable[[float], str] | None = None) -> Cell:
    """A number about the kernel; of a wrong output it is struck out, as far as it would be a claim."""
    kernel, device = record.measurement("kernel"), record.started.device
    value = metric.value(kernel, record.started.ceilings) if kernel is not None else None
    if value is None:
        return missing_cell(text="n/a", tooltip=device.mode_label) if device.mode == "interpreter" else missing_cell()
    wrong = record.is_wrong("kernel") and metric.better != "neither"
    tone: Tone = "muted" if wrong else ""
    said = times_said(value) if metric.unit == MICROSECONDS.name else None
    return Cell((text or metric.text)(value), value, (metric.plain(value),), metric.tip, tone, struck=wrong, said=said)


def times_said(*us: float, before: str = "") -> Callable[[Shared], str]:
    """How times of `us` microseconds are said in the unit of their column."""
    return lambda shared: before + "–".join(map(shared.unit.said, us))


def number_cell(record: RunRecord) -> Cell:
    """The run's number, after the mark of its recording unless all runs are of that one: those of several repeat."""
    started, number = record.started, record.run_id
    order = (not record.source, record.source, number)  # this session's are the newest
    source = f"recording {record.source}" if record.source else "this session"
    tip = f"run {number} of {source}, started {started.started_at}"
    mark = source_mark(record.source)
    text = f"{mark} {number}".strip()
    pieces = mark.split("-")
    shorter = [f"{'-'.join(pieces[:end])}… {number}" for end in range(len(pieces) - 1, -1, -1)] if mark else []

    def said(shared: Shared) -> str:
        return f"{shared.mark(record.source)} {number}".strip()

    return Cell(text, order, (str(number), started.started_at), tip, said=said, shorter=tuple(shorter))


def name_cell(marks: Marks) -> Cell:
    """What the run is called, after its star; its note can be read at both."""
    text = " ".join(filter(None, (STAR if marks.starred else "", marks.name)))
    tip = "\n".join(filter(None, ("starred" if marks.starred else "", marks.name, marks.note)))
    return Cell(text, text, (), tip) if text else missing_cell(0, tooltip=tip)


def note_cell(marks: Marks) -> Cell:
    """What was noted, in one line."""
    text = " ".join(marks.note.split())
    return Cell(text, text, (), marks.note) if text else missing_cell(0)


def state_cell(record: RunRecord) -> Cell:
    error, end = record.error("kernel"), record.end
    if error is not None and not error.passed:
        reason = wrong_text(error)
        after = f"; {failure_words(end)}: {end.message}" if isinstance(end, Failed) else ""
        return Cell("WRONG", "0 wrong", ("WRONG",), reason + after, "bad", bold=True)
    if any(r.failed for r in record.rechecked):
        line = changed_line(record)
        return Cell(
            "CHANGED", "0 changed", ("changed while timing",), f"{line.value}\n{line.tooltip}", "bad", bold=True
        )
    if isinstance(end, Failed):
        words = failure_words(end)
        tooltip = "\n".join(filter(None, (end.message, remedy_text(end))))
        if end.kind == "cancelled":
            return Cell(words, f"2 {words}", (words,), tooltip, "muted")
        short = end.resource or words  # the time says "failed"
        return Cell(short, f"1 {words}", (f"failed: {words}",), f"failed: {words}\n{tooltip}", "bad")
    if end is None:
        return Cell("running", "3", ("running",), "not finished yet", "warn")
    if error is None:
        return Cell("not checked", "4", ("not checked",), "the output was not compared with float64", "warn")
    return Cell("passed", "5", ("passed",), f"max error {error_text(error.max_abs)}", "good")


def problem_cell(record: RunRecord) -> Cell:
    p = record.started.request.problem
    mask = "causal mask, aligned to the lower right" if p.causal else "no mask"
    tooltip = f"M × N × D = {p.shape}, {p.dtype}\nbatch {p.batch}, heads {p.heads}, KV heads {p.kv_heads}\n{mask}"
    tooltip += f"\nseed {p.seed}, inputs {p.inputs}"
    sides = (str(side) for side in (p.m, p.n, p.d, p.batch, p.heads, p.kv_heads))
    plain = (*sides, "yes" if p.causal else "no", p.dtype, str(p.seed), p.inputs)

    def said(shared: Shared) -> str:
        return shape_text(record, shared.common)

    return Cell(shape_text(record), float(p.flops), plain, tooltip, said=said)


def words_cell(text: str, tooltip: str = "", tone: Tone = "") -> Cell:
    """A cell of words, which sorts by them."""
    return Cell(text, text.lower(), (text,), tooltip, tone)


def kernel_cell(record: RunRecord) -> Cell:
    request = record.started.request
    text = kernel_text(request.kernel, request.precision)
    exact = ", which 16-bit products are exact in" if request.problem.dtype != "fp32" else ""
    tooltip = f"kernel {request.kernel}\nprecision of its products: {request.precision}{exact}"
    return Cell(text, text.lower(), (request.kernel, request.precision), tooltip)


def tile_cell(record: RunRecord) -> Cell:
    """The whole tile; what is copied are the blocks, as the other settings have columns of their own."""
    tile = record.started.request.tile
    marks = tile_marks(tile)
    text = f"{tile.block_m} × {tile.block_n}"
    splits = splits_text(tile)
    words = ", ".join((*tile.option_words, f"{SPLITS_MARK}{splits} key splits"))
    tooltip = f"BLOCK_M {tile.block_m}, BLOCK_N {tile.block_n} rows\n{words}"
    plain = (str(tile.block_m), str(tile.block_n))
    order = (tile.block_m, tile.block_n, tile.num_warps, tile.num_stages, tile.splits, tile.maxnreg)
    return Cell(SEPARATOR.join(filter(None, (text, marks))), order, plain, tooltip)


def tile_marks(tile: TileConfig) -> str:
    """The tile's settings that are not the usual, by their marks: "8w 3s", "8w 3s ÷4", "96r"; "" if all are.

    Warps and stages are said together: one alone leaves open what the other was. The rarest come last.
    """
    fixed = [one for one in LAUNCH_OPTIONS if not one.auto_text]
    others = [one for one in LAUNCH_OPTIONS if one.auto_text]
    is_usual = all(getattr(tile, one.name) == one.default for one in fixed)
    marks = [] if is_usual else [f"{getattr(tile, one.name)}{one.mark}" for one in fixed]
    marks += [f"{SPLITS_MARK}{splits_text(tile)}"] if tile.splits != 1 else []
    marks += [f"{value}{one.mark}" for one in others if not one.is_left(value := getattr(tile, one.name))]
    return " ".join(marks)


def splits_cell(record: RunRecord) -> Cell:
    """The key splits that were made; what a rule chose says so."""
    asked, kernel = record.started.request.tile, record.measurement("kernel")
    taken = kernel.tile if kernel is not None and kernel.tile is not None else asked
    text = splits_text(taken)
    if asked.splits != AUTO_SPLITS:
        return Cell(text, float(taken.splits), (text,), f"{text} programs share the keys of a block of query rows")
    return Cell(text, float(taken.splits), (text,), "asked for: auto, as many as fill the device")


def option_cell(option: LaunchOption, record: RunRecord) -> Cell:
    value = getattr(record.started.request.tile, option.name)
    text = option.shown(value)
    return Cell(text, float(value), (text,))


def clock_cell(record: RunRecord) -> Cell:
    device = record.started.device
    return words_cell(device.mode_label, device.name, "" if device.mode == "cuda" else "warn")


def device_cell(record: RunRecord) -> Cell:
    """What the run was made on."""
    device, provenance = record.started.device, record.started.provenance
    limit = provenance.power_limit_w
    plain = (device.name, device.driver, device.cuda, "" if limit is None else f"{limit:.0f}")
    driver = f"driver {device.driver}, CUDA {device.cuda}" if device.mode == "cuda" else device.mode_label
    watts = f"power limit {limit:.0f} W" if limit is not None else ""
    clocks = f"application clocks {provenance.application_clocks}" if provenance.application_clocks else ""
    tooltip = "\n".join(filter(None, (device.name, driver, watts, clocks)))
    return Cell(device.name, device.name.lower(), plain, tooltip)


def versions_cell(record: RunRecord) -> Cell:
    """What the run was made with: two of a kernel may differ by these alone."""
    device, provenance = record.started.device, record.started.provenance
    revision, digest = provenance.revision, provenance.source_sha256
    text = versions_text(record.started)
    kernel = f"revision {revision or 'none'}, SHA-256 {digest}" if digest else "source revision not recorded"
    tooltip = f"torch {device.torch}, triton {device.triton}, Python {device.python}\n{provenance.kernel_file} {kernel}"
    return Cell(text, text, (device.torch, device.triton, device.python, revision, digest), tooltip)


def backend_cell(record: RunRecord) -> Cell:
    check, measurement = record.check("baseline"), record.measurement("baseline")
    taken = measurement.backend if measurement is not None else check.backend if check is not None else ""
    asked = record.started.request.sdpa
    return words_cell(taken, f"asked for: {asked}") if taken else missing_cell(tooltip=f"asked for: {asked}")


def resources_cell(record: RunRecord) -> Cell:
    kernel = record.measurement("kernel")
    taken = kernel.resources if kernel is not None else None
    if taken is None:
        return missing_cell(3)
    plain = copied(record, "registers", "spills", "shared_bytes")
    tooltip = f"{taken.registers} registers and {taken.spills} spilled per thread\n{taken.shared_bytes} B shared memory"
    tone: Tone = "warn" if taken.spills else ""
    return Cell(f"{taken.registers} / {taken.spills}", float(taken.registers + taken.spills), plain, tooltip, tone)


def max_error_cell(record: RunRecord, role: Role) -> Cell:
    error = record.error(role)
    if error is None:
        return missing_cell()
    tooltip = f"rtol {error.rtol:g}, atol {error.atol:g}, mean {error_text(error.mean_abs)}"
    plain = (find_metric("max_abs_error").plain(error.max_abs),)
    if error.passed:
        return Cell(error_text(error.max_abs), error.max_abs, plain, tooltip)
    return Cell(error_text(error.max_abs), error.max_abs, plain, f"{wrong_text(error)}\n{tooltip}", "bad", bold=True)


def source_cell(record: RunRecord) -> Cell:
    """The file that the run is in; it may be of an earlier day also where that is this session's."""
    started = record.started
    where = f"measured {started.started_at.replace('T', ' ')} on {started.device.name}"
    kept = f"read from the recording {record.source}" if record.source else "kept in this window's session file"
    return words_cell(record.source or "this session", f"{where}\n{kept}", "" if record.source else "muted")
