"""Machines estimated from some programs of known cause; `python -m tests.benchmarks truth` takes all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from logpost.analyzer.run.directory import Run

from .estimates import judge_estimate
from .programs import SIMULATE, simulate

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")

PROGRAMS = (
    "k_to_1_small",
    "late_receiver_eager",
    "round_trips",
    "shift_eager",
    "small_pieces",
    "strided_halo",
    "unattended_sender",
)


@pytest.fixture(scope="module", params=[(), ("--tick", "100000", "--noise", "50000")], ids=["exact", "coarse"])
def cases(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    place = tmp_path_factory.mktemp("truth") / "cases"
    simulate(place, *request.param, cases=(*PROGRAMS, "k_to_1_large"))
    return place


@pytest.mark.parametrize("name", PROGRAMS)
def test_intervals_contain_the_truth_and_what_is_divided_is_right(cases: Path, tmp_path: Path, name: str) -> None:
    found = judge_estimate(cases / name, tmp_path / "a.run")
    assert found.intervals >= 7
    assert found.wrong == ()
    assert max(found.off_by, found.off_account_by) < 0.1, found
    assert found.deficit < 0.1
    assert not found.refused


def test_round_trips_of_two_sizes_measure_what_a_queue_at_one_receiver_hides(cases: Path, tmp_path: Path) -> None:
    measured = judge_estimate(cases / "round_trips", tmp_path / "a.run")
    # o_s, and L + o_s + o_r; every receive waits, so that L and o_r are not distinguished. Neither does a clock of 100
    # ns show the 48 ns between 16 and 64 B.
    assert set(measured.undivided) - {"serialization"} == {"latency", "recv_overhead"}
    hidden = judge_estimate(cases / "k_to_1_small", tmp_path / "b.run")
    assert {"latency", "endpoint_contention", "processor_queueing", "recv_overhead"} <= set(hidden.undivided)
    assert "late_sender" not in hidden.undivided
    assert hidden.points < measured.points


def test_small_messages_of_one_sender_measure_g(cases: Path, tmp_path: Path) -> None:
    judge_estimate(cases / "small_pieces", tmp_path / "a.run")
    values = Run.open(tmp_path / "a.run").manifest.machine.values
    (g,) = (value for value in values if value.parameter == "g" and value.locality == "other_node")
    assert not g.bound_only
    assert g.low is not None
    assert g.high is not None
    # 4 us in truth; a clock of 100 ns with noise of 50 ns leaves half a microsecond to both sides.
    assert 3.4e6 < g.low <= 4e6 <= g.high < 4.6e6


def test_a_queue_that_the_trace_does_not_show_is_no_finding(cases: Path, tmp_path: Path) -> None:
    judge_estimate(cases / "k_to_1_large", tmp_path / "a.run")
    found = Run.open(tmp_path / "a.run").table("findings").collect()
    # All 22 messages end with rank 0's Waitall: each may have lasted that long alone.
    assert "hot_receiver" not in found["kind"].to_list()


def test_strided_datatypes_are_found_where_no_table_says_what_they_cost(tmp_path: Path) -> None:
    """Two of three faces are packed inside of the calls that start them, which the third one shows."""
    simulate(tmp_path / "cases", cases=("halo_3d_derived",))
    found = judge_estimate(tmp_path / "cases" / "halo_3d_derived", tmp_path / "a.run").judged
    assert found.verdict.right, found.verdict  # of 56.3 %, 30.6 (6.8 to 30.6) are stated
