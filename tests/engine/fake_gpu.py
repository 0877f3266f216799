"""A GPU whose time passes only by what is launched on it, so that protocols can be tested to the microsecond."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from workbench.engine.clocks import Flush, Launch
from workbench.engine.profiling import Activity

FLUSH_BYTES = 100 * 2**20
FLUSH_US = 30.0
# What a launch takes longer where the one before it was another implementation's.
AFTER_OTHER_US = 7.0
COLD_US = 11.0


class FakeEvent:
    """Remembers when it was recorded."""

    def __init__(self, gpu: FakeGpu) -> None:
        self._gpu = gpu
        self.at_us = float("nan")

    def record(self) -> None:
        self._gpu.log.append("record")
        if not self._gpu.is_capturing:
            self.at_us = self._gpu.now_us

    def query(self) -> bool:
        return self._gpu.is_late

    def synchronize(self) -> None:
        self._gpu.log.append("wait")

    def elapsed_time(self, end: FakeEvent) -> float:
        return (end.at_us - self.at_us) / 1e3


@dataclass
class FakeGpu:
    """Logs what is done with it in `log`; `is_late` is what its events say of a queue that was just submitted."""

    now_us: float = 0.0
    log: list[str] = field(default_factory=list)
    is_capturing: bool = False
    is_late: bool = False
    refuses_capture: str = ""
    has_profiler: bool = True
    last: str = ""
    is_cold: bool = False
    activities: list[Activity] = field(default_factory=list)

    def implementation(self, name: str, us: float | Callable[[], float], kernels: tuple[str, ...] = ()) -> Launch:
        """A launch of `us` microseconds; longer with a cold L2, and after another implementation's launch.

        Its kernels overlap: each begins when the one before it is half done, and the last ends it.
        """

        def launch() -> None:
            self.log.append(name)
            if self.is_capturing:
                return
            busy = us() if callable(us) else us
            busy += COLD_US * self.is_cold + AFTER_OTHER_US * (self.last not in ("", name))
            for index, kernel in enumerate(kernels or (f"{name}_kernel",)):
                start = self.now_us + busy * index / (1 + len(kernels))
                self.activities.append(Activity(kernel, start, self.now_us + busy))
            self.now_us += busy
            self.last, self.is_cold = name, False

        return launch

    def event(self) -> FakeEvent:
        return FakeEvent(self)

    graph_event = event

    def hold(self, us: float) -> None:
        self.log.append("hold")
        self.now_us += us

    def synchronize(self) -> None:
        self.log.append("synchronize")

    def flush(self) -> Flush:
        return Flush(FLUSH_BYTES, self._write)

    def _write(self) -> None:
        self.log.append("flush")
        if not self.is_capturing:
            self.now_us += FLUSH_US
            self.is_cold = True

    def capture(self, body: Callable[[], None]) -> Launch:
        if self.refuses_capture:
            raise RuntimeError(self.refuses_capture)
        with self._capturing():
            body()

        def replay() -> None:
            self.log.append("replay")
            body()

        return replay

    def profile(self, body: Callable[[], None]) -> list[Activity]:
        self.log.append("profile")
        self.activities.clear()
        body()
        return list(self.activities) if self.has_profiler else []

    @contextmanager
    def _capturing(self) -> Any:
        self.is_capturing = True
        yield
        self.is_capturing = False
