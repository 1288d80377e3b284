"""LOGPC 3.3 and 5.1: where messages wait on the mesh."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from logpost.experiments.framework.result import Result
from logpost.experiments.support.wormhole import Wormholes
from logpost.experiments.where_contention import links, neighbour


def test_a_wait_is_counted_at_the_channel_that_is_waited_for() -> None:
    # Two messages of 100 B from nodes 0 and 1 of a row to node 3, at 1 cycle per byte and no time per hop: the second
    # waits 100 cycles for the channel from 1 to 2, which the first holds until its last byte is in.
    network = Wormholes(width=4, G=1.0)
    network.send(0.0, 0, 3, 100.0, lambda _: None)
    network.at(0.0, lambda now: network.send(now, 1, 3, 100.0, lambda _: None))
    assert network.run() == pytest.approx(200.0)
    assert network.waited == {(1, 2): pytest.approx(100.0)}


def test_cuts_have_the_links_of_both_directions() -> None:
    # 8 x 4: seven cuts of four rows, and three of eight columns.
    assert [len(cut) for cut in links("x")] == [8] * 7
    assert [len(cut) for cut in links("y")] == [16] * 3
    assert (3, 4) in links("x")[3]
    assert (12, 4) in links("y")[0]


def test_a_neighbour_is_one_before_or_behind() -> None:
    rng = random.Random(1)
    assert {neighbour(rng, 0) for _ in range(50)} == {31, 1}


def test_the_papers_statements_hold_on_the_wormhole_mesh(quick_result: Callable[[str], Result]) -> None:
    result = quick_result("where-contention")
    assert [claim.text for claim in result.claims if not claim.holds] == []
