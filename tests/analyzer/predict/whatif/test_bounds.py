"""What a prediction says of values that it changes and that nothing measured."""

from __future__ import annotations

from logpost.analyzer.predict.whatif import Ask
from logpost.analyzer.predict.whatif.bounds import bounded, bounded_notes, changed_names, only_bounded
from logpost.analyzer.run.manifest import MachineValue


def _value(locality: str, parameter: str, low: float, high: float, *, bound_only: bool = True) -> MachineValue:
    return MachineValue(
        locality=locality,
        parameter=parameter,
        value=high,
        unit="ps",
        low=low,
        high=high,
        bound_only=bound_only,
        source="trace",
    )


VALUES = only_bounded(
    [
        _value("same_node", "L", 0, 700_000),
        _value("other_node", "L", 0, 3_200_000),
        _value("other_node", "o_s", 100_000, 400_000),
        _value("other_node", "g", 900_000, 1_100_000, bound_only=False),
    ]
)


def test_an_upper_bound_of_what_is_changed_is_named() -> None:
    found = bounded(VALUES, changed_names(Ask(settings=("other_node.L=x2",))))
    assert [(one.locality, one.parameter, one.high, one.unit) for one in found] == [
        ("other_node", "L", 3_200_000, "ps")
    ]
    assert bounded_notes(found)[0].startswith("L is only bounded: other_node at most 3.20 µs; ")


def test_a_curve_an_overhead_and_another_machine_count_and_what_was_measured_does_not() -> None:
    assert [one.locality for one in bounded(VALUES, changed_names(Ask(), ["L"]))] == ["same_node", "other_node"]
    (overhead,) = bounded(VALUES, changed_names(Ask(settings=("o=x2",))))
    assert "between 100 ns and 400 ns" in bounded_notes([overhead])[0]
    assert bounded(VALUES, changed_names(Ask(settings=("g=x2", "topology=ring:8")))) == []
    assert len(bounded(VALUES, changed_names(Ask(machine="alewife")))) == 3
    assert len(bounded(VALUES, changed_names(Ask(settings=("network=ideal",))))) == 3
