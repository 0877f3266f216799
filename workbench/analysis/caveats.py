"""What must be said beside a result for reasons that lie in the request and the host, and not in a GPU's clocks.

Each is a DeviceWarning, so that it stands where those stand. Its words up to the colon are enough for a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from kernels.plain.precisions import EXACT, PRECISIONS
from kernels.plain.tiles import AUTO_SPLITS, TileConfig, tiles_per_split
from workbench.run.device_state import DeviceWarning, WarningKind
from workbench.run.environment import Mode, Provenance
from workbench.run.measurement import ErrorStats
from workbench.run.request import RunRequest


@dataclass(frozen=True)
class Flattery:
    """Inputs that make a GPU look fast: the words for a label, and what is said of the inputs."""

    label: str
    of_inputs: str

    @property
    def warning(self) -> DeviceWarning:
        """The whole sentence."""
        why = "a GPU that flips no bits draws less power, and these times may flatter"
        return DeviceWarning("inputs", f"{self.of_inputs}: {why}")


# Distributions of which every value is the same: from one value to the next no bit of an operand flips.
FLATTERING = {
    "zeros": Flattery("zeros flatter", "inputs are zeros"),
    "constant": Flattery("constant inputs flatter", "inputs are one constant"),
}


def caveats_of(
    request: RunRequest, mode: Mode, provenance: Provenance, launched: TileConfig, error: ErrorStats
) -> tuple[DeviceWarning, ...]:
    """What is known before a run is timed: `launched` is its tile with the splits that are made, `error` the kernel's.

    How busy the CPU is counts where its clock is the one that times.
    """
    texts: tuple[tuple[WarningKind, str], ...] = (
        ("tolerance", tolerance_text(error)),
        ("precision", precision_text(request, mode)),
        ("splits", splits_text(request, launched)),
        ("cpu", busy_text(provenance) if mode == "interpreter" else ""),
    )
    return tuple(DeviceWarning(kind, text) for kind, text in texts if text)


def computed_precision(request: RunRequest, mode: Mode) -> str:
    """The precision in which the products of fp32 inputs are really made."""
    asked = PRECISIONS.get(request.precision)
    made = mode != "interpreter" or (asked is not None and asked.on_interpreter)
    return request.precision if made else EXACT


def precision_text(request: RunRequest, mode: Mode) -> str:
    """That the products are not made as they were asked for; "" where they are."""
    if computed_precision(request, mode) == request.precision or request.problem.dtype != "fp32":
        return ""
    return (
        f"{request.precision} asked, computed in full precision: the interpreter has no other, and the error is that "
        f"of full precision"
    )


def splits_text(request: RunRequest, launched: TileConfig) -> str:
    """That fewer key splits are made than were asked for, and why; "" where it is the number, or it was left open."""
    asked, made = request.tile.splits, launched.splits
    if asked in (AUTO_SPLITS, made):
        return ""
    tiles = -(-request.problem.n // launched.block_n)
    each = tiles_per_split(request.problem.n, launched.block_n, asked)
    return f"{asked} splits asked, {made} made: of {tiles} key tiles each split has {each}, the last what is left"


def busy_text(provenance: Provenance) -> str:
    """That more wanted to run on the CPU than it has cores when the run began; "" where not, or it is not known."""
    load, cores = next(iter(provenance.load_average), 0.0), provenance.cpu_cores
    return f"the CPU is busy: load {load:.1f} on {cores} cores" if 0 < cores < load else ""


def tolerance_text(error: ErrorStats) -> str:
    """That the check of an output would pass zeros as well, and so says next to nothing; "" where it would not.

    Where zeros are the right output, nothing is wrong with that. Not known of runs that are older than `largest`.
    """
    largest = error.largest
    if not largest or not isfinite(largest) or largest > (allowed := error.atol + error.rtol * largest):
        return ""
    sizes = f"the tolerance, {_size(allowed)}, is not below the largest value of the output, {_size(largest)}"
    return f"zeros would pass: {sizes}"


def _size(value: float) -> str:
    """Two digits: 0.002, 9.6e-4."""
    return f"{value:.2g}" if value >= 1e-3 else f"{value:.1e}".replace("e-0", "e-")
