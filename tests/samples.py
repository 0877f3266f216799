"""Run records made of real attention in numpy, for tests and pictures that need no engine."""

from __future__ import annotations

import numpy as np

from workbench.model import (
    Checked,
    DeviceInfo,
    ErrorStats,
    Failed,
    Finished,
    FloatArray,
    Latency,
    Measured,
    Measurement,
    Problem,
    Resources,
    Role,
    RunRecord,
    RunRequest,
    Started,
    TileConfig,
    TileStates,
)

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
) -> RunRecord:
    """A finished run (or one that ended in `failure`, then with nothing measured)."""
    problem = problem or Problem(128, 512, 64, seed=run_id)
    tile = tile or TileConfig()
    request = RunRequest(problem, tile)
    started = Started(request, device, "2026-01-31T12:00:00")
    if failure is not None:
        return RunRecord(run_id, started, end=failure)
    rng = np.random.default_rng(run_id)
    m_tile, m_running, l_running, out = softmax_states(problem, tile.block_n)
    checks, measured = [], []
    named: tuple[tuple[Role, str, float], ...] = (("kernel", "article", kernel_us), ("baseline", "sdpa", baseline_us))
    for role, name, centre in named:
        error_map = np.abs(rng.normal(0, 4e-8 if passed or role == "baseline" else 1e-2, out.shape)).astype(np.float32)
        stats = error_stats(error_map, passed or role == "baseline")
        backend = "efficient" if role == "baseline" else ""
        checks.append(Checked(name, role, stats, error_map, backend))
        samples = centre * (1 + 0.02 * np.abs(rng.standard_normal(launches)))
        latency = Latency("article", "cuda events", samples, float(samples.mean()), 10, launches)
        measured.append(
            Measured(
                Measurement(
                    name,
                    role,
                    problem,
                    latency,
                    stats,
                    backend,
                    tile if role == "kernel" else None,
                    "ieee" if role == "kernel" else "",
                    Resources(128, 0, 24576) if role == "kernel" else None,
                )
            )
        )
    states = TileStates(
        tile.block_m,
        tile.block_n,
        problem.n,
        m_tile.astype(np.float32),
        m_running.astype(np.float32),
        l_running.astype(np.float32),
        m_error=1e-7,
        l_error=2e-7,
        bit_equal=True,
    )
    return RunRecord(run_id, started, tuple(checks), measured=tuple(measured), states=states, end=Finished(seconds=0.5))
