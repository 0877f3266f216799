"""How the times of a run were obtained."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.run.measurement import ROLES, Measurement
from workbench.run.record import RunRecord
from workbench.words.known import no_readings_text, not_recorded, not_recorded_tip
from workbench.words.names import named
from workbench.words.times import (
    ended_text,
    figure_text,
    how_known,
    how_known_text,
    protocol_tip,
    timed_seconds,
)


@dataclass(frozen=True)
class Method:
    """How the times of a run were obtained.

    `figure` is the protocol with what its figure is, `known` whose median is known how well and what ended the timing,
    `short` the same of the one that is known least, and `details` all of it in whole sentences, a line each.
    """

    figure: str = ""
    known: str = ""
    short: str = ""
    details: str = ""


def method_of(record: RunRecord) -> Method:
    """How the times of a run were obtained, as far as it has come."""
    measured = [m for m in map(record.measurement, ROLES) if m is not None]
    request, state = record.started.request, record.device_state
    seconds = timed_seconds(state.readings) if state is not None else None
    clock = measured[0].latency.clock if measured else "host" if record.started.device.mode == "interpreter" else ""
    name = measured[0].latency.protocol if measured else request.protocol
    details = [f"protocol {protocol_tip(name, clock)}"]
    for one in measured:
        ended = ended_text(one.latency, request, seconds)
        details.append(f"{named(one.role, record)}: {figure_text(one.latency)}; {ended}")
    details += [f"{named(r.role, record)}: {r.text}" for r in record.rechecked if r.text]
    details += [no_readings_text(state.readings)] if state is not None else []
    details += [not_recorded_tip(not_recorded(record))]
    lines = "\n".join(filter(None, details))
    if not measured:
        return Method(f"{name} protocol", details=lines)
    worst = max(measured, key=how_known)
    return Method(
        f"{name}: {_figures(record, measured)}",
        _ended(record, measured, seconds),
        _ended(record, [worst], seconds),
        lines,
    )


def _figures(record: RunRecord, measured: list[Measurement]) -> str:
    """What the figures are: said once where both are of the same kind and number."""
    texts = {one.role: figure_text(one.latency) for one in measured}
    first = next(iter(texts.values()))
    if len(set(texts.values())) == 1:
        return first
    return f"{first}, " + ", ".join(f"{named(role, record)} {text}" for role, text in list(texts.items())[1:])


def _ended(record: RunRecord, measured: list[Measurement], seconds: float | None) -> str:
    """Whose median is known how well, and what ended the timing; each number with whose it is."""
    request, latency = record.started.request, measured[0].latency
    known = ", ".join(how_known_text(named(one.role, record), one.latency) for one in measured)
    match latency.ended_by:
        case "precision":
            return known if seconds is None else f"{known} after {seconds:.1f} s"
        case "time":
            return f"limit of {request.max_seconds:g} s: {known}"
        case "samples":
            return f"limit of {request.max_samples:,} samples: {known}"
        case _:
            # The average of a block has no interval; what has one are the single launches beside it.
            return f"single launches: {known}" if latency.has_block else known
