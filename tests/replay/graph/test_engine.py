"""Ranks that share a NIC, and reach it in another order on another machine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.replay.graph.programs import Story

from logpost.machines import load_machine, replay_parameters
from logpost.replay._native import call_kinds
from logpost.replay.graph import Engine, Scenario, changed

ROUNDS, TRIP, WORK = 10, 93, 20_000
"""o_s 7, L 60, 15 bytes after the first one, o_r 11"""


def engine_of(story: Story) -> Engine:
    """A replay of four ranks, two on each node."""
    machine = replay_parameters(load_machine("alewife"))
    for name, value in {"L": 60, "o_s": 7, "o_r": 11, "g": 30, "G": 1, "o_s_per_byte": 0, "o_r_per_byte": 0}.items():
        machine = machine.with_value(name, value)
    plain = replace(machine, log3p=None, beyond_loggp=type(machine.beyond_loggp)())
    return Engine(story.program(), Scenario(plain), locations=4, callpaths=len(call_kinds()))


@pytest.fixture
def sharing() -> Engine:
    """0 sends requests to 2 ten times. 1, on its node, works for five rounds and sends to 3, which then works."""
    story = Story(4, per_node=2)
    for _ in range(ROUNDS):
        story.message(0, 2, 16, (0, 0), (7, TRIP))
        story.message(2, 0, 16, (0, 0), (7, TRIP))
    story.message(1, 3, 16, (ROUNDS * TRIP + 50, 0), (7, TRIP))
    story.message(3, 1, 16, (WORK, 0), (7, TRIP))
    return engine_of(story)


def test_a_nic_serves_messages_in_order_of_arrival_where_it_matters(sharing: Engine) -> None:
    slower = changed(sharing.recorded, ["L=x10"])
    (used,) = sharing.in_arrival_order([slower])
    assert used.reordered
    (kept,), (found,) = sharing.makespans([slower]), used.makespans([slower])
    assert used.kept_ps == kept
    # 1's message does not wait: its work, two messages of 540 ps more each, and 3's work.
    assert found == ROUNDS * TRIP + 50 + 2 * (TRIP + 540) + WORK
    # In recorded order it is behind the sixth request, five rounds of 2 x 540 ps later.
    assert kept > found + 4 * 2 * 540
    assert used.replay([slower])[0].makespan_ps == found
    enters, leaves = used.times(slower)
    assert max(leaves) - min(enters) == found


def test_in_another_order_no_alternative_is_known_to_be_alike(sharing: Engine) -> None:
    """Its graph does not know how far apart sends are."""
    slower = changed(sharing.recorded, ["L=x10"])
    (used,) = sharing.in_arrival_order([slower])
    (use,) = used.library
    assert not used.is_alike(use, "wait", slower)


def test_the_recorded_order_stays_where_it_makes_no_difference(sharing: Engine) -> None:
    assert sharing.in_arrival_order([sharing.recorded, changed(sharing.recorded, ["o_s=x2"])])[0] is sharing
    assert not sharing.in_arrival_order([changed(sharing.recorded, ["G=x0.5"])])[0].reordered


def test_released_makespans_that_are_known_are_not_replayed(sharing: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    slower = changed(sharing.recorded, ["L=x10"])
    first = sharing.makespans([slower, sharing.recorded], released=True)
    monkeypatch.setattr(sharing, "_by_protocols", lambda some, _: [0] * len(some))
    assert sharing.makespans([sharing.recorded, slower], released=True) == first[::-1]
    # Of an equal scenario that is another object, it is not known.
    assert sharing.makespans([replace(slower)], released=True) == [0]
