"""The MIT Alewife, the machine of LOGPC and SENS: its name here, its clock, and times in its cycles."""

from __future__ import annotations

from logpost.experiments.framework.result import Number

MACHINE = "alewife"
CYCLE_NS = 50.0
"""20 MHz (SENS 3.1); LOGPC prints no clock."""


def cycles_number(cycles: float, error: float | None = None) -> Number:
    """A time in cycles, with the same in micro- or milliseconds at the machine's clock."""
    micro = cycles * CYCLE_NS / 1e3
    also = (
        f"{micro / 1e3:,.1f} ms"
        if abs(micro) >= 1e4
        else f"{micro:,.3g} µs"
        if abs(micro) < 100
        else f"{micro:,.0f} µs"
    )
    return Number(cycles, "cycles", error, also=also)
