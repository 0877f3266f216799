"""Whether what was read from a file is a run that can be believed: its kinds of values, its times, its arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from workbench.run import ceilings
from workbench.run.events import Checked, TileStates
from workbench.run.kinds import declared_kinds, is_of_kind
from workbench.run.measurement import Latency
from workbench.run.record import RunRecord
from workbench.stats.arrays import FloatArray


def find_damage(record: RunRecord) -> str:
    """What about `record` cannot be, in words that say where and what; "" if it is sound."""
    return next(_damages(record), "")


def _damages(record: RunRecord) -> Iterator[str]:
    yield from _wrong_kinds(record, "record")
    problem = record.started.request.problem
    sizes = {name: getattr(problem, name) for name in ("m", "n", "d", "batch", "heads", "kv_heads")}
    yield from (f"{name} is {size}, and cannot be below 1" for name, size in sizes.items() if size < 1)
    if record.started.ceilings is not None and not ceilings.is_sound(record.started.ceilings):
        yield "the device's ceilings are no rates that it can reach"
    for measured in record.measured:
        yield from _bad_times(measured.measurement.role, measured.measurement.latency)
    for partial in record.partial:
        yield from _bad_samples(partial.role, partial.values)
    for check in record.checked:
        yield from _bad_map(check, (problem.total_heads, problem.m, problem.d))
    if record.states is not None:
        yield from _bad_states(record.states, problem.total_heads, problem.m)


def _wrong_kinds(value: Any, where: str) -> Iterator[str]:
    """Fields of a dataclass, at whatever depth, that are not of the kind that it declares."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _wrong_kinds(item, f"{where}[{index}]")
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return
    for name, hint in declared_kinds(type(value)).items():
        item, place = getattr(value, name), f"{where}.{name}"
        if not is_of_kind(item, hint):
            yield f"{place.removeprefix('record.')} is {_shown(item)}"
        yield from _wrong_kinds(item, place)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _bad_times(role: str, latency: Latency) -> Iterator[str]:
    samples = latency.samples
    yield from _bad_samples(role, samples)
    if not len(samples):
        yield f"the {role} has no samples"
    elif not np.quantile(samples, 0.2) > 0:
        yield f"a fifth of the {role}'s samples are 0"
    average, starts = latency.block_average_us, latency.round_starts
    if average is not None and not 0 < average < float("inf"):
        yield f"the {role}'s block average is {average:g} us"
    if starts.ndim != 1 or (len(starts) and not (starts[0] == 0 and np.all(np.diff(starts) > 0))):
        yield f"the {role}'s rounds do not begin one after the other"
    elif len(starts) and starts[-1] >= len(samples):
        yield f"the {role}'s last round begins after its last sample"


def _bad_samples(role: str, samples: FloatArray) -> Iterator[str]:
    """Times that no clock gives."""
    if samples.ndim != 1:
        yield f"the {role}'s samples are no list of numbers"
        return
    bad = samples[~(np.isfinite(samples) & (samples >= 0))]
    if len(bad):
        yield f"a sample of the {role} is {bad[0]:g} us"


def _bad_map(check: Checked, shape: tuple[int, int, int]) -> Iterator[str]:
    heads = len(check.heads) or shape[0]
    if check.error_map is not None and check.error_map.shape != (heads, *shape[1:]):
        yield f"the error map of {check.implementation} is of another shape"


def _bad_states(states: TileStates, total_heads: int, rows: int) -> Iterator[str]:
    if not (states.block_m > 0 < states.block_n and states.n > 0):
        yield f"the states are of tiles of {states.block_m} x {states.block_n}"
        return
    blocks = states.row_blocks
    if any(b <= a for a, b in pairwise((-1, *blocks))) or (blocks and blocks[-1] * states.block_m >= rows):
        yield f"the states are of blocks of rows that there are not: {_shown(blocks)}"
        return
    shape = (len(states.heads) or total_heads, len(states.row_numbers(rows)), -(-states.n // states.block_n))
    for name in ("m_tile", "m_running", "l_running"):
        array = getattr(states, name)
        if array is not None and array.shape != shape:
            yield f"{name} is of another shape"
