"""The tile that a run really takes, where the request leaves some of it open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from kernels.plain.tiles import TileConfig, with_resolved_splits
from workbench.run.environment import DeviceInfo, VariantInfo
from workbench.run.request import Problem, RunRequest


class _Splitting(Protocol):
    @property
    def splits(self) -> bool: ...


def with_chosen_tile(request: RunRequest, device: DeviceInfo, variants: Sequence[VariantInfo]) -> RunRequest:
    """`request` with the fields that its `auto_tile` names chosen for `device`, and none left to choose.

    The kernel must be one of `variants`, and the problem one that can run.
    """
    variant = next(v for v in variants if v.name == request.kernel)
    good = TileConfig.default(request.problem, device, request.kernel, request.precision)
    # Where nothing was measured for this kernel, the choice knows nothing of what it takes.
    good = replace(
        good,
        block_m=_nearest(good.block_m, variant.block_ms),
        block_n=_nearest(good.block_n, variant.block_ns),
        num_warps=_nearest(good.num_warps, variant.warps),
        splits=good.splits if variant.splits else 1,
    )
    chosen = {name: getattr(good, name) for name in request.auto_tile}
    return replace(request, tile=replace(request.tile, **chosen), auto_tile=())


def launched_tile(problem: Problem, tile: TileConfig, variant: _Splitting, device: DeviceInfo) -> TileConfig:
    """`tile` with the number of key splits that a launch on `device` makes: 1 for a kernel that does not split."""
    return with_resolved_splits(problem, tile, device.sm_count) if variant.splits else replace(tile, splits=1)


def _nearest(value: int, allowed: Sequence[int]) -> int:
    return min(allowed, key=lambda one: abs(one - value))
