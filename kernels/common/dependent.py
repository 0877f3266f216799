"""Dependent launches: a kernel's programs start while those of the kernel before still run, and wait before they read.

Each kernel of a chain saves about a microsecond of launching. Only kernels that wait for the one before them may be
launched so; the first of a chain never is, because what came before it in the stream is unknown.
"""

from __future__ import annotations

from functools import cache

import torch
import triton
import triton.language as tl
from triton.backends.nvidia.compiler import CUDAOptions

from kernels.common.checks import interpreted

_KNOWN = "launch_pdl" in CUDAOptions.__dataclass_fields__ and hasattr(tl.extra.cuda, "gdc_wait")

if _KNOWN:
    allow_next = tl.extra.cuda.gdc_launch_dependents
    await_previous = tl.extra.cuda.gdc_wait
else:
    # Older Tritons look for every name in a kernel, also in branches that are never compiled.
    @triton.jit
    def allow_next():
        pass

    @triton.jit
    def await_previous():
        pass


@cache
def can_overlap(device: torch.device) -> bool:
    """Whether the GPU (compute capability 9.0 and above) and this Triton know dependent launches."""
    return _KNOWN and not interpreted() and torch.cuda.get_device_capability(device) >= (9, 0)


def overlap(wanted: bool) -> dict[str, bool]:
    """The launch option, where it is wanted; older Tritons do not know it."""
    return {"launch_pdl": True} if wanted else {}
