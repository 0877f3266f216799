"""The instrumented launch: the same kernel with its TRACE flag on, never the one that is timed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np
import torch

from kernels import TileTrace
from kernels.plain.tiles import TileConfig, tiles_per_split
from kernels.reference import softmax_states
from workbench.analysis.traffic import size_text
from workbench.engine.checking.compare import same_bits, state_difference
from workbench.engine.checking.keeping import TRACE_LIMIT_BYTES, kept_heads, trace_bytes
from workbench.engine.inputs import Inputs
from workbench.run.environment import Mode
from workbench.run.events import Send, TileStates
from workbench.run.request import RunRequest
from workbench.stats.arrays import FloatArray

# On the interpreter the picture fills while programs run; larger states are sent once, at the end.
LIVE_LIMIT_BYTES = 8 * 2**20
LIVE_INTERVAL_S = 0.15

TracedLaunch = Callable[[torch.Tensor, TileTrace], None]


def skipped(request: RunRequest) -> TileStates | None:
    """The states of a run that asks for none, or whose states are too large to keep; None if they can be taken."""
    if not request.trace:
        return without(request, "no trace was asked for")
    size = trace_bytes(request)
    if size <= TRACE_LIMIT_BYTES:
        return None
    whose = "states of one head" if request.problem.total_heads > 1 else "states"
    return without(
        request,
        f"the {whose} would take {size_text(size)}, more than the {size_text(TRACE_LIMIT_BYTES)} that are kept; "
        f"a larger BLOCK_N or a smaller M or N gives fewer",
    )


class Capture:
    """One traced launch of a run and what is kept of it: the states of `heads` (empty: of all, in order)."""

    def __init__(self, request: RunRequest, tile: TileConfig, inputs: Inputs, wanted: int) -> None:
        """`tile` is the tile as launched, `wanted` the head that is kept in any case."""
        problem = request.problem
        self._request, self._tile, self._inputs = request, tile, inputs
        self.heads = kept_heads(problem.total_heads, trace_bytes(request), TRACE_LIMIT_BYTES, wanted)
        self._buffers = TileTrace.unwritten(
            problem.total_heads, problem.m, problem.n, tile.block_n, torch.device(inputs.q.device)
        )

    def take(self, timed_out: torch.Tensor, launch: TracedLaunch, mode: Mode, send: Send) -> TileStates:
        """Launch once and compare with the timed kernel's output and with the float64 states, in all heads.

        `timed_out` is the untraced launch's output. On the interpreter partial states are sent meanwhile.
        """
        out = torch.full_like(timed_out, float("nan"))
        everything = self._request.problem.total_heads * trace_bytes(self._request)
        is_live = mode == "interpreter" and everything <= LIVE_LIMIT_BYTES
        with _looking(lambda: send(self._states(complete=False))) if is_live else nullcontext():
            launch(out, self._buffers)
        if mode == "cuda":
            torch.cuda.synchronize()
        (m_error, l_error), is_equal = self._errors(), same_bits(out, timed_out)
        return replace(self._states(complete=True), m_error=m_error, l_error=l_error, bit_equal=is_equal)

    def _errors(self) -> tuple[float, float]:
        """Largest differences of any maximum and of l from the float64 states, one head at a time: they are large."""
        problem, q, k = self._request.problem, self._inputs.q, self._inputs.k
        group = problem.heads // problem.kv_heads
        m_errors, l_errors = [], []
        for head in range(problem.total_heads):
            batch, h = divmod(head, problem.heads)
            one_q, one_k = q[batch : batch + 1, h : h + 1], k[batch : batch + 1, h // group : h // group + 1]
            expected = softmax_states(one_q, one_k, self._tile.block_n, causal=problem.causal, splits=self._tile.splits)
            unseen = expected.m_tile == float("-inf")
            this = slice(head, head + 1)
            m_errors += [
                state_difference(self._buffers.m_tile[this], expected.m_tile, unseen),
                state_difference(self._buffers.m_running[this], expected.m_running, unseen),
            ]
            l_errors.append(state_difference(self._buffers.l_running[this], expected.l_running, unseen))
        return max(m_errors), max(l_errors)

    def _states(self, complete: bool) -> TileStates:
        problem, tile = self._request.problem, self._tile
        return TileStates(
            tile.block_m,
            tile.block_n,
            problem.n,
            m_tile=self._kept(self._buffers.m_tile),
            m_running=self._kept(self._buffers.m_running),
            l_running=self._kept(self._buffers.l_running),
            complete=complete,
            split_tiles=tiles_per_split(problem.n, tile.block_n, tile.splits) if tile.splits > 1 else 0,
            heads=self.heads,
        )

    def _kept(self, tensor: torch.Tensor) -> FloatArray:
        """A copy of the kept heads: the interpreter goes on writing to the tensor."""
        return np.array((tensor[list(self.heads)] if self.heads else tensor).cpu().numpy())


@contextmanager
def _looking(look: Callable[[], None]) -> Iterator[None]:
    """Call `look` every LIVE_INTERVAL_S from a thread, while the interpreter fills the buffers in this process."""
    done = threading.Event()

    def loop() -> None:
        while not done.wait(LIVE_INTERVAL_S):
            look()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def without(request: RunRequest, reason: str) -> TileStates:
    """The states of a run that has none, for `reason`."""
    tile = request.tile
    return TileStates(tile.block_m, tile.block_n, request.problem.n, None, None, None, skipped=reason)
