"""Kernels compile for a GPU also where there is none: the interpreter accepts what the compiler refuses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
from triton import compile
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from kernels.article import article_kernel as kernel

constexprs = {"D": 40, "BLOCK_M": 32, "BLOCK_N": 16, "BLOCK_D": 64, "TRACE": sys.argv[1] == "traced"}
scalars = {"M": "i32", "N": "i32", "scale": "fp32"}
signature = {n: "constexpr" if n in constexprs else scalars.get(n, "*fp32") for n in kernel.arg_names}
compiled = compile(ASTSource(kernel, signature, constexprs), target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
print("st.global" in compiled.asm["ptx"], compiled.asm["ptx"].count("st.global"))
"""


@pytest.mark.parametrize("traced", ["plain", "traced"])
def test_the_article_kernel_compiles_for_hopper(traced: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, traced],
        capture_output=True,
        text=True,
        env=environment,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("True")
