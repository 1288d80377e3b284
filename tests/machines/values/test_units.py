"""Units mean one thing each, and cycles need a clock."""

from __future__ import annotations

import math

import pytest

from logpost.errors import InputError
from logpost.machines.values.units import UNITS, to_base, units_of


@pytest.mark.parametrize(
    ("value", "unit", "base"),
    [
        (6.3, "us", 6_300_000),  # 6.3 * 10^6 ps
        (1.5, "ns", 1_500),
        (2, "ms", 2 * 10**9),
        (1, "s", 10**12),
        (7, "ps", 7),
        (0.000497, "us/B", 497),  # 0.000497 * 10^6 ps/B
        (41.6, "ps/B", 41.6),
        (128, "KiB", 131_072),  # 128 * 1024
        (1, "kB", 1_000),
        (4, "MiB", 4_194_304),  # 4 * 1024^2, OVL's limit of outstanding bytes
        (175, "MB/s", 175e6),
        (1, "MiB/s", 1_048_576),
        (200, "Gbit/s", 25e9),  # 200 * 10^9 / 8 B/s
        (100, "Mbit/s", 12.5e6),
        (2.2, "GHz", 2.2e9),
        (45, "%", 0.45),
        (32, "1", 32),
    ],
)
def test_unit_in_base_units(value: float, unit: str, base: float) -> None:
    assert to_base(value, unit) == pytest.approx(base, rel=1e-15)


def test_a_cycle_is_what_the_clock_makes_of_it() -> None:
    # 20 MHz: 1 / 20e6 s = 50 ns = 50,000 ps; Alewife's L of 21 cycles is 1.05 us.
    assert to_base(21, "cycle", 20e6) == 1_050_000
    # 0.5 cycle/B * 50,000 ps = 25,000 ps/B, i.e. 40 MB/s, the link rate that SENS prints.
    assert to_base(0.5, "cycle/B", 20e6) == 25_000
    # 18 B/cycle * 20e6 cycle/s = 360e6 B/s: SENS Table 1 prints both figures for Alewife.
    assert to_base(18, "B/cycle", 20e6) == 360e6


def test_cycles_without_a_clock_are_refused() -> None:
    with pytest.raises(InputError, match=r"21 cycle needs the processor clock .* \[clock\] processor"):
        to_base(21, "cycle")


def test_unknown_unit_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"unknown unit 'usec'; .* ps, ps/B, ns"):
        to_base(1, "usec")


def test_prefixes_are_thousands_or_1024_as_their_letters_say() -> None:
    # The mistake of other tools: wrong prefixes that no test saw.
    for small, large in (("B", "kB"), ("kB", "MB"), ("MB", "GB"), ("bit/s", "kbit/s"), ("Hz", "kHz")):
        assert UNITS[large].factor == 1000 * UNITS[small].factor
    for small, large in (("B", "KiB"), ("KiB", "MiB"), ("MiB", "GiB")):
        assert UNITS[large].factor == 1024 * UNITS[small].factor
    assert UNITS["bit/s"].factor * 8 == UNITS["B/s"].factor


def test_every_dimension_has_units() -> None:
    for dimension in ("time", "time per byte", "bytes", "bandwidth", "frequency", "number"):
        assert units_of(dimension)
    assert all(math.isfinite(unit.factor) and unit.factor > 0 for unit in UNITS.values())
