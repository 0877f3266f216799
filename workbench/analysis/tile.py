"""The tile and the protocol that a run really takes, where the request leaves some of it open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernels.plain.spec import KernelSpec
from kernels.plain.tiles import TileConfig, with_resolved_splits
from workbench.run.environment import DeviceInfo, KernelInfo
from workbench.run.protocols import AUTO_PROTOCOL, PROTOCOLS, Protocol, protocol_on
from workbench.run.request import Problem, RunRequest


def with_chosen_tile(request: RunRequest, device: DeviceInfo, kernels: Sequence[KernelInfo]) -> RunRequest:
    """`request` with the fields that its `auto_tile` names chosen for `device`, and none left to choose.

    A kernel that keeps its tile has the request's, or what it takes that is nearest. The kernel must be one of
    `kernels`, and the problem one that can run.
    """
    spec = next(kernel.spec for kernel in kernels if kernel.name == request.kernel)
    problem = request.problem
    kept = spec.nearest(request.tile, problem.d) if spec.keeps_tile else None
    good = kept or spec.default_tile(problem, device, request.precision)
    chosen = {name: getattr(good, name) for name in request.auto_tile}
    return replace(request, tile=replace(request.tile, **chosen), auto_tile=())


def with_chosen_protocol(request: RunRequest, device: DeviceInfo) -> RunRequest:
    """`request` with the usual protocol of `device`, unless it names one."""
    return replace(request, protocol=protocol_for(request, device.mode == "cuda").name)


def protocol_for(request: RunRequest, is_gpu: bool) -> Protocol:
    """The protocol that `request` has on a GPU or on the interpreter; beside a rival an open one takes turns."""
    usual = protocol_on(request.protocol, is_gpu)
    if request.rival is None or request.protocol != AUTO_PROTOCOL or usual.takes_turns:
        return usual
    return next(one for one in PROTOCOLS.values() if one.takes_turns and one.on_host)


def launched_tile(problem: Problem, tile: TileConfig, spec: KernelSpec, device: DeviceInfo) -> TileConfig:
    """`tile` with the number of key splits that a launch on `device` makes: 1 for a kernel that does not split."""
    return with_resolved_splits(problem, tile, device.sm_count) if spec.splits else replace(tile, splits=1)
