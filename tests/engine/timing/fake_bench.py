"""Two implementations on a fake GPU, and what is timed of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from tests.engine.timing.fake_gpu import FakeGpu
from workbench.engine.device.watch import Watch
from workbench.engine.host.stopping import StopFlag
from workbench.engine.timing.clocks import Launch
from workbench.engine.timing.measure import TimedRun, time_in_turns
from workbench.engine.timing.rounds import Limits, Rounds, run_rounds
from workbench.engine.timing.sampler import Sampler
from workbench.engine.timing.samplers import make_sampler
from workbench.run.events import RunEvent
from workbench.run.measurement import Role
from workbench.run.request import Problem, RunRequest
from workbench.stats.arrays import FloatArray

REQUEST = RunRequest(Problem(8, 8, 8), protocol="warm", max_seconds=1.0, max_samples=2000)


def noisy(centre: float, spread: float, seed: int = 0) -> Iterator[float]:
    rng = np.random.default_rng(seed)
    while True:
        yield centre * (1 + spread * float(rng.standard_normal()))


class Bench:
    """Two implementations on a fake GPU, whose clock is also the host's."""

    def __init__(self, spread: float = 0.001, kernel_us: float = 40.0, baseline_us: float = 80.0) -> None:
        self.gpu = FakeGpu()
        ours, theirs = noisy(kernel_us, spread), noisy(baseline_us, spread, 1)
        self.launches: dict[Role, Launch] = {
            "kernel": self.gpu.implementation("a", lambda: next(ours)),
            "baseline": self.gpu.implementation("b", lambda: next(theirs), ("fmha_cutlassF_f32",)),
        }
        self.events: list[RunEvent] = []

    def now(self) -> float:
        return self.gpu.cpu / 1e6

    def samplers(self, protocol: str = "warm", most: int = 100_000) -> dict[Role, Sampler]:
        made = {role: make_sampler(protocol, launch, self.gpu, most) for role, launch in self.launches.items()}
        for sampler in made.values():
            sampler.prepare(StopFlag())
        self.gpu.log.clear()
        return made

    def rounds(self, limits: Limits, seed: int = 0, protocol: str = "warm") -> Rounds:
        def took(role: Role, values: FloatArray) -> None:
            self.gpu.log.append(f"took {role}")

        @contextmanager
        def timed() -> Iterator[None]:
            self.gpu.log.append("begin")
            yield
            self.gpu.log.append("end")

        samplers = self.samplers(protocol, limits.samples)
        return run_rounds(samplers, limits, seed, took, lambda passed: None, StopFlag(), timed, self.now)

    def timed(self, request: RunRequest = REQUEST) -> TimedRun:
        """Timed in turns by the fake's own clock: how fast this machine is would else decide what ends a run."""
        watch = Watch(None, request.problem, self.events.append)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("workbench.engine.timing.measure.run_rounds", partial(run_rounds, now=self.now))
            return time_in_turns(request, self.launches, self.gpu, self.events.append, StopFlag(), watch)
