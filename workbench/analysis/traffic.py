"""Bytes that attention must move, bytes of S and P, and the time that both take at the rates a device has reached.

Pure arithmetic on a problem and a device's ceilings. All sizes are bytes, all times microseconds. What a launch of a
kernel asks for, `kernels.plain.traffic` counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kernels.plain.precisions import PRECISIONS
from kernels.plain.tiles import DTYPE_BYTES
from workbench.run.ceilings import Ceilings
from workbench.run.request import Problem

FP32_BYTES = 4


@dataclass(frozen=True)
class Materialised:
    """Bytes of the scores S, in fp32, and of their softmax P, in the problem's dtype, if both are written out."""

    scores: int
    weights: int

    @property
    def together(self) -> int:
        """S and P beside each other."""
        return self.scores + self.weights


@dataclass(frozen=True)
class Floor:
    """The time at a device's ceilings: of the arithmetic at its matrix rate, of the fewest bytes at its copy rate.

    A mark to measure by, not a bound: a ceiling is the median of what one large copy or product reached, and bytes that
    are in a cache already need not come from memory. `rate` is the matrix rate that the arithmetic runs on, `products`
    how many of its products one of ours takes.
    """

    arithmetic_us: float
    memory_us: float
    rate: str
    products: int

    @property
    def us(self) -> float:
        """The greater of the two: both can go on at one time."""
        return max(self.arithmetic_us, self.memory_us)

    @property
    def bound(self) -> Literal["arithmetic", "memory"]:
        """Which of the two it is."""
        return "arithmetic" if self.arithmetic_us >= self.memory_us else "memory"

    def times(self, measured_us: float) -> float:
        """How many times the floor a measured time is."""
        return measured_us / self.us


def least_bytes(problem: Problem) -> int:
    """The fewest bytes that must move: Q, K and V read once, O written once. Grouped heads share K and V.

    Of Q only the rows that see a key: the output of the others is 0 whatever they are.
    """
    written = problem.total_heads * problem.m
    read = problem.total_heads * (problem.m - problem.blind_rows) + 2 * problem.batch * problem.kv_heads * problem.n
    return (written + read) * problem.d * DTYPE_BYTES[problem.dtype]


def materialised(problem: Problem) -> Materialised:
    """S and P of all heads, whole: a causal mask hides half of them, and saves none of it."""
    elements = problem.total_heads * problem.m * problem.n
    return Materialised(elements * FP32_BYTES, elements * DTYPE_BYTES[problem.dtype])


def materialised_traffic(problem: Problem) -> int:
    """The fewest bytes that move where S and P are written out: each written once and read once, beside the rest."""
    return least_bytes(problem) + 2 * materialised(problem).together


def fits_cache(problem: Problem, ceilings: Ceilings) -> bool:
    """Whether Q, K, V and O together fit the device's L2, so that a launch may find them there from the last one."""
    return 0 < least_bytes(problem) <= ceilings.l2_bytes


def floor_time(problem: Problem, precision: str, ceilings: Ceilings) -> Floor | None:
    """The time for `problem` at the rates of `ceilings`; None where a rate that it needs was not measured.

    Operations are those of visible pairs. An fp32 problem runs on the matrix rate of its `precision`, divided by the
    products that it takes; a 16-bit one on its own dtype's.
    """
    made = PRECISIONS[precision]
    name, products = (made.rate, made.products) if problem.dtype == "fp32" else (problem.dtype, 1)
    rate = float(getattr(ceilings, name))
    if not rate > 0 or not ceilings.copy_bytes_per_s > 0:
        return None
    return Floor(
        arithmetic_us=problem.flops * products / rate * 1e6,
        memory_us=least_bytes(problem) / ceilings.copy_bytes_per_s * 1e6,
        rate=name,
        products=products,
    )


def movable_bytes(us: float, ceilings: Ceilings) -> float:
    """What the device moves in that time at its copy rate."""
    return us * 1e-6 * ceilings.copy_bytes_per_s


def size_text(count: float) -> str:
    """A number of bytes in the unit people read it in."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
