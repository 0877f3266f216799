"""What the GPU proofs hold against each other, each measured once: runs in the window, bare scripts, ncu, repeats."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from kernels.plain.tiles import TileConfig
from tests.gpu.cases import CASES, LAUNCH_US, REPEATED, Case
from tests.gpu.ncu_report import NcuLaunch
from tests.gpu.outside import Bare, BareScript, NotAllowedError, ncu_launches
from tests.ui.window.redrawn import RedrawnWindow, RefusedError, WindowRun
from workbench.engine.host.process import KernelHost
from workbench.run.events import Failed
from workbench.run.measurement import Latency, Measurement, Role
from workbench.run.protocols import PROTOCOLS
from workbench.run.record import RunBuilder, RunRecord

REPEATED_PROTOCOLS = ("cold", "graph", "profiler")
Made = TypeVar("Made")


class Kept:
    """Remembers what was made, and what could not be: nothing dear is tried twice."""

    def __init__(self) -> None:
        self._made: dict[Hashable, object] = {}

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives or raises, by `key`."""
        if key not in self._made:
            try:
                self._made[key] = make()
            except Exception as error:
                self._made[key] = error
        found = self._made[key]
        if isinstance(found, Exception):
            raise found.with_traceback(None)  # else each raising would lengthen it
        return found  # type: ignore[return-value]


class Proofs:
    """The runs of CASES under every protocol, and what is measured beside them. Skips what this device cannot take."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept = Kept()

    def run_all(self) -> None:
        """Make all runs in one window, the block protocol's first and the profiler's last: CUPTI stays."""
        window = RedrawnWindow(self._folder, "cuda")
        try:
            for protocol, case in product(PROTOCOLS, CASES):
                try:
                    self._kept.once((case, protocol), partial(window.run, case.request(protocol)))
                except TimeoutError as error:
                    print(f"\n{case.name} under {protocol}: {error}; nothing more is run")
                    return
                except Exception as error:
                    print(f"\n{case.name} under {protocol}: {error}")  # raised again where it is asked for
        finally:
            window.close()

    def run(self, case: Case, protocol: str) -> WindowRun:
        """The finished run in the window."""
        try:
            run = self._kept.once((case, protocol), _never_run)
        except RefusedError as refusal:
            pytest.skip(str(refusal))
        check_finished(run.record)
        return run

    def record(self, case: Case, protocol: str) -> RunRecord:
        """Its record."""
        return self.run(case, protocol).record

    def bare(self, case: Case, protocol: str) -> Bare:
        """What a bare script of the protocol measured."""
        self._tile(case, protocol)  # skips what this device does not take
        scripts = self._kept.once("bare scripts", self._bare_scripts)
        return self._kept.once((case, "bare"), scripts[case].figures)[protocol]

    def _bare_scripts(self) -> dict[Case, BareScript]:
        """Those of all cases, started at once, since that takes longest; they measure one after another."""
        finished = {case: self._finished(case) for case in CASES}
        turn = self._folder / "turn"
        return {
            case: BareScript(case, self._tile(case, protocols[0]), protocols, turn)
            for case, protocols in finished.items()
            if protocols
        }

    def is_launch_bound(self, case: Case, protocol: str, role: Role) -> bool:
        """Whether the figure is that of the launches: the block protocol's, whose launches nothing holds back, of a
        kernel that takes the GPU less than LAUNCH_US by the profiler."""
        return protocol == "block" and figure(self.record(case, "profiler"), role) < LAUNCH_US

    def ncu(self, case: Case, role: Role) -> NcuLaunch:
        """What Nsight Compute saw of a launch."""
        if shutil.which("ncu") is None:
            pytest.skip("ncu, Nsight Compute's command line, is not on the PATH")
        record = self.record(case, "profiler")
        sizes: dict[Role, int] = {r: kernels_of(measured(record, r).latency) for r in ("kernel", "baseline")}
        tile = self._tile(case, "profiler")
        try:
            return self._kept.once((case, "ncu"), lambda: ncu_launches(case, tile, sizes, self._folder))[role]
        except NotAllowedError as error:
            pytest.skip(f"ncu may not look at this device: {error}")

    def _tile(self, case: Case, protocol: str) -> TileConfig:
        tile = measured(self.record(case, protocol), "kernel").tile
        assert tile is not None
        return tile

    def _finished(self, case: Case) -> list[str]:
        """The protocols whose run can be compared, in their order."""
        finished = []
        for protocol in PROTOCOLS:
            try:
                self.run(case, protocol)
            except (pytest.skip.Exception, pytest.fail.Exception, Exception):
                continue
            finished.append(protocol)
        return finished


class Repeats:
    """Runs of REPEATED in engines of their own, so that tensors lie elsewhere in memory in each.

    All engines start at once, which takes them seconds of the CPU; then they run one after another.
    """

    def __init__(self, engines: int) -> None:
        self._engines = engines
        self._kept = Kept()
        self._are_run = False

    def latencies(self, case: Case, protocol: str) -> list[Latency]:
        """The kernel's, one an engine."""
        if not self._are_run:
            self._are_run = True
            hosts = [KernelHost("cuda") for _ in range(self._engines)]
            for host in hosts:
                host.start()
            for engine, host in enumerate(hosts):
                self._run_all(engine, host)
        records = [self._kept.once((case, protocol, engine), _never_run_anew) for engine in range(self._engines)]
        for record in records:
            check_finished(record)
        return [measured(record, "kernel").latency for record in records]

    def _run_all(self, engine: int, host: KernelHost) -> None:
        try:
            for protocol, case in product(REPEATED_PROTOCOLS, REPEATED):
                self._kept.once((case, protocol, engine), partial(run_alone, host, case, protocol))
        finally:
            host.close()


def run_alone(host: KernelHost, case: Case, protocol: str) -> RunRecord:
    """A run without a window; one that fails has its failure as its end."""
    request = case.request(protocol)
    builder = RunBuilder(request)
    for event in host.run(request):
        builder.take(event)
    return builder.record()


def check_finished(record: RunRecord) -> None:
    """Skip what this device or its torch does not take; fail for a run that failed, or gave a wrong result."""
    if isinstance(record.end, Failed):
        if record.end.kind == "invalid":
            pytest.skip(record.end.message)
        pytest.fail(f"{record.end.message}\n{record.end.traceback}")
    assert record.passed, (record.checked, record.rechecked)


def measured(record: RunRecord, role: Role) -> Measurement:
    """The measurement of `role`, which must be there."""
    found = record.measurement(role)
    assert found is not None, f"{role} was not measured"
    return found


def figure(record: RunRecord, role: Role) -> float:
    """The figure of the protocol, us: the block protocol's is the average of its block."""
    latency = measured(record, role).latency
    return latency.figure_us


def kernels_of(latency: Latency) -> int:
    """How many kernels a launch is; what the profiler also names, copies and fills, ncu does not see."""
    return sum(not name.startswith(("Memset", "Memcpy")) for name in latency.kernel_names)


def sm_clock(record: RunRecord) -> float:
    """The SM clock that NVML saw while the run was timed, MHz: the median of its readings, NaN without any."""
    if record.device_state is None:
        return float("nan")
    trace = record.device_state.readings
    clocks: Sequence[float] = trace.sm_mhz[trace.is_timed & np.isfinite(trace.sm_mhz)].tolist()
    return float(np.median(clocks)) if clocks else float("nan")


def _never_run() -> WindowRun:
    raise LookupError("the window has not run this")


def _never_run_anew() -> RunRecord:
    raise LookupError("the engine ended before this was run")
