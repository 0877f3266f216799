"""What must be said beside a result for reasons that lie in the request and the host, and not in a GPU's clocks.

Each is a DeviceWarning, so that it stands where those stand.
"""

from __future__ import annotations

from math import isfinite

from kernels.plain.precisions import EXACT, PRECISIONS
from kernels.plain.tiles import AUTO_SPLITS, TileConfig, tiles_per_split
from workbench.run.device_state import DeviceWarning
from workbench.run.environment import Mode, Provenance
from workbench.run.measurement import ErrorStats
from workbench.run.request import RunRequest

_WHY = "a GPU that flips no bits draws less power, and these times may flatter"
# Distributions of which every value is the same: from one value to the next no bit of an operand flips.
FLATTERING = {
    "zeros": DeviceWarning("inputs", f"inputs are zeros: {_WHY}", "zeros flatter"),
    "constant": DeviceWarning("inputs", f"inputs are one constant: {_WHY}", "constant inputs flatter"),
}


def caveats_of(
    request: RunRequest, mode: Mode, provenance: Provenance, launched: TileConfig, error: ErrorStats
) -> tuple[DeviceWarning, ...]:
    """What is known before a run is timed: `launched` is its tile with the splits that are made, `error` the kernel's.

    How busy the CPU is counts where its clock is the one that times.
    """
    found = (
        of_tolerance(error),
        of_precision(request, mode),
        of_splits(request, launched),
        of_cpu(provenance) if mode == "interpreter" else None,
    )
    return tuple(warning for warning in found if warning is not None)


def computed_precision(request: RunRequest, mode: Mode) -> str:
    """The precision in which the products of fp32 inputs are really made."""
    asked = PRECISIONS.get(request.precision)
    made = mode != "interpreter" or (asked is not None and asked.on_interpreter)
    return request.precision if made else EXACT


def of_precision(request: RunRequest, mode: Mode) -> DeviceWarning | None:
    """That the products are not made as they were asked for; None where they are."""
    if computed_precision(request, mode) == request.precision or request.problem.dtype != "fp32":
        return None
    why = "the interpreter has no other, and the error is that of full precision"
    return DeviceWarning.of("precision", f"{request.precision} asked, computed in full precision", why)


def of_splits(request: RunRequest, launched: TileConfig) -> DeviceWarning | None:
    """That fewer key splits are made than were asked for, and why; None where it is the number, or was left open."""
    asked, made = request.tile.splits, launched.splits
    if asked in (AUTO_SPLITS, made):
        return None
    tiles = -(-request.problem.n // launched.block_n)
    each = tiles_per_split(request.problem.n, launched.block_n, asked)
    why = f"of {tiles} key tiles each split has {each}, the last what is left"
    return DeviceWarning.of("splits", f"{asked} splits asked, {made} made", why)


def of_cpu(provenance: Provenance) -> DeviceWarning | None:
    """That more wanted to run on the CPU than it has cores when the run began; None where not, or it is not known."""
    load, cores = next(iter(provenance.load_average), 0.0), provenance.cpu_cores
    return DeviceWarning.of("cpu", "the CPU is busy", f"load {load:.1f} on {cores} cores") if 0 < cores < load else None


def of_tolerance(error: ErrorStats) -> DeviceWarning | None:
    """That the check of an output would pass zeros as well, and so says next to nothing; None where it would not.

    Where zeros are the right output, nothing is wrong with that. Not known of runs that are older than `largest`.
    """
    largest = error.largest
    if not largest or not isfinite(largest) or largest > (allowed := error.atol + error.rtol * largest):
        return None
    sizes = f"the tolerance, {_size(allowed)}, is not below the largest value of the output, {_size(largest)}"
    return DeviceWarning.of("tolerance", "zeros would pass", sizes)


def _size(value: float) -> str:
    """Two digits: 0.002, 9.6e-4."""
    return f"{value:.2g}" if value >= 1e-3 else f"{value:.1e}".replace("e-0", "e-")
