"""What the options of the command line ask for: the preset, what is given beside it, and what is left open."""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from typing import TypeVar

from kernels.plain.spec import LIMITED
from kernels.plain.tiles import TileConfig
from workbench.analysis.presets import NO_PRESET, PRESETS, Preset, find_preset
from workbench.analysis.tile import protocol_for
from workbench.analysis.validate import Fault, find_faults
from workbench.asking.options import flags
from workbench.asking.usage import UsageError
from workbench.run.protocols import PROTOCOLS
from workbench.run.request import Problem, RunRequest

T = TypeVar("T", Problem, TileConfig, RunRequest)
# The limits of a run, which a protocol with counts of its own does not heed.
LIMITS = ("max_seconds", "max_samples")


def request_from(options: argparse.Namespace) -> RunRequest:
    """The request that the options describe.

    Raises UsageError for an unknown preset or a value that cannot work on any device.
    """
    request = read_request(options)
    faults = [
        fault for fault in find_faults(request) if options.kernel is None or not _left_to_engine(fault, request.tile)
    ]
    if faults:
        raise UsageError("; ".join(fault.message for fault in faults))
    _check_limits_count(request, options)
    return request


def read_request(options: argparse.Namespace) -> RunRequest:
    """The same, also if it cannot work: the preset first, then what is given beside it.

    Raises UsageError for an unknown preset.
    """
    preset = preset_from(options.preset) or NO_PRESET
    problem = _override(preset.problem, options)
    tile = _override(preset.tile, options)
    request = _override(RunRequest(problem, tile), options)
    rtol, atol = preset.tolerances(problem.dtype, request.precision)
    request = _override(replace(request, rtol=rtol, atol=atol), options)
    if request.rival is not None and options.sdpa is None:
        request = replace(request, sdpa="none")
    if options.kernel is not None:
        # What is not given is chosen for the device, once the engine knows it, unless that kernel keeps the preset's.
        request = replace(request, auto_tile=tuple(f.name for f in fields(tile) if getattr(options, f.name) is None))
    return request


def heeds_limits(request: RunRequest) -> bool:
    """Whether LIMITS count for it, as far as is known before the device is."""
    return not protocol_for(request, request.device != "interpreter").has_fixed_counts


def _check_limits_count(request: RunRequest, options: argparse.Namespace) -> None:
    """Raise UsageError for a limit that the protocol does not heed, whoever gave it expects it to count."""
    if heeds_limits(request):
        return
    protocol = protocol_for(request, request.device != "interpreter")
    for name in LIMITS:
        if getattr(options, name) is not None:
            others = ", ".join(name for name, protocol in PROTOCOLS.items() if not protocol.has_fixed_counts)
            raise UsageError(
                f"{flags()[name]} is for the protocols {others}; {protocol.name} takes a fixed number of launches"
            )


def _left_to_engine(fault: Fault, tile: TileConfig) -> bool:
    """Whether the kernel that was named, which the engine knows, says better which sizes it takes."""
    return fault.field in LIMITED and min(tile.block_m, tile.block_n) > 0


def preset_from(name: str | None) -> Preset | None:
    """The preset called `name`, None for None. Raises UsageError for a name that there is not."""
    if name is None:
        return None
    try:
        return find_preset(name)
    except KeyError:
        known = ", ".join(preset.name for preset in PRESETS)
        raise UsageError(f"preset is {name!r}; allowed are {known}") from None


def _override(base: T, options: argparse.Namespace) -> T:
    """`base` with those of its fields that the options give."""
    names = {field.name for field in fields(base)}
    given = {name: value for name, value in vars(options).items() if name in names and value is not None}
    given.pop("trace", None)  # on the command line a file's name; every run takes a trace
    return replace(base, **given)
