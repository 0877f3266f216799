"""The tile and the protocol that a run takes where its request leaves them open."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from kernels import VARIANTS, KernelVariant, TileConfig
from tests.samples import GPU, INTERPRETER, make_kernel
from workbench.analysis.tile import launched_tile, with_chosen_protocol, with_chosen_tile
from workbench.analysis.validate import find_faults
from workbench.engine.announce import announced_kernels
from workbench.run.environment import DeviceInfo
from workbench.run.protocols import PROTOCOLS
from workbench.run.request import Problem, RunRequest

EVERYTHING = tuple(field.name for field in fields(TileConfig))


@pytest.mark.parametrize("device", [GPU, INTERPRETER], ids=["gpu", "interpreter"])
@pytest.mark.parametrize("shape", [(1, 1, 8), (20, 3000, 64), (4096, 4096, 256)], ids=str)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_what_is_chosen_is_taken_by_the_kernel(
    variant: KernelVariant, shape: tuple[int, int, int], device: DeviceInfo
) -> None:
    open_ = RunRequest(
        Problem(*shape, dtype=variant.spec.dtypes[0]),
        TileConfig(1, 2, 3, 99, -5),
        kernel=variant.name,
        auto_tile=EVERYTHING,
    )
    chosen = with_chosen_tile(open_, device, announced_kernels(device))
    assert chosen.auto_tile == () and chosen.problem == open_.problem
    tile_faults = [f for f in find_faults(chosen, device, announced_kernels(device)) if f.field in EVERYTHING]
    assert tile_faults == []


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_what_is_given_stays(variant: KernelVariant) -> None:
    """What is not is the nearest to the request's for a kernel that keeps its tile."""
    given = TileConfig(128, 3, 3, 3, 7)
    spec, problem = variant.spec, Problem(64, 64, 16)
    request = RunRequest(problem, given, kernel=variant.name, auto_tile=("block_n",))
    tile = with_chosen_tile(request, INTERPRETER, announced_kernels(INTERPRETER)).tile
    chosen = spec.nearest(given, problem.d) if spec.keeps_tile else spec.default_tile(problem, INTERPRETER)
    assert tile == replace(given, block_n=chosen.block_n) and tile.block_n in spec.block_ns


def test_splits_are_resolved_for_a_kernel_that_splits_and_1_for_any_other() -> None:
    whole, splitting = make_kernel("whole").spec, make_kernel("splitting", splits=True).spec
    problem, by_rule = Problem(128, 4096, 64), TileConfig(64, 64, splits=0)
    assert launched_tile(problem, by_rule, splitting, GPU).splits == 64, "a program for each of the 64 key tiles"
    assert launched_tile(problem, by_rule, splitting, INTERPRETER).splits == 1
    assert launched_tile(problem, by_rule, whole, GPU).splits == 1
    assert launched_tile(problem, replace(by_rule, splits=1000), splitting, GPU).splits == 64, "no split without keys"


@pytest.mark.parametrize("device", [GPU, INTERPRETER], ids=["gpu", "interpreter"])
def test_an_open_protocol_is_one_that_the_device_takes_and_a_named_one_stays(device: DeviceInfo) -> None:
    open_ = RunRequest(Problem(16, 16, 8))
    chosen = with_chosen_protocol(open_, device)
    assert chosen.protocol in PROTOCOLS and find_faults(open_, device) == find_faults(chosen, device) == ()
    for name in PROTOCOLS:
        named = replace(open_, protocol=name)
        assert with_chosen_protocol(named, device) == named
