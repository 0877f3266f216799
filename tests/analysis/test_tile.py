"""The tile that a run takes where its request leaves it open."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from kernels import VARIANTS, TileConfig
from tests.samples import GPU, INTERPRETER
from workbench.analysis.tile import launched_tile, with_chosen_tile
from workbench.analysis.validate import find_faults
from workbench.engine.announce import announced_variants
from workbench.run.environment import DeviceInfo
from workbench.run.request import Problem, RunRequest

EVERYTHING = tuple(field.name for field in fields(TileConfig))


@pytest.mark.parametrize("device", [GPU, INTERPRETER], ids=["gpu", "interpreter"])
@pytest.mark.parametrize("shape", [(1, 1, 8), (20, 3000, 64), (4096, 4096, 256)], ids=str)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_what_is_chosen_is_taken_by_the_kernel(
    variant: object, shape: tuple[int, int, int], device: DeviceInfo
) -> None:
    from kernels import KernelVariant

    assert isinstance(variant, KernelVariant)
    open_ = RunRequest(
        Problem(*shape, dtype=variant.dtypes[0]),
        TileConfig(1, 2, 3, 99, -5),
        kernel=variant.name,
        auto_tile=EVERYTHING,
    )
    chosen = with_chosen_tile(open_, device, announced_variants(device))
    assert chosen.auto_tile == () and chosen.problem == open_.problem
    tile_faults = [f for f in find_faults(chosen, device, announced_variants(device)) if f.field in EVERYTHING]
    assert tile_faults == []


def test_what_is_given_stays() -> None:
    request = RunRequest(Problem(64, 64, 16), TileConfig(128, 3, 3, 3, 7), kernel="article", auto_tile=("block_n",))
    tile = with_chosen_tile(request, INTERPRETER, announced_variants(INTERPRETER)).tile
    assert replace(tile, block_n=3) == request.tile and tile.block_n == 64


def test_splits_are_resolved_for_a_kernel_that_splits_and_1_for_any_other() -> None:
    article = next(variant for variant in VARIANTS if variant.name == "article")
    splitting = replace(article, splits=True)
    problem, by_rule = Problem(128, 4096, 64), TileConfig(64, 64, splits=0)
    assert launched_tile(problem, by_rule, splitting, GPU).splits == 64, "a program for each of the 64 key tiles"
    assert launched_tile(problem, by_rule, splitting, INTERPRETER).splits == 1
    assert launched_tile(problem, by_rule, article, GPU).splits == 1
    assert launched_tile(problem, replace(by_rule, splits=1000), splitting, GPU).splits == 64, "no split without keys"
