"""The real job with two more kernels, which break the GPU's rules on purpose."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import torch

from workbench.engine import job
from workbench.engine.host.stopping import StopFlag
from workbench.engine.job import describe_failure, is_broken, measure_ceilings, prepare, use_rest
from workbench.run.events import RunEvent, Started
from workbench.run.request import RunRequest

__all__ = ["describe_failure", "is_broken", "measure_ceilings", "prepare", "run", "use_rest"]


def run(request: RunRequest, send: Callable[[RunEvent], None], stop: StopFlag) -> None:
    """As the real job, except for the kernels "illegal access" and "out of memory"."""
    actions: dict[str, Callable[[], Any]] = {"illegal access": _illegal_access, "out of memory": _out_of_memory}
    action = actions.get(request.kernel)
    if action is None:
        job.run(request, send, stop)
        return
    assert job._settled is not None
    send(Started(request, job._settled.ready.device, datetime.now().isoformat()))
    action()


def _illegal_access() -> None:
    from tests.gpu.wild_kernel import write_far_away

    write_far_away(torch.zeros(16, device="cuda"))
    torch.cuda.synchronize()


def _out_of_memory() -> None:
    torch.empty(2**45, device="cuda")
