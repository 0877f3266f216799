"""The instrumented launch: the same kernel with its TRACE flag on, never the one that is timed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from kernels import TileTrace
from kernels.reference import softmax_states
from workbench.engine.inputs import Inputs
from workbench.model import FloatArray, Mode, RunRequest, TileStates
from workbench.validate import TRACE_LIMIT_BYTES, size_text, trace_bytes

# On the interpreter the picture fills while programs run; larger states are sent once, at the end.
LIVE_LIMIT_BYTES = 8 * 2**20
LIVE_INTERVAL_S = 0.15

TracedLaunch = Callable[[torch.Tensor, TileTrace], None]
Send = Callable[[TileStates], None]


def skipped(request: RunRequest) -> TileStates | None:
    """The states of a run that asks for none, or whose states are too large to keep; None if they can be taken."""
    if not request.trace:
        return without(request, "no trace was asked for")
    size = trace_bytes(request)
    if size <= TRACE_LIMIT_BYTES:
        return None
    return without(
        request,
        f"the states would take {size_text(size)}, more than the {size_text(TRACE_LIMIT_BYTES)} that are kept; "
        f"a larger BLOCK_N or a smaller M or N gives fewer",
    )


def capture(
    request: RunRequest, inputs: Inputs, timed_out: torch.Tensor, launch: TracedLaunch, mode: Mode, send: Send
) -> TileStates:
    """Run the traced launch once and compare it with the timed kernel's output and with the float64 states.

    `timed_out` is the untraced launch's [M, D] output. On the interpreter partial states are sent meanwhile.
    """
    trace = TileTrace.unwritten(request.problem.m, request.problem.n, request.tile.block_n, inputs.q.device)
    out = torch.full_like(inputs.q, float("nan"))
    live = mode == "interpreter" and trace_bytes(request) <= LIVE_LIMIT_BYTES
    with _Peek(lambda: send(_states(request, trace, complete=False)), live):
        launch(out, trace)
    if mode == "cuda":
        torch.cuda.synchronize()
    expected = softmax_states(inputs.q, inputs.k, request.tile.block_n)
    return replace(
        _states(request, trace, complete=True),
        m_error=_relative(trace.m_running, expected.m_running),
        l_error=_relative(trace.l_running, expected.l_running),
        bit_equal=torch.equal(out.view(torch.int32), timed_out.view(torch.int32)),
    )


class _Peek:
    """Calls `look` every LIVE_INTERVAL_S from a thread, while the interpreter fills the buffers in this process."""

    def __init__(self, look: Callable[[], None], wanted: bool) -> None:
        self._done = threading.Event()
        self._look = look
        self._thread = threading.Thread(target=self._loop, daemon=True) if wanted else None

    def __enter__(self) -> None:
        if self._thread is not None:
            self._thread.start()

    def __exit__(self, *exc: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _loop(self) -> None:
        while not self._done.wait(LIVE_INTERVAL_S):
            self._look()


def without(request: RunRequest, reason: str) -> TileStates:
    tile = request.tile
    return TileStates(tile.block_m, tile.block_n, request.problem.n, None, None, None, skipped=reason)


def _states(request: RunRequest, trace: TileTrace, complete: bool) -> TileStates:
    tile = request.tile
    return TileStates(
        block_m=tile.block_m,
        block_n=tile.block_n,
        n=request.problem.n,
        m_tile=_array(trace.m_tile),
        m_running=_array(trace.m_running),
        l_running=_array(trace.l_running),
        complete=complete,
    )


def _array(tensor: torch.Tensor) -> FloatArray:
    """A copy with the head axis, [1, M, tiles]: the interpreter goes on writing to the tensor."""
    return np.array(tensor.cpu().numpy()[None])


def _relative(got: torch.Tensor, expected: torch.Tensor) -> float:
    """Largest |got - expected| over max(1, |expected|): a maximum near 0 has no meaningful relative error."""
    return float(((got.double() - expected).abs() / expected.abs().clamp_min(1.0)).max())
