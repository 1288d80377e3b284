"""LogGP parameters carry their unit, refuse negative times and may be columns."""

from __future__ import annotations

import numpy as np
import pytest

from logpost.replay.models import LogGPParameters, ModelError, TimeUnit, cycles
from logpost.replay.models.units import MICROSECOND, NANOSECOND, PICOSECOND


def test_alewife_in_picoseconds() -> None:
    # 20 MHz: a cycle is 50 ns = 50,000 ps; L = 21 cycles = 1.05 us.
    p = LogGPParameters(L=21, o_s=15, o_r=122, g=15, G=0.5, O=0.25, S=1024, unit=cycles(20)).to(PICOSECOND)
    assert (p.L, p.o_s, p.o_r, p.g, p.G, p.O) == (1_050_000, 750_000, 6_100_000, 750_000, 25_000, 12_500)
    assert p.S == 1024  # bytes have no time in them
    assert p.unit == PICOSECOND


def test_one_overhead_for_both_ends() -> None:
    p = LogGPParameters.symmetric(L=5, o=2, g=3, G=0.5, unit=MICROSECOND)
    assert (p.o_s, p.o_r, p.o) == (2, 2, 2)


def test_columns_are_parameters_too() -> None:
    p = LogGPParameters(L=np.array([1.0, 2.0]), o_s=1, o_r=1, unit=MICROSECOND).to(NANOSECOND)
    np.testing.assert_allclose(p.L, [1000.0, 2000.0])


@pytest.mark.parametrize("name", ["L", "o_s", "o_r", "g", "G", "O", "S"])
def test_negative_values_are_refused_by_name(name: str) -> None:
    given = {"L": 1.0, "o_s": 1.0, "o_r": 1.0, name: -1.0}
    with pytest.raises(ModelError, match=rf"{name} = -1 must be at least 0"):
        LogGPParameters(**given, unit=MICROSECOND)


def test_a_clock_must_run() -> None:
    with pytest.raises(ModelError, match=r"clock_mhz = 0 must be positive"):
        cycles(0)
    with pytest.raises(ModelError, match=r"unit 'x': .* must be positive, not 0 ps"):
        TimeUnit("x", 0.0)
