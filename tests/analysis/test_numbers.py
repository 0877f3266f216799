"""Numbers as people read them."""

from __future__ import annotations

from math import inf, nan

import pytest

from workbench.analysis.numbers import counted, format_range, format_time, number, percent_text


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
