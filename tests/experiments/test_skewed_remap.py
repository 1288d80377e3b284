"""LOGPC's synchronous and asynchronous styles under skew: what follows from one node's rate."""

from __future__ import annotations

from collections.abc import Callable

from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Result

NAME = "skewed-remap"


def test_asynchronous_sends_block_behind_a_hot_node_alone(quick_result: Callable[[str], Result]) -> None:
    costs = table(quick_result(NAME), "Cost of a message")
    assert number(costs, 40, "async, blocked") > 10 * number(costs, 0, "async, blocked")
    assert number(costs, 40, "sync, blocked") == 0


def test_no_style_is_faster_than_the_hot_node(quick_result: Callable[[str], Result]) -> None:
    # Per iteration the hot node receives 0.4 of the messages of 31 others, o_r = 122 cycles each: 1,513 cycles. A rank
    # ends at most 16 of its about 40 messages to it early, so its time is at least 0.6 of that; 0.5 leaves room for
    # the seed.
    costs = table(quick_result(NAME), "Cost of a message")
    for style in ("sync", "async"):
        assert number(costs, 40, f"{style}, iteration") > 0.5 * 0.4 * 31 * 122
