"""Kernels compile for a GPU also where there is none: the interpreter accepts what the compiler refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from kernels import VARIANTS, KernelVariant, TileConfig
from kernels.common.checks import Limits
from kernels.plain.launch_options import AUTO
from kernels.variants.materialized import MATERIALIZED
from kernels.variants.split_kv.launch import SPLIT_KV

ROOT = Path(__file__).parents[2]
# How an answer of `tests.kernels.compiling` ends; not imported from there, because that brings in the compiler.
DONE, FAILED = "done", "failed"
SIZES = (300, 300, 64)
TILE = TileConfig(64, 32, 4, 2, 2)
SPLIT_KERNELS = ["split_kernel", "split_kv_kernel", "combine_kernel"]
CHAINS = {
    "fp16x3 parts": (SPLIT_KV, "fp16x3", SPLIT_KERNELS),
    "bf16x6 parts": (SPLIT_KV, "bf16x6", SPLIT_KERNELS),
    "no parts": (SPLIT_KV, "tf32x3", SPLIT_KERNELS[1:]),
    "S and P": (MATERIALIZED, "tf32x3", ["scores_kernel", "softmax_kernel", "output_kernel"]),
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

    def answer(self) -> list[tuple[str, int, int, int]]:
        """What it compiled for compute capability 9.0: a kernel's name, shared memory in bytes, stores, registers."""
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
        return [(name, int(shared), int(stores), int(registers)) for name, shared, stores, registers in lines]

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


def words(variant: KernelVariant, dtype: str, precision: str, tile: TileConfig, kind: str = "plain") -> list[str]:
    """A launch of SIZES in the words that `tests.kernels.compiling` reads."""
    mask = "causal" if variant.spec.causal else "all"
    sizes = [*SIZES[:2], min(SIZES[2], variant.spec.max_d)]
    fields = [f"{name}={value}" for name, value in asdict(variant.spec.nearest(tile, sizes[2])).items()]
    return [variant.name, dtype, precision, mask, kind, *map(str, sizes), *fields]


def compiled(
    compilers: tuple[Compiler, Compiler], variant: KernelVariant, dtype: str, precision: str
) -> list[list[tuple[str, int, int, int]]]:
    """What a plain launch and a traced one are made of; one of its kernels stores more when it is traced."""
    if variant.refusal(Limits("9.0", 132, 232448)) or precision in variant.spec.newer_precisions:
        pytest.skip("this Triton is too old")
    for compiler, kind in zip(compilers, ("plain", "traced"), strict=True):
        compiler.ask(*words(variant, dtype, precision, TILE, kind))
    found = [compiler.answer() for compiler in compilers]
    plain_counts, traced_counts = ([stores for _, _, stores, _ in one] for one in found)
    assert sum(plain_counts) < sum(traced_counts)
    assert min(plain_counts + traced_counts) > 0
    return found


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_launch_compiles_plain_and_traced(variant: KernelVariant, compilers: tuple[Compiler, Compiler]) -> None:
    plain, traced = compiled(compilers, variant, variant.spec.dtypes[-1], "ieee")
    assert [name for name, *_ in plain] == [name for name, *_ in traced] != []


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_limit_of_registers_reaches_every_kernel_of_a_launch(
    variant: KernelVariant, compilers: tuple[Compiler, Compiler]
) -> None:
    """And one that takes none says why."""
    allowed = variant.spec.allowed("maxnreg")
    if allowed == (AUTO,):
        assert variant.spec.why("maxnreg")
        return
    if variant.refusal(Limits("9.0", 132, 232448)):
        pytest.skip("this Triton is too old")

    def registers(tile: TileConfig) -> int:
        compilers[0].ask(*words(variant, variant.spec.dtypes[-1], "ieee", tile))
        return max(registers for *_, registers in compilers[0].answer())

    free = registers(TILE)
    limit = max(value for value in allowed if value < free)  # products may need nearly all of them: none far below
    assert registers(replace(TILE, maxnreg=limit)) <= limit < free


@pytest.mark.parametrize("name", CHAINS)
def test_a_launch_of_several_kernels_has_each_of_them(name: str, compilers: tuple[Compiler, Compiler]) -> None:
    variant, precision, kernels = CHAINS[name]
    found = compiled(compilers, variant, "fp32", precision)
    assert [[kernel for kernel, *_ in one] for one in found] == [kernels, kernels]


def test_combining_splits_waits_for_no_load_before_the_last(compilers: tuple[Compiler, Compiler]) -> None:
    """Weights that went through shared memory would put a barrier after each split's loads: it was 8 us for sixteen."""
    sizes, tile = ("256", "1024", "64"), ("block_m=32", "block_n=32", "num_stages=1", "splits=16")
    compilers[0].ask(SPLIT_KV.name, "fp32", "ieee", "all", "plain", *sizes, *tile)
    found = compilers[0].answer()
    assert [shared for kernel, shared, *_ in found if kernel == "combine_kernel"] == [0]
