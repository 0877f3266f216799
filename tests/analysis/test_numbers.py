"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import pytest

from workbench.analysis.numbers import (
    counted,
    format_range,
    format_time,
    number,
    percent_text,
    plus_minus,
    signed_percent,
    with_minus,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (381.94, "381.9"),
        (1234.5, "1,234"),
        (3.13e-7, "3.130e-7"),
        (0.0, "0"),
        (-inf, "−inf"),
        (nan, "NaN"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert number(value) == text


def test_one_of_a_thing_is_no_plural() -> None:
    assert counted(1, "launch", "launches") == "1 launch"
    assert counted(20_000, "sample") == "20,000 samples"


@pytest.mark.parametrize(
    ("share", "text"), [(0.006, "0.6%"), (0.0003, "0.03%"), (0.0996, "10.0%"), (0.12, "12%"), (0.0, "0.0%")]
)
def test_shares(share: float, text: str) -> None:
    assert percent_text(share) == text


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (762.6, "762.6 µs"),
        (762.64, "762.6 µs"),
        (1410.0, "1.41 ms"),
        (1412.3, "1.412 ms"),
        (2.3e6, "2.3 s"),
        (999.94, "999.9 µs"),
        (999.96, "1 ms"),
        (999_960.0, "1 s"),
        (0.01234, "0.01234 µs"),
        (0.0, "0 µs"),
        (1.2e10, "12000 s"),
        (float("nan"), "n/a"),
        (float("inf"), "n/a"),
    ],
)
def test_format_time(us: float, text: str) -> None:
    assert format_time(us) == text


def test_format_range_says_a_common_unit_once() -> None:
    assert format_range(94.69, 96.15) == "94.69–96.15 µs"
    assert format_range(980.0, 1200.0) == "980 µs – 1.2 ms"


@pytest.mark.parametrize("say", [number, format_time, signed_percent], ids=lambda say: say.__name__)
@pytest.mark.parametrize("value", [-0.5, -1.5, -12345.6, -3.1e-7, -0.021])
def test_what_is_below_zero_has_the_minus_sign(say: Callable[[float], str], value: float) -> None:
    assert say(value).startswith("−") and not say(value).startswith("-")
    assert "−" not in say(-value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("-1.5", "−1.5"), ("-3.1e-7", "−3.1e-7"), ("-inf", "−inf"), ("cu-130 x-2", "cu-130 x-2"), ("a -.5", "a −.5")],
)
def test_only_a_sign_becomes_one(text: str, shown: str) -> None:
    assert with_minus(text) == shown


def test_a_bound_that_bounds_nothing_has_no_digits() -> None:
    assert plus_minus(0.006) == "±0.6%"
    assert plus_minus(932.0) == plus_minus(20.0) == "over ±1000%"
