"""The values of a split's machine: an interval keeps its two ends, wherever the run has it from."""

from __future__ import annotations

import pytest
from tests.machines.builders import machine

from logpost.analyzer.machine.used import machine_values
from logpost.analyzer.render.report.machine import value_text
from logpost.machines import replay_parameters

LATENCY = {"value": 0.08, "interval": [0.0137, 0.163], "confidence": 0.95}


def test_an_interval_is_kept_as_in_the_file_and_not_as_half_of_its_width() -> None:
    loggp = {"other_node": {"L": LATENCY, "o_s": {"value": 1, "uncertainty": 0.25}, "o_r": 2, "G": 3}}
    found = {value.parameter: value for value in machine_values(replay_parameters(machine(loggp=loggp)))}
    assert (found["L"].low, found["L"].high, found["L"].uncertainty) == pytest.approx((13_700, 163_000, 83_000))
    # Half of the width is 83 ns, and 80 - 83 ns would be a latency below 0.
    assert value_text(found["L"]) == "80.0 ns (13.7 ns to 163 ns)"
    assert value_text(found["o_s"]) == "1.00 µs ± 250 ns"
    assert value_text(found["o_r"]) == "2.00 µs (± not stated)"
