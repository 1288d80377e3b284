"""A program to which nothing becomes cheaper: never shorter in recorded order, and shorter in another one only by the
model's order, which is then not taken."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.replay.graph.programs import Story

from logpost.analyzer.predict.whatif.ask import _of_order
from logpost.analyzer.predict.whatif.uncertainty import Doubts, interval_ps
from logpost.machines import ReplayParameters, load_machine, replay_parameters
from logpost.replay._native import call_kinds
from logpost.replay.graph import Engine, Scenario, changed
from logpost.replay.graph.cost_direction import direction

RANKS = 4
VALUES = {"L": 60, "o_s": 7, "o_r": 11, "g": 30, "G": 1}
TRIP = 7 + 60 + 15 + 11
"""of 16 bytes: o_s, L, 15 G, o_r"""
WORK, LONG = 10_000, 20_000


LOGGP_ALONE = type(replay_parameters(load_machine("alewife")).beyond_loggp)()
"""One for all machines: two of them would be two machines of unknown direction."""


def machine_of(values: dict[str, int]) -> ReplayParameters:
    machine = replay_parameters(load_machine("alewife"))
    for name, value in {**values, "o_s_per_byte": 0, "o_r_per_byte": 0}.items():
        machine = machine.with_value(name, value)
    return replace(machine, log3p=None, beyond_loggp=LOGGP_ALONE)


def engine_of(story: Story, values: dict[str, int]) -> Engine:
    return Engine(story.program(), Scenario(machine_of(values)), locations=story.ranks, callpaths=len(call_kinds()))


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Ranks that start up one after the other, and then exchange messages and meet, whatever a machine allows."""
    times = st.integers(0, 300)
    story = Story(RANKS, per_node=draw(st.sampled_from([1, 2])))
    for rank in range(RANKS):
        story.call(rank, "init_finalize", 0, draw(times))
    for _ in range(draw(st.integers(1, 12))):
        if draw(st.booleans()):
            sender, receiver = draw(st.permutations(range(RANKS)))[:2]
            size = draw(st.sampled_from([0, 1, 16, 700]))
            story.message(sender, receiver, size, (draw(times), draw(times)), (draw(times), draw(times)))
        else:
            story.barrier([draw(times) for _ in range(RANKS)], draw(times))
    return story


def values() -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries(
        {name: st.integers(0, 200) for name in ("L", "o_s", "o_r", "g")} | {"G": st.integers(0, 3)}
    )


@settings(max_examples=200, deadline=None)
@given(story=stories(), recorded=values(), first=values(), second=values(), factors=st.tuples(*[st.floats(1, 3)] * 2))
def test_in_recorded_order_nothing_is_shorter_because_something_is_dearer(
    story: Story, recorded: dict[str, int], first: dict[str, int], second: dict[str, int], factors: tuple[float, float]
) -> None:
    """Each of two steps makes every value of the machine and computation dearer, or leaves it."""
    engine = engine_of(story, recorded)
    dearer = {name: value + first[name] for name, value in recorded.items()}
    dearest = {name: value + second[name] for name, value in dearer.items()}
    scenarios = [
        engine.recorded,
        Scenario(machine_of(dearer), compute=factors[0]),
        Scenario(machine_of(dearest), compute=factors[0] * factors[1]),
    ]
    measured = max(calls[-1][2] - calls[0][2] for calls in story.calls)
    lengths = engine.makespans(scenarios)
    assert lengths[0] == measured
    assert lengths == sorted(lengths)
    for enters, later in zip(engine.times(scenarios[1]), engine.times(scenarios[2]), strict=True):
        assert (later >= enters).all()
    # Whatever order is found: not on the wrong side of what was measured.
    assert min(engine.makespans_in_arrival_order(scenarios)) >= measured


@pytest.fixture
def first_arrival() -> Engine:
    """EM3D in small: rank 0 completes whichever message arrives first (Waitany), works for rank 1 before it replies,
    and replies to rank 2 at once, which then works LONG. 3 sends to 1, which sends to 0 then; 2 sends at 100."""
    story = Story(RANKS)
    posts = [story.call(0, "receive_nonblocking", 0, 0) for _ in range(3)]
    story.message(3, 1, 16, (0, 0), (7, TRIP))
    of_1 = story.call(1, "send", TRIP, TRIP + 7)  # there at 2 x 93 = 186
    of_2 = story.call(2, "send", 100, 107)  # at 193
    waits = [story.call(0, "wait_multi", 0, 2 * TRIP)]
    story.message(0, 1, 16, (WORK, 0), (7, TRIP))  # 10,186 to 10,193
    waits.append(story.call(0, "wait_multi", 10_193, 10_204))  # it was there: o_r
    story.message(0, 2, 16, (0, 0), (7, TRIP + 12))  # 10,204, at the NIC g 30 after the one before; to 10,309
    of_3 = story.call(3, "send", 12_000, 12_007)
    waits.append(story.call(0, "wait_multi", 10_211, 12_000 + TRIP))
    for sender, send, post, wait in zip((1, 2, 3), (of_1, of_2, of_3), posts, waits, strict=True):
        story.request(sender, send, 0, post, wait, 16)
    story.message(2, 3, 16, (LONG, 0), (7, TRIP))
    return engine_of(story, VALUES)


MEASURED = 10_204 + 12 + TRIP + LONG + TRIP


def test_an_order_that_would_save_time_by_slower_messages_is_not_taken(first_arrival: Engine) -> None:
    """Twice the latency, 120: 1's message is there at 2 x 153 = 306, 2's at 253, and would be taken first."""
    slower = changed(first_arrival.recorded, ["L=x2"])
    assert direction(first_arrival.recorded, slower) == 1
    assert first_arrival.makespans([first_arrival.recorded]) == [MEASURED]
    (used,) = first_arrival.in_arrival_order([slower])
    assert not used.reordered
    # Answered at 253, 2 is done LONG and two trips later.
    assert used.found_ps == 253 + 153 + LONG + 153 < MEASURED
    # In recorded order rank 0 replies to 1 at 306 + WORK, and 2 g later at the NIC.
    kept = 306 + WORK + 30 + 153 + LONG + 153
    assert used.makespans([slower]) == first_arrival.makespans_in_arrival_order([slower]) == [kept]
    before, after = first_arrival.replay([first_arrival.recorded])[0], used.replay([slower])[0]
    low, high = interval_ps(used, slower, before, after, Doubts(tick_ps=0.0, recalibrates=False))
    assert low < MEASURED < kept <= high
    assert len(_of_order(used, slower, before, after)) == 1, "it is said why"
    assert _of_order(first_arrival, first_arrival.recorded, before, before) == []


def test_an_order_is_taken_where_something_becomes_cheaper_and_the_interval_reaches_the_recorded_one(
    first_arrival: Engine,
) -> None:
    """Bytes cost nothing any more: 15 less of each of the trips above."""
    other = changed(first_arrival.recorded, ["L=x2", "G=x0"])
    assert direction(first_arrival.recorded, other) == 0
    (used,) = first_arrival.in_arrival_order([other])
    assert used.reordered
    before, after = first_arrival.replay([first_arrival.recorded])[0], used.replay([other])[0]
    assert after.makespan_ps == 253 + 153 + LONG + 153 - 3 * 15
    assert used.kept_ps == 306 + WORK + 30 + 153 + LONG + 153 - 4 * 15
    high = interval_ps(used, other, before, after, Doubts(tick_ps=0.0, recalibrates=False))[1]
    assert high >= used.kept_ps
    assert len(_of_order(used, other, before, after)) == 1
    # Calls change places; between them there is only work, all of it.
    assert min(after.between_calls_ps) >= 0
    assert sum(after.between_calls_ps) == sum(before.between_calls_ps)
    assert sum(after.path_ps.values()) == after.makespan_ps


def test_so_it_is_at_nics() -> None:
    """0 and 1 share a NIC. 2 sends to 0, which sends it 10,000 bytes: at the NIC at 100, which is free at 10,100. 1's
    message is there at 117 and waits; 3 works LONG for it. Of twice the latency the large message arrives at 160."""
    story = Story(RANKS, per_node=2)
    story.message(2, 0, 16, (0, 0), (7, TRIP))
    story.message(0, 2, 10_000, (0, 0), (7, 7 + 60 + 9_999 + 11))
    story.message(1, 3, 16, (110, 0), (7, 10_100 + 60 + 15 + 11 - 110))
    story.message(3, 1, 16, (LONG, 0), (7, TRIP))
    engine = engine_of(story, VALUES)
    measured = 10_186 + LONG + TRIP
    slower = changed(engine.recorded, ["L=x2"])
    assert engine.makespans([engine.recorded]) == [measured]
    (used,) = engine.in_arrival_order([slower])
    assert (used.reordered, used.found_ps) == (False, 117 + 120 + 26 + LONG + 153)
    assert used.makespans([slower]) == [160 + 10_000 + 120 + 26 + LONG + 153]


def test_what_becomes_faster_is_not_said_to_last_longer() -> None:
    """Recorded at L 120: 2's message is there at 253 and taken first, 1's at 306. At half of it 1's, at 186, is."""
    story = Story(RANKS)
    posts = [story.call(0, "receive_nonblocking", 0, 0) for _ in range(3)]
    story.message(3, 1, 16, (0, 0), (7, 153))
    of_1 = story.call(1, "send", 153, 160)
    of_2 = story.call(2, "send", 100, 107)
    waits = [story.call(0, "wait_multi", 0, 253)]
    story.message(0, 2, 16, (0, 0), (7, 153))
    waits.append(story.call(0, "wait_multi", 260, 306))
    story.message(0, 1, 16, (WORK, 0), (7, 153))
    of_3 = story.call(3, "send", 12_000, 12_007)
    waits.append(story.call(0, "wait_multi", 306 + WORK + 7, 12_153))
    for sender, send, post, wait in zip((2, 1, 3), (of_2, of_1, of_3), posts, waits, strict=True):
        story.request(sender, send, 0, post, wait, 16)
    story.message(2, 3, 16, (LONG, 0), (7, 153))
    engine = engine_of(story, {**VALUES, "L": 120})
    measured = 253 + 153 + LONG + 153
    faster = changed(engine.recorded, ["L=x0.5"])
    assert engine.makespans([engine.recorded]) == [measured]
    assert direction(engine.recorded, faster) == -1
    (used,) = engine.in_arrival_order([faster])
    assert not used.reordered
    assert used.found_ps is not None
    assert used.found_ps > measured + WORK / 2, "2 is answered behind the work for 1"
    assert used.makespans([faster]) == [193 + TRIP + LONG + TRIP]
    before, after = engine.replay([engine.recorded])[0], used.replay([faster])[0]
    low, high = interval_ps(used, faster, before, after, Doubts(tick_ps=0.0, recalibrates=False))
    assert low <= after.makespan_ps < measured < high
