"""Run records made of real attention in numpy, for tests and pictures that need no engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernels.plain.spec import KernelSpec
from kernels.plain.tiles import TileConfig
from kernels.plain.traffic import Streamed
from tests.engine.device.recorded_nvml import OWN, columns_of, facts_of, load
from workbench.run.device_state import COLUMNS, DeviceReadings, Process, find_warnings
from workbench.run.environment import DeviceInfo, KernelInfo
from workbench.run.events import (
    Checked,
    Comparison,
    DeviceState,
    Failed,
    Finished,
    Measured,
    Rechecked,
    RunEvent,
    Samples,
    Started,
    TileStates,
)
from workbench.run.measurement import ErrorStats, Latency, Measurement, Resources, Role
from workbench.run.record import RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.stats.arrays import FloatArray
from workbench.stats.modes import find_modes
from workbench.stats.summary import Interval, Ratio, median_interval, paired_ratio

ROUNDS = 10
GPU = DeviceInfo(
    name="Test GPU",
    mode="cuda",
    torch="2.13.0",
    triton="3.9.0",
    python="3.11.7",
    memory_bytes=80 * 2**30,
    cuda="13.0",
    driver="580.0",
    capability="9.0",
    sm_count=132,
    shared_bytes=232448,
)
INTERPRETER = DeviceInfo("Test CPU", "interpreter", "2.13.0", "3.9.0", "3.11.7", 16 * 2**30)


def softmax_states(problem: Problem, block_n: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Tile maximum, running m, running l ([heads, M, tiles]) and the output ([heads, M, D]), in float64."""
    rng = np.random.default_rng(problem.seed)
    group = problem.heads // problem.kv_heads
    queries = [rng.standard_normal((problem.m, problem.d)) for _ in range(problem.total_heads)]
    keys, values = (
        [rng.standard_normal((problem.n, problem.d)) for _ in range(problem.batch * problem.kv_heads)] for _ in range(2)
    )
    ours = [_head_states(problem, block_n, q, keys[h // group], values[h // group]) for h, q in enumerate(queries)]
    m_tile, m_running, l_running, out = (np.stack(arrays) for arrays in zip(*ours, strict=True))
    return m_tile, m_running, l_running, out


def _head_states(
    problem: Problem, block_n: int, q: FloatArray, k: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    scores = q @ k.T / np.sqrt(problem.d)
    if problem.causal:
        scores[~np.tri(problem.m, problem.n, problem.n - problem.m, dtype=bool)] = -np.inf
    tiles = [scores[:, start : start + block_n] for start in range(0, problem.n, block_n)]
    m_tile = np.stack([tile.max(axis=1) for tile in tiles], axis=1)
    m_running = np.maximum.accumulate(m_tile, axis=1)
    shift = np.where(np.isfinite(m_running), m_running, 0.0)  # a row that has seen no key: exp(-inf) is 0
    ends = [min(problem.n, (i + 1) * block_n) for i in range(len(tiles))]
    l_running = np.stack(
        [np.exp(scores[:, :end] - shift[:, i : i + 1]).sum(axis=1) for i, end in enumerate(ends)], axis=1
    )
    weights = np.exp(scores - shift[:, -1:])
    out = weights @ v / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return m_tile, m_running, l_running, out


def error_stats(error_map: FloatArray, passed: bool = True) -> ErrorStats:
    """Statistics that belong to `error_map` ([heads, M, D])."""
    worst = np.unravel_index(int(np.argmax(error_map)), error_map.shape)
    return ErrorStats(
        max_abs=float(error_map.max()),
        mean_abs=float(error_map.mean()),
        rms=float(np.sqrt((error_map**2).mean())),
        rel_fro=float(np.linalg.norm(error_map)),
        worst=(int(worst[0]), int(worst[1]), int(worst[2])),
        worst_got=0.1,
        worst_expected=0.1 - float(error_map.max()),
        rtol=2e-3,
        atol=2e-3,
        passed=passed,
    )


def make_record(
    run_id: int = 1,
    problem: Problem | None = None,
    tile: TileConfig | None = None,
    kernel_us: float = 380.0,
    baseline_us: float = 190.0,
    device: DeviceInfo = GPU,
    passed: bool = True,
    failure: Failed | None = None,
    launches: int = 50,
    protocol: str = "block",
    device_state: DeviceState | None = None,
    interval: Interval | None = None,
) -> RunRecord:
    """A finished run (or one that ended in `failure`, then with nothing measured).

    Under `block` its launches are a fixed number, under others ROUNDS rounds in which kernel and SDPA took turns.
    Both have the `interval` that is given, else that of their samples.
    """
    problem = problem or Problem(128, 512, 64, seed=run_id)
    tile = tile or TileConfig()
    request = RunRequest(problem, tile, protocol=protocol)
    started = Started(request, device, "2026-01-31T12:00:00")
    if failure is not None:
        return RunRecord(run_id, started, end=failure)
    rng = np.random.default_rng(run_id)
    m_tile, m_running, l_running, out = softmax_states(problem, tile.block_n)
    checks, measured = [], []
    named: tuple[tuple[Role, str, float], ...] = (("kernel", "article", kernel_us), ("baseline", "sdpa", baseline_us))
    for role, name, centre in named:
        check = _check(rng, role, name, out.shape, passed or role == "baseline")
        samples = centre * (1 + 0.02 * np.abs(rng.standard_normal(launches)))
        checks.append(check)
        latency = make_latency(samples, protocol, device)
        measured.append(_measured(check, request, replace(latency, interval=interval or latency.interval)))
    states = _states(tile, problem.n, m_tile, m_running, l_running)
    end = Finished(seconds=0.5)
    record = RunRecord(run_id, started, tuple(checks), (), tuple(measured), states, end, device_state=device_state)
    return _in_turns(record) if protocol != "block" and launches else record


def _in_turns(record: RunRecord) -> RunRecord:
    """`record` as of a run in which kernel and SDPA took turns, and were checked again."""
    comparison = Comparison(_paired(record.measured))
    return replace(record, comparison=comparison, rechecked=tuple(unchanged(check) for check in record.checked))


def _check(rng: np.random.Generator, role: Role, name: str, shape: tuple[int, ...], passed: bool) -> Checked:
    error_map = np.abs(rng.normal(0, 4e-8 if passed else 1e-2, shape)).astype(np.float32)
    backend = "efficient" if role == "baseline" else ""
    return Checked(name, role, error_stats(error_map, passed), error_map, backend)


def _measured(check: Checked, request: RunRequest, latency: Latency) -> Measured:
    name, role, problem = check.implementation, check.role, request.problem
    if role == "baseline":
        return Measured(Measurement(name, role, problem, latency, check.error, check.backend))
    resources = Resources(128, 0, 24576)
    return Measured(Measurement(name, role, problem, latency, check.error, "", request.tile, "ieee", resources))


def _states(tile: TileConfig, n: int, m_tile: FloatArray, m_running: FloatArray, l_running: FloatArray) -> TileStates:
    m_tile, m_running, l_running = (array.astype(np.float32) for array in (m_tile, m_running, l_running))
    sizes = tile.block_m, tile.block_n, n
    return TileStates(*sizes, m_tile, m_running, l_running, m_error=1e-7, l_error=2e-7, bit_equal=True)


def make_latency(samples: FloatArray, protocol: str = "block", device: DeviceInfo = GPU) -> Latency:
    """`samples` (us) as a run under `protocol` reports them, with the interval that they have."""
    launches = len(samples)
    fixed = protocol == "block"
    starts = np.array([part[0] for part in np.array_split(np.arange(launches), ROUNDS) if len(part)], dtype=np.int64)
    return Latency(
        protocol,
        "cuda events" if device.mode == "cuda" else "host",
        samples,
        float(samples.mean()) if fixed and device.mode == "cuda" else None,
        10,
        launches,
        interval=median_interval(samples),
        ended_by="fixed" if fixed else "precision",
        rounds=0 if fixed else len(starts),
        round_starts=np.zeros(0, dtype=np.int64) if fixed else starts,
        modes=None if fixed else find_modes(samples),
        flush_bytes=2 * 50 * 2**20 if protocol in ("cold", "graph-cold") else 0,
    )


def _paired(measured: tuple[Measured, ...]) -> Ratio:
    kernel, baseline = (np.array_split(m.measurement.latency.samples, ROUNDS) for m in measured)
    return paired_ratio(kernel, baseline)


def unchanged(check: Checked) -> Rechecked:
    """The output of `check` was the very same after timing."""
    return Rechecked(check.role, check.error.max_abs, check.error.max_abs, True, True, "the same bits after timing")


def recorded_state(name: str) -> DeviceState:
    """A recording of NVML in tests/traces (steady, unsteady, throttled, shared) as a run keeps it."""
    data = load(name)
    columns = columns_of(data)
    others = [p for p in data["processes"] if p["pid"] != OWN]
    trace = DeviceReadings.of_rows(
        np.array([columns[column] for column in COLUMNS]).T,
        processes=tuple(Process(p["pid"], p["name"], p["used_bytes"], 0.0, columns["t"][-1]) for p in others),
        timed=tuple((begin, end) for begin, end in data["timed"]),
        facts=facts_of(data),
    )
    return DeviceState(trace, find_warnings(trace))


def events_of(record: RunRecord) -> tuple[RunEvent, ...]:
    """The events that `record` is put together from, in the order of a live run."""
    told: list[RunEvent] = [record.started, *record.checked]
    for measured in record.measured:
        told += [Samples(measured.measurement.role, measured.measurement.latency.samples), measured]
    told += record.partial
    if record.comparison is not None:
        told.append(record.comparison)
    told += record.rechecked
    told += [event for event in (record.device_state, record.states, record.end) if event is not None]
    return tuple(told)


def from_recording(record: RunRecord, name: str) -> RunRecord:
    """`record` as one that was read from the recording `name`."""
    return replace(record, source=name)


def make_kernel(name: str, unavailable: str = "", **facts: Any) -> KernelInfo:
    """A kernel as an engine announces it: one that takes everything, but for `facts` of its spec."""
    everything: dict[str, Any] = {
        "title": name.title(),
        "description": "a kernel",
        "dtypes": ("fp32", "fp16", "bf16"),
        "precisions": ("ieee", "tf32", "bf16x3", "bf16x6"),
        "movement": Streamed(),
        "grids": (),
        "heads": True,
        "causal": True,
    }
    spec = KernelSpec(name, **{**everything, **facts})
    return KernelInfo(spec, spec.dtypes, unavailable)
