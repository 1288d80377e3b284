"""An interval in words: a calibrated value's, on the screen and on the page."""

from __future__ import annotations

from collections.abc import Callable

from logpost.machines.quantity import Quantity

EVEN = 0.1
"""Share of an interval's width by which its two sides may differ and still be one number."""


def interval_text(quantity: Quantity, text: Callable[[float], str]) -> str:
    """The half width as a share of the value; the two ends, written by `text`, where the value is not in their middle
    or the lower one is 0."""
    value = quantity.number()
    low, high = quantity.interval or (value, value)
    if low == high:
        return "exact" if value else "nothing left for it"
    if low <= 0 or abs(high + low - 2 * value) > EVEN * (high - low):
        return f"{text(low)} to {text(high)}"
    return f"± {50 * (high - low) / value:.1f} %"
