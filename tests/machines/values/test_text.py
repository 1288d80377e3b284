"""Values in words: units that read best, intervals, and what is no value at all."""

from __future__ import annotations

import pytest

from logpost.machines.values.quantity import Quantity
from logpost.machines.values.text import Shown, measured, number_text, shown, size_text, time_text, value_text


@pytest.mark.parametrize(
    ("value", "ends", "texts"),
    [
        (10.0, (9.0, 11.0), ("10 µs", "± 10.0 %")),
        # The value is off the middle by 0.5 of a width of 4, more than a tenth.
        (10.0, (8.5, 12.5), ("10 µs", "8.5 µs to 12.5 µs")),
        # A share of 100 % and more would allow for less than nothing.
        (10.0, (0.0, 20.0), ("10 µs", "0 µs to 20 µs")),
        (10.0, (10.0, 10.0), ("10 µs", "exact")),
        # An interval that holds 0 and reaches to 31.9 µs has no value of 45.9 ns in it.
        (0.0459, (0.0, 31.9459), ("not identifiable", "at most 31.95 µs")),
        (3.12e-18, (0.0, 0.4), ("not identifiable", "at most 400 ns")),
        (0.0, (0.0, 3.0), ("not identifiable", "at most 3 µs")),
        # A fit that has nothing left for a parameter has not measured it.
        (0.0, (0.0, 0.0), ("not identifiable", "nothing is left for it")),
    ],
)
def test_a_value_and_its_interval(value: float, ends: tuple[float, float], texts: tuple[str, str]) -> None:
    quantity = Quantity(value=value, unit="us", source="a test", interval=ends)
    assert shown(quantity) == Shown(*texts)
    assert shown(quantity).identifiable is (texts[0] != "not identifiable")


def test_a_value_without_an_interval_is_as_it_is_printed() -> None:
    assert shown(Quantity(value=6.3, unit="us", source="a test")) == Shown("6.3 µs", "")
    assert shown(Quantity(value=0, unit="us", source="a test")) == Shown("0 µs", "")
    assert measured(6.3, None, None, "us").interval == ""


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.22e3, "us", "2.22 ms"),
        (3.12e-18, "us", "0 µs"),
        (0.45, "ps/B", "0.45 ps/B"),
        (45910.0, "ps/B", "45.91 ns/B"),
        (-0.35, "us", "-350 ns"),
        (123456, "cycle", "123,456 cycle"),
        (65536, "B", "65,536 B"),
        (32, "1", "32"),
        (12.3456, "GB/s", "12.35 GB/s"),
    ],
)
def test_the_unit_that_reads_best(value: float, unit: str, text: str) -> None:
    assert value_text(value, unit) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0123456, 4, "0.01235"),
        (7.0, 4, "7"),
        (3714.4, 4, "3714"),
        (10678.3, 4, "10,678"),
        (9999.6, 4, "10,000"),
        (3321.7, 3, "3,322"),
        (999.6, 3, "1,000"),
        (999.4, 3, "999"),
        (16384.0, 3, "16,384"),
        (2.5e-7, 4, "2.5e-07"),
    ],
)
def test_no_number_is_longer_than_its_power_of_ten(value: float, digits: int, text: str) -> None:
    assert number_text(value, digits) == text


def test_times_and_sizes() -> None:
    assert [time_text(t) for t in (0.5, 12, 4.2e3, 6.3e6, 1e9, 2.5e12)] == [
        "0.5 ps", "12 ps", "4.2 ns", "6.3 µs", "1 ms", "2.5 s",
    ]  # fmt: skip
    assert [size_text(s) for s in (8, 1024, 65536, 2**20)] == ["8 B", "1 KiB", "64 KiB", "1 MiB"]
