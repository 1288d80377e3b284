"""A burst of sends may go along a tree, or be shared by all: their replays follow by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.evidence.graph import Graph, graph_of
from logpost.analyzer.findings.evidence.one_to_many import along_trees, broadcasts_of, bursts_of, shared_by_all
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis
from logpost.analyzer.findings.finders import hot_sender

STEPS = 4


def sent_by_hand(receivers: int, sizes: list[int] | None = None) -> Story:
    """In a step of 20 ms, rank 0 sends to all others, 1 ms each; a message takes 1 ms in the send, 2 of latency and 1
    of serialization, and k ms more in the queue behind the k before it. Then all meet."""
    story = Story(receivers + 1, STEPS * 20 * MS, windows=STEPS)
    send, recv, barrier = (story.path("main", name) for name in ("MPI_Send", "MPI_Recv", "MPI_Barrier"))
    for t in range(0, STEPS * 20 * MS, 20 * MS):
        for k in range(receivers):
            begin = t + k * MS
            story.call(0, begin, begin + MS, send, send_overhead=MS)
            parts = {"send_overhead": MS, "endpoint_contention": k * MS, "latency": 2 * MS, "serialization": MS}
            end = begin + (4 + k) * MS
            waits = {"late_sender": k * MS} if k else {}
            story.call(k + 1, t, end, recv, **waits, **parts)
            size = (sizes or [1000] * receivers)[k]
            story.message(
                0, k + 1, size, (begin, begin + MS), (t, end), (send, recv), service=MS, **waits, **parts,
            )  # fmt: skip
        story.collective(barrier, "Barrier", dict.fromkeys(range(receivers + 1), (t + 19 * MS, t + 20 * MS)))
    # Something small goes back, so that the others are endpoints as well.
    for k in range(1, receivers + 1):
        story.message(k, 0, 8, (0, MS), (0, MS), (send, recv), service=MS, serialization=MS)
    return story


def received(graph: Graph, hypothesis: Hypothesis) -> list[int]:
    """When the messages of the first step have come; ms."""
    leave = graph.native.replay(hypothesis.columns(), [])["leave_ps"]
    rows = graph.messages.recv_call[graph.messages.sender == 0]
    rows = rows[graph.enter_ps[rows] == 0]
    return [round(time / MS) for time in leave[rows[np.argsort(graph.location[rows])]].tolist()]


def evidence(story: Story) -> Evidence:
    return Evidence(story.tables(), story.manifest())


def test_a_tree_needs_as_many_rounds_as_the_logarithm_of_its_ranks() -> None:
    told = evidence(sent_by_hand(7))
    graph = graph_of(told)
    bursts = broadcasts_of(graph, bursts_of(graph, 0))
    assert [len(burst) for burst in bursts] == [7] * STEPS
    assert received(graph, Hypothesis()) == [4, 6, 8, 10, 12, 14, 16]
    # A hop takes 4 ms. Rank 0 sends to rank 4, then, 1 ms later each, to ranks 2 and 1. Rank 4 sends to 6, then to 5,
    # rank 2 and rank 6 to the one behind them.
    assert received(graph, along_trees(told, graph, bursts)) == [6, 5, 9, 4, 9, 8, 12]


def test_shared_by_all_each_receiver_waits_for_one_hop() -> None:
    told = evidence(sent_by_hand(7))
    graph = graph_of(told)
    assert received(graph, shared_by_all(told, graph, bursts_of(graph, 0))) == [4] * 7


def test_sizes_that_differ_are_no_broadcast() -> None:
    graph = graph_of(evidence(sent_by_hand(3, [1000, 1000, 999])))
    assert broadcasts_of(graph, bursts_of(graph, 0)) == []
    assert broadcasts_of(graph, []) == []
    assert bursts_of(graph, 99) == []


def test_the_advice_says_what_the_sizes_allow() -> None:
    (alike,) = sent_by_hand(7).alone(hot_sender.find).iter_rows(named=True)
    shared, tree = (
        next(one["value"] for one in alike["evidence"] if one["name"] == name)
        for name in ("gain_if_shared", "gain_as_tree")
    )
    assert alike["gain"] == pytest.approx(max(shared, tree))
    assert alike["advice"].startswith("All receivers get as many bytes at a time. Where that is the same data, send it")
    assert f"which saves up to {100 * tree:.1f} % of the time. Where each gets" in alike["advice"]
    (apart,) = sent_by_hand(7, [1000, 900, 800, 700, 600, 500, 400]).alone(hot_sender.find).iter_rows(named=True)
    assert "gain_as_tree" not in {one["name"] for one in apart["evidence"]}
    assert apart["advice"].endswith("so that it is no broadcast, which a tree could pass on.")
