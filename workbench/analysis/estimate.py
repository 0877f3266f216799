"""How long a run will take on the interpreter, so that nobody starts a long one unawares."""

from __future__ import annotations

from math import ceil

from kernels.plain.tiles import TileConfig
from workbench.run.environment import Mode
from workbench.run.measurement import Measurement
from workbench.run.request import Problem, RunRequest

# Triton's interpreter runs every operation of every tile in Python. On one 2025 server core a tile update takes about
# 8 ms whatever its size, plus the arithmetic itself; the engine's own timings replace this guess as runs finish.
SECONDS_PER_TILE = 8e-3
SECONDS_PER_FLOP = 4e-10
# The float64 reference, on the same core: its two products, and the exponential of each score.
SECONDS_PER_FLOP64 = 3e-11
SECONDS_PER_SCORE64 = 3.5e-8
ASK_ABOVE_SECONDS = 30.0
REFUSE_ABOVE_SECONDS = 24 * 3600.0
SILENCE_LIMIT_S = 180.0

# A longer launch is not made twice more to see whether it gives the same bits.
AGAIN_LIMIT_S = 0.5
_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))

TIMED_BUDGET_SECONDS = 3.0
MIN_TIMED, MAX_TIMED = 3, 20


def launch_seconds(request: RunRequest, seconds_per_tile: float = SECONDS_PER_TILE) -> float:
    """One launch of the kernel on the interpreter, in seconds."""
    tiles, arithmetic = _work(request)
    return tiles * seconds_per_tile + arithmetic


def measured_seconds_per_tile(measurement: Measurement) -> float:
    """What one tile update took in a kernel's measurement on the interpreter, to estimate the next run with."""
    request = RunRequest(measurement.problem, measurement.tile or TileConfig())
    tiles, arithmetic = _work(request)
    return max(1e-4, (measurement.latency.median * 1e-6 - arithmetic) / tiles)


def time_limit(request: RunRequest, mode: Mode) -> float:
    """The silence to accept from the engine, in seconds: what the request says, else what the device may need.

    A launch on the interpreter says nothing until it ends, and a large tile's compile can take minutes.
    """
    if request.time_limit_s is not None:
        return request.time_limit_s
    return max(SILENCE_LIMIT_S, 4 * launch_seconds(request) if mode == "interpreter" else 0.0)


def timed_launches(seconds_per_launch: float) -> int:
    """How many launches are timed on the interpreter: about three seconds' worth, at least 3, at most 20."""
    return max(MIN_TIMED, min(MAX_TIMED, int(TIMED_BUDGET_SECONDS / max(seconds_per_launch, 1e-6))))


def run_seconds(request: RunRequest, seconds_per_tile: float = SECONDS_PER_TILE) -> float:
    """A whole run on the interpreter, in seconds: its checks, warm-ups, timed launches and trace."""
    one = launch_seconds(request, seconds_per_tile)
    launches = 2 + timed_launches(one) + int(request.trace)
    launches += 2 if one <= AGAIN_LIMIT_S else 0
    references = 1 + int(request.trace)  # the trace is compared with float64 states
    return launches * one + references * _reference_seconds(request.problem) + 0.5


def duration_words(seconds: float) -> str:
    """A time for people: "40 seconds", "3 hours", "1 day"."""
    size, unit = next((s, u) for s, u in _UNITS if seconds >= s or s == 1)
    count = round(seconds / size)
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def _reference_seconds(problem: Problem) -> float:
    """The reference makes every score, also those that a mask hides."""
    scores = problem.total_heads * problem.m * problem.n
    return scores * (4 * problem.d * SECONDS_PER_FLOP64 + SECONDS_PER_SCORE64)


def _work(request: RunRequest) -> tuple[int, float]:
    """Tile updates of one launch over all heads, and the seconds that their arithmetic alone takes.

    Under a causal mask a query block takes in the tiles that its rows see, the one that the mask cuts counting whole.
    """
    problem, tile = request.problem, request.tile
    blocks, key_tiles = -(-problem.m // tile.block_m), -(-problem.n // tile.block_n)
    tiles = blocks * key_tiles
    if problem.causal:
        seen = problem.visible_pairs / (problem.m * problem.n)
        tiles = min(tiles, ceil(seen * tiles) + (blocks + 1) // 2)
    tiles *= problem.total_heads
    padded = tiles * tile.block_m * tile.block_n * max(16, problem.d)
    return tiles, 4 * padded * SECONDS_PER_FLOP
