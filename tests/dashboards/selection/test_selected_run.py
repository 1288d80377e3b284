"""A run through a selection: what the calls say and what the accounting says is the same; parts add up to the whole."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.dashboards.synthetic import ALLREDUCE, EXCHANGE, RECV, SEND, make_run

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.undivided import SHOWN
from logpost.dashboards.app.panels import rank_spans
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import Selection
from logpost.errors import InputError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("scoped") / "a.run")


def test_the_whole_is_the_accounting_of_the_program(run: Run) -> None:
    whole = SelectedRun(run, Selection())
    begin, end = whole.span
    np.testing.assert_allclose(whole.by_rank.sum(axis=1), end - begin)


def test_calls_and_accounting_agree_up_to_where_in_a_call_its_parts_lie(run: Run) -> None:
    windows = run.manifest.windows
    begin, end = 10 * windows.width_ps, 60 * windows.width_ps
    exact = SelectedRun(run, Selection(begin, end))
    # One picosecond less is no whole window: then the calls are read.
    nearly = SelectedRun(run, Selection(begin, end - 1))
    assert exact.windowed
    assert not nearly.windowed
    np.testing.assert_allclose(nearly.by_rank.sum(axis=1), end - 1 - begin, atol=16)
    call_ps = 60 * 10**6  # at most: the longest call with parts of several categories
    np.testing.assert_allclose(nearly.by_rank, exact.by_rank, atol=2 * call_ps)
    assert nearly.by_rank[:, SHOWN.index("compute")] == pytest.approx(exact.by_rank[:, 0], abs=2)


def test_two_halves_are_the_whole(run: Run) -> None:
    whole = SelectedRun(run, Selection())
    begin, end = whole.span
    middle = (begin + end) // 2 + 7
    halves = [SelectedRun(run, Selection(begin, middle)), SelectedRun(run, Selection(middle, end))]
    both = sum((half.by_rank for half in halves), np.zeros_like(whole.by_rank))
    np.testing.assert_allclose(both, whole.by_rank, atol=1e4)


def test_ranks_are_rows_of_the_whole(run: Run) -> None:
    whole, some = SelectedRun(run, Selection()), SelectedRun(run, Selection(ranks=((1, 2),)))
    np.testing.assert_array_equal(some.by_rank, whole.by_rank[1:3])
    assert some.locations["rank"].to_list() == [1, 2]
    assert set(some.messages().collect()["send_location"]) == {0, 1, 2}
    pairs = some.pairs()
    assert all(a in (1, 2) or b in (1, 2) for a, b in pairs.select("send_location", "recv_location").iter_rows())


def test_a_call_path_holds_what_it_calls(run: Run) -> None:
    exchange = SelectedRun(run, Selection(callpath=EXCHANGE))
    assert exchange.callpaths == [EXCHANGE, SEND, RECV, ALLREDUCE, 5]
    sends = SelectedRun(run, Selection(callpath=SEND))
    assert set(sends.messages().collect()["send_callpath"]) == {SEND}
    times = sends.by_rank.sum(axis=0)
    assert {SHOWN[i] for i in np.nonzero(times)[0]} == {"send_overhead"}


@pytest.mark.parametrize("callpath", [EXCHANGE, SEND, RECV, ALLREDUCE])
def test_times_of_a_call_path_are_those_of_its_calls(run: Run, callpath: int) -> None:
    scoped = SelectedRun(run, Selection(callpath=callpath))
    every = scoped.rows(scoped.locations.height)
    of_calls = scoped._of_calls(every, np.asarray(scoped.span, dtype=np.int64))[:, 0, :]
    assert of_calls.any()
    np.testing.assert_allclose(scoped.by_rank, of_calls, rtol=1e-9)


def test_costs_by_call_path_add_up_in_time(run: Run) -> None:
    whole = SelectedRun(run, Selection())
    begin, end = whole.span
    timed = SelectedRun(run, Selection(begin, end)).by_callpath
    plain = whole.by_callpath
    assert timed["exposed_ps"].sum() == pytest.approx(plain["exposed_ps"].sum(), rel=1e-9)
    assert sorted(timed["callpath"].unique()) == sorted(plain["callpath"].unique())


def test_pairs_of_a_stretch_are_those_of_its_messages(run: Run) -> None:
    whole = SelectedRun(run, Selection())
    begin, end = whole.span
    timed = SelectedRun(run, Selection(begin, end)).pairs().sort("send_location", "recv_location")
    plain = whole.pairs().sort("send_location", "recv_location")
    assert timed["bytes"].to_list() == plain["bytes"].to_list()
    assert timed["messages"].to_list() == plain["messages"].to_list()


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (Selection(ranks=((7, 9),)), "no rank .* in the selection .ranks 7-9.; .* rank is 3"),
        (Selection(begin_ps=10**18), "after the run's end"),
        (Selection(callpath=99), "no call path 99; the last one is 5"),
    ],
)
def test_a_selection_of_nothing_says_so(run: Run, selection: Selection, said: str) -> None:
    scoped = SelectedRun(run, selection)
    with pytest.raises(InputError, match=said):
        _ = scoped.locations, scoped.span, scoped.callpaths


def test_overlapping_spans_of_ranks_are_their_union(run: Run) -> None:
    # 0-2 reaches beyond 1-1, and no rank is above 10.
    chosen = SelectedRun(run, Selection(ranks=((0, 2), (1, 1), (10, 99))))
    assert sorted(chosen.locations["rank"].to_list()) == [0, 1, 2]


def test_more_ranks_than_rows_are_grouped_and_clicks_name_them(run: Run) -> None:
    whole = SelectedRun(run, Selection())
    count = whole.locations.height
    assert not whole.behaving(count).grouping
    made = whole.behaving(count - 1)
    spans = rank_spans(made, whole)
    named = [rank for one in spans for low, high in zip(one[::2], one[1::2], strict=True)
             for rank in range(low, high + 1)]  # fmt: skip
    assert sorted(named) == list(range(count))


def test_short_calls_cover_more_of_a_picture_than_they_take(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """1000 ps in 10 columns: calls of 10, 10 and 1 ps are in two columns, 200 ps; 179 ps of 4 ranks' 4000 are no call.

    The call of 400 ps is as long as it is drawn. The time in ps exceeds 32 bits as soon as a run lasts 5 ms.
    """
    calls = pl.DataFrame(
        {"location": [0, 0, 0, 1], "enter_ps": [0, 150, 155, 300], "leave_ps": [10, 160, 156, 700]},
        schema_overrides={"location": pl.Int32},
    )

    def overdrawn(some: pl.DataFrame, span: tuple[int, int]) -> float:
        monkeypatch.setattr(SelectedRun, "calls", lambda _scoped: some.lazy())
        monkeypatch.setattr(SelectedRun, "span", span)
        return SelectedRun(run, Selection()).overdrawn(10)

    assert overdrawn(calls, (0, 1000)) == pytest.approx(179 / 4000)
    long = calls.with_columns(pl.col("enter_ps", "leave_ps") * 10**8)
    assert overdrawn(long, (0, 1000 * 10**8)) == pytest.approx(179 / 4000)
    assert overdrawn(calls.clear(), (0, 1000)) == 0
