"""Numbers as people read them."""

from __future__ import annotations

import pytest

from logpost.analyzer.words.location_names import Rank
from logpost.analyzer.words.ranks import ranks_noun, ranks_text
from logpost.analyzer.words.units import (
    bytes_text,
    change_text,
    count_text,
    percent_text,
    quantity_text,
    safe,
    sentence_text,
    shorten,
    span_text,
    time_text,
)


@pytest.mark.parametrize(
    ("ps", "shown"),
    [
        (0, "0 s"),
        (1, "1 ps"),
        (999, "999 ps"),
        (1000, "1.00 ns"),
        (12_340, "12.3 ns"),
        (999_400, "999 ns"),
        (999_600, "1.00 µs"),
        (1_500_000, "1.50 µs"),
        (-20_000_000_000, "-20.0 ms"),
        (3_723_000_000_000_000, "3723 s"),
    ],
)
def test_time(ps: float, shown: str) -> None:
    assert time_text(ps) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (79.44, "79.4 B"), (1024, "1.00 KiB"), (1536, "1.50 KiB"), (3 * 2**30, "3.00 GiB")],
)
def test_bytes(count: float, shown: str) -> None:
    assert bytes_text(count) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (421787.0, "ps", "422 ns"),
        (0.5, "ps/B", "0.5 ps/B"),
        (45910.0, "ps/B", "45.9 ns/B"),
        (1.25, "us", "1.25 µs"),
        (0.0, "ps", "0 ps"),
        (12288, "B", "12.0 KiB"),
        (2.5, "1", "2.5"),
        (20e6, "Hz", "20,000,000 Hz"),
    ],
)
def test_quantity(value: float, unit: str, shown: str) -> None:
    assert quantity_text(value, unit) == shown


def test_a_small_share_is_not_zero() -> None:
    assert percent_text(0) == "0.0 %"
    assert percent_text(0.0004) == "<0.1 %"
    assert percent_text(-0.0004) == "-<0.1 %"


def test_a_change_that_a_decimal_does_not_show_is_said_in_words() -> None:
    said = [change_text(one) for one in (0.0004, -0.0004, 0.0, 0.0005, -0.125)]
    assert said == ["less than 0.1 % more", "less than 0.1 % less", "0.0 %", "+0.1 %", "−12.5 %"]
    assert change_text(-0.125, minus="-") == "-12.5 %"
    assert percent_text(0.4567) == "45.7 %"


def test_counts_and_names() -> None:
    assert count_text(1, "message") == "1 message"
    assert count_text(12345, "message") == "12,345 messages"
    assert safe("a\x1b[31mb\nc\u202e") == "a�[31mb�c�"
    assert shorten("main / solve / MPI_Recv", 10) == "… MPI_Recv"


def test_ranks() -> None:
    assert ranks_text(map(Rank, [7, 3, 5, 6, 6])) == "3, 5-7"
    assert ranks_noun([Rank(4)]) == "rank 4"
    assert ranks_text(map(Rank, range(0, 40, 2))) == "0, 2, 4, 6, 8, 10, 12, 14, … (12 more)"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.12e-18, "ps/B", "<0.0001 ps/B"),
        (-3.12e-18, "us", "-<0.0001 ps"),
        (2220.0, "us", "2.22 ms"),
        (45.9, "ps/B", "45.9 ps/B"),
        (0.5, "ps/B", "0.5 ps/B"),
        (1.0e9, "B/s", "1,000,000,000 B/s"),
        (2.5e-9, "1", "<0.0001"),
        (16.0, "1", "16"),
        (0.125, "1", "0.125"),
    ],
)
def test_values_never_show_a_power_of_ten(value: float, unit: str, text: str) -> None:
    assert quantity_text(value, unit) == text


@pytest.mark.parametrize(
    ("begin", "end", "text"),
    [
        # 4.15 ms after 1.55 s: two digits of the length are those of 0.1 ms, one more for the last.
        (1_550_200_000_000, 1_554_350_000_000, "1.5502 s to 1.5543 s"),
        (0, 5_000_000_000, "0.00 ms to 5.00 ms"),
        (87_000_000, 5_574_000_000, "0.09 ms to 5.57 ms"),
        (3, 500, "3 ps to 500 ps"),
        (7_000, 7_000, "7.00 ns to 7.00 ns"),
    ],
)
def test_ends_of_a_span_are_distinct(begin: int, end: int, text: str) -> None:
    assert span_text(begin, end) == text


def test_a_line_begins_with_a_capital_unless_with_a_name() -> None:
    assert sentence_text("one-sided transfers queue") == "One-sided transfers queue"
    assert sentence_text("network contention: none") == "Network contention: none"
    for text in ("o_s of other_node is 0", "0 messages", "g-and-G of it"):
        assert sentence_text(text) == text
