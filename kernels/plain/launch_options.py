"""The compiler's options of a launch: one entry each, from which launches, checks, form and tables take them."""

from __future__ import annotations

from dataclasses import dataclass

AUTO = 0  # where an option allows it: the compiler decides, and is not told


@dataclass(frozen=True)
class LaunchOption:
    """An option under Triton's own `name`, the values that it may take in ascending order, and the usual one.

    `label` and `unit` name it in the form, `heading` in a table, `mark` where there is room for a letter; `words` are
    said of a value. A `TileConfig` has a field for each.
    """

    name: str
    allowed: tuple[int, ...]
    default: int
    label: str
    heading: str
    mark: str
    words: str
    tip: str
    unit: str = ""

    @property
    def auto_text(self) -> str:
        """How a table says that it is left to the compiler; "" where it cannot be."""
        return "auto" if AUTO in self.allowed else ""

    def is_left(self, value: int) -> bool:
        """Whether `value` leaves it to the compiler: then no launch is told."""
        return value == AUTO and AUTO in self.allowed

    def shown(self, value: int) -> str:
        """The value in a table: a number, or "auto"."""
        return self.auto_text if self.is_left(value) else str(value)

    def said(self, value: int) -> str:
        """The value in words; "" where the compiler decides."""
        if self.is_left(value):
            return ""
        return self.words.format(value).removesuffix("s" if value == 1 else "")


NUM_WARPS = LaunchOption(
    name="num_warps",
    allowed=(1, 2, 4, 8, 16, 32),
    default=4,
    label="num_warps",
    heading="Warps",
    mark="w",
    words="{} warps",
    tip="Warps of 32 threads that share one program. More warps: fewer registers needed in each thread.",
)
NUM_STAGES = LaunchOption(
    name="num_stages",
    allowed=tuple(range(1, 9)),
    default=3,
    label="stages",
    heading="Stages",
    mark="s",
    words="{} stages",
    tip="num_stages: how many key tiles the compiler keeps in flight (software pipelining). "
    "Each stage takes shared memory anew.",
)
MAXNREG = LaunchOption(
    name="maxnreg",
    allowed=(AUTO, *range(24, 255, 8)),  # ptxas gives no thread fewer than 24, nor more than 255, by the eight
    default=AUTO,
    label="maxnreg",
    heading="Max regs",
    mark="r",
    words="at most {} registers",
    tip="maxnreg: the most registers that a thread may have. With fewer, more programs run on a multiprocessor at "
    "once, and what does not fit is spilled to memory. auto or 0: the compiler decides.",
    unit="registers",
)

LAUNCH_OPTIONS = (NUM_WARPS, NUM_STAGES, MAXNREG)


def listed(values: tuple[int, ...]) -> str:
    """`values`, which ascend, as they are said to be allowed: a range where more than three are evenly apart."""
    if values[0] == AUTO:
        return f"auto, or {listed(values[1:])}" if len(values) > 1 else "auto"
    step = values[1] - values[0] if len(values) > 3 else 0
    if step and values == tuple(range(values[0], values[-1] + 1, step)):
        return f"{values[0]} to {values[-1]}" + (f" in steps of {step}" if step > 1 else "")
    return ", ".join(map(str, values))
