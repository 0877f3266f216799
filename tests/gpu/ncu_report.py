"""Reads what Nsight Compute writes with --csv --page raw: a duration and an SM clock for each kernel."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from workbench.run.measurement import Role

LAUNCHES = 30
DURATION, SM_CLOCK = "gpu__time_duration.sum", "gpc__cycles_elapsed.max.per_second"
# Both spellings of older and newer versions.
_US = {"nsecond": 1e-3, "ns": 1e-3, "usecond": 1.0, "us": 1.0, "msecond": 1e3, "ms": 1e3, "second": 1e6, "s": 1e6}
_MHZ = {
    "cycle/second": 1e-6,
    "cycle/s": 1e-6,
    "hz": 1e-6,
    "mhz": 1.0,
    "ghz": 1e3,
    "cycle/nsecond": 1e3,
    "cycle/ns": 1e3,
}


@dataclass(frozen=True)
class NcuKernel:
    """One kernel as ncu saw it: its time in us, and the SM clock during it in MHz."""

    name: str
    us: float
    sm_mhz: float


@dataclass(frozen=True)
class NcuLaunch:
    """The median of equal launches: the sum of its kernels' times in us, the SM clock in MHz, and their names."""

    us: float
    sm_mhz: float
    names: tuple[str, ...]


def read_kernels(text: str) -> list[NcuKernel]:
    """The kernels of a report, in the order of their launch.

    Raises ValueError where the report has no table, a column is missing, or a unit is not known.
    """
    lines = [line for line in text.splitlines() if not line.startswith("==")]
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ValueError(f"ncu's report has no table: {text.strip()!r}")
    header, units, *rows = csv.reader(lines[start:])
    columns = {name: number for number, name in enumerate(header)}
    missing = [name for name in ("Kernel Name", DURATION, SM_CLOCK) if name not in columns]
    if missing:
        raise ValueError(f"ncu's table has no column {', '.join(missing)}")
    name, duration, clock = (columns[column] for column in ("Kernel Name", DURATION, SM_CLOCK))
    us, mhz = _scale(units[duration], _US), _scale(units[clock], _MHZ)
    return [NcuKernel(row[name], us * _number(row[duration]), mhz * _number(row[clock])) for row in rows if row]


def per_launch(
    kernels: Sequence[NcuKernel], sizes: Mapping[Role, int], launches: int = LAUNCHES
) -> dict[Role, NcuLaunch]:
    """The median launch of each role: `sizes` says how many kernels one launch is, in the order in which they ran.

    Raises ValueError where that is not what ran.
    """
    expected = launches * sum(sizes.values())
    if len(kernels) != expected:
        raise ValueError(f"ncu saw {len(kernels)} kernels; {launches} launches of {dict(sizes)} are {expected}")
    found: dict[Role, NcuLaunch] = {}
    first = 0
    for role, size in sizes.items():
        groups = [kernels[start : start + size] for start in range(first, first + launches * size, size)]
        first += launches * size
        names = tuple(kernel.name for kernel in groups[0])
        if any(tuple(kernel.name for kernel in group) != names for group in groups):
            raise ValueError(f"ncu saw other kernels in one launch of the {role} than in the next")
        us = median(sum(kernel.us for kernel in group) for group in groups)
        found[role] = NcuLaunch(us, median(kernel.sm_mhz for group in groups for kernel in group), names)
    return found


def _scale(unit: str, known: Mapping[str, float]) -> float:
    if unit.lower() not in known:
        raise ValueError(f"ncu's unit is {unit!r}; known are {', '.join(known)}")
    return known[unit.lower()]


def _number(text: str) -> float:
    return float(text.replace(",", ""))  # thousands are set apart
