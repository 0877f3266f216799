"""The instrumented launch: the same kernel with its TRACE flag on, never the one that is timed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import groupby

import numpy as np
import torch

from kernels import TileTrace
from kernels.plain.tiles import TileConfig, tiles_per_split
from kernels.reference import softmax_states
from workbench.engine.checking.compare import same_bits, state_difference
from workbench.engine.checking.keeping import TRACE_LIMIT_BYTES, kept_heads, kept_row_blocks, trace_bytes
from workbench.engine.inputs import Inputs
from workbench.run.environment import Mode
from workbench.run.events import Send, TileStates, rows_of_blocks
from workbench.run.request import RunRequest
from workbench.stats.arrays import FloatArray

# On the interpreter the picture fills while programs run; larger states are sent once, at the end.
LIVE_LIMIT_BYTES = 8 * 2**20
LIVE_INTERVAL_S = 0.15

TracedLaunch = Callable[[Inputs, torch.Tensor, TileTrace], None]


def skipped(request: RunRequest) -> TileStates | None:
    """The states of a run that asks for none; None if they are to be taken."""
    return None if request.trace else without(request, "no trace was asked for")


class Capture:
    """One traced launch of a run and what is kept of it.

    `heads` are those whose states are kept, empty for all in order. Where not even one head's fit, one is launched by
    itself, and `blocks` are the blocks of its rows that are kept; empty for all.
    """

    def __init__(self, request: RunRequest, tile: TileConfig, inputs: Inputs, worst: tuple[int, int, int]) -> None:
        """`tile` is the tile as launched; `worst` the head, row and column of the largest error, which is kept."""
        problem, size = request.problem, trace_bytes(request)
        self._request, self._tile = request, tile
        head, row, _ = worst
        self.blocks = kept_row_blocks(problem.m, tile.block_m, size, TRACE_LIMIT_BYTES, request.trace_rows, row)
        self.heads = (head,) if self.blocks else kept_heads(problem.total_heads, size, TRACE_LIMIT_BYTES, head)
        self._rows = torch.from_numpy(rows_of_blocks(self.blocks, tile.block_m, problem.m)).to(inputs.q.device)
        self._inputs = one_head(inputs, head) if self.blocks else inputs
        self._launched = (head,) if self.blocks else tuple(range(problem.total_heads))
        launched = len(self._launched)
        self._buffers = TileTrace.unwritten(launched, problem.m, problem.n, tile.block_n, torch.device(inputs.q.device))

    @property
    def rows(self) -> int:
        """How many query rows of each head are kept."""
        return len(self._rows)

    def take(self, timed_out: torch.Tensor, launch: TracedLaunch, mode: Mode, send: Send) -> TileStates:
        """Launch once and compare with the timed kernel's output and with the float64 states: all heads, the kept rows.

        `timed_out` is the untraced launch's output. On the interpreter partial states are sent meanwhile.
        """
        expected = timed_out.flatten(0, 1)[list(self._launched)].view(self._inputs.q.shape)
        out = torch.full_like(expected, float("nan"))
        everything = len(self._launched) * trace_bytes(self._request)
        is_live = mode == "interpreter" and everything <= LIVE_LIMIT_BYTES
        with _looking(lambda: send(self._states(complete=False))) if is_live else nullcontext():
            launch(self._inputs, out, self._buffers)
        if mode == "cuda":
            torch.cuda.synchronize()
        is_equal = same_bits(out[:, :, self._rows], expected[:, :, self._rows])
        m_error, l_error = self._errors()
        return replace(self._states(complete=True), m_error=m_error, l_error=l_error, bit_equal=is_equal)

    def _errors(self) -> tuple[float, float]:
        """Largest differences of any maximum and of l from the float64 states, a head and some rows at a time."""
        m_errors, l_errors = [], []
        for index in range(len(self._launched)):
            alone = one_head(self._inputs, index)
            for rows in self._runs_of_rows():
                expected = softmax_states(
                    alone.q,
                    alone.k,
                    self._tile.block_n,
                    causal=self._request.problem.causal,
                    splits=self._tile.splits,
                    only=rows,
                )
                unseen = expected.m_tile == float("-inf")
                this = slice(index, index + 1), slice(rows.start, rows.stop)
                m_errors += [
                    state_difference(self._buffers.m_tile[this], expected.m_tile, unseen),
                    state_difference(self._buffers.m_running[this], expected.m_running, unseen),
                ]
                l_errors.append(state_difference(self._buffers.l_running[this], expected.l_running, unseen))
        return max(m_errors), max(l_errors)

    def _runs_of_rows(self) -> Iterator[range]:
        """The kept rows, as ranges of rows that follow each other."""
        m, block_m = self._request.problem.m, self._tile.block_m
        if not self.blocks:
            yield range(m)
            return
        for _, group in groupby(enumerate(self.blocks), key=lambda pair: pair[1] - pair[0]):
            blocks = [block for _, block in group]
            yield range(blocks[0] * block_m, min(m, (blocks[-1] + 1) * block_m))

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
            row_blocks=self.blocks,
            rows_by=self._request.trace_rows if self.blocks else "",
        )

    def _kept(self, tensor: torch.Tensor) -> FloatArray:
        """A copy of the kept heads and rows: the interpreter goes on writing to the tensor."""
        if self.blocks:
            return np.array(tensor[:, self._rows].cpu().numpy())
        return np.array((tensor[list(self.heads)] if self.heads else tensor).cpu().numpy())


def one_head(inputs: Inputs, index: int) -> Inputs:
    """Views of one query head, counted over all batches, and of the key head that it reads."""
    heads, group = inputs.q.shape[1], inputs.q.shape[1] // inputs.k.shape[1]
    batch, h = divmod(index, heads)
    kv = slice(h // group, h // group + 1)
    one = slice(batch, batch + 1)
    return Inputs(inputs.q[one, h : h + 1], inputs.k[one, kv], inputs.v[one, kv])


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
