"""What the child process works with: the device is settled first, and only then is Triton imported."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import isfinite

import torch

from workbench.analysis.tile import with_chosen_protocol, with_chosen_tile
from workbench.analysis.validate import find_faults
from workbench.engine.device import choice as device
from workbench.engine.device.ceilings import measure_ceilings as measured_ceilings
from workbench.engine.device.monitor import DeviceMonitor
from workbench.engine.device.nvml import Address, NvmlSource
from workbench.engine.failures import CaptureError, InvalidRequestError, describe_failure
from workbench.engine.host.stopping import StopFlag
from workbench.engine.provenance import Sources
from workbench.engine.timing.clocks import Gpu
from workbench.engine.timing.looks import Looks
from workbench.engine.waking import Waking
from workbench.run.ceilings import NOT_MEASURED, Ceilings, CeilingsError, best_fit, kept_ceilings, save_ceilings
from workbench.run.device_state import DeviceFacts
from workbench.run.environment import DeviceInfo, find_kernel
from workbench.run.events import CeilingsMeasured, Finished, Log, Progress, Ready, Send, Started
from workbench.run.request import RunRequest

__all__ = ["describe_failure", "is_broken", "measure_ceilings", "prepare", "run", "use_rest"]


@dataclass(frozen=True)
class _Settled:
    """What this process has settled; `address`, `monitor` and `waking` are of the GPU, None on the interpreter."""

    ready: Ready
    sources: Sources
    address: Address | None
    monitor: DeviceMonitor | None
    waking: Waking | None
    looks: Looks = field(default_factory=Looks)


_settled: _Settled | None = None
_is_spoiled = False


def prepare(wanted_device: str) -> Ready:
    """Settle the device for this process and say what can run on it."""
    global _settled
    mode = device.choose_mode(wanted_device)
    waking = Waking() if mode == "cuda" else None
    # Triton reads TRITON_INTERPRET when a kernel is defined, so the kernels come after the choice.
    from kernels import VARIANTS
    from workbench.engine.announce import announced_baselines, announced_kernels

    if waking is not None:
        waking.go_on()
    info = device.describe(mode)
    address = Address.of(torch.cuda.get_device_properties(0)) if mode == "cuda" else None
    monitor = DeviceMonitor(address, own=(os.getpid(),)) if address is not None else None
    if monitor is not None:
        monitor.start()  # it is ready when the first run is timed
    ceilings = _kept_ceilings(info, _facts(address))
    ready = Ready(info, announced_kernels(info), announced_baselines(info), ceilings, device.has_gpu())
    sources = Sources({variant.name: variant.launch for variant in VARIANTS})
    _settled = _Settled(ready, sources, address, monitor, waking)
    return ready


def run(request: RunRequest, send: Send, stop: StopFlag) -> None:
    """Check and time kernel and baseline, and trace the kernel; sends `Started` first and `Finished` last, or raises.

    `Started` has the request with the tile and the protocol that were chosen where the request leaves them open.
    """
    global _is_spoiled
    from workbench.engine.steps import Run

    settled, began = _known(), time.perf_counter()
    ready = settled.ready
    info, known = ready.device, (ready.device, ready.kernels, ready.baselines)
    request = with_chosen_protocol(request, info)
    faults = find_faults(request, *known)
    if request.auto_tile and not faults:
        request = with_chosen_tile(request, info, ready.kernels)
        faults = find_faults(request, *known)
    provenance = settled.sources.provenance(request.kernel, _facts(settled.address))
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    kernel = find_kernel(ready.kernels, request.kernel)
    send(Started(request, info, now, provenance, ready.ceilings, kernel.spec if kernel is not None else None))
    if faults:
        raise InvalidRequestError("; ".join(fault.message for fault in faults))
    try:
        Run(request, info, send, stop, settled.monitor, provenance, settled.looks, settled.waking).go()
    except CaptureError:
        # torch leaves its stream and its allocator as they are within a capture.
        _is_spoiled = True
        raise
    send(Finished(time.perf_counter() - began))


def use_rest(send: Send) -> None:
    """Do what a later run would wait for; called when nothing has been asked for in a while."""
    settled = _known()
    if settled.ready.device.mode == "cuda" and settled.looks.needs_profiler(Gpu()):
        send(Progress("starting the profiler, which takes some seconds once"))
        settled.looks.start_profiler(Gpu())


def measure_ceilings(send: Send, stop: StopFlag) -> None:
    """Measure the device's ceilings and keep them; sends `CeilingsMeasured`, and `Finished` last, or raises."""
    global _settled
    settled, began = _known(), time.perf_counter()
    info = settled.ready.device
    if info.mode != "cuda":
        raise InvalidRequestError(f"device is {info.name}; the ceilings are {NOT_MEASURED}")
    ceilings = measured_ceilings(info, send, stop, monitor=settled.monitor, facts=_facts(settled.address))
    try:
        save_ceilings(ceilings)
    except CeilingsError as error:
        send(Log(f"the ceilings are not kept: {error}\n"))
    _settled = replace(settled, ready=replace(settled.ready, ceilings=ceilings))
    send(CeilingsMeasured(ceilings))
    send(Finished(time.perf_counter() - began))


def is_broken() -> bool:
    """Whether the CUDA context is dead, or spoiled by a capture, so that this process must be replaced."""
    if _is_spoiled:
        return True
    if _settled is None or _settled.ready.device.mode != "cuda":
        return False
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False


def _known() -> _Settled:
    if _settled is None:
        raise RuntimeError("prepare() comes first")
    return _settled


def _kept_ceilings(info: DeviceInfo, facts: DeviceFacts) -> Ceilings | None:
    """Those of this very GPU at its present power limit, as far as `facts` say which that is."""
    if info.mode != "cuda":
        return None
    limit = facts.power_limit_w if isfinite(facts.power_limit_w) else None
    return best_fit(kept_ceilings(info.name, info.driver, info.torch), facts.uuid, limit)


def _facts(address: Address | None) -> DeviceFacts:
    """What NVML says of the GPU now: its power limit may have been changed since the last run."""
    if address is not None:
        with suppress(Exception):  # pynvml's own errors, or that there is none: a run is as good without
            return NvmlSource(address).facts()
    return DeviceFacts()
