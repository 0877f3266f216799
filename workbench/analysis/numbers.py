"""Numbers as people read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, floor, isfinite, isnan, log, log10

SIGNIFICANT_DIGITS = 4
LEAST_US = 1e-3  # below any clock's resolution; keeps a zero from a coarse clock on a log axis
MINUS = "−"
MOST_SHARE = 10.0  # above it a share bounds nothing: digits would only seem to say something


def with_minus(text: str) -> str:
    """The numbers of `text` with the minus sign; exponents keep their hyphen, as they are typed: −3.1e-7."""
    return re.sub(r"(?<![\w.)])-(?=[\d.]|inf)", MINUS, text)


def number(value: float, digits: int = 4) -> str:
    """`value` with `digits` significant digits: 1,234 or 0.3812 or 3.13e-7, and NaN or −inf in words."""
    if not isfinite(value):
        return "NaN" if isnan(value) else ("inf" if value > 0 else f"{MINUS}inf")
    if value == 0:
        return "0"
    size = floor(log10(abs(value)))
    if -3 <= size < 6:
        return with_minus(f"{value:,.{max(0, digits - 1 - size)}f}")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return with_minus(f"{mantissa}e{int(exponent)}")


def error_text(value: float) -> str:
    """An error in two digits: 3.1e-7, not 3.1e-07, and 0."""
    if value == 0:
        return "0"
    mantissa, mark, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}" if mark else mantissa


def percent_text(share: float) -> str:
    """A small share as people read it: 0.03%, 0.6%, 12%."""
    return f"{share:.2%}" if 0 < share < 0.001 else f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def signed_percent(share: float) -> str:
    """A change as people read it: +2.1%, −0.4%."""
    return with_minus(f"{share:+.1%}")


def plus_minus(share: float) -> str:
    """A bound on both sides: ±0.6%; of one that bounds nothing how much it is over."""
    return f"±{percent_text(share)}" if share <= MOST_SHARE else f"over ±{percent_text(MOST_SHARE)}"


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things: "1 launch", "20,000 samples"; `many` is the plural where an s does not make it."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def duration_text(seconds: float) -> str:
    """A duration as people say it: 1.2 s, 35 s, 4 min, 2.1 h."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def unbroken(text: str) -> str:
    """`text` in which no line ends between a number and its unit."""
    return re.sub(r"(?<=\d) (?=[KMG]?i?B\b|µs|ms|s\b)", "\u00a0", text)


@dataclass(frozen=True)
class TimeUnit:
    """A unit for many times that stand together: its `name`, and how many microseconds it has."""

    name: str
    us: float

    def said(self, us: float) -> str:
        """The bare number of `us` microseconds in this unit, in four significant digits."""
        return number(us / self.us) if isfinite(us) else "n/a"


MICROSECONDS, MILLISECONDS = TimeUnit("µs", 1.0), TimeUnit("ms", 1e3)
TIME_UNITS = (MICROSECONDS, MILLISECONDS, TimeUnit("s", 1e6))


def time_unit(times: Sequence[float]) -> TimeUnit:
    """The unit in which all of `times` (us), which stand beside each other, read best: that of their middle."""
    logs = [log(max(us, LEAST_US)) for us in times if isfinite(us)]
    middle = exp(sum(logs) / len(logs)) if logs else 1.0
    return next((unit for unit in TIME_UNITS if middle < 1e3 * unit.us), TIME_UNITS[-1])


def format_time(us: float, unit: TimeUnit | None = None) -> str:
    """`us` microseconds with a unit, in at most four significant digits: 762.6 µs, 1.41 ms, 2.3 s.

    Times that stand beside each other are given their common `unit`; else each has the one that suits it.
    """
    return with_minus(" ".join(_number_and_unit(us, unit)))


def format_range(low_us: float, high_us: float, unit: TimeUnit | None = None) -> str:
    """Two times with the unit said once where it is the same: 94.69–96.15 µs, 980 µs – 1.2 ms."""
    (low, *of_low), (high, *of_high) = _number_and_unit(low_us, unit), _number_and_unit(high_us, unit)
    if of_low and of_low == of_high:
        return " ".join((f"{low}–{high}", *of_high))
    return f"{format_time(low_us, unit)} – {format_time(high_us, unit)}"


def _number_and_unit(us: float, unit: TimeUnit | None) -> tuple[str, ...]:
    """A time's number and its unit; what is no time has none."""
    if not isfinite(us):
        return ("n/a",)
    rounded = _rounded(us)
    unit = unit or next((one for one in TIME_UNITS if abs(rounded) < 1e3 * one.us), TIME_UNITS[-1])
    value = rounded / unit.us
    return f"{value:.{SIGNIFICANT_DIGITS}g}" if abs(value) < 1e4 else f"{value:.0f}", unit.name


def _rounded(value: float) -> float:
    """`value` in four significant digits, so that 999.96 µs becomes 1 ms and not 1000 µs."""
    return round(value, SIGNIFICANT_DIGITS - 1 - floor(log10(abs(value)))) if value else 0.0
