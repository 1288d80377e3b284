"""The root of a broadcast waits for nobody, so that its receivers lag behind it without delaying it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if


def test_receivers_do_not_delay_a_root_that_comes_early() -> None:
    """Ten rounds of 9 ms: location 2, rank 0 of the communicator, works 8 ms before it broadcasts, the others 4; all
    leave 1 ms after its enter."""
    story = Story(3, 90 * MS)
    story.communicator(2, 0, 1)
    bcast = story.path("MPI_Bcast")
    for t in range(0, 90 * MS, 9 * MS):
        members = {rank: (t + work * MS, t + 9 * MS) for rank, work in enumerate((4, 4, 8))}
        story.collective(bcast, "Bcast", members, root=0)
    graph = graph_of(Evidence(story.tables(), story.manifest()))
    assert graph.native.replay({}, [])["leave_ps"].tolist() == graph.leave_ps.tolist()
    assert graph.location[graph.members["call"][graph.members["root"] == 1]].tolist() == [2] * 10
    # The root works 2 ms: its data is there before the others have worked their 4. They take ten times 4 of 90 ms;
    # with a root that waited for them it would be ten times 5.
    gaps = np.where(graph.location == 2, 2 * MS, graph.gap_ps)
    assert saving_if(graph, Hypothesis(gap_ps=gaps)).gain == pytest.approx(1 - 40 / 90)
