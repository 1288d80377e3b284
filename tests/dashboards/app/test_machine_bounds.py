"""What the intervals of a machine's values say of a message's time."""

from __future__ import annotations

import numpy as np

from logpost.analyzer.run.manifest import MachineValue
from logpost.dashboards.app.machine_bounds import SUM, time_bands
from logpost.dashboards.figures.machine_curves import LEAST, machine_curves
from logpost.machines.parameters.loggp import estimated_parameters
from logpost.machines.parameters.table import UNLIMITED, Quality, RangeValues
from logpost.replay.cost.message import message_costs
from logpost.replay.cost.parameters import native_parameters

NEAR = RangeValues(max_bytes=UNLIMITED, L_ps=1000.0, o_s_ps=200.0, o_r_ps=300.0, G_ps_per_byte=2.0)
MACHINE = estimated_parameters("a trace", {"same_node": [NEAR]}, {"same_node": Quality(n=5, residual_ps=0.0)})
SIZES = np.array([1.0, 101.0])


def value(parameter: str, amount: float, low: float, high: float, *, bound_only: bool = False) -> MachineValue:
    return MachineValue(
        locality="same_node", parameter=parameter, value=amount, unit="ps", low=low, high=high, bound_only=bound_only,
        source="a trace",
    )  # fmt: skip


def test_the_ends_are_the_costs_of_all_values_at_theirs() -> None:
    # Of 1 B L + o_s + o_r = 1,500 ps, of 101 B 100 G more; G lies between 1 and 5 ps/B, L between 900 and 1,400 ps.
    found = time_bands(MACHINE, [value("L", 1000, 900, 1400), value("G", 2, 1, 5)], SIZES)["same_node"]
    assert found.low.tolist() == [1400, 1500]
    assert found.high.tolist() == [1900, 2400]
    assert found.measured


def test_the_interval_of_a_sum_is_narrower_than_those_of_what_it_adds() -> None:
    apart = [value("L", 1000, 0, 1500), value("o_s", 200, 0, 1500), value("o_r", 300, 0, 1500)]
    whole = time_bands(MACHINE, [*apart, value(SUM, 1500, 1400, 1600)], SIZES)["same_node"]
    assert whole.low.tolist() == [1400, 1600]
    assert whole.high.tolist() == [1600, 1800]


def test_a_machine_without_intervals_has_no_bounds() -> None:
    stated = MachineValue(locality="same_node", parameter="L", value=1000, unit="ps", source="a file")
    assert time_bands(MACHINE, [stated], SIZES) == {}


def test_the_interval_is_drawn_as_a_band_and_said() -> None:
    bounds = [value(name, 0, 0, high, bound_only=True) for name, high in (("L", 1500), ("o_s", 200), ("o_r", 300))]
    costs = {"same_node": message_costs(native_parameters(MACHINE), SIZES, locality="same_node")}
    made = machine_curves(SIZES, costs, time_bands(MACHINE, bounds, SIZES))
    end, _, band = made.figure.data
    assert end.name.startswith("same node: end to end")
    assert end.name.endswith(", within bounds only")
    assert band.name == "same node: interval"
    # What reaches to 0 has no place on a logarithmic axis: it ends well below all lines.
    assert min(band.y) == LEAST * 0.5
    assert max(band.y) == 2.2, "2,000 ps and 100 times 2 ps/B"
    assert "A message of 1 B lasts 0 s to 2.00 ns" in made.summary
