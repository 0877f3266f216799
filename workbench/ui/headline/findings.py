"""What must be known beside a run's times: what was found, as chips, and how the times were obtained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.analysis.caveats import FLATTERING
from workbench.run.events import Failed
from workbench.run.measurement import ROLES, Measurement, Role
from workbench.run.record import RunRecord
from workbench.ui.headline.chips import Chip
from workbench.words.known import no_readings_text, not_recorded, not_recorded_tip
from workbench.words.names import named
from workbench.words.results import NOT_CHECKED_AGAIN, NOT_LAUNCHED_AGAIN
from workbench.words.times import (
    drift_text,
    ended_text,
    figure_kind,
    figure_text,
    how_known,
    how_known_text,
    modes_text,
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


def chips_of(record: RunRecord) -> tuple[Chip, ...]:
    """What must be known beside the times, the most important first."""
    return tuple(_chips(record))


def _chips(record: RunRecord) -> Iterator[Chip]:
    yield from _warning_chips(record)
    for role in ROLES:
        yield from _bits_chips(record, role)
        measurement = record.measurement(role)
        if measurement is not None:
            yield from _latency_chips(record, measurement)
    yield from _untried_chips(record)
    missing = not_recorded(record)
    if missing:
        yield Chip(f"not recorded: {', '.join(missing)}", not_recorded_tip(missing), "muted")


def _warning_chips(record: RunRecord) -> Iterator[Chip]:
    """What the run was warned of, and inputs that flatter also where a program that did not know it made the run."""
    warnings = record.device_state.warnings if record.device_state is not None else ()
    flattery = FLATTERING.get(record.started.request.problem.inputs)
    if flattery is not None and not any(warning.kind == flattery.kind for warning in warnings):
        warnings = (*warnings, flattery)
    yield from (Chip(warning.label, warning.text) for warning in warnings)


def _bits_chips(record: RunRecord, role: Role) -> Iterator[Chip]:
    """That an output has other bits at another launch: within the tolerance no failure, but to be known."""
    again = record.recheck(role)
    if again is None:
        return
    name, whose = named(role, record), _whose(role, record)
    if again.deterministic is False:
        yield Chip(f"{whose}not deterministic", f"{name}: {again.text}")
    elif again.deterministic is None and not again.bits_equal and not again.failed:
        yield Chip(f"{whose}other bits after timing", f"{name}: {again.text}")


def _untried_chips(record: RunRecord) -> Iterator[Chip]:
    """What is not known of an output because nobody tried; what an older program did not try is said elsewhere."""
    tried = {role: record.recheck(role) for role in ROLES if record.measurement(role) is not None}
    unlaunched = [role for role, again in tried.items() if again is not None and again.deterministic is None]
    unchecked = [role for role, again in tried.items() if again is None and isinstance(record.end, Failed)]
    for roles, text, sentence in (
        (unlaunched, "determinism not known", NOT_LAUNCHED_AGAIN),
        (unchecked, "not checked again", NOT_CHECKED_AGAIN),
    ):
        if roles:
            sentences = "\n".join(f"{named(role, record)}: {sentence}" for role in roles)
            both = " and ".join(named(role, record) for role in roles)
            whose = f"{both}: " if len(roles) > 1 else _whose(roles[0], record)
            yield Chip(f"{whose}{text}", sentences, "muted")


def _latency_chips(record: RunRecord, measurement: Measurement) -> Iterator[Chip]:
    """What about the samples themselves keeps one figure from being the whole truth."""
    latency, role = measurement.latency, measurement.role
    name, whose = named(role, record), _whose(role, record)
    if latency.launch_bound:
        names = f"\nwhat ran: {', '.join(latency.kernel_names)}" if latency.kernel_names else ""
        yield Chip(f"{whose}{latency.launch_bound}", f"{name} is {latency.launch_bound}{names}")
    for note in latency.notes:
        yield Chip(f"{whose}{note.label}", f"{name}: {note.text}")
    if latency.modes is not None:
        text = modes_text(latency.modes)
        both = f"the {figure_kind(latency)} is one number for both"
        yield Chip(f"{whose}{text}", f"{name}: {text}; {both}", str(role))
    if latency.drift is not None:
        text = f"{whose}{drift_text(latency.drift)}"
        yield Chip(text, f"{name}: {drift_text(latency.drift)} from begin to end of the run")


def _whose(role: Role, record: RunRecord) -> str:
    """What a chip begins with: nothing where it is of the kernel, which most are."""
    return "" if role == "kernel" else f"{named(role, record)} "
