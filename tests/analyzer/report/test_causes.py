"""Critical path and delay costs in a report, of a run written as its tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.story import MS, Story
from tests.said import facts

from logpost.analyzer.render.report.causes import delay_rows, delays_summary, path_rows, path_summary
from logpost.analyzer.render.report.json import as_json
from logpost.analyzer.report.build import build
from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run

PROFILE = schema.PATH_PROFILE.schema
COSTS = schema.DELAY_COSTS.schema


class WithCauses(Run):
    """A run of two ranks: rank 0 computes 30 ms in `solve`, then sends; rank 1 computes 10 ms, waits 20 ms in its
    receive for 1 ms of transfer, and computes 9 ms."""

    def __init__(self, run: Run, solve: int, recv: int) -> None:
        super().__init__(run.path, run.manifest)
        self.causes = {
            "critical_path": pl.DataFrame(
                [(0, 0, 30 * MS, -1, "begin"), (1, 30 * MS, 40 * MS, 1, "late_sender")],
                schema=schema.CRITICAL_PATH.schema,
                orient="row",
            ),
            "path_profile": pl.DataFrame(
                [
                    (0, solve, "program", "compute", 30 * MS, 30 * MS, 0),
                    (0, -1, "program", "compute", 9 * MS, 0, 0),
                    (0, solve, "program", "send_overhead", 1 * MS, 0, 0),
                    (1, recv, "program", "compute", 10 * MS, 0, 0),
                    (1, recv, "program", "late_sender", 20 * MS, 0, 20 * MS),
                    (1, recv, "program", "recv_overhead", 1 * MS, 1 * MS, 0),
                    (1, -1, "program", "compute", 9 * MS, 9 * MS, 0),
                ],
                schema=PROFILE,
                orient="row",
            ),
            "delay_costs": pl.DataFrame(
                [
                    (0, solve, "computation", recv, "late_sender", 18 * MS, 0),
                    (-1, -1, "unexplained", -1, "late_sender", 2 * MS, 0),
                ],
                schema=COSTS,
                orient="row",
            ),
        }

    def table(self, name: str) -> pl.LazyFrame:
        return self.causes[name].lazy() if name in self.causes else super().table(name)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    story = Story(2, 40 * MS)
    send, recv = story.path("main", "solve", "MPI_Send"), story.path("main", "solve", "MPI_Recv")
    story.site(send, "/src/cg.c", 120)
    story.call(0, 30 * MS, 31 * MS, send, send_overhead=MS)
    story.call(1, 10 * MS, 31 * MS, recv, late_sender=20 * MS, recv_overhead=MS)
    return WithCauses(story.write(tmp_path / "story.run"), send, recv)


def test_the_path_names_ranks_categories_and_places(run: Run) -> None:
    path = build(run).critical_path
    assert path is not None
    assert facts(path_summary(path)) == [
        "40.0 ms",
        "1",
        "0",
        "75.0 %",
        "1",
        "25.0 %",
        "compute",
        "97.5 %",
        "recv overhead",
        "2.5 %",
    ]
    # Rank 1 is active for 20 ms of the path's 40. In `solve` the path computes 30 ms, rank 1 10 and rank 0 30: all of
    # rank 1's idle 20 ms are because of that. Rank 0 is never idle.
    assert path_rows(path) == [
        ("30.0 ms", "75.0 %", "20.0 ms", "computation before main / solve / MPI_Send (cg.c:120)"),
        ("9.00 ms", "22.5 %", "0 s", "computation after the last call"),
        ("1.00 ms", "2.5 %", "0 s", "main / solve / MPI_Recv"),
    ]


def test_delays_name_the_code_that_makes_others_wait(run: Run) -> None:
    delays = build(run).delays
    assert delays is not None
    assert delays_summary(delays).startswith("20.0 ms of waiting for other ranks, 90.0 % ")
    assert delays_summary(delays).endswith("since the two last met"), "the split has all of it as waiting"
    unknown = replace(delays, split_waits_ps=MS, split_undivided_ps=22 * MS)
    assert facts(delays_summary(unknown))[-2:] == ["1.00 ms", "22.0 ms"]
    assert delay_rows(delays) == [
        ("18.0 ms", "90.0 %", "18.0 ms", "0 s", "rank 0", "computation before main / solve / MPI_Send (cg.c:120)")
    ]


def test_json_has_both_in_seconds(run: Run) -> None:
    data = as_json(build(run), top=1)
    path, delays = data["critical_path"], data["delays"]
    assert path["program_s"] == pytest.approx(0.04)
    assert path["whole_s"] == pytest.approx(0.04)
    assert path["changes_of_rank"] == 1
    (place,) = path["places"]
    assert (place["line"], place["computation"], place["on_path_s"]) == (120, True, pytest.approx(0.03))
    assert place["imbalance_s"] == pytest.approx(0.02)
    assert delays["unexplained_s"] == pytest.approx(0.002)
    assert delays["places"][0]["short_term_s"] == pytest.approx(0.018)


def test_runs_from_before_have_neither(tmp_path: Path) -> None:
    story = Story(1, MS)
    report = build(story.write(tmp_path / "old.run"))
    assert report.critical_path is None
    assert report.delays is None
