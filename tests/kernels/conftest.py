"""The device of a kernel test: a GPU where there is one, else Triton's interpreter on the CPU."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """Both devices as parameters; the one that this process cannot use is skipped."""
    if request.param == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("this process compiles for the GPU")
    return str(request.param)
