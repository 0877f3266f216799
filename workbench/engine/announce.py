"""What the child says of its kernels and baselines when it starts, so that the window need not import them."""

from __future__ import annotations

import re

from kernels import VARIANTS
from workbench.engine.baselines.packages import PACKAGES, is_installed
from workbench.run.environment import BaselineInfo, DeviceInfo, KernelInfo
from workbench.run.request import DTYPES, HOST_DTYPES

HALVES = ("fp16", "bf16")
CAUSAL = "causal is is_causal where M = N, elsewhere causal_lower_right or a mask made once"
GPU_ONLY = "it needs an NVIDIA GPU"
FLEX_TORCH = (2, 7)  # the compiler of torch 2.6 asks Triton for names that 3.3, the oldest here, no longer has

_TITLES = {
    "auto": "scaled_dot_product_attention, its backend chosen by PyTorch; the result says which",
    "math": "matrix products and softmax as separate kernels",
    "efficient": "memory-efficient attention; grouped heads as expanded views of K and V where it takes no others",
    "flash": "FlashAttention as PyTorch has it",
    "cudnn": "cuDNN's attention",
}


def announced_kernels(device: DeviceInfo) -> tuple[KernelInfo, ...]:
    """Every kernel, with the dtypes that it is right in on `device`, and the reason where it cannot run there."""
    right = DTYPES if device.mode == "cuda" else HOST_DTYPES
    return tuple(
        KernelInfo(one.spec, tuple(dtype for dtype in one.spec.dtypes if dtype in right), one.refusal(device))
        for one in VARIANTS
    )


def announced_baselines(device: DeviceInfo) -> tuple[BaselineInfo, ...]:
    """SDPA's backends, FlexAttention, and the FlashAttention packages that are installed.

    The dtypes are those of PyTorch's documentation; on the CPU there is no efficient or cuDNN backend.
    """
    on_gpu = device.mode == "cuda"
    nowhere = "" if on_gpu else GPU_ONLY

    def sdpa(name: str, dtypes: tuple[str, ...], unavailable: str = "", d_step: int = 1) -> BaselineInfo:
        return BaselineInfo(name, dtypes, f"{_TITLES[name]}; {CAUSAL}", unavailable, d_step=d_step)

    known = [
        sdpa("auto", DTYPES),
        sdpa("math", DTYPES),
        sdpa("efficient", DTYPES, nowhere),
        sdpa("flash", HALVES if on_gpu else DTYPES),
        sdpa("cudnn", HALVES, nowhere, d_step=8),
        BaselineInfo(
            "flex",
            DTYPES,
            "FlexAttention through torch.compile, its causal mask as a block mask",
            nowhere or flex_refusal(device.torch),
            min_d=16,
        ),
    ]
    for name in filter(is_installed, PACKAGES):
        takes = f"flash_attn_func of the package {PACKAGES[name]}, its causal mask to the lower right"
        known.append(BaselineInfo(name, HALVES, takes, nowhere, d_step=8 if name == "flash_attn_3" else 1))
    return tuple(known)


def flex_refusal(torch: str) -> str:
    """Why this version of torch cannot compile FlexAttention for any Triton that there is here; "" if it can."""
    version = re.match(r"(\d+)\.(\d+)", torch)
    if version is None or tuple(map(int, version.groups())) >= FLEX_TORCH:
        return ""
    return f"it needs torch {'.'.join(map(str, FLEX_TORCH))} or newer; this is {torch}"
