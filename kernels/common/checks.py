"""Input checks shared by the launchers: a wrong tensor gets a sentence, not a crash in the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
import triton

from kernels.common.variant import TileTrace, interpreter_refusal
from kernels.plain.launch_options import listed
from kernels.plain.precisions import EXACT
from kernels.plain.spec import LIMITED, KernelSpec
from kernels.plain.tiles import TileConfig

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


@triton.jit  # type: ignore[untyped-decorator]
def _probe() -> None:
    pass


def interpreted() -> bool:
    """Whether Triton runs kernels on the CPU: it decides by TRITON_INTERPRET when a kernel is defined, and stays so."""
    return not isinstance(_probe, triton.JITFunction)


def dtype_name(tensor: torch.Tensor) -> str:
    """fp32, fp16 or bf16; PyTorch's own name for any other dtype."""
    return next((name for name, dtype in DTYPES.items() if dtype == tensor.dtype), str(tensor.dtype))


@dataclass(frozen=True)
class Shape:
    """A problem as `kernels.plain.spec` wants it."""

    m: int
    n: int
    d: int
    batch: int
    heads: int
    dtype: str
    causal: bool

    @classmethod
    def of(cls, q: torch.Tensor, k: torch.Tensor, causal: bool) -> Shape:
        """That of `q` [B, H, M, D] and `k` [B, Hkv, N, D]."""
        batch, heads, m, d = q.shape
        return cls(m, k.shape[2], d, batch, heads, dtype_name(q), causal)


@dataclass(frozen=True)
class Limits:
    """A device as `kernels.plain.spec` wants it; a CPU has no capability."""

    capability: str = ""
    sm_count: int = 1
    shared_bytes: int = 0


@cache
def device_limits(device: torch.device) -> Limits:
    """What `kernels.plain.spec` asks of a device."""
    if device.type != "cuda" or interpreted():
        return Limits()
    properties = torch.cuda.get_device_properties(device)
    return Limits(
        f"{properties.major}.{properties.minor}",
        int(properties.multi_processor_count),
        int(getattr(properties, "shared_memory_per_block_optin", 0)),
    )


def sm_count(device: torch.device) -> int:
    """Multiprocessors of a GPU, 1 for the CPU."""
    return device_limits(device).sm_count


def check_inputs(
    spec: KernelSpec,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    tile: TileConfig,
    precision: str,
    causal: bool,
    lse: torch.Tensor | None = None,
    trace: TileTrace | None = None,
) -> None:
    """Raise ValueError unless the kernel can take these: one line that names the value and what is allowed."""
    _check_tensors({"q": q, "k": k, "v": v, "out": out}, spec)
    _check_shapes(q, k, v, out, spec)
    _check_tile(tile, q.shape[3], spec)
    allowed = spec.precisions if q.dtype == torch.float32 else (EXACT,)
    if precision not in allowed:
        old = f", which Triton {triton.__version__} is too old for" if precision in spec.newer_precisions else ""
        raise ValueError(f"precision is {precision}{old}; expected one of {', '.join(allowed)}")
    if causal and not spec.causal:
        raise ValueError(f"causal is on; kernel {spec.name} has no causal mask")
    for name, tensor in (("lse", lse), *(() if trace is None else vars(trace).items())):
        if tensor is not None:
            _check_states(name, tensor, q, k.shape[2], tile)


def _check_tile(tile: TileConfig, d: int, spec: KernelSpec) -> None:
    for name in LIMITED:
        value, allowed = getattr(tile, name), spec.allowed(name, d)
        if value not in allowed:
            why = spec.why(name, d)
            raise ValueError(f"{name} is {value}; expected one of {listed(allowed)}{why and ': '}{why}")
    if not isinstance(tile.splits, int) or tile.splits < 0:
        raise ValueError(f"splits is {tile.splits}; expected 0 (by rule) or a whole number above")


def _check_tensors(named: dict[str, torch.Tensor], spec: KernelSpec) -> None:
    q = named["q"]
    for name, tensor in named.items():
        if tensor.dim() != 4 or 0 in tensor.shape:
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}; expected [batch, heads, rows, D], each at least 1"
            )
        if dtype_name(tensor) not in spec.dtypes:
            raise ValueError(f"{name} is {tensor.dtype}; kernel {spec.name} takes {', '.join(spec.dtypes)}")
        if tensor.dtype != q.dtype:
            raise ValueError(f"{name} is {tensor.dtype}; expected {q.dtype}, as q")
        if tensor.device != q.device:
            raise ValueError(f"{name} is on {tensor.device}; expected {q.device}, where q is")
    if not q.is_cuda and not interpreted():
        raise ValueError("q is on the CPU; set TRITON_INTERPRET=1 before Triton is imported, or move it to a GPU")
    if interpreted() and (reason := interpreter_refusal()):
        raise ValueError(reason)
    if interpreted() and q.dtype == torch.bfloat16:
        raise ValueError(
            "q is torch.bfloat16 on the CPU; Triton's interpreter multiplies it wrongly: use float16 there"
        )


def _check_states(name: str, tensor: torch.Tensor, q: torch.Tensor, n: int, tile: TileConfig) -> None:
    """Kernels write these through bare pointers: one of another size would be written beyond its end."""
    batch, heads, m, _ = q.shape
    shape = (batch, heads, m) if name == "lse" else (batch * heads, m, -(-n // tile.block_n))
    ordered = tensor if name == "lse" or tensor.dim() != 3 else tensor.transpose(1, 2)
    if tensor.shape != shape or tensor.dtype != torch.float32 or tensor.device != q.device:
        raise ValueError(f"{name} is {tensor.dtype} {tuple(tensor.shape)}; expected torch.float32 {shape} beside q")
    if not ordered.is_contiguous():
        raise ValueError(f"{name} has strides {tensor.stride()}; expected those that {name} is made with")


def _check_shapes(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor, spec: KernelSpec) -> None:
    batch, heads, _, d = q.shape
    if d > spec.max_d:
        raise ValueError(f"D is {d}; expected at most {spec.max_d}")
    if d % spec.d_step:
        raise ValueError(f"D is {d}; expected a multiple of {spec.d_step}")
    if k.shape != v.shape or k.shape[0] != batch or k.shape[3] != d:
        raise ValueError(f"k is {tuple(k.shape)} and v {tuple(v.shape)}; expected both [{batch}, Hkv, N, {d}]")
    if heads % k.shape[1]:
        raise ValueError(f"q has {heads} heads and k {k.shape[1]}; expected a multiple of k's")
    if out.shape != q.shape:
        raise ValueError(f"out is {tuple(out.shape)}; expected {tuple(q.shape)}, as q")
    if any(stride == 0 and size > 1 for stride, size in zip(out.stride(), out.shape, strict=True)):
        raise ValueError(f"out has strides {out.stride()}; expected a tensor whose elements lie apart")
    if not spec.heads and batch * heads != 1:
        raise ValueError(f"q has {batch} x {heads} heads; kernel {spec.name} takes 1")
