"""Which verbs take a machine as it is: what this says must be what the verbs do."""

from __future__ import annotations

import pytest

from logpost.errors import InputError
from logpost.machines import library_names, load_machine, replay_parameters
from logpost.machines.calibration.agreement import agree
from logpost.machines.parameters.verbs import VERBS, missing_text, verbs
from logpost.testbed.machine import place_ranks, platform_of


@pytest.mark.parametrize("name", library_names())
def test_analyze_takes_what_is_said_to_feed_it(name: str) -> None:
    machine = load_machine(name)
    gaps = verbs(machine)["analyze"]
    if not gaps:
        assert replay_parameters(machine).machine == name
        return
    with pytest.raises(InputError, match=r"is not given by its source|LogGP values|clock"):
        replay_parameters(machine)


@pytest.mark.parametrize("name", [name for name in library_names() if load_machine(name).topology is not None])
def test_the_testbed_takes_what_is_said_to_feed_it(name: str) -> None:
    machine = load_machine(name)
    nodes = place_ranks(machine, 2, None)
    if not verbs(machine)["testbed"]:
        assert platform_of(machine, nodes).name == name
        return
    with pytest.raises(InputError):
        platform_of(machine, nodes)


def test_a_comparison_needs_values_that_a_calibration_has() -> None:
    # J-Machine's file has a network and no LogGP value; Alps's has the latter.
    assert verbs(load_machine("sens_j_machine"))["calibrate"] == ["a value of loggp, overlap or log3p"]
    alps = load_machine("alps")
    assert verbs(alps)["calibrate"] == []
    assert agree(alps, alps).pairs


def test_every_verb_is_said_something_of_every_machine() -> None:
    for name in library_names():
        assert list(verbs(load_machine(name))) == list(VERBS)


def test_missing_parameters_are_on_one_line_with_their_meaning() -> None:
    paragon = verbs(load_machine("paragon"))
    assert paragon["analyze"] == ["G"]
    # The link's 175 MB/s stand for G there.
    assert paragon["testbed"] == ["topology"]
    assert missing_text(["G", "topology"]) == "G (gap per byte), topology"
    assert missing_text(["L of same_node"]) == "L (latency) of same_node"
    assert verbs(load_machine("alps")) == {
        "analyze": [],
        "testbed": ["topology"],
        "predict": [],
        "calibrate": [],
    }
