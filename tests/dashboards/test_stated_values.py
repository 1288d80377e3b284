"""The values of a run's machine with the ends of the intervals that its file states."""

from __future__ import annotations

import pytest
from tests.dashboards.test_machine_surfaces import KEYS, machine

from logpost.analyzer.manifest import MachineValue
from logpost.analyzer.reporting.machine_text import value_and_error
from logpost.dashboards.app.stated_values import with_ends

LATENCY = {"value": 0.08, "interval": [0.0137, 0.163], "confidence": 0.95, **KEYS}


def used(parameter: str, value: float, **more: object) -> MachineValue:
    return MachineValue.model_validate(
        {"locality": "same_node", "parameter": parameter, "value": value, "unit": "ps", "source": "m", **more}
    )


def test_an_interval_stands_as_the_file_has_it_and_not_as_half_of_its_width() -> None:
    of = machine(loggp={"same_node": {"range": [{"up_to_bytes": 16, "L": LATENCY}, {"L": {"value": 1.0, **KEYS}}]}})
    half = used("L", 80_000, up_to_bytes=16, uncertainty=83_000)
    other = used("L", 1_000_000)
    ended, unstated = with_ends([half, other], of)
    assert (ended.low, ended.high) == pytest.approx((13_700, 163_000))
    assert unstated == other
    assert value_and_error(half) == ("80.0 ns", "± 83.0 ns")
    assert value_and_error(ended) == ("80.0 ns", "13.7 ns to 163 ns")


def test_a_value_of_an_estimate_keeps_its_own_ends() -> None:
    of = machine(loggp={"same_node": {"range": [{"L": LATENCY}]}})
    mine = used("L", 80_000, low=70_000, high=90_000, reason="of 12 messages")
    assert with_ends([mine], of) == [mine]


def test_what_is_next_to_nothing_within_its_ends_is_not_identifiable() -> None:
    assert value_and_error(used("g", 1_000, low=0, high=500_000)) == ("not identifiable", "at most 500 ns")
