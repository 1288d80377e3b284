"""The critical path of every archive is as long as its execution, and as long as Scalasca's."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.archives import DATA

from logpost.analyzer.report.causes import path_by_place
from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run


def length(rows: pl.DataFrame) -> int:
    return int((rows["end_ps"] - rows["begin_ps"]).sum())


def test_the_path_is_as_long_as_the_execution_without_a_gap(runs: dict[str, Run]) -> None:
    paths = 0
    for name, run in runs.items():
        ranks = run.table("locations").filter("accounted").collect()
        path = run.table("critical_path").collect()
        if ranks.is_empty():
            assert path.is_empty(), name
            continue
        first, last = ranks.select(pl.col("first_ps").min(), pl.col("last_ps").max()).row(0)
        assert (path["begin_ps"][0], path["end_ps"][-1]) == (first, last), name
        assert (path["begin_ps"][1:] == path["end_ps"][:-1]).all(), name
        assert length(path) == last - first, name
        paths += 1
    assert paths > 15


def test_the_profile_holds_all_time_and_all_of_the_path(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        profile = run.table("path_profile").collect()
        assert (profile["on_path_ps"] >= 0).all(), name
        assert (profile["on_path_ps"] <= profile["spent_ps"]).all(), name
        path = run.table("critical_path").collect()
        assert profile["on_path_ps"].sum() == length(path.filter(pl.col("location") >= 0)), name
        accounting = run.table("accounting").group_by("location", "phase", "category").agg(pl.col("exposed_ps").sum())
        both = profile.group_by("location", "phase", "category").agg(pl.col("spent_ps").sum())
        keys = ["location", "phase", "category"]
        assert both.sort(keys).rows() == accounting.sort(keys).collect().rows(), name


def test_the_path_spends_no_time_in_the_waits_that_it_follows(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        path = run.table("critical_path").filter(pl.col("call") >= 0).collect()
        calls = run.table("calls").select("location", "enter_ps", "leave_ps").collect()[path["call"]]
        assert (calls["location"] == path["location"]).all(), name
        assert (calls["enter_ps"] < path["begin_ps"]).all(), name
        assert (path["begin_ps"] <= calls["leave_ps"]).all(), name


def test_the_path_is_as_long_as_scalascas(runs: dict[str, Run]) -> None:
    totals = json.loads((DATA / "scalasca-totals.json").read_text())
    compared = 0
    for name, opinion in totals.items():
        # Scalasca's path is from where the last rank to enter MPI_Init did so to where the last one entered
        # MPI_Finalize.
        mpi = runs[name].table("calls").join(runs[name].table("regions"), on="region").collect()
        begin = mpi.filter(pl.col("name").str.starts_with("MPI_Init"))["enter_ps"].max()
        end = mpi.filter(pl.col("name") == "MPI_Finalize")["enter_ps"].max()
        assert isinstance(begin, int)
        assert isinstance(end, int)
        path = runs[name].table("critical_path").filter(pl.col("begin_ps") < end, pl.col("end_ps") > begin).collect()
        inside = path.select(
            pl.min_horizontal("end_ps", pl.lit(end)) - pl.max_horizontal("begin_ps", pl.lit(begin))
        ).to_series()
        assert int(inside.sum()) * 1e-12 == pytest.approx(opinion["critical_path"], rel=1e-9), name
        compared += 1
    assert compared == 7


def as_scalasca_counts(run: Run) -> pl.LazyFrame:
    """The profile without the path in finalization; fences, Alltoallv, and what makes handles, without waits."""
    callpaths = run.table("callpaths").join(run.table("regions"), on="region").select("callpath", "name")
    unknown = pl.col("name").is_in(["MPI_Win_fence", "MPI_Alltoallv"])
    unknown |= pl.col("name").str.contains("^MPI_(Comm|Cart|Win)_(create|dup|split|sub|allocate|free)")
    return (
        run.table("path_profile")
        .join(callpaths, on="callpath", how="left")
        .with_columns(
            waited_ps=pl.when(unknown.fill_null(value=False)).then(0).otherwise(pl.col("waited_ps")),
            on_path_ps=pl.when(pl.col("phase") == "shut_down").then(0).otherwise(pl.col("on_path_ps")),
        )
    )


def test_the_path_costs_what_scalasca_says(runs: dict[str, Run]) -> None:
    """Imbalance impact and activity impact; docs/causes.md (5) lists the differences."""
    totals = json.loads((DATA / "scalasca-totals.json").read_text())
    for name, opinion in totals.items():
        sums = path_by_place(runs[name], as_scalasca_counts(runs[name])).sum()
        path, imbalance, activity = (
            int(sums[column][0]) * 1e-12 for column in ("on_path_ps", "imbalance_ps", "activity_ps")
        )
        # logpost's path begins before the last MPI_Init: for each rank, idle time by as much.
        ranks = runs[name].table("locations").filter("accounted").collect().height
        before = ranks * (path - opinion["critical_path"])
        assert 0 <= before < 1e-3, name
        assert imbalance - before == pytest.approx(opinion["critical_imbalance_impact"], rel=1e-8), name
        assert activity == pytest.approx(opinion["critical_path_activities"], rel=2e-3), name
    assert len(totals) == 7


def test_the_kinds_of_waits_have_names() -> None:
    assert schema.WAIT_KINDS[:2] == ("late_sender", "late_receiver")
    assert len(set(schema.WAIT_KINDS)) == len(schema.WAIT_KINDS)
