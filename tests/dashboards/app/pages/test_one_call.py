"""The page of a selected call: its parts, what it waited for, the cause of that wait, and its cost to other ranks."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.dashboards.synthetic import COLLECTIVE_PS, make_run

from logpost.analyzer.run.directory import Run
from logpost.dashboards.app.pages import one_call
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("causes") / "a.run")


def said_of(run: Run, call: int) -> str:
    return str(one_call.section(View(Runs([run.path]), read("/timeline", f"?call={call}"))))


def most(run: Run, column: str) -> dict[str, int]:
    return run.facts("calls").sort(column).collect().row(-1, named=True)


def test_a_call_in_a_collective_names_the_last_member_and_what_it_did(run: Run) -> None:
    call = most(run, "collective_wait_ps")
    said = said_of(run, call["call"])
    assert "longest for " in said
    assert "the last member of its collective operation" in said
    # Rank 0 receives a block of every other rank before it enters: it is last in every iteration.
    assert "rank 0 was in " in said
    assert call["leave_ps"] - call["enter_ps"] - call["collective_wait_ps"] == COLLECTIVE_PS
    assert "The parts of a collective operation" in said


def test_a_receive_names_its_message_and_the_sender_s_computation(run: Run) -> None:
    said = said_of(run, most(run, "late_sender_ps")["call"])
    assert "message " in said
    assert "collective operation" not in said
    assert "computed before" in said


def test_a_call_without_waits_says_so(run: Run) -> None:
    sends = run.facts("calls").filter(pl.col("send_overhead_ps") > 0, pl.col("late_sender_ps") == 0).collect()
    said = said_of(run, sends.row(0, named=True)["call"])
    assert "It waited for no other rank." in said
    assert "The run has no critical path." in said


def test_the_share_on_the_critical_path_is_stated(run: Run, tmp_path: Path) -> None:
    call = most(run, "late_sender_ps")
    # All of the run on the location of the call from its middle on.
    middle = (call["enter_ps"] + call["leave_ps"]) // 2
    path = run.facts("critical_path").collect().clear()
    row = {"location": call["location"], "begin_ps": middle, "end_ps": call["leave_ps"] + 10**9, "call": -1}
    path = pl.concat([path, pl.DataFrame([{**row, "after": "begin"}], schema=path.schema)])
    other = make_run(tmp_path / "b.run")
    path.write_parquet(other.path / "critical_path.parquet")
    if "critical_path" not in other.manifest.tables:
        pytest.skip("the run's manifest names no critical path")
    assert "(50.0 %) are on the critical path" in said_of(Run.open(other.path), call["call"])
