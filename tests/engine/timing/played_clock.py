"""A clock whose launches take what a test says, so that what follows from a time does not follow from the machine."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from workbench.engine.timing.clocks import Launch, Timed
from workbench.stats.arrays import FloatArray


class PlayedClock:
    """Launches as the host's clock does, and says that each took `us` microseconds."""

    name = "host"
    late_samples = 0

    def __init__(self, us: float) -> None:
        self._us = us

    def block_us(self, launch: Launch, count: int, timed: Timed = nullcontext) -> float:
        with timed():
            for _ in range(count):
                launch()
        return self._us * count

    def singles(self, launch: Launch, count: int, timed: Timed = nullcontext) -> FloatArray:
        with timed():
            return np.array([self.block_us(launch, 1) for _ in range(count)])


def play_host_clock(patch: pytest.MonkeyPatch, us: float) -> None:
    """Let every launch that is timed by the host's clock take `us` microseconds, also the one that is checked."""
    for module in ("measure", "samplers"):
        patch.setattr(f"workbench.engine.timing.{module}.HostClock", lambda: PlayedClock(us))
    patch.setattr("workbench.engine.steps.timed_once", lambda launch, mode: (launch(), us / 1e6))
