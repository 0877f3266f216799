"""Kernels compile for a GPU also where there is none: the interpreter accepts what the compiler refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernels.common.checks import Limits
from kernels.variants import VARIANTS

ROOT = Path(__file__).parents[2]
# How an answer of `tests.kernels.compiling` ends; not imported from there, because that brings in the compiler.
DONE, FAILED = "done", "failed"
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


class Compiler:
    """`tests.kernels.compiling` in a process that takes one launch after another; started anew where it has ended."""

    def __init__(self, folder: Path) -> None:
        self._errors = folder / "stderr.txt"
        # Triton's own warnings are not ours to mend.
        self._command = [sys.executable, "-W", "ignore", "-m", "tests.kernels.compiling"]
        self._environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
        self._environment["TRITON_CACHE_DIR"] = str(folder / "cache")
        self._process: subprocess.Popen[str] | None = None
        self._owes_an_answer = False

    def ask(self, *words: str) -> None:
        """Begin to compile a launch, whose `answer` is read next."""
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(f"{' '.join(words)}\n")
        process.stdin.flush()
        self._owes_an_answer = True

    def answer(self) -> list[tuple[str, int, int]]:
        """What it compiled for compute capability 9.0: each kernel's name, shared memory in bytes, and stores."""
        process = self._process
        assert process is not None and process.stdout is not None
        lines: list[list[str]] = []
        for line in process.stdout:
            if line.strip() in (DONE, FAILED):
                break
            lines.append(line.split())
        else:
            line = f"ended with {process.wait()}"
        self._owes_an_answer = False
        assert line.strip() == DONE, f"{line.strip()}: {self._errors.read_text(encoding='utf-8')[-2000:]}"
        return [(name, int(shared), int(stores)) for name, _, shared, *_, stores in lines]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def _started(self) -> subprocess.Popen[str]:
        """The process, a new one where it has ended or where a test that failed has left its answer unread."""
        if self._process is None or self._process.poll() is not None or self._owes_an_answer:
            self.close()
            with self._errors.open("w", encoding="utf-8") as errors:
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    env=self._environment,
                    cwd=ROOT,
                )
        return self._process


@pytest.fixture(scope="module")
def compilers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Compiler, Compiler]]:
    """Two, which compile at the same time."""
    made = Compiler(tmp_path_factory.mktemp("compiled")), Compiler(tmp_path_factory.mktemp("compiled"))
    yield made
    for compiler in made:
        compiler.close()


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_launch_compiles_plain_and_traced(name: str, compilers: tuple[Compiler, Compiler]) -> None:
    """Into the kernels it should, one of which stores more when it is traced."""
    launch, sizes, names = LAUNCHES[name]
    kernel, _, precision, _ = launch.split()
    variant = next(v for v in VARIANTS if v.name == kernel)
    if variant.refusal(Limits("9.0", 132, 232448)) or precision in variant.newer_precisions:
        pytest.skip("this Triton is too old")
    for compiler, kind in zip(compilers, ("plain", "traced"), strict=True):
        compiler.ask(*launch.split(), kind, *map(str, sizes))
    found = [compiler.answer() for compiler in compilers]
    assert [[kernel for kernel, *_ in one] for one in found] == [names, names]
    plain_counts, traced_counts = ([stores for *_, stores in one] for one in found)
    assert sum(plain_counts) < sum(traced_counts)
    assert min(plain_counts + traced_counts) > 0


def test_combining_splits_waits_for_no_load_before_the_last(compilers: tuple[Compiler, Compiler]) -> None:
    """Weights that went through shared memory would put a barrier after each split's loads: it was 8 us for sixteen."""
    sizes = (256, 1024, 64, 32, 32, 4, 1, 16)
    compilers[0].ask("split_kv", "fp32", "ieee", "all", "plain", *map(str, sizes))
    found = compilers[0].answer()
    assert [shared for kernel, shared, _ in found if kernel == "combine_kernel"] == [0]
