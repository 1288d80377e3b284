"""LOGPC's experiments: the Alewife's cycles, and its programs on the testbed."""

from __future__ import annotations

from logpost.experiments.framework.result import Number

CYCLE_NS = 50.0
"""20 MHz (SENS 3.1); LOGPC prints no clock."""


def cycles_number(cycles: float, digits: int = 4) -> Number:
    """A time in cycles, with the same in microseconds at the machine's clock."""
    micro = cycles * CYCLE_NS / 1e3
    return Number(
        cycles, "cycles", also=f"{micro / 1e3:,.1f} ms" if micro >= 1e4 else f"{micro:,.4g} µs", digits=digits
    )
