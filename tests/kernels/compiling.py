"""Run as a program, without TRITON_INTERPRET: compiles for a GPU what a variant would launch, where there is no GPU.

Each line of its input is a launch:

    KERNEL DTYPE PRECISION MASK TRACE M N D FIELD=VALUE ...

MASK is `causal` or `all`, TRACE `traced` or `plain`, FIELD one of a `TileConfig`. It answers with a line a kernel (its
name, its shared memory in bytes, the number of its instructions that store to global memory, and its registers a
thread), then DONE or, its traceback on stderr, FAILED.
"""

from __future__ import annotations

import re
import subprocess
import sys
import traceback
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

import kernels.common.checks
import kernels.variants.hopper.launch
from kernels import VARIANTS, TileConfig, TileTrace
from kernels.common.checks import DTYPES, Limits

CUOBJDUMP = Path(triton.backends.__file__).parent / "nvidia" / "bin" / "cuobjdump"
DONE, FAILED = "done", "failed"
TARGET = GPUTarget("cuda", 90, 32)
H200 = Limits("9.0", 132, 232448)
TYPES = {torch.float32: "*fp32", torch.float16: "*fp16", torch.bfloat16: "*bf16", torch.int32: "*i32"}
DESCRIBED = {torch.float16: "fp16", torch.bfloat16: "bf16"}


def compile_launch(kernel: JITFunction, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
    """In the place of JITFunction.run: compile for TARGET what would be launched."""
    names = list(kernel.arg_names)
    values = dict(zip(names, args, strict=False)) | {n: options.pop(n) for n in list(options) if n in names}
    if "num_warps" in values:
        options["num_warps"] = values["num_warps"]
    options.pop("launch_pdl", None)  # says how it is launched, not what is compiled
    constants = {p.name: values[p.name] for p in kernel.params if p.is_constexpr or values[p.name] is None}
    # Triton takes a stride of 1 as a constant.
    constants |= {n: 1 for n, v in values.items() if isinstance(v, int) and not isinstance(v, bool) and v == 1}
    signature = {n: "constexpr" if n in constants else _type_of(values[n]) for n in names}
    attributes = {
        (i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if n not in constants and _divisible(values[n])
    }
    source = _source_class(kernel)(kernel, signature, {(names.index(n),): v for n, v in constants.items()}, attributes)
    compiled = triton.compile(source, target=TARGET, options=options)
    stores = compiled.asm["ptx"].count("st.global")
    print(kernel.fn.__name__, compiled.metadata.shared, stores, _registers(compiled.asm["cubin"]), flush=True)
    return compiled


def _registers(cubin: bytes) -> int:
    """Registers of a thread, as the tool that comes with Triton reads them from the machine code."""
    with NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        told = subprocess.run([CUOBJDUMP, "-res-usage", file.name], capture_output=True, text=True, check=True)
    return int(re.findall(r"REG:(\d+)", told.stdout)[0])


def _source_class(kernel: JITFunction) -> Any:
    """Gluon's kernels are compiled from another source class, which older Tritons do not have."""
    if not getattr(kernel, "is_gluon", lambda: False)():
        return ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    return GluonASTSource


def _divisible(value: Any) -> bool:
    """Whether Triton would know that it is a multiple of 16: every tensor's address here, and some integers."""
    return isinstance(value, torch.Tensor) or (isinstance(value, int) and value % 16 == 0)


def _type_of(value: Any) -> str:
    """Triton's name of an argument's type."""
    if isinstance(value, torch.Tensor):
        return TYPES[value.dtype]
    if isinstance(value, float):
        return "fp32"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    return f"tensordesc<{DESCRIBED[value.base.dtype]}{list(value.block_shape)},{value.layout!r}>"


def pretend_to_have_a_hopper() -> None:
    """Answer what asks for a GPU as one of compute capability 9.0 would, and compile in place of launching."""
    kernels.common.checks._check_tensors = lambda named, spec: None
    for module in (kernels.common.checks, kernels.variants.hopper.launch):
        vars(module)["device_limits"] = lambda device: H200
    torch.cuda.get_device_capability = lambda device=None: (9, 0)
    JITFunction.run = compile_launch


def launch(name: str, dtype: str, precision: str, mask: str, traced: str, *sizes: str) -> None:
    """Launch variant `name` as the program's arguments say."""
    m, n, d = map(int, sizes[:3])
    fields = dict(word.split("=") for word in sizes[3:])
    tile = TileConfig(**{field: int(value) for field, value in fields.items()})
    variant = next(v for v in VARIANTS if v.name == name)
    q, k, v, out = (torch.zeros(1, 1, rows, d, dtype=DTYPES[dtype]) for rows in (m, n, n, m))
    trace = TileTrace.unwritten(1, m, n, tile.block_n, q.device) if traced == "traced" else None
    variant.launch(q, k, v, out, tile=tile, precision=precision, causal=mask == "causal", trace=trace)


def main() -> None:
    """Compile the launches as they are asked for; importing torch and Triton takes longer than most of them."""
    pretend_to_have_a_hopper()
    for line in sys.stdin:
        try:
            launch(*line.split())
            print(DONE, flush=True)
        except Exception:
            traceback.print_exc()
            print(FAILED, flush=True)


if __name__ == "__main__":
    main()
