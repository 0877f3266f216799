"""The commands that list or measure what there is: presets, kernels, ceilings."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from kernels.plain.launch_options import LAUNCH_OPTIONS, listed
from workbench.analysis.presets import PRESETS
from workbench.asking.usage import UsageError
from workbench.cli import exits
from workbench.cli.output import note, on_interrupt, out, pass_on
from workbench.engine.host.process import KernelHost
from workbench.run import codec
from workbench.run.ceilings import RATES, Ceilings
from workbench.run.environment import KernelInfo
from workbench.run.events import CeilingsMeasured, Failed, Log, Progress, Ready
from workbench.words.results import remedy_text


def list_presets(as_json: bool) -> int:
    """Print every preset with its problem and where it comes from."""
    if as_json:
        out(json.dumps({"presets": [codec.plain(preset) for preset in PRESETS]}))
        return exits.EXIT_PASSED
    width = max(len(preset.name) for preset in PRESETS)
    out("\n".join(f"{one.name:<{width}}  {one.problem.shape:<18}  {one.title}" for one in PRESETS))
    return exits.EXIT_PASSED


def list_kernels(as_json: bool) -> int:
    """Print the kernels and the baselines with what each takes here."""
    ready = announcement()
    if isinstance(ready, Failed):
        return failed(ready)
    out(json.dumps(kernels_object(ready)) if as_json else "\n".join(kernel_lines(ready)))
    return exits.EXIT_PASSED


def announcement(device: str = "auto") -> Ready | Failed:
    """What an engine on `device` says when it starts, or why it cannot; it is ended again."""
    with engine(device) as host:
        *_, last = host.wait_ready()
    assert isinstance(last, Ready | Failed)
    return last


def ceilings(device: str, as_json: bool, again: bool) -> int:
    """Print the rates that a kernel is held against on the device; measured where none are kept, or `again` is set.

    Raises UsageError on the interpreter, which has none.
    """
    with engine(device) as host:
        for event in host.wait_ready():
            if isinstance(event, Failed):
                return failed(event)
        assert host.ready is not None
        found = None if again else host.ready.ceilings
        for event in host.measure_ceilings() if found is None else ():
            match event:
                case Progress(phase):
                    note(phase)
                case Log(text):
                    pass_on(text)
                case CeilingsMeasured(found):
                    pass
                case Failed():
                    return failed(event)
    assert found is not None
    out(json.dumps(codec.plain(found)) if as_json else "\n".join(ceiling_lines(found)))
    return exits.EXIT_PASSED


def ceiling_lines(found: Ceilings) -> Iterator[str]:
    """The rates in words, with what they hold for, and what kept the device from its best."""
    limit = f", power limit {found.power_limit_w:.0f} W" if found.power_limit_w is not None else ""
    yield f"{found.device}{limit}, driver {found.driver}, torch {found.torch}, measured {found.date}"
    yield f"copy  {found.copy_bytes_per_s / 1e12:6.2f} TB/s, bytes read and bytes written"
    for name in RATES:
        rate = getattr(found, name)
        yield f"{name:<4}  {rate / 1e12:6.1f} TFLOP/s, of one large matrix product" if rate else f"{name:<4}  unknown"
    yield from (f"warning: {note}" for note in found.notes)


def failed(failure: Failed) -> int:
    """Say why on stderr; the exit status. Raises UsageError where the request is at fault."""
    if failure.kind == "invalid":
        raise UsageError(failure.message)
    note(failure.message)
    if failure.remedy:
        note(remedy_text(failure))
    return exits.EXIT_FAILED


def kernels_object(ready: Ready) -> dict[str, Any]:
    """What `kernels --json` prints: the environment, and what each kernel and each baseline takes there."""
    return {
        "environment": codec.environment(ready.device),
        "kernels": [_kernel_object(one) for one in ready.kernels],
        "baselines": [{**codec.plain(one), "runs_here": not one.unavailable} for one in ready.baselines],
    }


def kernel_lines(ready: Ready) -> Iterator[str]:
    """The same in words: of each what it is, what it takes, and why it cannot run where it cannot."""
    yield f"on {ready.device.name} ({ready.device.mode_label}):"
    for kernel in ready.kernels:
        yield f"{kernel.name}: {kernel.spec.description}"
        yield f"    {_kernel_takes(kernel)}"
        if kernel.unavailable:
            yield f"    cannot run here: {kernel.unavailable}"
    for baseline in ready.baselines:
        yield f"sdpa {baseline.name}: {baseline.description}"
        if baseline.unavailable:
            yield f"    cannot run here: {baseline.unavailable}"
        else:
            dims = _dimensions(baseline.min_d, baseline.max_d, baseline.d_step)
            yield f"    takes {', '.join(baseline.dtypes)}; {dims}"


def _kernel_object(kernel: KernelInfo) -> dict[str, Any]:
    """Everything known of a kernel, beside what it takes here."""
    here = {"dtypes": kernel.dtypes, "unavailable": kernel.unavailable, "runs_here": not kernel.unavailable}
    return {**codec.plain(kernel.spec), "warps": kernel.spec.allowed("num_warps"), **here}


def _kernel_takes(kernel: KernelInfo) -> str:
    spec = kernel.spec
    blocks = (("BLOCK_M", spec.block_ms), ("BLOCK_N", spec.block_ns))
    parts = (
        f"takes {_dtypes(kernel)}",
        f"precision {', '.join(spec.precisions)}",
        _dimensions(1, spec.max_d, spec.d_step),
        "heads and grouped heads" if spec.heads else "one head",
        "causal or not" if spec.causal else "no causal mask",
        "splits of the keys" if spec.splits else "no splits",
        *(
            (f"BLOCK_M and BLOCK_N {listed(spec.block_ms)}",)
            if spec.block_ms == spec.block_ns
            else (f"{name} {listed(sizes)}" for name, sizes in blocks)
        ),
        *(f"{one.name} {listed(spec.allowed(one.name))}" for one in LAUNCH_OPTIONS),
    )
    return "; ".join(parts)


def _dtypes(kernel: KernelInfo) -> str:
    """Those that it takes here, and those that it takes elsewhere; of one that cannot run here all."""
    if kernel.unavailable:
        return ", ".join(kernel.spec.dtypes)
    others = [dtype for dtype in kernel.spec.dtypes if dtype not in kernel.dtypes]
    return ", ".join(kernel.dtypes) + (f" (and {', '.join(others)} on a GPU)" if others else "")


def _dimensions(low: int, high: int, step: int) -> str:
    """The values of D that something takes."""
    span = f"D up to {high}" if low == 1 else f"D from {low} to {high}"
    return span if step == 1 else f"{span} in multiples of {step}"


@contextmanager
def engine(device: str = "auto") -> Iterator[KernelHost]:
    """An engine that is ended with the block, also by Ctrl+C."""
    with on_interrupt(signal.default_int_handler), closing(KernelHost(device)) as host:
        yield host
