"""A run through a region of interest: what counts, what is outside, and that nothing is lost."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.rescope import rescope
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.program_profile import program_profile
from logpost.analyzer.run.roi import RegionOfInterest
from logpost.errors import InputError

NAME = "scorep-lulesh-nocomp-8"


def sums(run: Run, *keys: str) -> pl.DataFrame:
    rows = run.table("accounting").group_by(*keys).agg(pl.col("exposed_ps").sum())
    return rows.sort(*keys).collect()


def middle(run: Run) -> RegionOfInterest:
    bounds = run.table("locations").filter("accounted").select(pl.col("begin_ps").max(), pl.col("end_ps").min())
    begin, end = bounds.collect().row(0)
    return RegionOfInterest(from_ps=begin + (end - begin) // 4, to_ps=end - (end - begin) // 4)


def test_an_archive_analyzed_for_a_region_gives_what_its_run_gives_for_it(
    runs: dict[str, Run], archives: list[Path], tmp_path: Path
) -> None:
    run = runs[NAME]
    roi = middle(run)
    (archive,) = [str(anchor) for anchor in archives if anchor.parent.name == NAME]
    narrow = Run.open(analyze(Request(archive, str(tmp_path / "narrow.run"), roi=roi)))
    seen = rescope(run, roi)
    for table in (
        "accounting",
        "exposure",
        "pairs",
        "load",
        "wait_states",
        "locations",
        "messages",
        "calls",
    ):
        assert narrow.table(table).collect().equals(seen.table(table).collect()), table
    # Evidence included: sums of fractions are formed in the order of the rows, whichever code counts them.
    assert narrow.table("findings").collect().equals(seen.table("findings").collect())
    assert narrow.manifest.region_of_interest == seen.manifest.region_of_interest
    assert narrow.facts("messages").collect().height == run.manifest.messages


def test_the_whole_program_as_a_region_changes_nothing(runs: dict[str, Run]) -> None:
    run = runs[NAME]
    whole = rescope(run, RegionOfInterest(from_ps=0, to_ps=run.manifest.clock.length_ps + 1))
    for table in ("accounting", "exposure", "pairs", "load", "wait_states", "locations", "messages"):
        assert whole.table(table).collect().equals(run.table(table).collect()), table


def test_time_outside_of_the_region_is_kept_as_outside_and_the_program_is_the_region(runs: dict[str, Run]) -> None:
    run = runs[NAME]
    roi = middle(run)
    seen = rescope(run, roi)
    assert roi.from_ps is not None
    assert roi.to_ps is not None
    # What was not program before is as before; program and outside are the program of before.
    assert sums(seen, "location").equals(sums(run, "location"))
    by_phase = {row[0]: row[1] for row in sums(seen, "phase").iter_rows()}
    before = {row[0]: row[1] for row in sums(run, "phase").iter_rows()}
    assert by_phase["start_up"] == before["start_up"]
    assert by_phase["shut_down"] == before["shut_down"]
    assert by_phase["program"] + by_phase["outside"] == before["program"]
    ranks = run.table("locations").filter("accounted").collect().height
    assert by_phase["program"] == ranks * (roi.to_ps - roi.from_ps)
    bounds = seen.table("locations").filter("accounted").select("begin_ps", "end_ps").unique().collect()
    assert bounds.rows() == [(roi.from_ps, roi.to_ps)]


def test_messages_pairs_and_loads_agree_on_the_messages_of_the_region(runs: dict[str, Run]) -> None:
    run = runs[NAME]
    seen = rescope(run, middle(run))
    messages = seen.table("messages").collect()
    assert 0 < messages.height < run.manifest.messages
    assert seen.table("pairs").select(pl.col("messages").sum()).collect().item() == messages.height
    assert seen.facts("messages").collect().height == run.manifest.messages
    load = seen.table("load").group_by("direction").agg(pl.col("bytes").sum()).collect()
    assert set(load["bytes"]) == {messages["bytes"].sum()}


def test_user_regions_compute_no_more_there_than_the_ranks(runs: dict[str, Run]) -> None:
    run = runs["scorep-npb-lu-S-comp-4"]  # with user regions
    for roi in (middle(run), RegionOfInterest()):
        seen = rescope(run, roi)
        own = program_profile(seen.table).group_by("location").agg(own=pl.col("exclusive_ps").sum())
        there = program(seen.table("accounting")).filter(pl.col("category") == "compute").collect()
        both = there.group_by("location").agg(all=pl.col("exposed_ps").sum()).join(own, on="location")
        assert both.height == 4
        # What a rank computes outside of every region that was recorded is little.
        assert both.filter(pl.col("own") > pl.col("all")).is_empty()
        assert both.filter(pl.col("own") < 0.99 * pl.col("all")).is_empty()


def test_halves_of_the_program_add_up_to_its_wait_states(runs: dict[str, Run]) -> None:
    run = runs[NAME]
    cut = run.manifest.clock.length_ps // 2
    halves = [rescope(run, RegionOfInterest(to_ps=cut)), rescope(run, RegionOfInterest(from_ps=cut))]
    parts = pl.concat([half.table("wait_states") for half in halves])
    both = parts.group_by("location", "pattern").agg(pl.col("wait_ticks", "count").sum()).sort("location", "pattern")
    assert both.collect().equals(run.table("wait_states").sort("location", "pattern").collect())


def test_a_communication_region_reaches_from_its_first_enter_to_its_last_leave(runs: dict[str, Run]) -> None:
    run = runs[NAME]
    seen = rescope(run, RegionOfInterest(region="MPI_Allreduce"))
    calls = run.table("calls").join(run.table("regions").filter(pl.col("name") == "MPI_Allreduce"), on="region")
    wanted = calls.group_by("location").agg(first=pl.col("enter_ps").min(), last=pl.col("leave_ps").max()).collect()
    found = seen.table("locations").select("location", "begin_ps", "end_ps").collect()
    both = found.join(wanted, on="location")
    assert both.height == 8
    assert (both["begin_ps"] == both["first"]).all()
    assert (both["end_ps"] == both["last"]).all()


def test_a_region_that_was_entered_once_lasts_as_long_as_its_profile_says(runs: dict[str, Run]) -> None:
    user = 0
    for run in runs.values():
        paths = run.table("callpaths").select("callpath", "region")
        once = (
            run.table("profile")
            .join(paths, on="callpath")
            .group_by("region", "location")
            .agg(pl.col("visits", "inclusive_ps").sum())
            .filter(pl.col("visits") == 1, pl.col("region") >= 0)
        )
        both = once.join(run.table("region_spans"), on=["region", "location"], how="left").collect()
        assert (both["last_leave_ps"] - both["first_enter_ps"] == both["inclusive_ps"]).all()
        assert both["first_enter_ps"].null_count() == 0
        kinds = run.table("regions").filter(pl.col("kind") == "user").collect()["region"]
        user += int(both["region"].is_in(kinds.implode()).sum())
    assert user > 20


def test_a_user_region_holds_the_calls_that_are_made_below_it(runs: dict[str, Run]) -> None:
    run = runs["scorep-npb-lu-S-comp-4"]
    seen = rescope(run, RegionOfInterest(region="ssor"))
    paths = run.table("callpaths").filter(pl.col("path").str.contains("/ ssor /")).select("callpath")
    below = run.table("calls").join(paths, on="callpath", how="semi").collect()
    inside = seen.table("calls").collect()
    assert below.height > 1000
    assert set(below["call"]) <= set(inside["call"])
    assert inside.height < run.table("calls").collect().height


@pytest.mark.parametrize(
    ("roi", "words"),
    [
        (RegionOfInterest(region="nowhere"), "unknown region 'nowhere'"),
        (RegionOfInterest(from_ps=10**18), "region of interest is empty; .* lasts from"),
        (RegionOfInterest(pcontrol=1), "holds no MPI_Pcontrol with a level; choose by time"),
    ],
)
def test_what_cannot_be_derived_is_refused_in_one_line(runs: dict[str, Run], roi: RegionOfInterest, words: str) -> None:
    with pytest.raises(InputError, match=words):
        rescope(runs[NAME], roi)
