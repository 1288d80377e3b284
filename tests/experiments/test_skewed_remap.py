"""LOGPC's synchronous and asynchronous styles under skew: what follows from one node's rate, and from full queues."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Result
from logpost.experiments.support.wormhole_short import remap

NAME = "skewed-remap"


def test_asynchronous_sends_block_behind_a_hot_node_alone(quick_result: Callable[[str], Result]) -> None:
    costs = table(quick_result(NAME), "Cost of a message")
    assert number(costs, 40, "async, blocked") > 10 * number(costs, 0, "async, blocked")
    assert number(costs, 40, "sync, blocked") == 0


def test_no_style_is_faster_than_the_hot_node(quick_result: Callable[[str], Result]) -> None:
    # Per iteration the hot node handles 0.4 of the messages of 31 others, o_r = 122 cycles each: 1,513 cycles, but for
    # the seeds; synchronous ones cost it o_s = 15 for the reply as well.
    costs = table(quick_result(NAME), "Cost of a message")
    assert number(costs, 40, "async, iteration") > 0.95 * 0.4 * 31 * 122
    assert number(costs, 40, "sync, iteration") > 0.95 * 0.4 * 31 * (122 + 15)


def test_a_full_queue_blocks_messages_between_others(quick_result: Callable[[str], Result]) -> None:
    costs = table(quick_result(NAME), "Cost of a message")
    for hot in (10, 40):
        sync, other = (number(costs, hot, f"{style}, message between others") for style in ("sync", "async"))
        # Sixteen messages of a sender wait in its output queue while the hot node handles one every 122 cycles.
        assert other > 1000
        assert sync < 0.1 * other


def test_one_request_alone_costs_what_logp_says() -> None:
    # A message of each node: request and reply, 2 (o_s + L + o_r), where L is 16 B at half a cycle and 0.8 cycles for
    # each hop and the way into the node. All 32 nodes send at once, so that the last ones wait for some handlers.
    alone = 2 * (15 + 16 * 0.5 + 0.8 * (4 + 1) + 122)
    assert remap(1, 0.0, synchronous=True, seed=1).iteration == pytest.approx(alone + 3 * 137, abs=3 * 137)
    # Many, one way: o_s + o_r each at least.
    assert remap(50, 0.0, synchronous=False, seed=1).iteration > 15 + 122
