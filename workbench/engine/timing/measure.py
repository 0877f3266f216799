"""Times the implementations of one run by its protocol, and says what can be said of the samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from workbench.engine.device.watch import Watch
from workbench.engine.failures import CaptureError
from workbench.engine.host.stopping import StopFlag
from workbench.engine.timing.block import Plan, measure_block
from workbench.engine.timing.clocks import Clock, CudaClock, Gpu, HostClock, Launch
from workbench.engine.timing.profiling import backend_of
from workbench.engine.timing.rounds import Limits, Rounds, run_rounds
from workbench.engine.timing.sampler import Sampler
from workbench.engine.timing.samplers import make_sampler
from workbench.run.events import Log, Progress, Samples, Send
from workbench.run.measurement import Latency, Role
from workbench.run.request import RunRequest
from workbench.stats.arrays import FloatArray
from workbench.stats.modes import find_modes
from workbench.stats.summary import Ratio, find_drift, median_interval, paired_ratio, unseen_by
from workbench.words.names import asked_baseline_text


@dataclass(frozen=True)
class TimedRun:
    """The latencies of a run, and the ratio of paired rounds where both were timed in turns."""

    latencies: Mapping[Role, Latency] = field(default_factory=dict)
    ratio: Ratio | None = None


def time_block(
    role: Role,
    name: str,
    launch: Launch,
    plan: Plan,
    gpu: Gpu | None,
    send: Send,
    stop: StopFlag,
    watch: Watch,
    warmed: Callable[[], None] = lambda: None,
) -> Latency:
    """Time one implementation, called `name`, by the block protocol; without a GPU on the host's clock.

    `warmed` is called after the warm-up, before anything is timed.
    """
    done = 0

    def report(values: FloatArray) -> None:
        nonlocal done
        done += len(values)
        send(Samples(role, values))
        send(Progress(f"timing {name}", done, plan.launches))
        watch.tell()

    send(Progress(f"timing {name}", 0, plan.launches))
    clock: Clock = CudaClock(gpu) if gpu is not None else HostClock()
    return judged(measure_block(launch, plan, clock, report, stop, watch.timed, warmed))


def time_in_turns(
    request: RunRequest,
    launches: Mapping[Role, Launch],
    gpu: Gpu | None,
    send: Send,
    stop: StopFlag,
    watch: Watch,
    warmed: Callable[[], None] = lambda: None,
) -> TimedRun:
    """Time all `launches` in rounds by the request's protocol; without a GPU on the host's clock.

    Samples are sent between rounds, so that a failure or a stop keeps them. `warmed` is called after the warm-up and
    before anything is timed. Raises CaptureError and ProfilerError where a launch does not take the protocol.
    """
    samplers = _prepared(request, launches, gpu, send, stop)
    phase = f"timing {' and '.join(launches)} in turns: {request.protocol}"
    limit_ms = round(request.max_seconds * 1e3)
    send(Progress(phase, 0, limit_ms, "ms"))

    def pause(passed: float) -> None:
        watch.tell()
        send(Progress(phase, min(limit_ms, 1 + round(passed * 1e3)), limit_ms, "ms"))

    warmed()
    unseen = max(unseen_by(sampler.clock) for sampler in samplers.values())
    limits = Limits(request.max_seconds, request.max_samples, unseen)
    rounds = run_rounds(
        samplers, limits, request.problem.seed, lambda *taken: send(Samples(*taken)), pause, stop, watch.timed
    )
    latencies = {role: _latency(request, role, sampler, rounds) for role, sampler in samplers.items()}
    return TimedRun({role: judged(latency) for role, latency in latencies.items()}, _ratio(rounds, unseen))


def judged(latency: Latency) -> Latency:
    """`latency` with the interval of its median, and with two modes and a drift if there are."""
    samples = latency.samples
    interval = median_interval(samples, unseen=unseen_by(latency.clock))
    return replace(
        latency,
        interval=interval if interval.is_bounded else None,
        modes=find_modes(samples),
        drift=find_drift(samples),
    )


def proven_backend(said: str, names: tuple[str, ...], send: Send) -> str:
    """SDPA's backend by the names of the kernels that ran, which count for more than what PyTorch said of itself."""
    proven = backend_of(names)
    if proven and proven != said:
        send(Log(f"PyTorch said that SDPA takes {said}; the kernels that ran are {proven}'s: {', '.join(names)}\n"))
    return proven or said


def _prepared(
    request: RunRequest, launches: Mapping[Role, Launch], gpu: Gpu | None, send: Send, stop: StopFlag
) -> dict[Role, Sampler]:
    samplers: dict[Role, Sampler] = {}
    for role, launch in launches.items():
        stop.check()
        send(Progress(f"warming up the {role}"))
        samplers[role] = make_sampler(request.protocol, launch, gpu, request.max_samples)
        try:
            samplers[role].prepare(stop)
        except CaptureError as error:
            name = f"kernel {request.kernel}" if role == "kernel" else asked_baseline_text(request)
            raise CaptureError(f"{name}: {error}") from error
    return samplers


def _latency(request: RunRequest, role: Role, sampler: Sampler, rounds: Rounds) -> Latency:
    samples = rounds.samples(role)
    return Latency(
        request.protocol,
        sampler.clock,
        samples,
        None,
        sampler.warmups,
        len(samples) * sampler.launches_per_sample,
        ended_by=rounds.ended_by,
        rounds=len(rounds.taken[role]),
        round_starts=rounds.starts(role),
        kernel_us=sampler.kernel_us,
        kernel_names=sampler.kernel_names,
        flush_bytes=sampler.flush_bytes,
        launches_per_sample=sampler.launches_per_sample,
        launched_us=sampler.launched_us,
        late_samples=sampler.late_samples,
        lost_sessions=sampler.lost_sessions,
    )


def _ratio(rounds: Rounds, unseen: float) -> Ratio | None:
    """The ratio where both were timed, and every round took some time."""
    if len(rounds.taken) < 2:
        return None
    kernel, baseline = rounds.taken["kernel"], rounds.taken["baseline"]
    if any(not np.median(values) > 0 for values in (*kernel, *baseline)):
        return None
    return paired_ratio(kernel, baseline, unseen=unseen)
