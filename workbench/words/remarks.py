"""What must be known beside a run's times: each in a few words, with the sentence behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.analysis.caveats import FLATTERING
from workbench.run.events import Failed
from workbench.run.measurement import ROLES, Measurement, Role
from workbench.run.record import RunRecord
from workbench.words.known import not_recorded, not_recorded_tip
from workbench.words.names import named
from workbench.words.results import NOT_CHECKED_AGAIN, NOT_LAUNCHED_AGAIN
from workbench.words.times import drift_text, figure_kind, modes_text


@dataclass(frozen=True)
class Remark:
    """A few words, the sentence behind them, and the tone they are said in, for which a theme has a colour."""

    text: str
    tooltip: str
    tone: str = "warn"


def remarks_of(record: RunRecord) -> tuple[Remark, ...]:
    """What must be known beside the times, the most important first."""
    return tuple(_remarks(record))


def _remarks(record: RunRecord) -> Iterator[Remark]:
    yield from _warning_remarks(record)
    for role in ROLES:
        yield from _bits_remarks(record, role)
        measurement = record.measurement(role)
        if measurement is not None:
            yield from _latency_remarks(record, measurement)
    yield from _untried_remarks(record)
    missing = not_recorded(record)
    if missing:
        yield Remark(f"not recorded: {', '.join(missing)}", not_recorded_tip(missing), "muted")


def _warning_remarks(record: RunRecord) -> Iterator[Remark]:
    """What the run was warned of, and inputs that flatter also where a program that did not know it made the run."""
    warnings = record.device_state.warnings if record.device_state is not None else ()
    flattery = FLATTERING.get(record.started.request.problem.inputs)
    if flattery is not None and not any(warning.kind == flattery.kind for warning in warnings):
        warnings = (*warnings, flattery)
    yield from (Remark(warning.label, warning.text) for warning in warnings)


def _bits_remarks(record: RunRecord, role: Role) -> Iterator[Remark]:
    """That an output has other bits at another launch: within the tolerance no failure, but to be known."""
    again = record.recheck(role)
    if again is None:
        return
    name, whose = named(role, record), _whose(role, record)
    if again.deterministic is False:
        yield Remark(f"{whose}not deterministic", f"{name}: {again.text}")
    elif again.deterministic is None and not again.bits_equal and not again.failed:
        yield Remark(f"{whose}other bits after timing", f"{name}: {again.text}")


def _untried_remarks(record: RunRecord) -> Iterator[Remark]:
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
            yield Remark(f"{whose}{text}", sentences, "muted")


def _latency_remarks(record: RunRecord, measurement: Measurement) -> Iterator[Remark]:
    """What about the samples themselves keeps one figure from being the whole truth."""
    latency, role = measurement.latency, measurement.role
    name, whose = named(role, record), _whose(role, record)
    if latency.launch_bound:
        names = f"\nwhat ran: {', '.join(latency.kernel_names)}" if latency.kernel_names else ""
        yield Remark(f"{whose}{latency.launch_bound}", f"{name} is {latency.launch_bound}{names}")
    for note in latency.notes:
        yield Remark(f"{whose}{note.label}", f"{name}: {note.text}")
    if latency.modes is not None:
        text = modes_text(latency.modes)
        both = f"the {figure_kind(latency)} is one number for both"
        yield Remark(f"{whose}{text}", f"{name}: {text}; {both}", str(role))
    if latency.drift is not None:
        text = f"{whose}{drift_text(latency.drift)}"
        yield Remark(text, f"{name}: {drift_text(latency.drift)} from begin to end of the run")


def _whose(role: Role, record: RunRecord) -> str:
    """What a remark begins with: nothing where it is of the kernel, which most are."""
    return "" if role == "kernel" else f"{named(role, record)} "
