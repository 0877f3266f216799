"""The words for results and failures, so that the headline, the table and the log say the same."""

from __future__ import annotations

import math
import re

from kernels.plain.tiles import AUTO_SPLITS, TileConfig
from workbench.run.events import Failed, FailureKind
from workbench.run.measurement import ErrorStats, Measurement, Role
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.stats.summary import Ratio

FAILURE_WORDS: dict[FailureKind, str] = {
    "compile": "does not compile",
    "resources": "out of resources",
    "launch": "launch failed",
    "memory": "out of memory",
    "timeout": "took too long",
    "died": "engine died",
    "cancelled": "stopped",
    "invalid": "invalid request",
}


PAIRED = "95% interval"
NOT_PAIRED = "95% interval, not paired"
NO_INTERVAL = "no interval"
SMALL_FACTOR = 1.02  # a smaller one is said in percent: 1.00× slower would be no answer
OTHER_BASELINES = {"flex": "FlexAttention", "flash_attn": "flash_attn 2", "flash_attn_3": "flash_attn 3"}


def number(value: float, digits: int = 4) -> str:
    """`value` with `digits` significant digits: 1,234 or 0.3812 or 3.13e-7, and NaN or −inf in words."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("inf" if value > 0 else "−inf")
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if -3 <= size < 6:
        return f"{value:,.{max(0, digits - 1 - size)}f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def head_text(problem: Problem, number: int) -> str:
    """A head by its number among all: "head 12", and with several batches "batch 1, head 4"."""
    batch, head = divmod(number, problem.heads)
    return f"batch {batch}, head {head}" if problem.batch > 1 else f"head {head}"


def heads_text(problem: Problem) -> str:
    """How many heads, as batch x heads, and the KV heads where they are fewer; "" for a single one."""
    if problem.total_heads == 1 and problem.kv_heads == 1:
        return ""
    batch = f"{problem.batch} × " if problem.batch > 1 else ""
    shared = f" / {problem.kv_heads} KV" if problem.kv_heads != problem.heads else ""
    return f"{batch}{problem.heads}{shared} heads"


def kind_text(problem: Problem) -> str:
    """A problem's dtype and mask where they are not the plain ones, else ""."""
    return ", ".join(
        filter(None, (problem.dtype if problem.dtype != "fp32" else "", "causal" if problem.causal else ""))
    )


def inputs_text(problem: Problem) -> str:
    """Which values Q, K and V have, where they are not the plain ones: "zeros inputs, seed 7"; else ""."""
    inputs = f"{problem.inputs} inputs" if problem.inputs != "normal" else ""
    return ", ".join(filter(None, (inputs, f"seed {problem.seed}" if problem.seed else "")))


def problem_text(problem: Problem) -> str:
    """A problem in a line: its shape, then its heads, dtype, mask and inputs where they are not the plain ones."""
    return ", ".join(filter(None, (problem.shape, heads_text(problem), kind_text(problem), inputs_text(problem))))


def kernel_text(kernel: str, precision: str) -> str:
    """A kernel, with the precision of its fp32 products where that is not the full one."""
    return kernel if precision in ("", "ieee") else f"{kernel} {precision}"


def baseline_text(choice: str) -> str:
    """How a baseline is called: attentions other than SDPA by their own names."""
    return OTHER_BASELINES.get(choice, "SDPA")


def failure_words(failed: Failed) -> str:
    """The kind of a failure in a few words, naming the resource where the message does."""
    if failed.kind == "resources":
        message = failed.message.lower()
        for resource in ("shared memory", "registers", "tensor memory"):
            if resource.removesuffix("s") in message:
                return f"out of {resource}"
    return FAILURE_WORDS[failed.kind]


def error_text(value: float) -> str:
    """An error in two digits: 3.1e-7, not 3.1e-07, and 0."""
    if value == 0:
        return "0"
    mantissa, mark, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}" if mark else mantissa


def tolerance_text(error: ErrorStats) -> str:
    """The tolerance an output was held to."""
    if error.rtol == error.atol:
        return f"tolerance {error.atol:g}"
    return f"rtol {error.rtol:g}, atol {error.atol:g}"


def wrong_text(error: ErrorStats, short: bool = False) -> str:
    """What is wrong with an output that did not pass; `short` leaves out a tolerance of two numbers."""
    if error.non_finite:
        values = "value is" if error.non_finite == 1 else "values are"
        return f"WRONG: {error.non_finite} {values} NaN or infinite"
    found = error_text(error.max_abs)
    if short and error.rtol == error.atol:
        return f"WRONG: {found} over {error_text(error.atol)}"
    return f"WRONG: max error {found}" + ("" if short else f" over {tolerance_text(error)}")


def against_text(ratio: Ratio) -> str:
    """How the kernel's time is beside the baseline's, in the words of the headline: "1.97× slower", "level".

    Without an interval nobody knows: neither that one is faster nor that they are level.
    """
    if not math.isfinite(ratio.high):
        return NO_INTERVAL
    if ratio.is_level:
        return "level"
    is_faster = ratio.baseline_over_kernel > 1
    times = ratio.baseline_over_kernel if is_faster else ratio.inverse.baseline_over_kernel
    much = f"{number(times, 3)}×" if times >= SMALL_FACTOR else f"{100 * (times - 1):.2g}%"
    return f"{much} {'faster' if is_faster else 'slower'}"


def comparison_text(ratio: Ratio, baseline: str = "SDPA") -> str:
    """Who is faster, in words; `baseline` is what the kernel is held against."""
    if not math.isfinite(ratio.high):
        return NO_INTERVAL
    return f"{against_text(ratio)} {'with' if ratio.is_level else 'than'} {baseline}"


def bounds_text(ratio: Ratio, is_paired: bool, short: bool = False) -> str:
    """What bounds the factor of `comparison_text`, in the same sense, and what these bounds are.

    The intervals of two medians that were not timed in turns make one too, which knows nothing of a drift. `short` is
    for where there is little room.
    """
    if not math.isfinite(ratio.high):
        return f"too few {'rounds' if is_paired else 'launches'} for an interval"
    shown = ratio if ratio.is_level or ratio.baseline_over_kernel > 1 else ratio.inverse
    factors = f"{number(shown.low)}–{number(shown.high)}×"
    if short:
        return factors if is_paired else f"{factors} not paired"
    return f"{PAIRED if is_paired else NOT_PAIRED} {factors}"


def named(role: Role, record: RunRecord) -> str:
    """A role of a run in a word or two: SDPA, or another attention by its own name."""
    if role == "kernel":
        return "kernel"
    measurement = record.measurement(role)
    return baseline_text(measurement.backend) if measurement is not None else "SDPA"


def implementation_text(measurement: Measurement) -> str:
    """Who was measured: the kernel with its precision and tile, SDPA with the backend it took."""
    if measurement.role == "baseline":
        name = baseline_text(measurement.backend)
        return f"{name} {measurement.backend}".rstrip() if name == "SDPA" else name
    name = kernel_text(measurement.implementation, measurement.precision)
    return f"{name} {tile_text(measurement.tile)}" if measurement.tile is not None else name


def tile_text(tile: TileConfig) -> str:
    """BLOCK_M × BLOCK_N, and the key splits where there are several."""
    splits = f"{splits_text(tile)} splits" if tile.splits != 1 else ""
    return ", ".join(filter(None, (tile.label, splits, *tile.unusual_words)))


def splits_text(tile: TileConfig) -> str:
    """The number of key splits, or that a rule is to choose it."""
    return str(tile.splits) if tile.splits != AUTO_SPLITS else "auto"


def unbroken(text: str) -> str:
    """`text` in which no line ends between a number and its unit."""
    return re.sub(r"(?<=\d) (?=[KMG]?i?B\b|µs|ms|s\b)", "\u00a0", text)


def duration_text(seconds: float) -> str:
    """A duration as people say it: 1.2 s, 35 s, 4 min, 2.1 h."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
