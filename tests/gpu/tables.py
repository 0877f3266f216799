"""The proofs as Markdown tables, for assets/docs/proofs.md.

The `block` protocol's average over a block of launches is compared with nothing where a kernel takes the GPU less
than LAUNCH_US: it then measures the CPU, in the bare script too, and Nsight Compute looks at the GPU alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import TypeVar

import pytest

from tests.gpu.cases import CASES, LAUNCH_US, Case
from tests.gpu.proofs import Proofs, figure, measured, sm_clock
from workbench.run.measurement import Role
from workbench.run.protocols import PROTOCOLS
from workbench.run.record import RunRecord

NONE = "–"
LAUNCH_BOUND = "launch-bound"
WHY_LAUNCH_BOUND = (
    f"{LAUNCH_BOUND}: the kernel takes the GPU less than {LAUNCH_US:.0f} µs, so that the average over a block of "
    "launches is what the CPU takes to launch. It differs from process to process and is compared neither with the "
    "bare script nor with ncu, which looks at the GPU alone; the other protocols' figures of the same kernel are."
)
Found = TypeVar("Found")
PROTOCOL_COLUMNS = (
    "problem",
    "protocol",
    "kernel µs",
    "± %",
    "bare script",
    "difference %",
    "SDPA µs",
    "bare SDPA",
    "difference %",
    "SDPA / kernel",
    "repaints / s",
)
NCU_COLUMNS = (
    "problem",
    "role",
    "`profiler` µs",
    "SM clock MHz by NVML",
    "ncu gpu__time_duration µs",
    "clock by ncu's counters",
    "difference %",
)


def tables(proofs: Proofs) -> str:
    """Both, under a line that names device, versions and date; a run that is not there is left out.

    Below them stands why some figures are compared with nothing.
    """
    runs = list(_runs(proofs))
    assert runs, "nothing ran"
    device = runs[0][2].started.device
    versions = f"driver {device.driver}, CUDA {device.cuda}, torch {device.torch}, triton {device.triton}"
    lines = [f"{device.name}, {versions}, {date.today().isoformat()}", "", *_head(PROTOCOL_COLUMNS)]
    lines += [_line(_protocol_cells(proofs, *run)) for run in runs]
    lines += ["", *_head(NCU_COLUMNS)]
    roles: tuple[Role, ...] = ("kernel", "baseline")
    profiled = [run for run in runs if run[1] == "profiler"]
    lines += [_line(_ncu_cells(proofs, case, record, role)) for case, _, record in profiled for role in roles]
    return "\n".join([*lines, "", WHY_LAUNCH_BOUND])


def _runs(proofs: Proofs) -> Iterator[tuple[Case, str, RunRecord]]:
    for case in CASES:
        for protocol in PROTOCOLS:
            record = _or_none(partial(proofs.record, case, protocol))
            if record is not None:
                yield case, protocol, record


def _protocol_cells(proofs: Proofs, case: Case, protocol: str, record: RunRecord) -> tuple[str, ...]:
    width = measured(record, "kernel").latency.half_width
    ratio = None if record.comparison is None else record.comparison.ratio
    return (
        case.title,
        f"`{protocol}`",
        f"{figure(record, 'kernel'):.1f}",
        NONE if width is None else f"{100 * width:.2f}",
        *_against_bare(proofs, case, protocol, record, "kernel"),
        f"{figure(record, 'baseline'):.1f}",
        *_against_bare(proofs, case, protocol, record, "baseline"),
        NONE if ratio is None else f"{ratio.baseline_over_kernel:.3f} ({ratio.low:.3f} to {ratio.high:.3f})",
        f"{proofs.run(case, protocol).rate:.0f}",
    )


def _ncu_cells(proofs: Proofs, case: Case, record: RunRecord, role: Role) -> tuple[str, ...]:
    name = case.kernel if role == "kernel" else f"SDPA ({measured(record, role).backend})"
    ours, seen = figure(record, role), _or_none(partial(proofs.ncu, case, role))
    us, difference = _against(ours, None if seen is None else seen.us)
    clock = NONE if seen is None else f"{seen.sm_mhz:.0f}"
    return case.title, name, f"{ours:.1f}", f"{sm_clock(record):.0f}", us, clock, difference


def _against_bare(proofs: Proofs, case: Case, protocol: str, record: RunRecord, role: Role) -> tuple[str, str]:
    bare = _or_none(partial(proofs.bare, case, protocol))
    theirs, difference = _against(figure(record, role), None if bare is None else bare.us[role])
    return theirs, LAUNCH_BOUND if _or_none(partial(proofs.is_launch_bound, case, protocol, role)) else difference


def _against(ours: float, theirs: float | None) -> tuple[str, str]:
    """The other figure, and how far ours lies above it in percent."""
    return (NONE, NONE) if theirs is None else (f"{theirs:.1f}", f"{100 * (ours / theirs - 1):+.1f}")


def _or_none(find: Callable[[], Found]) -> Found | None:
    """What is found, None where it was skipped or failed: the test of it says why."""
    try:
        return find()
    except (pytest.skip.Exception, pytest.fail.Exception, Exception):
        return None


def _head(columns: tuple[str, ...]) -> list[str]:
    return [_line(columns), _line(("---",) * len(columns))]


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
