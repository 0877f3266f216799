"""`flash_attention`: the kernels behind one function, for use without the workbench."""

from __future__ import annotations

from contextlib import nullcontext

import torch

from kernels.common.checks import DTYPES, Limits, Shape, device_limits, dtype_name
from kernels.common.variant import KernelVariant
from kernels.plain.precisions import EXACT
from kernels.plain.tiles import TileConfig
from kernels.variants.flash import FLASH, launch_flash
from kernels.variants.hopper.launch import HOPPER, launch_hopper
from kernels.variants.split_kv.launch import SPLIT_KV, launch_split_kv

LAUNCHES = {FLASH.name: launch_flash, SPLIT_KV.name: launch_split_kv, HOPPER.name: launch_hopper}
NAMED = {variant.name: variant for variant in (FLASH, SPLIT_KV, HOPPER)}
KERNELS = ("auto", *NAMED)
# From this many keys on, few query rows are worth splitting the keys for.
LONG = 4096
# Far beyond what anyone needs; further out the scale or its product with a score leaves fp32's range.
SCALES = (1e-6, 1e6)


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
    with a log-sum-exp of -inf. `scale` is 1 / sqrt(D) unless given: a number from 1e-6 to 1e6.

    `precision` is that of the products of float32 inputs: "bf16x6" (the default: as exact as fp32 arithmetic, on tensor
    cores), "fp16x3" (nearly twice as fast, and as exact while the values of a tile of K or V lie within a factor of 1e4
    of its largest, whether a row sees that one or not: smaller ones lose bits; split_kv alone has it), "bf16x3" (about
    2e-6), "tf32x3", "tf32" (about 5e-4) or "ieee" (fp32 multiply-adds). All but ieee and tf32 need finite inputs.
    `kernel` is one of "auto", "flash", "split_kv", "hopper"; auto takes split_kv for float32 and for few rows with many
    keys, hopper for other 16-bit inputs on compute capability 9.0 with D a multiple of 8, flash for the rest. `tile`
    replaces the measured default tile.

    Raises ValueError for inputs outside these limits, in one line that names the value and what is allowed.
    Source: FlashAttention-2 and -3 (Dao, 2023; Shah et al., 2024), split keys as in Flash-Decoding (Dao et al., 2023).
    """
    _check_arguments({"q": q, "k": k, "v": v}, scale, kernel, tile)
    limits = device_limits(q.device)
    chosen = NAMED[kernel] if kernel in NAMED else _choose(q, k.shape[2], limits)
    if precision is None:
        precision = _default_precision(chosen, q.dtype)
    batch, heads, m, d = q.shape
    if tile is None:
        tile = chosen.spec.default_tile(Shape.of(q, k, causal), limits, precision)
    out = torch.empty((batch, heads, m, d), dtype=q.dtype, device=q.device)
    lse = torch.empty((batch, heads, m), dtype=torch.float32, device=q.device) if return_lse else None
    with torch.cuda.device(q.device) if q.is_cuda else nullcontext():  # Triton launches on the current device
        LAUNCHES[chosen.name](q, k, v, out, tile=tile, precision=precision, causal=causal, scale=scale, lse=lse)
    return out if lse is None else (out, lse)


def _check_arguments(tensors: dict[str, torch.Tensor], scale: object, kernel: str, tile: object) -> None:
    """Raise ValueError for what no kernel takes; the chosen kernel checks the rest."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided or tensor.device.type == "meta":
            raise ValueError(f"{name} is {type(tensor).__name__}; expected a dense torch.Tensor on a GPU")
        if tensor.dim() != 4 or 0 in tensor.shape:
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}; expected [batch, heads, rows, D], each at least 1"
            )
        if tensor.dtype not in DTYPES.values():
            raise ValueError(f"{name} is {tensor.dtype}; expected float32, float16 or bfloat16")
        if tensor.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient; this is forward only: call it under torch.no_grad()")
    if scale is not None and not (isinstance(scale, int | float) and SCALES[0] <= scale <= SCALES[1]):
        raise ValueError(f"scale is {scale}; expected a number from {SCALES[0]:g} to {SCALES[1]:g}")
    if kernel not in KERNELS:
        raise ValueError(f"kernel is {kernel!r}; expected one of {', '.join(KERNELS)}")
    if tile is not None and not isinstance(tile, TileConfig):
        raise ValueError(f"tile is {tile!r}; expected a TileConfig")


def _choose(q: torch.Tensor, n: int, limits: Limits) -> KernelVariant:
    if q.dtype == torch.float32:
        return SPLIT_KV
    few = q.shape[0] * q.shape[1] * -(-q.shape[2] // 128) * 2 <= limits.sm_count
    if few and n >= LONG:
        return SPLIT_KV
    spec, d = HOPPER.spec, q.shape[3]
    fits = dtype_name(q) in spec.dtypes and d % spec.d_step == 0 and d <= spec.max_d
    return HOPPER if fits and not HOPPER.refusal(limits) else FLASH


def _default_precision(variant: KernelVariant, dtype: torch.dtype) -> str:
    """The fastest of those that are as exact as fp32 whatever the values; older Tritons have no bf16x6 of their own."""
    if dtype != torch.float32:
        return EXACT
    return "bf16x6" if "bf16x6" in variant.spec.precisions else "tf32x3"
