"""Properties of an MPI library: stated by a profile, determined by the trace, or open, with an interval over both.

Rank 0 sends four messages of 16 bytes to rank 1, the last one after its work. o_s 7, g 30: the NIC has each for 30.
The second send ends at 37, when the NIC is free (7 + 30): it waited. The third one ends at 44, though the NIC is busy
until 67: it returned.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest
from tests.replay.graph.programs import Story

from logpost.analyzer.predict.whatif.uncertainty import Doubts, interval_ps
from logpost.machines import load_machine, replay_parameters
from logpost.machines.profiles.properties import ALTERNATIVES
from logpost.replay._native import algorithms, call_kinds, library_properties, operations
from logpost.replay.graph import Engine, Scenario, changed

WORK = 20_000
SENDS = "sends_between_nodes"
TEN_TIMES_G = 2 * (300 - 30)
"""what two sends wait longer where g is 300"""


def engine_of(second: int, third: int, library: dict[str, str]) -> Engine:
    """The program whose second and third sends last so long."""
    story = Story(2)
    for gap, send, receive in ((0, 7, 93), (0, second, 30), (0, third, 30), (WORK, 7, 93)):
        story.message(0, 1, 16, (gap, 0), (send, receive))
    machine = replay_parameters(load_machine("alewife"))
    for name, value in {"L": 60, "o_s": 7, "o_r": 11, "g": 30, "G": 1, "o_s_per_byte": 0, "o_r_per_byte": 0}.items():
        machine = machine.with_value(name, value)
    plain = replace(machine, log3p=None, beyond_loggp=type(machine.beyond_loggp)())
    recorded = Scenario(plain, library=MappingProxyType(library))
    return Engine(story.program(), recorded, locations=2, callpaths=len(call_kinds()))


def with_longer_gap(engine: Engine) -> tuple[int, tuple[int, int]]:
    """The makespan where g is 300, and its interval; without errors of the machine or the clock."""
    scenario = changed(engine.recorded, ["g=300ps"])
    before, after = engine.replay([engine.recorded, scenario])
    return after.makespan_ps, interval_ps(engine, scenario, before, after, Doubts(tick_ps=0.0, recalibrates=False))


def test_the_core_has_the_properties_and_alternatives_of_profiles() -> None:
    assert library_properties() == [(name, list(words)) for name, words in ALTERNATIVES.items()]


@pytest.mark.parametrize("library", [{}, {SENDS: "return"}, {SENDS: "wait"}])
def test_every_alternative_reproduces_what_was_recorded(library: dict[str, str]) -> None:
    engine = engine_of(30, 7, library)
    # 44 + the work + 93 of the last receive.
    assert engine.makespans([engine.recorded]) == [44 + WORK + 93]


def test_what_every_observation_shows_is_from_the_trace() -> None:
    (waited,) = engine_of(30, 30, {}).library
    assert (waited.name, waited.value, waited.is_open, waited.stated) == (SENDS, "wait", False, False)
    assert (waited.observations, waited.agree) == (2, {"return": 0, "wait": 2})
    assert "from the trace: 2 of 2" in waited.sentence()
    (returned,) = engine_of(7, 7, {}).library
    assert (returned.value, returned.is_open) == ("return", False)


def test_contradictory_observations_leave_an_interval_over_both_alternatives() -> None:
    engine = engine_of(30, 7, {})
    (use,) = engine.library
    assert use.is_open
    assert use.possible == ("return", "wait")
    assert (use.observations, use.agree) == (2, {"return": 1, "wait": 1})
    assert use.sentence().startswith("unknown: ")
    makespan, (low, high) = with_longer_gap(engine)
    returning, (low_returning, high_returning) = with_longer_gap(engine_of(30, 7, {SENDS: "return"}))
    waiting, _ = with_longer_gap(engine_of(30, 7, {SENDS: "wait"}))
    # Sends that return do not delay the work; those that wait delay it by two longer gaps.
    assert makespan == returning
    assert waiting == returning + TEN_TIMES_G
    assert (low, high) == (low_returning, high_returning + TEN_TIMES_G)


@pytest.mark.parametrize(
    ("settings", "alike"), [("g=57ps", True), ("g=58ps", False), ("L=x9", True), ("o_s=6ps", False)]
)
def test_an_alternative_of_which_the_trace_shows_nothing_is_not_replayed_where_it_is_alike(
    settings: str, alike: bool
) -> None:
    """Sends that end 57 apart, 50 of them code: none waits for a message that the NIC has no longer than that."""
    story = Story(2)
    for _ in range(3):
        story.message(0, 1, 16, (50, 0), (7, 93))
    machine = replay_parameters(load_machine("alewife"))
    for name, value in {"L": 60, "o_s": 7, "o_r": 11, "g": 30, "G": 1, "o_s_per_byte": 0, "o_r_per_byte": 0}.items():
        machine = machine.with_value(name, value)
    recorded = Scenario(replace(machine, log3p=None, beyond_loggp=type(machine.beyond_loggp)()))
    engine = Engine(story.program(), recorded, locations=2, callpaths=len(call_kinds()))
    (use,) = engine.library
    assert (use.is_open, use.value, use.observations) == (True, "return", 0)
    scenario = changed(recorded, [settings])
    assert engine.is_alike(use, "wait", scenario) is alike
    assert not engine.is_alike(use, "wait", replace(scenario, compute=0.5))
    waiting = engine.with_library(use, "wait").times(scenario)[1]
    assert (waiting == engine.times(scenario)[1]).all() == (settings != "g=58ps")


def test_a_profile_decides_whatever_the_trace_shows() -> None:
    engine = engine_of(7, 7, {SENDS: "wait"})
    (use,) = engine.library
    assert (use.value, use.stated, use.is_open, use.possible) == ("wait", True, False, ("wait",))
    assert use.agree == {"return": 2, "wait": 0}


def test_codes_that_the_core_does_not_have_are_refused() -> None:
    from logpost.replay.cost.parameters import native_parameters

    parameters = native_parameters(replay_parameters(load_machine("alewife")))
    rest: list[int | None] = [None] * (len(ALTERNATIVES) - 1)
    refused: list[list[int | None]] = [[None], [2, *rest], [-1, *rest]]
    for wrong in refused:
        with pytest.raises(ValueError, match="of a library"):
            parameters.library = wrong


def engine_with_barrier(algorithm: str, as_near: str, library: dict[str, str]) -> Engine:
    """Four ranks in a barrier, each of which leaves 400 after the last enter, whose algorithm and second are these."""
    story = Story(4)
    story.barrier((0, 0, 0, WORK), 400)
    machine = replay_parameters(load_machine("alewife"))
    for name, value in {"L": 60, "o_s": 7, "o_r": 11, "g": 0, "G": 1, "o_s_per_byte": 0, "o_r_per_byte": 0}.items():
        machine = machine.with_value(name, value)
    plain = replace(machine, log3p=None, beyond_loggp=type(machine.beyond_loggp)())
    program = story.program()
    codes = [algorithms().index(name) for name in (algorithm, as_near)]
    program.carry_out(operations().index("Barrier"), 0, 0, *codes)
    recorded = Scenario(plain, library=MappingProxyType(library))
    return Engine(program, recorded, locations=4, callpaths=len(call_kinds()))


def with_longer_latency(engine: Engine) -> tuple[int, tuple[int, int]]:
    """The makespan where L is 1060, and its interval."""
    scenario = changed(engine.recorded, ["L=1060ps"])
    before, after = engine.replay([engine.recorded, scenario])
    return after.makespan_ps, interval_ps(engine, scenario, before, after, Doubts(tick_ps=0.0, recalibrates=False))


def test_two_algorithms_that_fit_leave_an_interval_over_both() -> None:
    # Latencies behind the last enter: dissemination among four 2; linear 2, of the last rank to the root and back; of a
    # tree up and down, in which rank 3 sends to 2 and 2 to 0: 4.
    engine = engine_with_barrier("binomial", "dissemination", {})
    (use,) = engine.library
    assert (use.name, use.is_open, use.possible) == ("collectives", True, ("nearest", "second"))
    assert (use.places, use.observations) == (1, 1)
    makespan, (low, high) = with_longer_latency(engine)
    usual, _ = with_longer_latency(engine_with_barrier("dissemination", "not_known", {}))
    tree, _ = with_longer_latency(engine_with_barrier("binomial", "not_known", {}))
    assert makespan == usual == WORK + 400 + 2 * 1000
    assert tree == WORK + 400 + 4 * 1000
    assert low <= usual
    assert high >= tree


def test_one_algorithm_that_fits_is_not_open() -> None:
    assert engine_with_barrier("binomial", "not_known", {}).library == ()


def test_a_profile_selects_the_algorithm_whatever_fits() -> None:
    # Open MPI: a barrier of 4 to 7 members is linear.
    engine = engine_with_barrier("binomial", "dissemination", {"collectives": "openmpi"})
    (use,) = engine.library
    assert (use.value, use.stated, use.is_open, use.places) == ("openmpi", True, False, 1)
    linear, _ = with_longer_latency(engine_with_barrier("linear", "not_known", {}))
    assert with_longer_latency(engine)[0] == linear == WORK + 400 + 2 * 1000
    tree, _ = with_longer_latency(engine_with_barrier("binomial", "not_known", {"collectives": "mpich"}))
    assert tree == WORK + 400 + 4 * 1000
