"""Kernels compile for a GPU also where there is none: the interpreter accepts what the compiler refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.checks import Limits
from kernels.hopper import HOPPER
from kernels.precision import TRITON_PRECISIONS

ROOT = Path(__file__).parents[2]
# M N D BLOCK_M BLOCK_N WARPS STAGES SPLITS
SMALL = (300, 100, 40, 64, 32, 4, 2, 1)
SPLIT = (300, 300, 64, 64, 32, 4, 2, 2)
GLUON = (300, 300, 64, 128, 128, 4, 2, 1)
SPLIT_KERNELS = ["split_kernel", "split_kv_kernel", "combine_kernel"]
LAUNCHES = {
    "article": ("article fp32 ieee all", SMALL, ["article_kernel"]),
    "flash": ("flash bf16 ieee causal", SMALL, ["flash_kernel"]),
    "split_kv fp16x3": ("split_kv fp32 fp16x3 causal", SPLIT, SPLIT_KERNELS),
    "split_kv bf16x6": ("split_kv fp32 bf16x6 all", SPLIT, SPLIT_KERNELS),
    "split_kv tf32x3": ("split_kv fp32 tf32x3 all", SPLIT, SPLIT_KERNELS[1:]),
    "materialized": ("materialized fp32 tf32x3 causal", SMALL, ["scores_kernel", "softmax_kernel", "output_kernel"]),
    "hopper": ("hopper bf16 ieee causal", GLUON, ["hopper_kernel"]),
}


def compiled(*words: str, cache: Path) -> list[tuple[str, int, int]]:
    """What a launch compiles for compute capability 9.0: each kernel's name, shared memory in bytes, and stores."""
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    done = subprocess.run(
        # Triton's own warnings are not ours to mend.
        [sys.executable, "-W", "ignore", "-m", "tests.kernels.compiling", *words],
        capture_output=True,
        text=True,
        env=environment | {"TRITON_CACHE_DIR": str(cache)},
        cwd=ROOT,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    return [(name, int(shared), int(stores)) for name, _, shared, *_, stores in lines]


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_launch_compiles_plain_and_traced(name: str, tmp_path: Path) -> None:
    """Into the kernels it should, one of which stores more when it is traced."""
    launch, sizes, names = LAUNCHES[name]
    too_old = name == "hopper" and HOPPER.refusal(Limits("9.0", 132, 232448))
    if too_old or launch.split()[2] not in (*TRITON_PRECISIONS, "fp16x3"):
        pytest.skip("this Triton is too old")
    plain, traced = ([*launch.split(), kind, *map(str, sizes)] for kind in ("plain", "traced"))
    found = compiled(*plain, "--", *traced, cache=tmp_path)
    assert [kernel for kernel, *_ in found] == names * 2
    counts = [stores for *_, stores in found]
    assert sum(counts[: len(names)]) < sum(counts[len(names) :])
    assert min(counts) > 0


def test_combining_splits_waits_for_no_load_before_the_last(tmp_path: Path) -> None:
    """Weights that went through shared memory would put a barrier after each split's loads: it was 8 us for sixteen."""
    sizes = (256, 1024, 64, 32, 32, 4, 1, 16)
    found = compiled("split_kv", "fp32", "ieee", "all", "plain", *map(str, sizes), cache=tmp_path)
    assert [shared for kernel, shared, _ in found if kernel == "combine_kernel"] == [0]
