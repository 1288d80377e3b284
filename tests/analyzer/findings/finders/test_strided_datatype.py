"""Strided datatypes: what packing costs."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.finders import strided_datatype


def columns(layout: int) -> Story:
    """Rank 0 sends ten columns, 2 ms of packing each, every 10 ms."""
    story = Story(2, 100 * MS)
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    for i in range(10):
        t = 10 * i * MS + 7 * MS
        story.call(0, t, t + 3 * MS, send, send_overhead=MS, middleware=2 * MS)
        story.call(1, t, t + 3 * MS, recv, latency=3 * MS)
        story.message(0, 1, 4096, (t, t + 3 * MS), (t, t + 3 * MS), (send, recv), send_overhead=MS, middleware=2 * MS)
        story.rows["messages"][-1]["layout"] = layout
    return story


def test_packing_is_named_with_its_place() -> None:
    finding = columns(0).alone(strided_datatype.find).row(0, named=True)
    assert (finding["ranks"], finding["region"]) == ([0], "MPI_Send")
    assert finding["title"].endswith("packing takes 2.00 ms each")
    assert finding["gain"] == pytest.approx(0.2)
    # Rank 0 packs for 10 * 2 of its 100 ms, and rank 1 is in its receives for as much longer.
    assert (finding["exposed_ps"], finding["share"]) == (40 * MS, pytest.approx(0.2))


def test_middleware_of_contiguous_data_is_no_datatype() -> None:
    assert columns(-1).alone(strided_datatype.find).is_empty()
