"""The steps of one run, from its inputs to its trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

from kernels import VARIANTS, KernelVariant, TileTrace, reference
from workbench.engine import device, trace
from workbench.engine.baseline import Sdpa
from workbench.engine.compare import compare
from workbench.engine.failures import describe_failure
from workbench.engine.inputs import Inputs, make_inputs
from workbench.engine.measure import Clock, CudaClock, HostClock, Launch, article_plan, measure_article
from workbench.engine.stopping import StopFlag
from workbench.model import (
    Checked,
    DeviceInfo,
    Log,
    Measured,
    Measurement,
    Progress,
    Resources,
    RunEvent,
    RunRequest,
    Samples,
    Tensors,
    VariantInfo,
)

Send = Callable[[RunEvent], None]


def announced_variants() -> tuple[VariantInfo, ...]:
    """What the window may know of the kernels without importing them."""
    return tuple(map(_announce, VARIANTS))


class Run:
    """The steps of one run and what they share. Correctness comes before speed, the trace after it."""

    def __init__(self, request: RunRequest, info: DeviceInfo, send: Send, stop: StopFlag) -> None:
        self._request = request
        self._problem = request.problem
        self._mode = info.mode
        self._send = send
        self._stop = stop
        self._variant = next(v for v in VARIANTS if v.name == request.kernel)
        self._clock: Clock = CudaClock() if info.mode == "cuda" else HostClock()
        self._compiled: Any = None
        self._seconds: dict[str, float] = {}
        self._checks: dict[str, Checked] = {}

    def go(self) -> None:
        """Inputs, float64 reference, both outputs checked, both timed, the trace."""
        self._phase("drawing the inputs")
        inputs = make_inputs(self._problem, device.torch_device(self._mode))
        self._phase("computing the float64 reference")
        self._expected = reference.attention(inputs.q, inputs.k, inputs.v)
        self._inputs = inputs
        self._out = torch.full_like(inputs.q, float("nan"))
        sdpa = Sdpa(self._request.sdpa, inputs) if self._request.sdpa != "none" else None

        self._phase("compiling and checking the kernel" if self._mode == "cuda" else "checking the kernel")
        self._check_kernel()
        if sdpa is not None:
            self._phase("checking SDPA")
            self._check_baseline(sdpa)

        self._time("kernel", self._variant.name, self._launch)
        if sdpa is not None:
            self._time("baseline", "sdpa", sdpa)
        self._trace()
        if self._request.keep_tensors:
            self._send_tensors(inputs)

    def _phase(self, text: str) -> None:
        self._stop.check()
        self._send(Progress(text))

    def _launch(self, out: torch.Tensor | None = None, states: TileTrace | None = None) -> Any:
        """One launch of the kernel, into the run's own output unless another is given."""
        tile, inputs = self._request.tile, self._inputs
        return self._variant.launch(
            inputs.q,
            inputs.k,
            inputs.v,
            self._out if out is None else out,
            block_m=tile.block_m,
            block_n=tile.block_n,
            num_warps=tile.num_warps,
            num_stages=tile.num_stages,
            trace=states,
        )

    def _breakable(self) -> Any:
        """On the interpreter a launch is seconds of Python, which Stop may break off; on a GPU it is not."""
        return self._stop.interruptible() if self._mode == "interpreter" else nullcontext()

    def _check_kernel(self) -> None:
        with self._breakable():
            self._compiled, self._seconds["kernel"] = _timed_once(self._launch, self._mode)
        self._check("kernel", self._variant.name, self._out, "")

    def _check_baseline(self, sdpa: Sdpa) -> None:
        out, self._seconds["baseline"] = _timed_once(sdpa, self._mode)
        self._check("baseline", "sdpa", out, sdpa.backend)

    def _check(self, role: Any, name: str, out: torch.Tensor, backend: str) -> None:
        stats, error_map = compare(out, self._expected, self._request.rtol, self._request.atol)
        self._checks[role] = Checked(name, role, stats, error_map, backend)
        self._send(self._checks[role])

    def _time(self, role: Any, name: str, launch: Launch) -> None:
        plan = article_plan(self._problem, self._mode, self._seconds[role])
        check = self._checks[role]
        done = 0

        def report(values: Any) -> None:
            nonlocal done
            done += len(values)
            self._send(Samples(role, values))
            self._send(Progress(f"timing {check.implementation}", done, plan.launches))

        def breakable_launch() -> None:
            with self._stop.interruptible():
                launch()

        self._send(Progress(f"timing {check.implementation}", 0, plan.launches))
        timed = breakable_launch if self._mode == "interpreter" else launch
        latency = measure_article(timed, plan, self._clock, report, self._stop)
        is_kernel = role == "kernel"
        self._send(
            Measured(
                Measurement(
                    implementation=name,
                    role=role,
                    problem=self._problem,
                    latency=latency,
                    error=check.error,
                    backend=check.backend,
                    tile=self._request.tile if is_kernel else None,
                    precision=self._request.precision if is_kernel else "",
                    resources=_resources(self._compiled) if is_kernel else None,
                )
            )
        )

    def _trace(self) -> None:
        states = trace.skipped(self._request)
        if states is None:
            self._phase("capturing the softmax states")

            def launch(out: torch.Tensor, buffers: TileTrace) -> None:
                with self._breakable():
                    self._launch(out, buffers)

            try:
                states = trace.capture(self._request, self._inputs, self._out, launch, self._mode, self._send)
            except Exception as error:
                # The timed kernel ran; that its instrumented variant cannot must not cost what was measured. But a
                # dead CUDA context must end the run: this raises if there is one.
                if self._mode == "cuda":
                    torch.cuda.synchronize()
                failure = describe_failure(error)
                self._send(Log(failure.traceback))
                states = trace.without(self._request, f"the instrumented kernel failed: {failure.message}")
        self._send(states)

    def _send_tensors(self, inputs: Inputs) -> None:
        arrays = (t.cpu().numpy()[None] for t in (inputs.q, inputs.k, inputs.v, self._out))
        self._send(Tensors(*arrays))


def _timed_once(launch: Launch, mode: str) -> tuple[Any, float]:
    """What one launch returns, and how many seconds it took on the host's clock."""
    began = time.perf_counter()
    result = launch()
    if mode == "cuda":
        torch.cuda.synchronize()
    return result, time.perf_counter() - began


def _resources(compiled: Any) -> Resources | None:
    """Registers, spills and shared memory of a compiled kernel; None where Triton did not compile."""
    registers = getattr(compiled, "n_regs", None)
    if registers is None:
        return None
    return Resources(int(registers), int(compiled.n_spills), int(compiled.metadata.shared))


def _announce(variant: KernelVariant) -> VariantInfo:
    return VariantInfo(
        name=variant.name,
        title=variant.title,
        description=variant.description,
        dtypes=variant.dtypes,
        precisions=variant.precisions,
        max_d=variant.max_d,
        blocks=variant.blocks,
        heads=variant.heads,
        causal=variant.causal,
        splits=variant.splits,
    )
