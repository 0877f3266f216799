"""`flash_attention`: the kernels behind one function, for use without the workbench."""

from __future__ import annotations

import torch

from kernels.checks import Limits, Shape, device_limits, dtype_name
from kernels.flash import launch_flash
from kernels.hopper import HOPPER, launch_hopper
from kernels.precision import TRITON_PRECISIONS
from kernels.split_kv import launch_split_kv
from kernels.tiles import TileConfig

LAUNCHES = {"flash": launch_flash, "split_kv": launch_split_kv, "hopper": launch_hopper}
KERNELS = ("auto", *LAUNCHES)


def flash_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    precision: str | None = None,
    kernel: str = "auto",
    tile: TileConfig | None = None,
    return_lse: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """softmax(scale q k^T) v, without the scores ever being in memory. Forward only: it records no gradient.

    Shapes: `q` [B, H, M, D], `k` and `v` [B, Hkv, N, D], H a multiple of Hkv (grouped heads: query head h reads key
    head h // (H / Hkv)), D from 1 to 256. Any strides. Returns a contiguous [B, H, M, D] of q's dtype, and with
    `return_lse` also the log-sum-exp of each row's scores, [B, H, M] float32.

    dtypes: float32, float16 or bfloat16, the same for all three, on a CUDA device (or on the CPU under Triton's
    interpreter, TRITON_INTERPRET=1, which has no bfloat16).

    `causal` aligns the mask to the lower right: row i sees the keys up to i + N - M, so the last row sees all (as
    PyTorch's `causal_lower_right`; its own `is_causal` is the same where M equals N). A row that sees no key gives 0,
    with a log-sum-exp of -inf. `scale` is 1 / sqrt(D) unless given, and must be positive and finite.

    `precision` is that of the products of float32 inputs: "fp16x3" (the default: as exact as fp32 arithmetic, on tensor
    cores; needs finite inputs), "bf16x6" (as exact, any range), "bf16x3" (about 2e-6), "tf32x3", "tf32" (about 5e-4) or
    "ieee" (fp32 multiply-adds). `kernel` is one of "auto", "flash", "split_kv", "hopper"; auto takes hopper for 16 bits
    on compute capability 9.0 with D a multiple of 8, split_kv for float32, flash for the rest. `tile` replaces the
    measured default tile.

    Raises ValueError for inputs outside these limits, in one line that names the value and what is allowed.
    Source: FlashAttention-2 and -3 (Dao, 2023; Shah et al., 2024), split keys as in Flash-Decoding (Dao et al., 2023).
    """
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}; expected [batch, heads, rows, D]")
    if scale is not None and not 0 < scale < float("inf"):
        raise ValueError(f"scale is {scale}; expected a finite number above 0")
    if kernel not in KERNELS:
        raise ValueError(f"kernel is {kernel!r}; expected one of {', '.join(KERNELS)}")
    limits = device_limits(q.device)
    chosen = _choose(q, limits) if kernel == "auto" else kernel
    if precision is None:
        precision = _default_precision(chosen, q.dtype)
    batch, heads, m, d = q.shape
    if tile is None:
        tile = TileConfig.default(Shape.of(q, k, causal), limits, chosen, precision)
    out = torch.empty((batch, heads, m, d), dtype=q.dtype, device=q.device)
    lse = torch.empty((batch, heads, m), dtype=torch.float32, device=q.device) if return_lse else None
    LAUNCHES[chosen](q, k, v, out, tile=tile, precision=precision, causal=causal, scale=scale, lse=lse)
    return out if lse is None else (out, lse)


def _choose(q: torch.Tensor, limits: Limits) -> str:
    if q.dtype == torch.float32:
        return "split_kv"
    fits = dtype_name(q) in HOPPER.dtypes and q.shape[3] % HOPPER.d_step == 0 and q.shape[3] <= HOPPER.max_d
    return "hopper" if fits and not HOPPER.refusal(limits) else "flash"


def _default_precision(kernel: str, dtype: torch.dtype) -> str:
    """The fastest of those that are as exact as fp32."""
    if dtype != torch.float32:
        return "ieee"
    if kernel == "split_kv":
        return "fp16x3"
    return "bf16x6" if "bf16x6" in TRITON_PRECISIONS else "tf32x3"
