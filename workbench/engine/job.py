"""What the child process works with: the device is settled first, and only then is Triton imported."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

import torch

from workbench.engine import device
from workbench.engine.failures import InvalidRequestError, describe_failure
from workbench.engine.stopping import StopFlag
from workbench.engine.tile import with_chosen_tile
from workbench.model import Finished, Ready, RunEvent, RunRequest, Started
from workbench.validate import find_faults

__all__ = ["describe_failure", "is_broken", "prepare", "run"]

_ready: Ready | None = None


def prepare(wanted_device: str) -> Ready:
    """Settle the device for this process and say what can run on it."""
    global _ready
    mode = device.choose_mode(wanted_device)
    # Triton reads TRITON_INTERPRET when a kernel is defined, so the kernels come after the choice.
    from workbench.engine.announce import announced_baselines, announced_variants

    info = device.describe(mode)
    _ready = Ready(info, announced_variants(info), announced_baselines(info))
    return _ready


def run(request: RunRequest, send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    """Check, time and trace the kernel and SDPA; sends `Started` first and `Finished` last, or raises.

    `Started` has the request with the tile that was chosen where the request leaves it open.
    """
    from workbench.engine.steps import Run

    if _ready is None:
        raise RuntimeError("prepare() comes first")
    began = time.perf_counter()
    info, known = _ready.device, (_ready.device, _ready.variants, _ready.baselines)
    faults = find_faults(request, *known)
    if request.auto_tile and not faults:
        request = with_chosen_tile(request, info, _ready.variants)
        faults = find_faults(request, *known)
    send(Started(request, info, datetime.now().astimezone().isoformat(timespec="seconds")))
    if faults:
        raise InvalidRequestError("; ".join(fault.message for fault in faults))
    Run(request, info, send, stop).go()
    send(Finished(time.perf_counter() - began))


def is_broken() -> bool:
    """Whether the CUDA context is dead, so that this process must be replaced."""
    if _ready is None or _ready.device.mode != "cuda":
        return False
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False
