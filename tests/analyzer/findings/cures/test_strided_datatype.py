"""Strided datatypes: what packing costs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.cures import strided_datatype
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.run.manifest import Layout


def columns(layout: int) -> Story:
    """Rank 0 sends ten columns, 2 ms of packing each, every 10 ms."""
    story = Story(2, 100 * MS)
    story.loggp |= {"o_s": 1000.0}
    story.layouts = [Layout(blocks=512, block_bytes=8, stride_bytes=4096, extent_bytes=2_097_152)]
    send, recv = story.path("main", "MPI_Send"), story.path("main", "MPI_Recv")
    for i in range(10):
        t = 10 * i * MS + 7 * MS
        story.call(0, t, t + 3 * MS, send, send_overhead=MS, middleware=2 * MS)
        story.call(1, t, t + 3 * MS, recv, latency=3 * MS)
        story.message(0, 1, 4096, (t, t + 3 * MS), (t, t + 3 * MS), (send, recv), send_overhead=MS, middleware=2 * MS)
        story.rows["messages"][-1]["layout"] = layout
    return story


def test_packing_is_named_with_its_place(tmp_path: Path) -> None:
    finding = columns(0).alone(strided_datatype.find).row(0, named=True)
    assert (finding["ranks"], finding["region"]) == ([0], "MPI_Send")
    assert finding["title"].endswith("packing lasts 2.00 ms each")
    # Half of the 2 ms is at either end: rank 0 ends each of ten sends 1 ms earlier, in 100 ms.
    assert finding["gain"] == pytest.approx(0.1)


def test_middleware_of_contiguous_data_is_no_datatype(tmp_path: Path) -> None:
    assert columns(-1).alone(strided_datatype.find).is_empty()


@pytest.mark.parametrize(("layout", "unexplained"), [(0, 3 * MS), (-1, 0)])
def test_what_is_not_explained_of_strided_data_is_packing(layout: int, unexplained: int) -> None:
    story = columns(layout)
    for row in story.rows["messages"]:
        row |= {"residual_ps": 3 * MS, "envelope_ps": row["envelope_ps"] + 3 * MS}
    with story.as_run() as run:
        assert set(Program(run).build().packing_ps.tolist()) == {2 * MS + unexplained}
