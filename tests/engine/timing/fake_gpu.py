"""A GPU and the CPU that launches on it, whose times pass only by what is launched: protocols are tested to the us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from workbench.engine.timing.clocks import Flush, Gpu, Launch
from workbench.engine.timing.profiling import Activity

FLUSH_BYTES = 100 * 2**20
FLUSH_US = 30.0
# What a launch takes longer where the one before it was another implementation's.
AFTER_OTHER_US = 7.0
COLD_US = 11.0
# What the CPU takes to submit a launch and an event, and to begin a session of the profiler or to read its records.
SUBMIT_US = 5.0
EVENT_US = 1.0
SESSION_US = 4000.0


class FakeEvent:
    """Remembers when the GPU came to it."""

    def __init__(self, gpu: FakeGpu) -> None:
        self._gpu = gpu
        self.at_us = float("nan")

    def record(self) -> None:
        self._gpu.log.append("record")
        if not self._gpu.is_capturing:
            self.at_us = self._gpu.run(EVENT_US, 0.0)

    def query(self) -> bool:
        return self.at_us <= self._gpu.cpu

    def synchronize(self) -> None:
        self._gpu.log.append("wait")
        self._gpu.cpu = max(self._gpu.cpu, self.at_us)

    def elapsed_time(self, end: FakeEvent) -> float:
        return (end.at_us - self.at_us) / 1e3


@dataclass
class FakeGpu(Gpu):
    """Logs what is done with it in `log`. `cpu` is the CPU's time, `gpu` when the GPU is through with its work.

    The CPU takes `submit_us` for a launch. The next `losses` sessions of the profiler lose a record each.
    """

    submit_us: float = SUBMIT_US
    cpu: float = 0.0
    gpu: float = 0.0
    log: list[str] = field(default_factory=list)
    holds: list[float] = field(default_factory=list)
    is_capturing: bool = False
    is_replaying: bool = False
    refuses_capture: str = ""
    has_profiler: bool = True
    has_profiled: bool = True
    losses: int = 0
    last: str = ""
    is_cold: bool = False
    activities: list[Activity] = field(default_factory=list)

    def run(self, submit_us: float, busy_us: float) -> float:
        """Let the CPU submit some work, and the GPU do it when it has come so far; when it is done."""
        if not self.is_replaying:
            self.cpu += submit_us
        self.gpu = max(self.gpu, self.cpu) + busy_us
        return self.gpu

    def implementation(
        self, name: str, us: float | Callable[[], float], kernels: tuple[str, ...] = (), gap_us: float | None = None
    ) -> Launch:
        """A launch of `us` microseconds; longer with a cold L2, and after another implementation's launch.

        Its kernels overlap: each begins when the one before it is half done, and the last ends it. With a `gap_us` they
        follow each other at that distance, which makes the launch longer. Of kernels with a gap each is submitted by
        itself, and begins no earlier.
        """
        names = kernels or (f"{name}_kernel",)

        def launch() -> None:
            self.log.append(name)
            if self.is_capturing:
                return
            busy = us() if callable(us) else us
            busy += COLD_US * self.is_cold + AFTER_OTHER_US * (self.last not in ("", name))
            whole = busy + (gap_us or 0.0) * (len(names) - 1)
            if gap_us is None:
                end = self.run(self.submit_us, whole)
                for index, kernel in enumerate(names):
                    self.activities.append(Activity(kernel, end - busy + busy * index / (1 + len(kernels)), end))
            else:
                each = busy / len(names)
                for index, kernel in enumerate(names):
                    end = self.run(self.submit_us, each + gap_us * (index > 0))
                    self.activities.append(Activity(kernel, end - each, end))
            self.last, self.is_cold = name, False

        return launch

    def event(self) -> FakeEvent:
        return FakeEvent(self)

    graph_event = event

    def hold(self, us: float) -> None:
        self.log.append("hold")
        self.holds.append(us)
        end = self.run(0.0, us)
        self.activities.append(Activity("at::cuda::spin_kernel(long)", end - us, end))

    def cpu_us(self) -> float:
        return self.cpu

    def synchronize(self) -> None:
        self.log.append("synchronize")
        self.cpu = max(self.cpu, self.gpu)

    def flush(self) -> Flush:
        return Flush(FLUSH_BYTES, self._write)

    def _write(self) -> None:
        self.log.append("flush")
        if not self.is_capturing:
            end = self.run(self.submit_us, FLUSH_US)
            self.activities.append(Activity("fill", end - FLUSH_US, end))
            self.is_cold = True

    def capture(self, body: Callable[[], None]) -> Launch:
        if self.refuses_capture:
            raise RuntimeError(self.refuses_capture)
        with self._set("is_capturing"):
            body()

        def replay() -> None:
            self.log.append("replay")
            self.run(self.submit_us, 0.0)
            with self._set("is_replaying"):
                body()

        return replay

    def profile(self, body: Callable[[], None]) -> list[Activity]:
        self.log.append("profile")
        self.cpu = max(self.cpu, self.gpu) + SESSION_US
        self.activities.clear()
        body()
        self.cpu = max(self.cpu, self.gpu) + SESSION_US
        kept = list(self.activities) if self.has_profiler else []
        if self.losses:
            self.losses -= 1
            kept.pop()
        return kept

    @contextmanager
    def _set(self, name: str) -> Iterator[None]:
        setattr(self, name, True)
        yield
        setattr(self, name, False)
