"""Figures of the dashboard's timeline: a dense one stays small, single calls and the path are where they were."""

from __future__ import annotations

import base64
import json

import numpy as np
import polars as pl
import pytest
from tests.said import facts

from logpost.analyzer.run.undivided import SHOWN
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.code_lane import LANE, with_code
from logpost.dashboards.figures.dense_timeline import dense_timeline
from logpost.dashboards.figures.efficiency_line import efficiency_line
from logpost.dashboards.figures.folding import Columns, Rows
from logpost.dashboards.figures.path_line import with_path
from logpost.dashboards.figures.single_calls import MOST_ARROWS, MOST_MESSAGES, single_calls
from logpost.dashboards.figures.timeline import timeline

LATE = SHOWN.index("late_sender")


def rows(count: int) -> Rows:
    names = tuple(str(i) for i in range(count))
    of = pl.DataFrame({"location": range(count), "row": range(count)}, schema={"location": pl.Int32, "row": pl.Int32})
    return Rows(of, names, names, names, np.ones(count, dtype=np.int64), "rank")


def test_500_ranks_by_1000_bins_fit_in_two_megabytes() -> None:
    cube = np.zeros((500, 1000, len(SHOWN)))
    cube[:, :, 0] = 3
    cube[7, 11, LATE] = 9
    made = dense_timeline(cube, rows(500), Columns(1000, 1, 10**9))
    views = made.payload()["views"]
    assert len(json.dumps(made.payload()["figure"])) < 2_000_000
    z = np.frombuffer(base64.b64decode(views[0]["traces"][0]["z"]["bdata"]), dtype=np.int8).reshape(500, 1000)
    assert z[7, 11] == LATE
    assert (np.delete(z.ravel(), 7 * 1000 + 11) == 0).all()
    # Nearly everything computes, so the picture starts with what happens besides.
    assert made.first == 1
    busiest = np.frombuffer(base64.b64decode(views[1]["traces"][0]["z"]["bdata"]), dtype=np.int8)
    assert sorted(set(busiest.tolist())) == [-1, LATE]


def test_a_timeline_starts_with_the_view_that_shows_most() -> None:
    def made(*cells: tuple[float, int]) -> list[Chart]:
        """Both timelines of a rank whose cells are compute but for so much of a category."""
        cube = np.zeros((1, len(cells), len(SHOWN)))
        for k, (much, category) in enumerate(cells):
            cube[0, k, 0], cube[0, k, category] = 10 - much, much
        over = Columns(len(cells), 10, 10 * len(cells))
        return [drawn(cube, rows(1), over) for drawn in (timeline, dense_timeline)]

    other = SHOWN.index("latency")
    for chart in made(*[(1, LATE)] * 10, *[(1, other)] * 10):
        assert (chart.first, "Outside compute" in chart.summary) == (1, False)
    # All are compute, and outside compute all are late senders: the chart can show how much is left.
    for chart in made(*[(k % 4 + 1, LATE) for k in range(20)]):
        assert chart.views[chart.first].label == "Share outside compute"
        assert chart.summary.endswith("nearly every cell is mostly late sender.")
    # One category in a few cells shows where it is.
    for chart in made(*[(0, LATE)] * 10, *[(1, LATE)] * 10):
        assert chart.first == 1
    for chart in made(*[(6, LATE)] * 10, *[(1, LATE)] * 10):
        assert chart.first == 0


def test_efficiencies_of_a_bin_are_those_of_its_ranks() -> None:
    # Bin 0: ranks compute 8 and 4 of 10: LB = 6 / 8, CommE = 8 / 10, PE = 6 / 10. Bin 1: nothing.
    cube = np.zeros((2, 2, len(SHOWN)))
    cube[:, 0, 0], cube[:, 0, LATE] = (8, 4), (2, 6)
    lines = {trace.name: trace.y for trace in efficiency_line(cube, Columns(2, 1, 10)).figure.data}
    assert lines["parallel efficiency"] == (60.0, None)
    assert lines["load balance"] == (75.0, None)
    assert lines["communication efficiency"] == (80.0, None)


def test_an_efficiency_equal_to_another_shows_below_it() -> None:
    # Balanced ranks: parallel efficiency = communication efficiency.
    cube = np.zeros((2, 2, len(SHOWN)))
    cube[:, :, 0], cube[:, :, LATE] = 6, 4
    parallel, _, communication = efficiency_line(cube, Columns(2, 1, 10)).figure.data
    assert parallel.y == communication.y
    assert parallel.line.width > communication.line.width


def calls_chart(messages_of: int = 1) -> Chart:
    calls = pl.DataFrame(
        {"row": [0, 1], "call": [5, 9], "enter_ps": [10, 20], "leave_ps": [30, 26], "name": ["<b>MPI_Send", "MPI_Recv"]}
        | {f"{c}_ps": [0, 0] for c in SHOWN[1:]}
        | {"send_overhead_ps": [20, 0], "late_sender_ps": [0, 6]}
    )
    messages = pl.DataFrame(
        {"send_row": [0], "recv_row": [1], "send_enter_ps": [10], "recv_leave_ps": [26], "bytes": [8], "name": ["1:0"]}
        | {"send_call": [5], "send_complete_call": [6], "recv_call": [9]}
    )
    return single_calls(calls, pl.concat([messages] * messages_of), rows(2), 0, 40)


def test_a_call_is_a_bar_from_its_enter_to_its_leave() -> None:
    by_name = {trace.name: trace for trace in calls_chart().figure.data}
    sent = by_name["send overhead"]
    assert (sent.base, sent.x, sent.y) == ((10.0,), (20.0,), (0,))
    assert sent.customdata[0][0] == 5
    assert sent.customdata[0][1].startswith("0: &lt;b&gt;MPI_Send, 20 ps")
    assert (by_name["late sender"].base, by_name["late sender"].y) == ((20.0,), (1,))
    arrow = by_name["messages"]
    assert (arrow.x, arrow.y) == ((10.0, 26.0, None), (0, 1, None))
    assert arrow.customdata[0][0] == "1:0"


def test_of_many_messages_those_of_a_call_are_drawn_when_the_pointer_is_on_it() -> None:
    made = calls_chart(MOST_ARROWS + 1)
    assert "messages" not in {trace.name for trace in made.figure.data}
    assert {name: values[:2] for name, values in made.figure.layout.meta["arrows"].items()} == {
        "calls": [[5, 6, 9]] * 2, "x0": [10.0, 10.0], "y0": [0, 0], "x1": [26.0, 26.0], "y1": [1, 1],
    }  # fmt: skip
    assert "arrows" not in calls_chart(MOST_MESSAGES + 1).figure.layout.meta


@pytest.mark.parametrize("shown", [(0, 40), (12, 40)])
def test_the_path_is_one_more_view(shown: tuple[int, int]) -> None:
    path = pl.DataFrame(
        {"location": [0, 1], "begin_ps": [0, 15], "end_ps": [15, 40], "after": ["begin", "late_sender"]},
        schema_overrides={"location": pl.Int32},
    )
    made = with_path(calls_chart(), path, rows(2), *shown)
    edge, line = made.figure.data[-2:]
    assert (edge.x, edge.y) == (line.x, line.y)
    assert (line.x, line.y) == ((float(shown[0]), 15.0, 15.0, 40.0), (0, 0, 1, 1))
    assert [view.label for view in made.views] == ["Calls and messages", "With the critical path"]
    for trace in (-1, -2):
        assert [view.traces[trace] for view in made.views] == [{"visible": False}, {"visible": True}]
    assert facts(line.customdata[-1]) == ["1", "25 ps", "15 ps", "40 ps", "late sender"]
    # Of 40 ps the path is 15 on rank 0; of 28, 3.
    said = {0: "62.5 % on 1, 37.5 % on 0", 12: "89.3 % on 1, 10.7 % on 0"}[shown[0]]
    assert made.summary.startswith(f"Critical path: {said}; it changes rank 1 time. ")
    assert all(len(view.traces) == len(made.figure.data) for view in made.views)


def test_the_code_between_calls_is_one_more_view() -> None:
    """Samples as marks by function, calls on files as lines, below the middle of their rows; none beyond what is
    shown."""
    samples = pl.DataFrame(
        {
            "location": [0, 0, 1, 1],
            "at_ps": [5, 7, 9, 99],
            "name": ["relax", "relax", "<b>", "relax"],
            "line": [6, 0, 2, 1],
        },
        schema_overrides={"location": pl.Int32},
    )
    files = pl.DataFrame(
        {"location": [1], "enter_ps": [12], "leave_ps": [30], "name": ["read input.bin"]},
        schema_overrides={"location": pl.Int32},
    )
    made = with_code(calls_chart(), samples, files, rows(2), 0, 40)
    relax, other, reads = made.figure.data[-3:]
    assert (relax.x, relax.y) == ((5.0, 7.0), (LANE, LANE))
    assert relax.customdata == ("0 in relax, line 6", "0 in relax")
    assert other.name == "&lt;b&gt;"
    assert (reads.x, reads.y) == ((12.0, 30.0, None), (1 + LANE, 1 + LANE, None))
    assert reads.customdata[0] == "1: read input.bin, 18 ps"
    assert [view.label for view in made.views] == ["Calls and messages", "With the code between calls"]
    assert [view.traces[-1] for view in made.views] == [{"visible": False}, {"visible": True}]
    assert "2 of 3 samples are in relax. " in made.summary
    assert made.summary.endswith(": read input.bin, 18 ps.")
    assert with_code(calls_chart(), samples, files, rows(2), 50, 60).views == ()


def test_what_is_outside_compute_is_a_share_of_the_time_and_not_of_the_bins() -> None:
    """A rank that ends early has a bin of 1 ps, all compute: 9 of 19 ps wait, (9 + 0) / (10 + 8 + 1) = 47.4 %."""
    cube = np.zeros((1, 3, len(SHOWN)))
    cube[0, 0, LATE], cube[0, 0, 0] = 9, 1
    cube[0, 1, 0], cube[0, 2, 0] = 8, 1
    for drawn in (timeline, dense_timeline):
        assert "47.4 % of the time is not compute" in drawn(cube, rows(1), Columns(3, 10, 30)).summary


def test_messages_that_are_too_many_to_draw_are_not_said_to_be_none() -> None:
    made = calls_chart(MOST_MESSAGES + 1)
    assert "messages" not in {trace.name for trace in made.figure.data}
    assert made.summary.startswith("2 calls. Over 10,000 messages are not drawn")
    assert calls_chart().summary == "2 calls and 1 message."
