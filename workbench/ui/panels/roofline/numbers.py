"""What the roofline panel draws and says: the ceilings as lines, runs as points, floors in words. Without Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.analysis.numbers import TimeUnit, format_time
from workbench.analysis.traffic import Floor, fits_cache, floor_time, least_bytes, size_text
from workbench.run.ceilings import RATES, Ceilings
from workbench.run.events import Started
from workbench.run.kept.runs import having
from workbench.run.measurement import Measurement, Role
from workbench.run.record import RunRecord
from workbench.words.names import asked_baseline_text, implementation_text, kernel_text, problem_text

MOST_POINTS = 200
TERA = 1e12
NO_BOUND = "A mark to measure by, not a bound: the rates are medians of one large copy and of one large product."


@dataclass(frozen=True)
class Roof:
    """A level ceiling: `tflops`, its name, and whether the shown kernel's arithmetic runs against it.

    `effective` tells a rate that was divided by the products that one of ours takes from one that was measured.
    """

    tflops: float
    text: str
    binding: bool = False
    effective: bool = False


@dataclass(frozen=True)
class Point:
    """One measured implementation: flop of visible pairs per byte that must move, TFLOP/s, and what it is called."""

    role: Role
    intensity: float
    tflops: float
    us: float
    title: str
    problem: str
    protocol: str
    run: str = ""  # "" for the run that is shown


def point_of(measurement: Measurement, run: str = "") -> Point | None:
    """Where a measurement stands; None by the host's clock, or where it took no time."""
    latency, problem, us = measurement.latency, measurement.problem, measurement.latency.figure_us
    if latency.clock == "host" or not us > 0:
        return None
    intensity, tflops = problem.flops / least_bytes(problem), problem.flops / us / 1e6
    title, role = implementation_text(measurement), measurement.role
    return Point(role, intensity, tflops, us, title, problem_text(problem), latency.protocol, run)


def earlier_points(records: Sequence[RunRecord], shown: RunRecord | None, device: str) -> list[Point]:
    """The kernels of other runs on the same device, the latest of them; a wrong result has no speed."""
    points: list[Point] = []
    for record in reversed(having(records, device=device)):
        if len(points) == MOST_POINTS:
            break
        kernel = record.measurement("kernel")
        is_other = record.started.device.name == device and (shown is None or record.key != shown.key)
        if not is_other or kernel is None or record.is_wrong("kernel"):
            continue
        where = f", {record.source}" if record.source else ""
        point = point_of(kernel, f"run {record.run_id}{where}")
        points += [point] if point is not None else []
    return points[::-1]


def precision_of(measurement: Measurement) -> str:
    """The precision whose products a measurement makes; PyTorch's are full ones unless told otherwise."""
    return measurement.precision or "ieee"


def roofs(ceilings: Ceilings, floor: Floor | None, precision: str) -> list[Roof]:
    """The measured matrix rates, and the effective one of a precision that splits each value."""
    found = []
    for name in RATES:
        rate = float(getattr(ceilings, name))
        if rate > 0:
            binding = floor is not None and floor.rate == name and floor.products == 1
            found.append(Roof(rate / TERA, f"{name} {rate / TERA:.3g}", binding))
    if floor is not None and floor.products > 1:
        rate = float(getattr(ceilings, floor.rate)) / TERA
        text = f"{precision}: {floor.rate} / {floor.products} = {rate / floor.products:.3g}"
        found.append(Roof(rate / floor.products, text, binding=True, effective=True))
    return found


def floor_texts(measurement: Measurement, ceilings: Ceilings, unit: TimeUnit | None = None) -> tuple[str, str]:
    """How far a measurement is from its floor: "17.9× its floor of 42.1 µs", and what that is made of; or ""."""
    floor = floor_time(measurement.problem, precision_of(measurement), ceilings)
    if floor is None:
        return "", ""
    times = floor.times(measurement.latency.figure_us)
    return f"{times:.3g}× its floor of {format_time(floor.us, unit)}", made_of(floor)


def floor_tip(measurement: Measurement, ceilings: Ceilings, unit: TimeUnit | None = None) -> str:
    """What the floor is and what it is not, a sentence a line; "" if there is none."""
    precision = precision_of(measurement)
    floor = floor_time(measurement.problem, precision, ceilings)
    if floor is None:
        return ""
    arithmetic, memory = (format_time(us, unit) for us in (floor.arithmetic_us, floor.memory_us))
    lines = [
        f"At the rates that this GPU reached it takes {format_time(floor.us, unit)}: {made_of(floor)}.",
        f"Its arithmetic: {arithmetic}, its fewest bytes: {memory}.",
        products_text(floor, precision),
        NO_BOUND,
        warm_text(measurement, ceilings),
    ]
    return "\n".join(filter(None, lines))


def warm_text(measurement: Measurement, ceilings: Ceilings) -> str:
    """That a protocol leaves Q, K, V and O in the L2, so that they need not come from memory; "" where they must."""
    latency, problem = measurement.latency, measurement.problem
    if latency.flush_bytes or (ceilings.l2_bytes and not fits_cache(problem, ceilings)):
        return ""
    size = size_text(least_bytes(problem))
    fit = f"fit the L2 of {size_text(ceilings.l2_bytes)}" if ceilings.l2_bytes else "may fit the L2"
    return (
        f"{latency.protocol} does not flush the caches, and Q, K, V and O, {size}, {fit}: they need not come from "
        f"memory, so that a launch may take less than its fewest bytes do."
    )


def made_of(floor: Floor) -> str:
    """What the floor is made of."""
    if floor.bound == "memory":
        return "least bytes at the copy rate"
    products = f", {floor.products} products each" if floor.products > 1 else ""
    return f"{floor.rate} arithmetic{products}"


def products_text(floor: Floor, precision: str) -> str:
    """What a split precision does, in a sentence; "" where one product is one product."""
    if floor.products == 1:
        return ""
    rate, products = floor.rate, floor.products
    return (
        f"{precision} makes {products} {rate} products for each of ours: its ceiling is the {rate} rate / {products}."
    )


def ceilings_text(ceilings: Ceilings) -> str:
    """Where, when and with what the ceilings were measured."""
    limit = f" at {ceilings.power_limit_w:.0f} W" if ceilings.power_limit_w is not None else ""
    return f"ceilings of {ceilings.device}{limit}, measured {ceilings.date[:10]}, torch {ceilings.torch}"


def notes_texts(ceilings: Ceilings) -> tuple[str, ...]:
    """What is to be said about how they were measured: whole, without figures, and as a count; empty for nothing."""
    notes, count = ceilings.notes, len(ceilings.notes)
    if not notes:
        return ()
    told = ("; ".join(notes), "; ".join(ceilings.brief_notes))
    return told if ceilings.warnings is None else (*told, f"{count} warning{'s' * (count > 1)}")


def ceilings_tip(ceilings: Ceilings) -> str:
    """All of it, a line each."""
    return "\n".join([f"{ceilings_text(ceilings)}, driver {ceilings.driver}", *ceilings.notes])


def copy_text(ceilings: Ceilings) -> str:
    """The copy rate as its line is called."""
    return f"copy {ceilings.copy_bytes_per_s / TERA:.3g} TB/s"


def titled(role: Role, measurement: Measurement | None, started: Started) -> str:
    """How a role is called in the lines above the plot."""
    if measurement is not None:
        return implementation_text(measurement)
    request = started.request
    return kernel_text(request.kernel, request.precision) if role == "kernel" else asked_baseline_text(request)


def extent(points: Iterable[Point], ceilings: Ceilings | None) -> tuple[float, float, float, float]:
    """What the axes must show: least and greatest flop per byte, least and greatest TFLOP/s."""
    x = [point.intensity for point in points]
    y = [point.tflops for point in points]
    if ceilings is not None and ceilings.copy_bytes_per_s > 0:
        rates = [rate for rate in (float(getattr(ceilings, name)) for name in RATES) if rate > 0]
        # The ridges: where the slope meets the lowest and the highest ceiling.
        x += [min(rates) / ceilings.copy_bytes_per_s / 4, max(rates) / ceilings.copy_bytes_per_s * 4] if rates else []
        y += [min(rates) / TERA / 4, max(rates) / TERA] if rates else []
    if not x or not y:
        return 1.0, 1000.0, 1.0, 1000.0
    return min(x) / 1.6, max(x) * 1.6, min(y) / 1.8, max(y) * 1.8
