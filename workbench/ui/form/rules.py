"""What the form offers: which choices cannot work and why, and how the rest follows a new kernel or dtype.

Without Qt: requests in, requests and reasons out. `find_faults` alone decides what can work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from kernels.plain.precisions import EXACT, PRECISIONS
from kernels.plain.spec import LIMITED
from kernels.plain.tiles import AUTO_SPLITS, TileConfig, resolved_splits
from workbench.analysis.presets import Preset
from workbench.analysis.tile import with_chosen_tile
from workbench.analysis.tolerances import default_tolerance
from workbench.analysis.validate import Fault, find_faults
from workbench.run.environment import KernelInfo, find_kernel
from workbench.run.events import Ready
from workbench.run.protocols import Protocol, protocol_on
from workbench.run.request import DTYPES, SDPA_CHOICES, RunRequest, look_up, put

NO_GPU = "allowed are auto and interpreter: no NVIDIA GPU can be used here, and python main.py doctor says why"
TILE_FIELDS = tuple(f.name for f in fields(TileConfig))
# From the least exact to the most: a precision that cannot be had gives way to the next one that is no worse.
BY_EXACTNESS = tuple(sorted(PRECISIONS, key=lambda name: PRECISIONS[name].exactness))


@dataclass(frozen=True)
class Settled:
    """A request after the fields that had to follow; `notes` says under which field what was changed and why."""

    request: RunRequest
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FormRules:
    """Answers questions about requests by what the engine has announced; before that, by the general rules alone.

    `refused` are the devices that no engine could be had for, with what it said.
    """

    ready: Ready | None = None
    refused: Mapping[str, str] = field(default_factory=dict)

    def faults(self, request: RunRequest) -> tuple[Fault, ...]:
        """Everything that cannot work about `request`."""
        if self.ready is None:
            found = find_faults(request)
        else:
            found = find_faults(request, self.ready.device, self.ready.kernels, self.ready.baselines)
        return (*found, *self._device_faults(request.device))

    def _device_faults(self, device: str) -> Iterator[Fault]:
        """The engine announces what runs on its own device; of another it is known whether there is one."""
        if device in self.refused:
            yield Fault("device", self.refused[device])
        elif device == "cuda" and self.ready is not None and not self.ready.has_gpu:
            yield Fault("device", f"device is {device}", NO_GPU)

    def kernel(self, name: str) -> KernelInfo | None:
        """The kernel called `name`, or None where none is announced."""
        return find_kernel(self._kernels, name)

    def reason(self, request: RunRequest, name: str, value: object) -> str:
        """Why the field `name` cannot be `value` while all else stays, in one line; "" if it can."""
        fault = self._fault(put(request, name, value), name)
        return fault.message if fault is not None else ""

    def limit(self, request: RunRequest, name: str, value: object) -> str:
        """What is allowed instead of `value`, for a field that has that already; "" if it can be `value` as well."""
        fault = self._fault(put(request, name, value), name)
        return (fault.allowed or fault.found) if fault is not None else ""

    def reasons(self, request: RunRequest, name: str, values: Iterable[str]) -> dict[str, str]:
        """The `values` that the field `name` cannot take, with the reason of each."""
        found = ((value, self.reason(request, name, value)) for value in values)
        return {value: reason for value, reason in found if reason}

    def kernel_reasons(self, request: RunRequest) -> dict[str, str]:
        """The kernels that cannot take the problem, with the reasons; what follows the kernel is no reason."""
        settled = {k.name: self.with_kernel(replace(request, kernel=k.name), request) for k in self._kernels}
        faults = {name: list(self._faults_of_kernel(one.request)) for name, one in settled.items()}
        return {name: "; ".join(sorted(fault.message for fault in found)) for name, found in faults.items() if found}

    def protocol(self, request: RunRequest) -> Protocol:
        """The protocol that a run has, which the device decides where the request leaves it open."""
        return protocol_on(request.protocol, self.ready is None or self.ready.device.mode == "cuda")

    def best_tile(self, request: RunRequest) -> TileConfig | None:
        """The tile to begin with for the problem, kernel and precision; None before the engine is known, or in vain."""
        problem, kernel = request.problem, self.kernel(request.kernel)
        sized = all(side >= 1 for side in (problem.m, problem.n, problem.d, problem.batch, problem.heads))
        if self.ready is None or kernel is None or not sized or problem.dtype not in DTYPES:
            return None
        return kernel.spec.default_tile(problem, self.ready.device, request.precision)

    def with_chosen_tile(self, request: RunRequest) -> RunRequest:
        """`request` with what its tile leaves open chosen as the engine would; the same where that is not known."""
        if self.ready is None or not request.auto_tile or self.best_tile(request) is None:
            return request
        return with_chosen_tile(request, self.ready.device, self.ready.kernels)

    def with_kernel(self, request: RunRequest, before: RunRequest) -> Settled:
        """What follows a new kernel: dtype and precision that it takes, its own tile; `before` had the old one."""
        settled = self._with_precision(self._moved(Settled(request), "dtype", DTYPES))
        return self._with_tile(_with_usual_tolerances(settled, before))

    def with_dtype(self, request: RunRequest, before: RunRequest) -> Settled:
        """What follows a new dtype or precision: a precision and a backend that can be, and the usual tolerances."""
        return _with_usual_tolerances(self._with_precision(Settled(request)), before)

    def with_heads(self, request: RunRequest) -> Settled:
        """As many KV heads as query heads, where that is a number of heads."""
        heads = request.problem.heads
        return Settled(put(request, "kv_heads", heads) if heads >= 1 else request)

    def with_preset(self, request: RunRequest, preset: Preset) -> Settled:
        """`request` with all of `preset`, and a kernel that can take its problem if the present one cannot."""
        wanted = replace(request, problem=preset.problem, tile=preset.tile)
        settled = Settled(wanted)
        reason = self._unable(wanted)
        able = next((k.name for k in self._kernels if not self._unable(replace(wanted, kernel=k.name))), "")
        if reason and able:
            settled = Settled(replace(wanted, kernel=able), {"kernel": f"was {wanted.kernel}: {reason}"})
        settled = self._with_tile(self._with_precision(settled))
        rtol, atol = preset.tolerances(settled.request.problem.dtype, settled.request.precision)
        return replace(settled, request=replace(settled.request, rtol=rtol, atol=atol))

    def splits_notes(self, request: RunRequest) -> dict[str, str]:
        """What becomes of a number of key splits that a launch does not make, for its field; {} where it makes it."""
        asked = request.tile.splits
        if self.ready is None or asked == AUTO_SPLITS or self.faults(request):
            return {}
        made = resolved_splits(request.problem, request.tile, self.ready.device.sm_count)
        if made == asked:
            return {}
        return {"splits": f"{made} of {asked} are made: each takes whole key tiles, and none is left without keys"}

    @property
    def _kernels(self) -> tuple[KernelInfo, ...]:
        return self.ready.kernels if self.ready is not None else ()

    def _unable(self, request: RunRequest) -> str:
        """Why the kernel of `request` cannot take its very problem; "" if it can."""
        able = replace(request, precision=EXACT)
        return next((f.message for f in self._faults_of_kernel(able, also=("dtype",))), "")

    def _faults_of_kernel(self, request: RunRequest, also: tuple[str, ...] = ()) -> Iterator[Fault]:
        """Faults of the kernel's own, in the fields that the form leaves to the user, and in those in `also`."""
        if self.ready is None:
            return iter(())
        anyway = find_faults(request, self.ready.device, (), self.ready.baselines)
        moving = {"dtype", "precision", "sdpa", *TILE_FIELDS}.difference(also)
        return (f for f in self.faults(request) if f not in anyway and f.field not in moving)

    def _fault(self, request: RunRequest, name: str) -> Fault | None:
        return next((fault for fault in self.faults(request) if fault.field == name), None)

    def _moved(self, settled: Settled, name: str, order: tuple[str, ...]) -> Settled:
        """The nearest of `order` for the field `name` if it has a fault, with a note; else the same."""
        request = settled.request
        fault = self._fault(request, name)
        if fault is None:
            return settled
        value = str(look_up(request, name))
        able = (other for other in _nearest_first(value, order, name) if not self.reason(request, name, other))
        other = next(able, value)
        if other == value:
            return settled
        return Settled(put(request, name, other), {**settled.notes, name: _moved_text(value, fault)})

    def _with_precision(self, settled: Settled) -> Settled:
        """A precision and a backend that take the dtype."""
        return self._moved(self._moved(settled, "precision", BY_EXACTNESS), "sdpa", SDPA_CHOICES)

    def _with_tile(self, settled: Settled) -> Settled:
        """The kernel's own tile; of one that keeps its tile the one there is, with the nearest values that it takes."""
        request, notes = settled.request, dict(settled.notes)
        kernel, best = self.kernel(request.kernel), self.best_tile(request)
        if kernel is None or best is None:
            return settled
        if not kernel.spec.keeps_tile:
            return Settled(replace(request, tile=best), notes)
        nearest = kernel.spec.nearest(request.tile, request.problem.d)
        for name in (*LIMITED, "splits"):
            value, fault = getattr(request.tile, name), self._fault(request, name)
            if fault is not None and getattr(nearest, name) != value:
                notes[name] = _moved_text(value, fault)
        return Settled(replace(request, tile=nearest), notes)


def _moved_text(value: object, fault: Fault) -> str:
    """What a field was, and what is allowed instead."""
    return f"was {value}: {fault.allowed or fault.found}"


def is_exact(request: RunRequest) -> bool:
    """Whether there is no precision to choose: 16-bit inputs, with the one precision that they take."""
    return request.problem.dtype != "fp32" and request.precision == EXACT


def is_preset(request: RunRequest, preset: Preset) -> bool:
    """Whether it is that problem with those tolerances; the tile goes with the kernel."""
    tolerances = preset.tolerances(request.problem.dtype, request.precision)
    return (request.problem, request.rtol, request.atol) == (preset.problem, *tolerances)


def _nearest_first(value: str, order: tuple[str, ...], name: str) -> list[str]:
    """`order` as it is to be tried in place of `value`: by distance; precisions that are no worse before worse ones."""
    if name == "sdpa" or value not in order:
        return list(order)
    at = order.index(value)
    if name == "precision":
        return [*order[at:], *reversed(order[:at])]
    return sorted(order, key=lambda other: abs(order.index(other) - at))


def _with_usual_tolerances(settled: Settled, before: RunRequest) -> Settled:
    """Tolerances that were the usual ones of the old dtype and precision become those of the new."""
    request = settled.request
    old = default_tolerance(before.problem.dtype, before.precision)
    new = default_tolerance(request.problem.dtype, request.precision)
    if new == old or (before.rtol, before.atol) != (old, old):
        return settled
    dtype, precision = request.problem.dtype, request.precision
    what = dtype if precision == EXACT else f"{dtype} in {precision}"
    notes = {**settled.notes, "rtol": f"both were {old:g}: {new:g} is usual for {what}"}
    return Settled(replace(request, rtol=new, atol=new), notes)
