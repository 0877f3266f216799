"""The steps of one run, from its inputs to its trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch

from kernels import VARIANTS, TileConfig, TileTrace, reference
from workbench.analysis.caveats import caveats_of
from workbench.analysis.estimate import AGAIN_LIMIT_S
from workbench.analysis.tile import launched_tile
from workbench.engine.baselines.rival import RivalKernel
from workbench.engine.baselines.sdpa import SDPA_BACKENDS, Baseline, make_baseline
from workbench.engine.checking import states as softmax_states
from workbench.engine.checking.keeping import TRACE_LIMIT_BYTES, kept_rows_text, kept_text, trace_bytes
from workbench.engine.checking.outputs import Checks
from workbench.engine.device.monitor import DeviceMonitor
from workbench.engine.device.watch import Watch
from workbench.engine.failures import describe_failure
from workbench.engine.host.stopping import StopFlag
from workbench.engine.inputs import Inputs, make_inputs
from workbench.engine.timing.block import block_plan
from workbench.engine.timing.clocks import Gpu, Launch
from workbench.engine.timing.looks import WARM_S, Looks
from workbench.engine.timing.measure import proven_backend, time_block, time_in_turns
from workbench.engine.timing.once import resources_of, timed_once
from workbench.engine.waking import Waking
from workbench.run.environment import DeviceInfo, Provenance
from workbench.run.events import Comparison, Log, Measured, Progress, Send, Tensors, TileStates
from workbench.run.measurement import Latency, Measurement, Role
from workbench.run.protocols import protocol_of
from workbench.run.request import RunRequest
from workbench.words.names import asked_baseline_text

NOTHING_KNOWN = Provenance()


class Run:
    """The steps of one run and what they share. Correctness comes before speed, the trace after it."""

    def __init__(
        self,
        request: RunRequest,
        info: DeviceInfo,
        send: Send,
        stop: StopFlag,
        monitor: DeviceMonitor | None = None,
        provenance: Provenance = NOTHING_KNOWN,
        looks: Looks | None = None,
        waking: Waking | None = None,
    ) -> None:
        """`looks` remembers what was seen in earlier runs of this process; `waking` may still go on beside it."""
        self._request = request
        self._problem = request.problem
        self._info = info
        self._mode = info.mode
        self._send = send
        self._stop = stop
        self._variant = next(v for v in VARIANTS if v.name == request.kernel)
        self._tile = launched_tile(request.problem, request.tile, self._variant.spec, info)
        self._gpu = Gpu() if info.mode == "cuda" else None
        self._watch = Watch(monitor, request.problem, send)
        self._provenance = provenance
        self._looks = looks or Looks()
        self._waking = waking
        self._timed_until = 0.0  # by the host's monotonic clock
        self._compiled: Any = None
        self._rival: RivalKernel | None = None
        self._seconds: dict[str, float] = {}
        self._latencies: dict[Role, Latency] = {}
        self._baselines_out: torch.Tensor | None = None

    def go(self) -> None:
        """Inputs, float64 reference, both outputs checked, both timed, both checked again, the trace, both looked into.

        The profiler may have to be started for the look, so that nobody waits for the states behind it.
        """
        problem = self._problem
        self._phase("drawing the inputs")
        inputs = make_inputs(problem, torch.device("cuda" if self._mode == "cuda" else "cpu"))
        self._phase("computing the float64 reference")
        expected = reference.attention(inputs.q, inputs.k, inputs.v, causal=problem.causal)
        self._checks = Checks(self._request, expected, self._send)
        self._inputs = inputs
        self._out = torch.full_like(inputs.q, float("nan"))
        baseline = self._made_baseline(inputs)

        self._phase("compiling and checking the kernel" if self._mode == "cuda" else "checking the kernel")
        self._check_kernel()
        if baseline is not None:
            self._phase(f"checking {asked_baseline_text(self._request)}")
            self._check_baseline(baseline)

        launches: dict[Role, Launch] = {"kernel": self._launch}
        if baseline is not None:
            launches["baseline"] = self._keeping(baseline)
        self._time(launches)
        self._recheck(baseline)
        self._trace()
        self._look_into(launches)
        if self._request.keep_tensors:
            self._send_tensors(inputs)

    def _made_baseline(self, inputs: Inputs) -> Baseline | None:
        request = self._request
        if request.rival is not None:
            self._rival = RivalKernel(request.rival, request.problem, inputs, self._info)
            return self._rival
        return make_baseline(request.sdpa, request.problem, inputs) if request.has_baseline else None

    def _phase(self, text: str) -> None:
        self._stop.check()
        self._send(Progress(text))

    def _launch(
        self, out: torch.Tensor | None = None, states: TileTrace | None = None, inputs: Inputs | None = None
    ) -> Any:
        """One launch of the kernel, of the run's own inputs and into its own output unless others are given."""
        inputs = self._inputs if inputs is None else inputs
        return self._variant.launch(
            inputs.q,
            inputs.k,
            inputs.v,
            self._out if out is None else out,
            tile=self._tile,
            precision=self._request.precision,
            causal=self._problem.causal,
            trace=states,
        )

    def _breakable(self) -> Any:
        """On the interpreter a launch is seconds of Python, which Stop may break off; on a GPU it is not."""
        return self._stop.interruptible() if self._mode == "interpreter" else nullcontext()

    def _keeping(self, baseline: Baseline) -> Launch:
        """A launch of `baseline` that keeps its output, so that the last timed one can be checked.

        The one before is given up first: the allocator then takes the same memory again, as it would if none was kept.
        """

        def launch() -> None:
            self._baselines_out = None
            self._baselines_out = baseline()

        return launch

    def _check_kernel(self) -> None:
        with self._breakable():
            self._compiled, self._seconds["kernel"] = timed_once(self._launch, self._mode)
        self._checks.check("kernel", self._variant.name, self._out)
        error = self._checks.found["kernel"].error
        self._watch.say(caveats_of(self._request, self._mode, self._provenance, self._tile, error))

    def _check_baseline(self, baseline: Baseline) -> None:
        problem = self._problem
        if self._rival is not None:
            with self._breakable():
                out, self._seconds["baseline"] = timed_once(self._rival, self._mode)
            self._checks.check("baseline", self._rival.name, self._rival.ordered(out))
            return
        if baseline.note:
            self._send(Log(baseline.note))
        if problem.blind_rows:
            self._send(
                Log(
                    f"{problem.blind_rows} of {problem.m} rows of each head see no key (causal, M > N). The kernel "
                    f"gives 0 there; PyTorch documents NaN, so these rows of the baseline are not compared.\n"
                )
            )
        out, self._seconds["baseline"] = timed_once(baseline, self._mode)
        self._checks.check("baseline", "sdpa", baseline.ordered(out), baseline.backend, problem.blind_rows)

    def _time(self, launches: dict[Role, Launch]) -> None:
        """Time all, and send what was measured at once: what comes later may fail or be stopped.

        A dying run still says what the device did.
        """
        if self._waking is not None:
            self._waking.wait()
        breakable = launches
        if self._mode == "interpreter":
            breakable = {role: self._stop.interruptible()(launch) for role, launch in launches.items()}
        tools = (self._gpu, self._send, self._stop, self._watch)
        self._watch.begin()
        try:
            if not protocol_of(self._request.protocol).takes_turns:
                for role, launch in breakable.items():
                    plan = block_plan(self._problem, self._mode, self._seconds[role])
                    name = self._checks.found[role].implementation
                    self._measured(role, time_block(role, name, launch, plan, *tools, partial(self._spoil, role)))
                return
            timed = time_in_turns(self._request, breakable, *tools, partial(self._spoil, *breakable))
        finally:
            self._watch.end()
        for role, latency in timed.latencies.items():
            self._measured(role, latency)
        if timed.ratio is not None:
            self._send(Comparison(timed.ratio))

    def _spoil(self, *roles: Role) -> None:
        """Before the first timed launch: what no timed launch writes is then found when the output is checked again."""
        outputs = {"kernel": self._out, "baseline": self._baselines_out}
        for role in roles:
            out = outputs[role]
            if out is not None:
                out.fill_(float("nan"))

    def _look_into(self, launches: dict[Role, Launch]) -> None:
        """Let the profiler say what of a launch is the kernel, and what SDPA's kernels are; amends what was measured.

        When all that is timed has been timed, checked and sent: what fails here costs none of it. SDPA's own is the
        same in every run of a problem.
        """
        if self._gpu is None or protocol_of(self._request.protocol).is_profiled:
            return
        is_warm = time.perf_counter() - self._timed_until < WARM_S
        for role, latency in tuple(self._latencies.items()):
            self._phase(f"profiling the {role}")
            is_sdpa = role == "baseline" and self._rival is None
            key = (self._request.sdpa, self._problem) if is_sdpa else None
            looked = self._looks.at(launches[role], latency, self._gpu, self._send, self._stop, is_warm, key)
            is_warm = True
            if looked is not latency:
                self._measured(role, looked)

    def _measured(self, role: Role, latency: Latency) -> None:
        """Send the measurement of `role`, which takes the place of one that was sent before."""
        self._latencies[role] = latency
        check, launched = self._checks.found[role], self._launched(role)
        backend = check.backend
        if backend in SDPA_BACKENDS:
            backend = proven_backend(backend, latency.kernel_names, self._send)
        measurement = Measurement(
            implementation=check.implementation,
            role=role,
            problem=self._problem,
            latency=latency,
            error=check.error,
            backend=backend,
            tile=launched[0] if launched is not None else None,
            precision=launched[1] if launched is not None else "",
            resources=resources_of(launched[2]) if launched is not None else None,
        )
        self._send(Measured(measurement))

    def _launched(self, role: Role) -> tuple[TileConfig, str, Any] | None:
        """The tile, the precision and what Triton compiled of `role`; None of SDPA, which has none of these."""
        if role == "kernel":
            return self._tile, self._request.precision, self._compiled
        rival = self._rival
        return None if rival is None else (rival.tile, rival.precision, rival.compiled)

    def _recheck(self, baseline: Baseline | None) -> None:
        """Check what the timing left, and the output of two more launches of each."""
        self._phase("checking again after timing")
        self._checks.check_again("kernel", self._out, self._unless_long("kernel", self._fresh_output))
        if baseline is not None:
            assert self._baselines_out is not None
            again = self._unless_long("baseline", lambda: baseline.ordered(baseline()))
            self._checks.check_again("baseline", baseline.ordered(self._baselines_out), again)
        self._timed_until = time.perf_counter()

    def _unless_long(self, role: Role, again: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor] | None:
        is_long = self._mode == "interpreter" and self._seconds[role] > AGAIN_LIMIT_S
        return None if is_long else again

    def _fresh_output(self) -> torch.Tensor:
        out = torch.full_like(self._out, float("nan"))
        with self._breakable():
            self._launch(out)
        return out

    def _trace(self) -> None:
        states = softmax_states.skipped(self._request)
        if states is None:
            self._phase("capturing the softmax states")
            try:
                states = self._captured()
            except Exception as error:
                # The timed kernel ran; that its instrumented variant cannot must not cost what was measured. But a
                # dead CUDA context must end the run: this raises if there is one.
                if self._mode == "cuda":
                    torch.cuda.synchronize()
                failure = describe_failure(error)
                self._send(Log(failure.traceback))
                states = softmax_states.without(self._request, f"the instrumented kernel failed: {failure.message}")
        self._send(states)

    def _captured(self) -> TileStates:
        request = self._request

        def launch(inputs: Inputs, out: torch.Tensor, buffers: TileTrace) -> None:
            with self._breakable():
                self._launch(out, buffers, inputs)

        worst = self._checks.found["kernel"].error.worst
        capture = softmax_states.Capture(request, self._tile, self._inputs, worst)
        if capture.blocks:
            self._send(Log(kept_rows_text(capture.rows, request)))
        elif capture.heads:
            total, size = self._problem.total_heads, trace_bytes(request)
            self._send(Log(kept_text("softmax states", capture.heads, total, size, TRACE_LIMIT_BYTES)))
        return capture.take(self._out, launch, self._mode, self._send)

    def _send_tensors(self, inputs: Inputs) -> None:
        tensors = (inputs.q, inputs.k, inputs.v, self._out)
        self._send(Tensors(*(t.flatten(0, 1).float().cpu().numpy() for t in tensors)))
