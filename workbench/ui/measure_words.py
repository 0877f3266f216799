"""The words for how a time was obtained, so that the headline, the plots and the table say the same."""

from __future__ import annotations

from workbench.device_state import DeviceTrace, DeviceWarning
from workbench.metrics import format_range, format_time
from workbench.model import Latency, RunRequest
from workbench.modes import Modes
from workbench.request import PROTOCOLS

ZEROS_TEXT = "zeros flatter"
ZEROS_TIP = "every value is 0: a GPU that flips no bits draws less power, which flatters its clocks and its times"
INTERVAL_TIP = "95% interval of the median"


def percent_text(share: float) -> str:
    """A small share as people read it: 0.03%, 0.6%, 12%."""
    return f"{share:.2%}" if 0 < share < 0.001 else f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def has_interval(latency: Latency) -> bool:
    """Whether there were enough samples for an interval of the median."""
    return latency.interval is not None and latency.interval.is_bounded


def half_width_text(latency: Latency) -> str:
    """Half the interval's width relative to the median, as ±0.6%; "" without an interval."""
    half = latency.half_width
    return f"±{percent_text(half)}" if half is not None and has_interval(latency) else ""


def interval_range_text(latency: Latency) -> str:
    """The 95% interval of the median with its unit; "" without one."""
    interval = latency.interval
    return format_range(interval.low, interval.high) if interval is not None and has_interval(latency) else ""


def ended_text(latency: Latency, request: RunRequest, seconds: float | None = None) -> str:
    """How a run's timing ended and how well its median is known then; `seconds` is how long it took, if known."""
    half = latency.half_width
    known = percent_text(half) if half is not None and has_interval(latency) else ""
    after = f" after {seconds:.1f} s" if seconds is not None else ""
    match latency.ended_by:
        case "precision":
            return f"interval {known}{after}"
        case "time":
            return f"limit of {request.max_seconds:g} s: " + _still(known)
        case "samples":
            return f"limit of {request.max_samples:,} samples: " + _still(known)
        case _:
            return f"{latency.launches} launches" + (f", interval {known}" if known else ", too few for an interval")


def _still(known: str) -> str:
    return f"interval still {known}" if known else "too few samples for an interval"


def warning_text(warning: DeviceWarning) -> str:
    """A warning in a few words, which its whole sentence begins with; zeros in words that fit a chip."""
    return ZEROS_TEXT if warning.kind == "inputs" else warning.text.partition(":")[0]


def modes_text(modes: Modes) -> str:
    """Two modes with their shares: "two modes: 383.6 µs (82%) and 389.6 µs (18%)"."""
    low, high = (
        f"{format_time(centre)} ({share:.0%})" for centre, share in zip(modes.centres, modes.shares, strict=True)
    )
    return f"two modes: {low} and {high}"


def protocol_tip(name: str) -> str:
    """A protocol's name with its meaning, where it is known."""
    return f"{name}: {PROTOCOLS[name]}" if name in PROTOCOLS else name


def timed_seconds(trace: DeviceTrace) -> float | None:
    """From the begin of the first timed span to the end of the last, s; None where none is known."""
    return max(end for _, end in trace.timed) - min(begin for begin, _ in trace.timed) if trace.timed else None


def no_trace_text(trace: DeviceTrace) -> str:
    """Why a trace without readings has none, in a line; "" for one that has some."""
    if len(trace.t):
        return ""
    reasons = "; ".join(f"{missing.reading}: {missing.reason}" for missing in trace.missing)
    return f"no {reasons}" if reasons else "no device state was recorded"
