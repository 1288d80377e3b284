"""What is said of a value's interval."""

from __future__ import annotations

import pytest

from logpost.machines.interval_text import interval_text
from logpost.machines.quantity import Quantity


@pytest.mark.parametrize(
    ("value", "ends", "told"),
    [
        (10.0, (9.0, 11.0), "± 10.0 %"),
        # The value is off the middle by 0.5 of a width of 4, more than a tenth.
        (10.0, (8.5, 12.5), "8.5 to 12.5"),
        # A share of 100 % and more would allow for less than nothing.
        (10.0, (0.0, 20.0), "0.0 to 20.0"),
        (0.0, (0.0, 3.0), "0.0 to 3.0"),
        (10.0, (10.0, 10.0), "exact"),
        (0.0, (0.0, 0.0), "nothing left for it"),
    ],
)
def test_an_interval_in_words(value: float, ends: tuple[float, float], told: str) -> None:
    quantity = Quantity(value=value, unit="us", source="a test", interval=ends)
    assert interval_text(quantity, str) == told
