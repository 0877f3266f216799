"""The device of a kernel test, and the seed of its inputs."""

from __future__ import annotations

import os

import pytest
import torch

from tests.kernels.cases import Draw

# The tests' tensors are small: several threads would only wait for each other, which takes a third of the time.
torch.set_num_threads(1)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """Both devices as parameters; the one that this process cannot use is skipped."""
    if request.param == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("this process compiles for the GPU")
    return str(request.param)


@pytest.fixture
def draw() -> Draw:
    """Fresh random inputs each time; TILESCOPE_SEED repeats those of a failure, which prints its seed."""
    seed = int(os.environ.get("TILESCOPE_SEED") or int.from_bytes(os.urandom(4)))
    print(f"TILESCOPE_SEED={seed}")
    return Draw(seed)
