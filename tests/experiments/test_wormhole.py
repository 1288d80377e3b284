"""The wormhole network by hand: which message holds which channel, and the cost of two busy DMA engines."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from logpost.experiments.diamond_dag.wormhole_stripes import makespan_s, node_of
from logpost.experiments.support.alewife import wormholes
from logpost.experiments.support.wormhole import Wormholes, route
from logpost.experiments.support.wormhole_remap import interval_per_byte


def times(network: Wormholes, sends: list[tuple[float, int, int, float]]) -> list[float]:
    """When each message (start, source, target, bytes) has arrived."""
    done = [0.0] * len(sends)
    for i, (start, source, target, size) in enumerate(sends):

        def arrived(now: float, i: int = i) -> None:
            done[i] = now

        def leaves(
            now: float,
            source: int = source,
            target: int = target,
            size: float = size,
            arrived: Callable[[float], None] = arrived,
        ) -> None:
            network.send(now, source, target, size, arrived)

        network.at(start, leaves)
    network.run()
    return done


def test_a_route_follows_the_row_first() -> None:
    # 4 columns: node 1 is (1, 0), node 10 is (2, 2)
    assert route(4, 1, 10) == [(1, 2), (2, 6), (6, 10), (10, 10)]
    assert route(4, 10, 1) == [(10, 9), (9, 5), (5, 1), (1, 1)]


def test_a_message_alone_takes_its_hops_and_its_bytes() -> None:
    # 2 channels and the way into the node, 3 hops of 1; 100 bytes at 0.5
    assert times(Wormholes(4, G=0.5, hop=1.0), [(0, 0, 2, 100)]) == [53.0]


def test_a_blocked_message_holds_the_channels_behind_it() -> None:
    # On a row 0 1 2 3: A moves 1 -> 3 until 50; B, 0 -> 2, takes 0-1 and waits for 1-2 until 50, then moves until 100;
    # C, 0 -> 1 from another sender's view, needs 0-1, which B holds although nothing moves there: 100 to 110.
    network = Wormholes(4, G=0.5)
    assert times(network, [(0, 1, 3, 100), (1, 0, 2, 100), (2, 0, 1, 20)]) == [50.0, 100.0, 110.0]


def test_without_contention_messages_share_links_but_not_the_way_into_a_node() -> None:
    network = Wormholes(4, G=0.5, contended=False)
    assert times(network, [(0, 1, 3, 100), (1, 0, 2, 100)]) == [50.0, 51.0]
    assert times(Wormholes(4, G=0.5, contended=False), [(0, 0, 1, 100), (1, 2, 1, 100)]) == [50.0, 100.0]


def test_a_node_takes_in_one_message_at_a_time_in_order() -> None:
    assert times(Wormholes(4, G=0.5), [(0, 0, 1, 100), (1, 2, 1, 100)]) == [50.0, 100.0]


def test_both_dma_engines_at_work_slow_each_other_while_they_do() -> None:
    # Node 1 takes in 100 bytes from 0 and sends 100 to 2 from 20 on, at a slowdown of 1.5: 40 bytes of the first are in
    # at 20; the other 60 take 0.75 each, until 65. By then the second has 60 bytes too; its other 40 take 0.5: 85.
    assert times(Wormholes(4, G=0.5, slowdown=1.5), [(0, 0, 1, 100), (20, 1, 2, 100)]) == pytest.approx([65.0, 85.0])


def test_the_remap_takes_a_message_every_2_b_with_the_papers_values_and_less_without_its_contention() -> None:
    factor = {s: interval_per_byte(wormholes(s), 32, 8000, 60, 25.0, seed=1) for s in (1.0, 1.45)}
    # An independent simulation (tests/replay/models/test_wormhole.py) has 1.64 for one message into a node at a time.
    assert factor[1.0] == pytest.approx(1.66, abs=0.05)
    assert factor[1.45] == pytest.approx(2.06, abs=0.06)


def test_stripes_without_contention_take_what_15_says() -> None:
    # v = O_s + W + O_r; one transfer is 16,000 * 0.5 and two or nine hops; see test_diamond_dag.py for 0.306075
    for mapping in ("perfect", "default"):
        assert makespan_s(mapping, 64, 16_000, 51_200, 25) == pytest.approx(0.306075, rel=1e-3)
    assert makespan_s("random", 64, 320_000, 51_200, 25) > 1.3 * makespan_s("perfect", 64, 320_000, 51_200, 25)


def test_neighbouring_stripes_of_the_default_numbering_share_no_channel() -> None:
    nodes = node_of("default", 1)
    used = [channel for a, b in pairwise(nodes) for channel in route(8, a, b)]
    assert len(used) == len(set(used))
