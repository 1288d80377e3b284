"""The chart of what each thread did, and the rows that it is made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.analyzer.story import MS, Story
from tests.said import facts

from logpost.analyzer.run.schema import THREAD_CATEGORIES
from logpost.dashboards.figures.thread_times import INK, thread_times
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import Selection


def test_every_category_that_occurs_is_a_part_of_every_bar() -> None:
    each = np.zeros((2, len(THREAD_CATEGORIES)))
    each[0, THREAD_CATEGORIES.index("parallel")] = 30 * MS
    each[1, THREAD_CATEGORIES.index("parallel")] = 10 * MS
    each[1, THREAD_CATEGORIES.index("imbalance")] = 20 * MS
    chart = thread_times(each, ["0.0", "0.1"])
    data = {trace["name"]: trace for trace in chart.payload()["figure"]["data"]}
    assert list(data) == ["in parallel regions", "waiting at barriers (imbalance)"]
    assert data["waiting at barriers (imbalance)"]["x"] == [0.0, 20.0]
    assert data["in parallel regions"]["customdata"][1] == "<b>0.1</b> in parallel regions: 10.0 ms, 33.3 %"
    assert facts(chart.summary) == ["2", "66.7 %", "33.3 %"]
    assert list(INK) == list(THREAD_CATEGORIES)


def test_the_threads_of_selected_ranks_are_shown(tmp_path: Path) -> None:
    story = Story(2, 100 * MS)
    region, barrier = story.path("!$omp parallel"), story.path("!$omp parallel", "!$omp implicit barrier")
    meet = story.path("MPI_Barrier")
    for rank in range(2):
        story.parallel(rank, 0, [10 * MS, 20 * MS + rank * MS], region, barrier)
    story.collective(meet, "Barrier", {0: (90 * MS, 100 * MS), 1: (90 * MS, 100 * MS)})
    run = story.write(tmp_path / "run")
    each, named = SelectedRun(run, Selection()).threads(64)
    assert [one.short for one in named] == ["0.0", "0.1", "1.0", "1.1"]
    assert (each.sum(axis=1) == 100 * MS).all()
    assert each[:, THREAD_CATEGORIES.index("imbalance")].tolist() == [10 * MS, 0, 11 * MS, 0]
    each, named = SelectedRun(run, Selection(ranks=((1, 1),))).threads(64)
    assert [one.short for one in named] == ["1.0", "1.1"]
    assert [one.short for one in SelectedRun(run, Selection()).threads(3)[1]] == ["0.0", "0.1", "1.0"]


def test_what_the_colours_of_threads_stand_for_is_said() -> None:
    each = np.full((1, len(THREAD_CATEGORIES)), 1 * MS, dtype=np.float64)
    chart = thread_times(each, ["0.0"]).payload()["figure"]
    assert chart["layout"]["showlegend"] is True
    assert len({trace["name"] for trace in chart["data"]}) == len(THREAD_CATEGORIES)
