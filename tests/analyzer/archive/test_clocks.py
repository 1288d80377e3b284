"""Clocks that contradict the order of causes and effects: detected always, corrected on request."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.said import facts, says

from logpost.analyzer.archive import _native
from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.report.clock import clock_note, clock_warning
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import Clock, ClockViolations


def clock(**fields: object) -> Clock:
    return Clock.model_validate({"ticks_per_second": 10**9, "length_ps": 10**12} | fields)


def test_true_clocks_are_not_worth_a_word() -> None:
    assert clock_warning(clock()) is None
    assert clock_note(clock()) is None


@pytest.mark.parametrize(
    ("mode", "way_out"),
    [
        (ClockMode.none, "Analyze with --clock offsets or --clock clc."),
        (ClockMode.offsets, "Analyze with --clock clc."),
        (ClockMode.clc, "in a circle, which no clock explains."),
    ],
)
def test_a_warning_counts_what_disagrees_and_names_the_way_out(mode: ClockMode, way_out: str) -> None:
    found = clock_warning(clock(correction=mode, left=ClockViolations(messages=1, collectives=2)))
    assert found is not None
    assert facts(found.removesuffix(way_out)) == ["1", "2", "collective"]
    assert found.endswith(way_out)


def test_records_without_partner_share_the_blame() -> None:
    found = clock_warning(clock(left=ClockViolations(messages=3)), unmatched=26)
    assert found is not None
    assert "or its records name wrong ranks" in found
    assert says(found, "26", "3")
    one = clock_warning(clock(left=ClockViolations(messages=3)), unmatched=1)
    assert one is not None
    assert "(1 send or receive has no partner)" in one


def test_a_note_says_what_was_corrected() -> None:
    found = clock_note(
        clock(
            correction=ClockMode.clc,
            recorded=ClockViolations(messages=25),
            processes=3,
            largest_ps=1_930_000,
            transit_ps={"same node": 0, "other node": 1_500_000},
        )
    )
    assert facts(found or "") == ["25", "3", "1.93 µs", "1.50 µs"]


@pytest.mark.parametrize("mode", list(ClockMode))
def test_the_logical_clock_leaves_no_violation_in_any_archive(runs: dict[str, Run], mode: ClockMode) -> None:
    violated = 0
    for run in runs.values():
        anchor = run.manifest.source.anchor
        found = _native.read(anchor, 2, _native.Progress(), _native.ClockMode[mode.value]).clocks()
        violated += found["messages_recorded"] + found["collectives_recorded"]
        if mode is ClockMode.clc:
            assert (found["messages_left"], found["collectives_left"]) == (0, 0), anchor
    assert mode is not ClockMode.none or violated, "no archive needs its offsets: nothing was tested"


def test_corrections_reach_the_report(runs: dict[str, Run], tmp_path: Path) -> None:
    name, before = next((name, run) for name, run in runs.items() if run.manifest.clock.left.messages)
    after = Run.open(
        analyze(Request(before.manifest.source.anchor, str(tmp_path / f"{name}.run"), clock=ClockMode.clc))
    )
    assert after.manifest.clock.recorded == before.manifest.clock.left
    assert after.manifest.clock.left == ClockViolations()
    assert not after.table("messages").select(pl.col("clock_violation").any()).collect().item()
    # Accounts still add up to what each rank's clock shows now.
    wall = after.table("locations").select("location", wall=pl.col("last_ps") - pl.col("first_ps")).collect()
    accounts = after.table("accounting").group_by("location").agg(pl.col("exposed_ps").sum()).collect()
    both = accounts.join(wall, on="location")
    assert len(both) > 0
    assert (both["exposed_ps"] == both["wall"]).all()
    done = subprocess.run(
        [sys.executable, "-m", "logpost.cli.app", "report", str(after.path), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["clock"]["correction"] == "clc"
