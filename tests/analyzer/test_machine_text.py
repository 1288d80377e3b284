"""A machine's values beside their uncertainty, and what is no value."""

from __future__ import annotations

import pytest

from logpost.analyzer.manifest import MachineValue
from logpost.analyzer.reporting.machine_text import value_and_error, value_text


def used(value: float, uncertainty: float | None, unit: str = "ps") -> MachineValue:
    return MachineValue(
        locality="other_node", parameter="o_s", value=value, unit=unit, uncertainty=uncertainty, source="a fit"
    )


@pytest.mark.parametrize(
    ("value", "uncertainty", "text"),
    [
        (1.43e6, 2e4, "1.43 µs ± 20.0 ns"),
        (1.43e6, None, "1.43 µs (± not stated)"),
        (0, None, "0 ps (± not stated)"),
        # 45.9 ns ± 31.9 µs: the fit found no value, and says how large it can be at most.
        (45.9e3, 31.9e6, "not identifiable (at most 31.95 µs)"),
        # 0 ± 0 of a fit is not a measurement.
        (0, 0, "not identifiable (nothing is left for it)"),
        # As wide as the value, but a value.
        (1e6, 1.5e6, "1.00 µs ± 1.50 µs"),
    ],
)
def test_value_and_uncertainty(value: float, uncertainty: float | None, text: str) -> None:
    assert value_text(used(value, uncertainty)) == text


def test_apart_for_tables() -> None:
    assert value_and_error(used(1.43e6, 2e4)) == ("1.43 µs", "± 20.0 ns")
    assert value_and_error(used(0.04, None, "ps/B"))[1] == "not stated"
