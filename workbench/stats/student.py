"""Student's t and the normal distribution, without SciPy: its import in a thread keeps the window from its frames."""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, lgamma, log, log1p, sqrt

FRACTION_STEPS = 300
TINY = 1e-300
CLOSE = 1e-15
HALVINGS = 80


def normal_below(z: float) -> float:
    """The share of the standard normal distribution below `z`."""
    return 0.5 * erfc(-z / sqrt(2))


@lru_cache(maxsize=256)
def student_quantile(share: float, freedom: float) -> float:
    """The value below which `share` of Student's t lies, for a share under a half and `freedom` above 0.

    By bisection in the share of the tail, which is an incomplete beta function. Raises ValueError for other shares.
    """
    if not 0 < share < 0.5 or freedom <= 0:
        raise ValueError(f"share is {share}, freedom {freedom}; allowed are above 0, and shares below 0.5")
    low, high = 0.0, 1.0  # of freedom / (freedom + t²), which rises with the share
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if 0.5 * _beta_share(freedom / 2, 0.5, middle) < share:
            low = middle
        else:
            high = middle
    x = (low + high) / 2
    return -sqrt(freedom * (1 - x) / x)


def _beta_share(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Numerical Recipes, 6.4)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction, by Lentz's method."""
    c, d = 1.0, 1 / _away_from_0(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, FRACTION_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d, c = 1 / _away_from_0(1 + step * d), _away_from_0(1 + step / c)
            found *= c * d
        if abs(c * d - 1) < CLOSE:
            break
    return found


def _away_from_0(value: float) -> float:
    return value if abs(value) > TINY else TINY
