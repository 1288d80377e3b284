"""Figures of the dashboard's pages beyond the report's: their data, from tables whose numbers are in the test."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.dashboards.synthetic import BLOCK_BYTES, EXCHANGE, HALO_BYTES, MAIN, RECV, SEND, make_run
from tests.said import facts, says

from logpost.analyzer.explain.messages import candidates, explain
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Ask, Axis, Point, Prediction, Replay, Sweep, Tolerance
from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import Share
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.undivided import SHOWN, UNDIVIDED
from logpost.analyzer.words.units import time_text
from logpost.dashboards.figures import palette, prediction, sizes
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.icicle import LEVEL_HEIGHT, MOST, icicle, icicle_height
from logpost.dashboards.figures.links import links
from logpost.dashboards.figures.machine_curves import machine_curves
from logpost.dashboards.figures.overview import overview
from logpost.dashboards.figures.partition import partition
from logpost.dashboards.figures.rank_changes import rank_changes
from logpost.dashboards.selection import messages
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import Selection
from logpost.dashboards.selection.tree import tree
from logpost.machines import load_machine, replay_parameters
from logpost.replay.cost.message import message_costs
from logpost.replay.cost.parameters import native_parameters

MS = 10**9


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("figures") / "a.run")


@pytest.fixture(scope="module")
def real(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A ping-pong of two ranks, with its machine."""
    archive = next((traces / "pipit-ping-pong").glob("*.otf2"))
    return Run.open(analyze(Request(str(archive), str(tmp_path_factory.mktemp("real") / "a.run"))))


def test_messages_by_size(run: Run) -> None:
    # 12 iterations of 4 ranks: 4 halos of 8 KiB (2^13) and 3 blocks of 64 KiB (2^16) each.
    classes = messages.by_size(SelectedRun(run, Selection()))
    assert classes.select("power", "messages", "bytes").rows() == [
        (13, 48, 48 * HALO_BYTES),
        (16, 36, 36 * BLOCK_BYTES),
    ]
    made = sizes.by_size(classes)
    assert made.figure.data[0].y == (48.0, 36.0)
    assert made.views[1].traces[0]["y"] == [48 * HALO_BYTES / 2**20, 36 * BLOCK_BYTES / 2**20]
    assert made.views[2].traces[0]["customdata"][0].startswith("from 8.00 KiB: ")


def test_messages_by_time_add_up(run: Run) -> None:
    scoped = SelectedRun(run, Selection())
    classes = messages.by_time(scoped)
    envelopes = scoped.messages().collect()["envelope_ps"]
    assert classes["messages"].sum() == len(envelopes)
    assert classes["envelope_ps"].sum() == envelopes.sum()
    assert sum(sizes.by_time(classes).figure.data[0].y) == len(envelopes)


def test_measured_time_has_no_waits_and_the_model_lacks_the_residual() -> None:
    classes = pl.DataFrame(
        {"bytes": [8.0, 1024.0], "messages": [3, 4], "low_ps": [1e6, 2e6], "middle_ps": [2e6, 4e6]}
        | {"high_ps": [3e6, 8e6], "modelled_ps": [2e6, 1e6]}
    )
    made = sizes.measured_and_modelled(classes)
    by_name = {trace.name: trace for trace in made.figure.data}
    assert by_name["measured (median, middle half)"].y == (2.0, 4.0)
    assert by_name["model (median)"].y == (2.0, 1.0)
    assert by_name["middle half"].y == (3.0, 8.0, 2.0, 1.0)
    assert made.summary.endswith("The model is furthest off at 1.00 KiB.")


def test_messages_of_a_size_are_one_class(run: Run) -> None:
    classes = messages.measured_and_modelled(SelectedRun(run, Selection()))
    assert classes["bytes"].to_list() == [HALO_BYTES, BLOCK_BYTES]
    assert (classes["low_ps"] <= classes["middle_ps"]).all()
    assert (classes["modelled_ps"] == classes["middle_ps"]).all(), "the stencil's messages have no residual"


def test_a_box_is_as_long_as_what_it_calls(run: Run) -> None:
    scoped = SelectedRun(run, Selection())
    nodes = tree(scoped)
    time = dict(nodes.select("callpath", "time_ps").iter_rows())
    assert time[MAIN] >= time[EXCHANGE] >= time[SEND] + time[RECV]
    box = icicle(nodes, scoped.by_callpath).figure.data[0]
    values = dict(zip(box.ids, box.values, strict=True))
    assert values == {str(c): t for c, t in time.items() if t}
    colours = dict(zip(box.ids, box.meta["categories"], strict=True))
    assert colours[str(SEND)] == "send_overhead"
    assert dict(zip(box.ids, box.parents, strict=True))[str(SEND)] == str(EXCHANGE)
    below = icicle(nodes, scoped.by_callpath, roots=(SEND,)).figure.data[0]
    assert below.ids == (str(SEND),)


def test_the_tree_has_start_up_only_on_demand(run: Run) -> None:
    scoped = SelectedRun(run, Selection())
    names = dict(tree(scoped, start_up=True).select("name", "time_ps").iter_rows())
    program = dict(tree(scoped).select("name", "time_ps").iter_rows())
    assert set(names) - set(program) == {"MPI_Init"}
    assert names["MPI_Init"] > 0
    # The synthetic program starts up within both of its functions.
    assert program["main"] == names["main"] - names["MPI_Init"]
    assert program["exchange"] == names["exchange"] - names["MPI_Init"]
    assert program["MPI_Send"] == names["MPI_Send"]


def test_the_tree_of_a_stretch_of_time_holds_its_calls(run: Run) -> None:
    begin, end = SelectedRun(run, Selection()).span
    scoped = SelectedRun(run, Selection(begin, (begin + end) // 2))
    time = dict(tree(scoped).select("callpath", "time_ps").iter_rows())
    assert time[MAIN] == scoped.by_callpath["exposed_ps"].sum()


def test_an_icicle_draws_the_largest_with_their_callers() -> None:
    count = 3 * MOST
    nodes = pl.DataFrame(
        {"callpath": range(count), "parent": [-1, *[0] * (count - 1)], "name": ["<b>f"] * count}
        | {"time_ps": [10**6, *range(1, count)], "samples": [0] * count}
    )
    none = pl.DataFrame(schema={"callpath": pl.Int32, "category": pl.String, "exposed_ps": pl.Int64})
    box = icicle(nodes, none).figure.data[0]
    assert len(box.ids) == MOST
    assert "0" in box.ids
    assert str(count - 1) in box.ids
    assert set(box.labels) == {"&lt;b&gt;f"}


def test_call_paths_that_nothing_calls_are_under_one_box() -> None:
    # Two trees of 3 and 1 µs; half of the second one's time is a late sender's, which is less than what is computed.
    nodes = pl.DataFrame(
        {"callpath": [0, 1, 2], "parent": [-1, -1, 0], "name": ["a", "b", "c"]}
        | {"time_ps": [3 * 10**6, 10**6, 10**6], "samples": [0, 0, 0]}
    )
    parts = pl.DataFrame({"callpath": [1], "category": ["late_sender"], "exposed_ps": [500_000]})
    made = icicle(nodes, parts)
    box = made.figure.data[0]
    at = {name: dict(zip(box.ids, column, strict=True)) for name, column in (
        ("parent", box.parents), ("value", box.values), ("category", box.meta["categories"]))}  # fmt: skip
    assert at["parent"] == {"0": "all", "1": "all", "2": "0", "all": ""}
    assert at["value"]["all"] == 4 * 10**6
    assert at["category"]["all"] == "compute"
    assert made.figure.layout.height == icicle_height(nodes) == 20 + 3 * LEVEL_HEIGHT


def test_a_call_path_too_short_to_be_seen_has_no_box() -> None:
    nodes = pl.DataFrame(
        {"callpath": [0, 1, 2], "parent": [-1, 0, 0], "name": ["a", "b", "c"]}
        | {"time_ps": [10**7, 10**4, 10**3], "samples": [0, 12, 0]}
    )
    none = pl.DataFrame(schema={"callpath": pl.Int32, "category": pl.String, "exposed_ps": pl.Int64})
    box = icicle(nodes, none).figure.data[0]
    assert box.ids == ("0", "1")
    assert ["estimated by 12 samples" in text for text in box.customdata] == [False, True]


def test_pieces_of_a_message_fill_its_envelope(real: Run) -> None:
    found = explain(real, candidates(real, 1)[0].name).messages[0]
    made = partition(found)
    assert made.figure.layout.xaxis.title.text.startswith("time from the message's begin (")
    assert made.figure.layout.showlegend
    assert {trace.width for trace in made.figure.data} == {0.7}, "a part of few models is as high as the others"
    assert {trace.name for trace in made.figure.data} == {
        palette.label(piece.part) for split in found.splits for piece in split.pieces if piece.end_ps > piece.begin_ps
    }
    envelope = made.figure.layout.xaxis.range[1]
    for row in range(len(found.splits)):
        pieces = (x for trace in made.figure.data for x, y in zip(trace.x, trace.y, strict=True) if y == row)
        assert sum(pieces) == pytest.approx(envelope, rel=1e-5)


def test_a_prediction_shows_both_paths_and_the_sweep_its_band(real: Run) -> None:
    replay = Replay(real)
    found = replay.predict(Ask(("L=x8",), sweep="L=x0.5:x8:3"))

    def lengths(made: Chart) -> list[float]:
        bars = [trace for trace in made.figure.data if trace.type == "bar"]
        return [sum(bar.x[i] for bar in bars) for i in range(len(bars[0].x))]

    shown = lengths(prediction.before_and_after(found))
    assert shown[1] / shown[0] == pytest.approx(found.predicted_ps / found.measured_ps, rel=1e-4)
    # The interval contains the predicted bar's end.
    interval = prediction.before_and_after(found).figure.data[-1]
    assert (interval.y, interval.x[0]) == ((1,), pytest.approx(shown[1], rel=1e-4))
    ends = [interval.x[0] - interval.error_x.arrayminus[0], interval.x[0] + interval.error_x.array[0]]
    assert ends[1] / ends[0] == pytest.approx(found.interval_ps[1] / found.interval_ps[0], rel=1e-4)
    assert f"slower than {time_text(build(real).program_ps)}" in prediction.before_and_after(found).summary
    assert found.sweep is not None
    made = prediction.sweep(found.sweep, found.measured_ps)
    line = next(trace for trace in made.figure.data if trace.name == "predicted")
    assert line.x == (0.5, 2.0, 8.0)
    assert made.figure.layout.xaxis.ticktext == ("×0.5", "×2", "×8")
    assert list(line.y) == sorted(line.y)
    band = next(trace for trace in made.figure.data if trace.name == "interval")
    assert band.x == (0.5, 2.0, 8.0, 8.0, 2.0, 0.5)
    # A ping-pong waits for each message: of 8 times the latency nearly all arrives.
    assert made.figure.layout.shapes[-1].label.text == "latency dominated"
    changes = prediction.regions(found.regions).figure.data[0]
    assert max(changes.x) > 0
    assert replay.predict(Ask()).predicted_ps == found.measured_ps
    compared = prediction.on_machines({"slower": found, "same": replay.predict(Ask())})
    measured, slower, same = lengths(compared)
    assert measured == pytest.approx(same)
    assert slower / measured == pytest.approx(found.predicted_ps / found.measured_ps, rel=1e-4)
    # The faster one is named first.
    assert compared.summary.index(" on same") < compared.summary.index(" on slower")


def test_a_machine_has_a_curve_per_distance() -> None:
    parameters = native_parameters(replay_parameters(load_machine("alewife")))
    at = np.array([8.0, 64.0])
    own = np.array([8.0])
    costs, stated = message_costs(parameters, at), (own, message_costs(parameters, own))
    made = machine_curves(at, {"other_node": costs}, stated={"other_node": stated})
    ends, _, marks = made.figure.data
    assert (ends.mode, marks.mode, list(marks.x), marks.y[0]) == ("lines", "markers", [8.0], ends.y[0])
    expected = message_costs(parameters, at).total
    assert np.asarray(ends.y) == pytest.approx(np.asarray(expected) / 1e6, rel=1e-4)
    # Ticks over many decades say their unit each; a point says it of its value.
    assert "10.0 µs" in made.figure.layout.yaxis.ticktext
    assert "%{y:.4~g} µs<br>" in ends.hovertemplate


def test_no_text_stands_in_a_pattern() -> None:
    dotted, plain = (
        overview([Share("late_sender", 30, 0.3), Share(UNDIVIDED, 70, 0.7)]),
        overview([Share("late_sender", 70, 0.7), Share(UNDIVIDED, 30, 0.3)]),
    )
    assert [bar.textposition for bar in dotted.figure.data] == ["outside", "outside"]
    assert [bar.textposition for bar in plain.figure.data] == ["inside", "outside"]
    assert dotted.figure.layout.xaxis.range[1] > 1.7 * 70, "room for the text next to it"


def test_the_change_of_each_rank_is_b_minus_a() -> None:
    before, after = np.zeros((3, len(SHOWN))), np.zeros((3, len(SHOWN)))
    late = SHOWN.index("late_sender")
    before[1, late], after[1, 0] = 5e9, 2e9
    made = rank_changes(before, after, ["rank 0", "rank 1", "<b>2"])
    by_name = {trace.name: trace.x for trace in made.figure.data}
    assert by_name == {"compute": (0.0, 2.0, 0.0), "late sender": (0.0, -5.0, 0.0)}
    assert made.summary == "rank 1 changes most: −3.00 ms in all."


def test_links_stand_in_the_order_of_their_bytes_over_time() -> None:
    # Phases of 1 ms and 2 ms, with 1 ms between them that belongs to none.
    traffic = pl.DataFrame({"traffic_phase": [0, 1], "begin_ps": [0, 2 * MS], "end_ps": [MS, 4 * MS]})
    carried = pl.DataFrame(
        {"traffic_phase": [0, 1, 1], "from_vertex": [0, 1, 0], "to_vertex": [1, 2, 1], "bytes": [5, 100, 7]}
        | {"utilisation": [0.1, 0.5, 0.2], "granted_ps": [0, 9, 0], "messages": [1, 1, 1]}
    )
    made = links(carried, traffic)
    assert made.summary == "The most bytes go over link 1 → 2."
    assert made.views[0].traces[0]["z"] == [[None, None, 0.5], [0.1, None, 0.2]]
    assert made.figure.data[0].x == (0.0, 1.0, 2.0, 4.0)
    assert made.figure.layout.xaxis.title.text == "time (ms)"
    assert made.figure.layout.meta["ps_per_x"] == MS
    contention = made.views[2].traces[0]
    assert contention["text"][0][2] == "link 1 → 2, 2.00 ms to 4.00 ms<br>9 ps"


@pytest.mark.slow
def test_every_figure_of_every_page_is_below_two_megabytes(tmp_path: Path) -> None:

    from logpost.dashboards.app.jobs import WorkingError
    from logpost.dashboards.app.pages import PAGES
    from logpost.dashboards.app.runs import Runs
    from logpost.dashboards.app.state import read
    from logpost.dashboards.app.view import View
    from logpost.errors import InputError

    runs = Runs([make_run(tmp_path / "a.run", ranks=70, iterations=4).path, make_run(tmp_path / "b.run").path])
    drawn = 0
    for page in PAGES:
        for name, make in page.CHARTS.items():
            made = None
            while made is None:
                try:
                    made = make(View(runs, read(f"/{page.NAME}", "?message=0:5&factors=L:2")))
                except WorkingError:
                    continue
                except InputError:
                    break
            if made is not None:
                drawn += 1
                assert len(json.dumps(made.payload())) < 2_000_000, name
    assert drawn >= 15


def test_a_band_that_says_next_to_nothing_leaves_the_picture_to_the_line() -> None:
    points = [Point(f"x{x:g}", length, (length // 2, 10_000 * length)) for x, length in ((1.0, 4 * MS), (2.0, 5 * MS))]
    made = prediction.sweep(Sweep(Axis("L", "time", True, (1.0, 2.0)), points, [], 0, [], []), 4 * MS, machine="here")
    # Twice the line's 5 ms, in ms and not in the band's seconds.
    assert made.figure.layout.yaxis.range == (0, 10)
    assert made.figure.layout.yaxis.title.text == "predicted length (ms)"
    assert made.figure.layout.xaxis.title.text == "L, times the machine's"
    assert facts(made.summary) == ["50.0 s"]


def test_only_a_curve_without_its_tolerances_offers_to_search_them() -> None:
    points = [Point("x1", 4 * MS, (4 * MS, 4 * MS)), Point("x2", 5 * MS, (5 * MS, 5 * MS))]
    unsearched = Sweep(Axis("L", "time", True, (1.0, 2.0)), points, [], 0, [], [])
    assert prediction.sweep(unsearched, 4 * MS).open == "Search which L makes the run 1, 2, 5 and 10 % longer"
    searched = replace(unsearched, tolerances=[Tolerance(1, 1.04)])
    assert "longer by 1 % at" in prediction.sweep(searched, 4 * MS).summary
    assert prediction.sweep(searched, 4 * MS).open == ""


def test_shares_that_no_value_reaches_are_said_together() -> None:
    points = [Point("x1", 4 * MS, (4 * MS, 4 * MS)), Point("x2", 5 * MS, (5 * MS, 5 * MS))]
    some = [Tolerance(1, 1.04), Tolerance(2, None), Tolerance(5, None), Tolerance(10, None)]
    made = prediction.sweep(Sweep(Axis("L", "time", True, (1.0, 2.0)), points, [], 0, some, []), 4 * MS)
    assert says(made.summary, "1 %", "1.04", "2", "5", "10 %")


def replace_path(found: Prediction, parts: dict[str, int]) -> Prediction:
    """The prediction with such paths."""
    path = {**dict.fromkeys(found.before.path_ps, 0), **parts}
    outcome = replace(found.before, path_ps=path, makespan_ps=sum(path.values()))
    return replace(found, before=outcome, after=outcome, measured_ps=outcome.makespan_ps)


def test_a_path_that_the_machine_makes_too_long_ends_where_it_was_measured(real: Run) -> None:
    """10 ms of latency and -6 ms in calls are 4 ms: 6 ms lie left of 0, not on top of the 10."""
    found = replace_path(Replay(real).predict(Ask()), {"latency": 10 * MS, "other": -6 * MS})
    made = prediction.before_and_after(found)
    assert made.figure.layout.barmode == "relative"
    assert facts(made.summary)[-2:] == ["6.00 ms", "0"]
    assert {bar.name: bar.x[0] for bar in made.figure.data} == {"calls as measured": -6.0, "latency": 10.0}
