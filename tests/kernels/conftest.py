"""The device of a kernel test: a GPU where there is one, else Triton's interpreter on the CPU."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Triton decides when a kernel is defined, so this comes before any test imports one.
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """Both devices as parameters; the one that this process cannot use is skipped."""
    if request.param == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("this process compiles for the GPU")
    return str(request.param)
