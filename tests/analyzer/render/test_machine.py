"""A machine's values with their uncertainty, and what is no value."""

from __future__ import annotations

import pytest
from tests.said import facts

from logpost.analyzer.render.report.machine import machine_table, value_and_error, value_text
from logpost.analyzer.run.manifest import MachineUsed, MachineValue


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
        (1e6, 1.5e6, "1.00 µs (0 ps to 2.50 µs)"),
    ],
)
def test_value_and_uncertainty(value: float, uncertainty: float | None, text: str) -> None:
    assert value_text(used(value, uncertainty)) == text


def test_what_is_next_to_nothing_within_its_ends_is_not_identifiable() -> None:
    ended = used(1_000, None).model_copy(update={"low": 0.0, "high": 500_000.0})
    assert value_and_error(ended) == ("not identifiable", "at most 500 ns")


def test_a_table_has_what_is_stated() -> None:
    """0 without an uncertainty stands for a value that the machine's file does not have."""
    values = [used(1e6, None), used(0, None, "ps/B"), used(0, 2.0, "ps/B")]
    machine = MachineUsed(name="m", origin="file", label="m", residual_share=0, deficit_share=0, values=values)
    assert list(machine_table(machine).columns[3].cells) == [value_text(values[0]), value_text(values[2])]


def test_an_estimate_shows_its_interval_and_its_evidence() -> None:
    def estimated(value: float, low: float, high: float, *, bound_only: bool, reason: str) -> str:
        interval = {"low": low, "high": high, "bound_only": bound_only, "reason": reason}
        return value_text(used(value, None).model_copy(update=interval))

    once = estimated(1e6, 0.9e6, 1.1e6, bound_only=False, reason="40 sends that returned at once")
    assert facts(once) == ["1.00 µs", "900 ns", "1.10 µs", "40"]
    bound = estimated(0, 0, 3e6, bound_only=True, reason="no receive is known to have found its message")
    assert bound.startswith("at most 3.00 µs (not measured: no receive ")
    rest = estimated(3e6, 2e6, 3e6, bound_only=True, reason="a bound only")
    assert facts(rest) == ["2.00 µs", "3.00 µs"]
    assert estimated(0, 0, 0, bound_only=True, reason="none is assumed") == "0 ps (none is assumed)"


def test_apart_for_tables() -> None:
    assert value_and_error(used(1.43e6, 2e4)) == ("1.43 µs", "± 20.0 ns")
    assert value_and_error(used(0.04, None, "ps/B"))[1] == "not stated"
