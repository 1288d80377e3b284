"""Values as people write them: units, bandwidths, sweeps, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from logpost.replay.models import ModelError
from logpost.replay.models.interface import Parameter
from logpost.replay.predict.quantities import parse_assignments, parse_sweep, parse_value

L = Parameter("L", "time", "latency")
G = Parameter("G", "time_per_byte", "gap per byte")
B = Parameter("B", "bytes", "size")
P = Parameter("P", "count", "processes")
C2 = Parameter("C2", "ratio", "spread")
UNITS = Parameter("units", "choice", "units", choices=("printed", "consistent"))


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (L, "5us", 5e6),
        (L, "5 µs", 5e6),
        (L, "1.5e-3ms", 1.5e6),
        (L, "7", 7e6),  # a bare number is in the table's unit, us here
        (L, "21cycles", 21 * 50_000),  # 20 MHz: 50 ns
        (G, "0.5cycle/B", 25_000),
        (G, "2ns", 2_000),  # a time is a time per byte where one is wanted
        (G, "2ns/B", 2_000),
        (G, "10GB/s", 100),  # 10^12 ps / 10^10 B
        (G, "80Mbit/s", 100_000),  # 10 MB/s
        (G, "0.5", 500_000),
        (B, "1MiB", 2**20),
        (B, "64kB", 64_000),
        (B, "100", 100),
        (P, "32", 32),
        (P, "inf", float("inf")),
        (C2, "50%", 0.5),
        (UNITS, "printed", "printed"),
    ],
)
def test_values_with_units(parameter: Parameter, text: str, value: float | str) -> None:
    assert parse_value(parameter, text, time_unit="us", clock_hz=20e6) == value


@pytest.mark.parametrize(
    ("parameter", "text", "message"),
    [
        (L, "fast", r"L = 'fast' is not a number with a unit, e.g. L=5us"),
        (L, "-5us", r"L = '-5us' must be at least 0"),
        (L, "5KB", "L = '5KB': 'KB' is not .*; .* ps, ns, us, ms, s, cycle"),
        (L, "5kB", r"L = '5kB' is a bytes, but it is a time, e.g. L=5us"),
        (B, "5us", r"B = '5us' is a time, but it is a bytes, e.g. B=4KiB"),
        (G, "0GB/s", r"G = '0GB/s': a bandwidth must be positive"),
        (UNITS, "cycles", r"units = 'cycles': choose printed or consistent"),
        (Parameter("profile", "table", "tables"), "x", r"profile comes from a machine's tables \(--machine\)"),
    ],
)
def test_bad_values(parameter: Parameter, text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        parse_value(parameter, text, time_unit="us", clock_hz=20e6)


def sweep(parameter: Parameter, text: str) -> list[float]:
    return [float(value) for value in parse_sweep(parameter, text, time_unit="us", clock_hz=None)]


def test_sweeps() -> None:
    assert sweep(B, "1:1MiB:21") == [2.0**i for i in range(21)]
    assert sweep(L, "1us:100us:3") == pytest.approx([1e6, 1e7, 1e8])
    assert sweep(L, "1us:100us:3:lin") == pytest.approx([1e6, 50.5e6, 1e8])
    assert sweep(L, "0:4:3") == pytest.approx([0, 2e6, 4e6])  # a sweep from 0 has even steps
    assert sweep(B, "8,64kB,24") == [8, 64_000, 24]
    assert sweep(P, "1:4:7") == [1, 2, 3, 4]  # whole numbers, none twice
    np.testing.assert_allclose(sweep(C2, "0:1:3"), [0, 0.5, 1])
    assert sweep(L, "5us:7us:1") == [5e6]


@pytest.mark.parametrize(
    ("parameter", "text", "message"),
    [
        (B, "1:8", r"--sweep B=1:8: write FROM:TO:COUNT, e.g. B=1:1MiB:21"),
        (B, "1:8:four", r"--sweep B=1:8:four: 'four' is not a number of points"),
        (B, "1:8:0", r"'0' is not a number of points"),
        (B, "1:8:4:cubic", r"write FROM:TO:COUNT"),
        (L, "0:8:4:log", r"a geometric sweep needs ends above 0"),
        (UNITS, "printed,consistent", r"units is a choice: it cannot be swept"),
    ],
)
def test_bad_sweeps(parameter: Parameter, text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        sweep(parameter, text)


def test_assignments() -> None:
    assert parse_assignments(["L=5us", "B = 4KiB"], "--set") == [("L", "5us"), ("B", "4KiB")]
    for text in ("L", "=5", "L="):
        with pytest.raises(ModelError, match=rf"--set {text}: write NAME=VALUE, e.g. --set L=5us"):
            parse_assignments([text], "--set")
