"""Members that come at once wait for every round of messages; who came late had left the rest to the others."""

from __future__ import annotations

import numpy as np
import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.evidence.graph import Graph, graph_of
from logpost.analyzer.findings.evidence.met_again import met_again
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if


def reduced(operation: str, leaves: tuple[int, int, int]) -> Graph:
    """Three ranks, of which rank 0 computes 9 ms and the others 3, meet, leave at these ms and send for 1 ms."""
    story = Story(3, (max(leaves) + 1) * MS)
    path, send = story.path("main", "MPI_Allreduce"), story.path("main", "MPI_Send")
    story.collective(path, operation, {rank: ((3 if rank else 9) * MS, leaves[rank] * MS) for rank in range(3)})
    for rank, leave in enumerate(leaves):
        story.call(rank, leave * MS, (leave + 1) * MS, send, send_overhead=MS)
    return graph_of(Evidence(story.tables(), story.manifest()))


def as_fast_as_the_others(graph: Graph) -> Hypothesis:
    return Hypothesis(gap_ps=np.minimum(graph.gap_ps, 3 * MS))


def test_all_rounds_take_their_time_where_all_come_at_once() -> None:
    # Rank 2 tells rank 0, ranks 0 and 1 exchange, rank 0 tells rank 2: a message takes 1 ms of either processor. Rank 0
    # takes what is there when it comes, sends until 11, takes until 12, sends until 13; 1 ends at 12, 2 at 14.
    graph = reduced("Allreduce", (13, 12, 14))
    cure = as_fast_as_the_others(graph)
    assert saving_if(graph, cure).gain == pytest.approx(1 - 9 / 15)
    # All at 3 ms: rank 0 has to wait 1 ms for the first message, and all end 1 ms later behind their enter.
    assert saving_if(graph, met_again(graph, cure)).gain == pytest.approx(1 - 10 / 15)


def test_a_lag_that_all_have_alike_stays() -> None:
    graph = reduced("Allreduce", (10, 10, 10))
    cure = as_fast_as_the_others(graph)
    assert met_again(graph, cure).gap_ps == pytest.approx(cure.gap_ps)


def test_whoever_needs_some_only_may_run_ahead() -> None:
    graph = reduced("Bcast", (10, 11, 12))
    cure = as_fast_as_the_others(graph)
    assert met_again(graph, cure).gap_ps == pytest.approx(cure.gap_ps)
