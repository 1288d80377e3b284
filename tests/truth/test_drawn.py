"""Programs drawn from a seed: a few of those that `python -m tests.benchmarks truth --held-out SEED` takes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from logpost.analyzer.findings.cures import late_receiver
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES

from .compare import truth_of
from .estimates import judge_estimate
from .programs import CURED, SIMULATE, Judged, judge, simulate

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")

COUNT = 6


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("drawn") / "cases"
    assert len(simulate(place, "--drawn", str(COUNT), "--seed", "7")) == COUNT
    return place


def _drawn_and_judged(place: Path, name: str) -> Judged:
    """One of the 48 programs of a seed, both of which its name says."""
    simulate(place / "cases", "--drawn", "48", "--seed", name.split("_")[1], cases=[name])
    (place / "runs").mkdir()
    return judge(place / "cases", name, place / "runs")


def test_a_seed_draws_the_same_programs_again(drawn: Path, tmp_path: Path) -> None:
    names = simulate(tmp_path / "again", "--drawn", str(COUNT), "--seed", "7")
    assert [truth_of(tmp_path / "again" / name) for name in names] == [truth_of(drawn / name) for name in names]
    other = simulate(tmp_path / "other", "--drawn", str(COUNT), "--seed", "8")
    assert {name.split("_", 2)[2] for name in other} != {name.split("_", 2)[2] for name in names}


def test_every_cause_that_is_drawn_is_worth_its_cure(drawn: Path) -> None:
    for case in sorted(drawn.iterdir()):
        cured = case.with_name(case.name + CURED)
        if cured.exists():
            assert truth_of(cured)["end_ps"] <= 0.9 * truth_of(case)["end_ps"], case.name
        elif not case.name.endswith(CURED):
            assert truth_of(case)["finding"] == ""


def test_a_receiver_with_too_much_load_precedes_the_crowds_at_others(tmp_path: Path) -> None:
    """One rank gets the messages of all, in a program whose other exchange crowds a little: another order was said to
    save what that rank has to serve in any order."""
    found = _drawn_and_judged(tmp_path, "drawn_88211_47_hot_receiver").verdict
    assert found.kind == "hot_receiver"
    assert found.right
    assert found.gain < found.true_gain


def test_a_pipeline_is_one_despite_an_exchange_that_makes_ranks_wait_more(tmp_path: Path) -> None:
    """Most waiting for senders is at the exchange of another phase; that at the pipeline's receives is chained."""
    found = _drawn_and_judged(tmp_path, "drawn_842410_08_pipeline")
    assert found.verdict.right, found.verdict
    assert found.gain_is_right, found.verdict


def test_packed_messages_let_others_through_a_shared_nic(tmp_path: Path) -> None:
    """Large messages of the next exchange queue behind 77 small ones of each rank of their node."""
    found = _drawn_and_judged(tmp_path, "drawn_973185_44_pieces")
    assert found.verdict.right, found.verdict
    assert found.gain_is_right, found.verdict


def test_a_coarse_clock_hides_no_target_that_was_away(tmp_path: Path) -> None:
    """What is left of a transfer once its target is back takes less than the clock's errors."""
    found = _drawn_and_judged(tmp_path, "drawn_973695_26_away")
    assert found.verdict.right, found.verdict
    assert found.gain_is_right, found.verdict


def test_an_exposure_is_over_behind_its_accesses_whatever_the_clocks(tmp_path: Path) -> None:
    """Errors of the clock have waits end before the completions on their node that they are for."""
    found = _drawn_and_judged(tmp_path, "drawn_513038_41_late_complete").verdict
    assert found.right, found
    assert abs(found.gain - found.true_gain) < 0.01, found  # 27.6 for 27.8 %; with such waits as they were 9.7 %


def test_a_pair_on_two_nodes_has_no_hot_sender(tmp_path: Path) -> None:
    """Of pairs that exchange the same, one is farther apart: its sender is longer in service than all others."""
    found = _drawn_and_judged(tmp_path, "drawn_343974_08_unattended")
    assert found.verdict.right, found.verdict
    assert found.gain_is_right, found.verdict


def test_queues_within_nodes_hide_no_shared_nic(tmp_path: Path) -> None:
    """Most messages queue at their ranks' own ends of the memory, and the few that leave a node wait longer."""
    found = _drawn_and_judged(tmp_path, "drawn_776661_14_shared_nic")
    assert found.verdict.right, found.verdict
    assert found.gain_is_right, found.verdict


def test_receivers_that_compute_before_they_post_arrive_last_and_are_not_crowded(tmp_path: Path) -> None:
    """Other messages arrive there at that time: another order of these was said to save 16.8 %. The receivers' share of
    it is what the truth knows; standard sends, which the first finding proposes, would save more."""
    found = _drawn_and_judged(tmp_path, "drawn_776661_00_late_receiver").verdict
    run = Run.open(tmp_path / "runs" / "drawn_776661_00_late_receiver")
    evidence = Evidence({name: run.table(name) for name in TABLES if name != "findings"}, run.manifest, run=run)
    (late,) = late_receiver.find(evidence)
    assert abs(late.gain - found.true_gain) < 0.01, found  # 13.0 for 12.5 %
    assert found.kind == "synchronous_sends"


def test_an_origin_whose_target_has_posted_waits_for_no_word_of_it(tmp_path: Path) -> None:
    """A post that is before its rank's work is there when the access begins: its flight is in no rank's time."""
    found = _drawn_and_judged(tmp_path, "drawn_973695_39_late_post").verdict
    assert found.right, found
    assert abs(found.gain - found.true_gain) < 0.005, found  # 10.7 for 10.6 %; with the word's way 7.8 %


def test_a_receive_is_posted_before_the_work_that_delays_it_alone(tmp_path: Path) -> None:
    """Receivers work as their senders do, and then more: only that is behind the receive without a cause. Next to it
    half of the ranks compute longer than the others."""
    name = "drawn_973695_13_late_receiver"
    found = _drawn_and_judged(tmp_path, name).verdict
    late = Run.open(tmp_path / "runs" / name).table("findings").filter(pl.col("kind") == "late_receiver").collect()
    # 10.1 %; the worst-hit sender's time is 13.4 %
    assert late["gain"].to_list() == [pytest.approx(found.true_gain, abs=0.01)]


@pytest.mark.parametrize("name", ["drawn_618033_06_late_receiver", "drawn_367829_11_late_post"])
def test_code_moves_behind_a_call_in_whole_regions(tmp_path: Path, name: str) -> None:
    """The region that delays the call exceeds the wait for it, or is behind another one that does not."""
    found = _drawn_and_judged(tmp_path, name).verdict
    assert found.right, found
    assert abs(found.gain - found.true_gain) < 0.005, found  # without regions 16.2 for 12.8 %, and 31.6 for 26.5 %


@pytest.mark.parametrize("name", ["drawn_527314_20_root", "drawn_973695_13_late_receiver"])
def test_a_bounded_latency_is_no_time_that_messages_take(tmp_path: Path, name: str) -> None:
    """The cause is right. Its gain is not: 26.2 % (3.2 to 33.0) of 49.7 are stated, and 13.4 (0 to 13.7) of 10.1."""
    simulate(tmp_path / "cases", "--drawn", "48", "--seed", name.split("_")[1], cases=[name])
    found = judge_estimate(tmp_path / "cases" / name, tmp_path / "estimate").judged
    assert found.verdict.right, found.verdict


def test_blocks_may_cost_processors_all_that_an_estimate_does_not_divide(tmp_path: Path) -> None:
    """Nothing shows a processor's part of a message's duration: all of it may be for each block."""
    name = "drawn_618033_41_pipeline"
    simulate(tmp_path / "cases", "--drawn", "48", "--seed", name.split("_")[1], cases=[name])
    found = judge_estimate(tmp_path / "cases" / name, tmp_path / "estimate").judged.verdict
    assert found.right, found
    assert found.gain == pytest.approx(found.true_gain, abs=0.025), found  # 57.7 for 59.9 %
    assert found.gain_low is not None, found
    assert found.gain_high is not None, found
    assert found.gain_low < found.true_gain < found.gain_high, found


def test_the_cause_is_what_costs_most(tmp_path: Path) -> None:
    """A NIC that the ranks of a node share may cost more than what was drawn."""
    found = _drawn_and_judged(tmp_path, "drawn_660931_09_shared_nic")
    assert found.verdict.right, found.verdict
    assert found.gain_is_right, found.verdict


def test_ranks_that_no_barrier_holds_meet_others_at_a_shared_nic(tmp_path: Path) -> None:
    """And inner members of a reduction wait for those behind them alone."""
    found = _drawn_and_judged(tmp_path, "drawn_660931_28_barriers").verdict
    assert found.right, found
    assert abs(found.gain - found.true_gain) < 0.01, found  # 15.1 for 14.9 %; with messages as they were 10.3 %


def test_a_rank_without_replies_falls_behind_the_paths_of_messages(tmp_path: Path) -> None:
    """Receivers poll for messages that are in flight, and have more to do themselves where work is shared."""
    found = _drawn_and_judged(tmp_path, "drawn_282475_22_polling").verdict
    assert found.right, found
    assert abs(found.gain - found.true_gain) < 0.04, found  # 14.4 for 11.1 %; with waits for unsent messages 3.4 %


def test_a_processor_at_work_in_an_operation_makes_no_late_receiver(tmp_path: Path) -> None:
    """Ranks leave a broadcast behind their o_r, and post the receive of a message that arrived in the meantime."""
    labels = _drawn_and_judged(tmp_path, "drawn_406693_28_locks").labels
    assert labels.category_error < 0.01, labels


@pytest.mark.parametrize("number", range(COUNT))
def test_parts_are_right_with_the_machine_and_what_is_divided_without_it(
    drawn: Path, tmp_path: Path, number: int
) -> None:
    (name,) = (case.name for case in drawn.glob(f"drawn_7_{number:02}_*") if not case.name.endswith(CURED))
    assert judge(drawn, name, tmp_path).labels.category_error < 0.05
    guess = judge_estimate(drawn / name, tmp_path / "estimate")
    assert guess.wrong == ()
    assert max(guess.off_by, guess.off_account_by) < 0.1, guess
    assert guess.refused or guess.deficit < 0.1
