"""What of a launch is the GPU's own: looked at when all that is timed has been timed, by the profiler once it is there.

The profiler takes seconds to start: 3.7 to 4.9 s on an H200 with torch 2.11, all of it outside Python. No run waits for
that: until it has started, CUDA events say how long a launch takes, and it is started when nothing has been asked for
in a while. (In a thread beside a run it took longer, and slowed that run as well.)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

import numpy as np

from workbench.engine.failures import describe_failure
from workbench.engine.host.stopping import StopFlag
from workbench.engine.timing.clocks import CudaClock, Gpu, Launch
from workbench.engine.timing.profiling import Activity, profiled_launches
from workbench.engine.timing.sampler import warm_up
from workbench.run.events import Log, Send
from workbench.run.measurement import KernelTimeBy, Latency

# Enough for a median; the profiler's records are much alike.
LOOKED_AT = 20
HOLD_ACTIVITY = "spin_kernel"  # what `Gpu.hold` leaves in the profiler's records
# Clocks have not fallen after so short a pause: what was timed just before has warmed the GPU.
WARM_S = 0.05


@dataclass(frozen=True)
class _Look:
    """How long the GPU takes for a launch, us, and with which kernels; `lost` sessions were repeated."""

    us: float
    names: tuple[str, ...] = ()
    lost: int = 0
    by: KernelTimeBy = "profiler"


class Looks:
    """Looks at launches, and remembers over the runs of a process what was seen of those that do not change."""

    def __init__(self) -> None:
        self._known: dict[Hashable, _Look] = {}
        self._was_started = False

    def start_profiler(self, gpu: Gpu) -> None:
        """Start the profiler, which takes seconds; tried once. Where it cannot be started events do without it."""
        if not self.needs_profiler(gpu):
            return
        self._was_started = True
        nothing: Callable[[], None] = gpu.synchronize
        try:
            gpu.profile(nothing)
        except Exception as error:
            print(f"the profiler cannot be started: {describe_failure(error).message}", file=sys.stderr, flush=True)

    def needs_profiler(self, gpu: Gpu) -> bool:
        """Whether it has not been started yet, in vain or not."""
        return not self._was_started and not gpu.has_profiled

    def at(
        self,
        launch: Launch,
        latency: Latency,
        gpu: Gpu,
        send: Send,
        stop: StopFlag,
        is_warm: bool = False,
        key: Hashable | None = None,
    ) -> Latency:
        """`latency` with how long the GPU takes for one launch, by what that is known, and the names of its kernels.

        With warm caches and clocks, as `launched_us` was taken, and submitted while the GPU waits: the gaps between the
        kernels of a launch are then its own and not the CPU's. Clocks are warm already where it `is_warm`. What the
        profiler saw is kept under `key`, and asked for once. That it cannot be had is only logged, but a dead CUDA
        context raises.
        """
        look = self._known.get(key) if key is not None else None
        if look is None:
            try:
                look = self._look(launch, gpu, stop, is_warm)
            except Exception as error:
                gpu.synchronize()
                send(Log(f"whether the kernel is launch-bound is not known: {describe_failure(error).message}\n"))
                return latency
            if key is not None and look.by == "profiler":
                self._known[key] = replace(look, by="earlier", lost=0)
        lost = latency.lost_sessions + look.lost
        return replace(latency, kernel_us=look.us, kernel_names=look.names, kernel_us_by=look.by, lost_sessions=lost)

    def _look(self, launch: Launch, gpu: Gpu, stop: StopFlag, is_warm: bool) -> _Look:
        clock = CudaClock(gpu)
        if not is_warm:
            warm_up(clock, launch, stop)
        clock.singles(launch, LOOKED_AT)
        singles = clock.singles(launch, LOOKED_AT)  # what is learned from these holds for the queue to come
        if not gpu.has_profiled:
            return _Look(float(np.median(singles)), by="events")

        def body() -> None:
            gpu.hold(clock.hold_us * LOOKED_AT)
            for _ in range(LOOKED_AT):
                launch()
            gpu.synchronize()

        def session() -> list[Activity]:
            launch()
            return [activity for activity in gpu.profile(body) if HOLD_ACTIVITY not in activity.name]

        found = profiled_launches(session, LOOKED_AT)
        return _Look(float(np.median(found.spans)), found.names, found.lost)
