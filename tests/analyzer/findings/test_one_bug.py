"""Two findings that tell of one bug are one, and two bugs stay two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.analyzer.story import MS

from logpost.analyzer.findings.cures.offered import ReplayedCure
from logpost.analyzer.findings.finding import Doing, Finding, Number
from logpost.analyzer.findings.one_bug import CAUSES_FIRST, one_bug_each
from logpost.analyzer.findings.prose import TEMPLATES
from logpost.analyzer.run.schema import FINDING_KINDS
from logpost.analyzer.words.location_names import Named, Rank

REGIONS = {1: "MPI_Recv", 2: "MPI_Barrier"}


def finding(
    kind: str,
    charges: Mapping[tuple[int, int], int],
    fault: Mapping[tuple[int, Doing], float],
    *,
    waits_in: str = "",
    windows: tuple[int, int] = (0, 9),
) -> Finding:
    """Only what tells findings apart; times of `charges` in ms."""
    return Finding(
        kind=kind,
        named=tuple(Named(Rank(one), one) for one in sorted({location for location, _ in charges})),
        region=REGIONS[next(place for _, place in charges)],
        cause_region="",
        evidence=(Number("exposed", 1, "ps"),),
        confidence=0.9,
        certainty="",
        callpath=-1,
        first_window=windows[0],
        last_window=windows[1],
        exposed_ps=sum(charges.values()) * MS,
        share=0.1,
        gain=0.1,
        charges={place: float(time * MS) for place, time in charges.items()},
        fault=fault,
        waits_in=waits_in,
    )


def kinds(*found: Finding) -> list[str]:
    return [one.kind for one in one_bug_each(found, lambda place: REGIONS[place])]


IMBALANCE = finding("load_imbalance", {(1, 1): 30, (2, 1): 30}, {(0, "computing"): 1.0})
CHAIN = finding("late_sender_chain", {(1, 1): 30, (2, 1): 20}, {(0, "computing"): 1.0})


def test_the_same_waiting_for_the_same_computing_is_one_bug() -> None:
    found = one_bug_each([CHAIN, IMBALANCE], lambda place: REGIONS[place])
    assert [one.kind for one in found] == ["load_imbalance"]
    assert Number("also_late_sender_chain[MPI_Recv]", 50 * MS, "ps") in found[0].evidence


@pytest.mark.parametrize(
    "other",
    [
        finding("late_sender_chain", {(1, 1): 30}, {(3, "computing"): 1.0}),  # another rank's fault
        finding("late_sender_chain", {(1, 1): 30}, {(0, "handling"): 1.0}),  # for doing something else
        finding("late_sender_chain", {(1, 2): 30}, {(0, "computing"): 1.0}),  # in another call
        finding("late_sender_chain", {(1, 1): 61}, {(0, "computing"): 1.0}),  # most of its time is another's
    ],
)
def test_another_rank_call_or_time_is_another_bug(other: Finding) -> None:
    assert kinds(IMBALANCE, other) == ["load_imbalance", "late_sender_chain"]


def test_the_same_code_is_one_bug_on_whichever_ranks() -> None:
    last = finding("collective_wait", {(1, 2): 30, (2, 2): 20}, {(3, "computing"): 1.0})
    most = finding("load_imbalance", {(1, 2): 20, (2, 2): 20}, {(0, "computing"): 1.0})
    assert kinds(most, last) == ["load_imbalance", "collective_wait"]
    assert kinds(replace(most, cause_region="relax"), replace(last, cause_region="relax")) == ["load_imbalance"]
    other = replace(last, cause_region="pack")
    assert kinds(replace(most, cause_region="relax"), other) == ["load_imbalance", "collective_wait"]
    waits = replace(last, cause_region="relax", fault={(3, "waiting"): 1.0})
    assert kinds(replace(most, cause_region="relax"), waits) == ["load_imbalance", "collective_wait"]


def test_who_saves_much_more_is_another_bug() -> None:
    assert kinds(replace(IMBALANCE, gain=0.06), CHAIN) == ["load_imbalance"]
    assert kinds(replace(IMBALANCE, gain=0.04), CHAIN) == ["load_imbalance", "late_sender_chain"]
    replayed = replace(CHAIN, removes=CHAIN.charges)
    assert kinds(replace(IMBALANCE, gain=0.06), replayed) == ["load_imbalance", "late_sender_chain"]


def test_of_a_bound_what_its_replay_saves_counts() -> None:
    chain = replace(CHAIN, gain=0.5)
    assert kinds(replace(IMBALANCE, gain=0.2), chain) == ["load_imbalance", "late_sender_chain"]
    replay: Any = SimpleNamespace(gain=lambda: 0.3, graph=SimpleNamespace(whole=True))
    assert kinds(replace(IMBALANCE, gain=0.2), replace(chain, cure=replay)) == ["load_imbalance"]


def test_who_saves_most_of_what_is_left_is_another_bug() -> None:
    # Without the cause 40 % of the time are left. The other cure leaves 21 %, or 19 %, which is less than half of that.
    cause = replace(IMBALANCE, gain=0.60)
    replayed = replace(CHAIN, removes=CHAIN.charges)
    assert kinds(cause, replace(replayed, gain=0.79)) == ["load_imbalance"]
    assert kinds(cause, replace(replayed, gain=0.81)) == ["load_imbalance", "late_sender_chain"]
    assert kinds(cause, replace(CHAIN, gain=0.81)) == ["load_imbalance"]  # at most


def test_other_windows_are_another_bug() -> None:
    early = finding("load_imbalance", {(1, 1): 30}, {(0, "computing"): 1.0}, windows=(0, 3))
    late = finding("late_sender_chain", {(1, 1): 30}, {(0, "computing"): 1.0}, windows=(4, 9))
    assert kinds(early, late) == ["load_imbalance", "late_sender_chain"]


def test_waiting_that_is_passed_on_is_its_causes() -> None:
    # Rank 1 waits 30 ms in MPI_Recv; rank 3 waits 30 ms for rank 1 in MPI_Barrier.
    symptom = finding(
        "collective_wait", {(3, 2): 30}, {(1, "waiting"): 0.9, (1, "computing"): 0.1}, waits_in="MPI_Recv"
    )
    assert kinds(symptom, CHAIN) == ["late_sender_chain"]


def test_what_explains_little_of_it_has_not_passed_it_on() -> None:
    little = finding("load_imbalance", {(1, 1): 10}, {(0, "computing"): 1.0})
    symptom = finding("collective_wait", {(3, 2): 30}, {(1, "waiting"): 1.0}, waits_in="MPI_Recv")
    assert kinds(symptom, little) == ["load_imbalance", "collective_wait"]


def test_every_kind_has_its_place_and_its_words() -> None:
    assert set(CAUSES_FIRST) == set(TEMPLATES) == set(FINDING_KINDS)


def test_a_kind_that_was_found_by_its_cure_too_is_one_bug() -> None:
    """Two finders that see the same waits; two places of one finder stay two."""
    place = {(1, 1): 60.0 * MS}
    found = replace(finding("round_trips", {(1, 1): 60}, {}), charges={}, removes=place)
    by_cure = replace(found, replayed=cast("ReplayedCure", SimpleNamespace()), gain=0.12)
    assert one_bug_each([found, by_cure], lambda place: REGIONS[place]) == [by_cure]
    assert len(one_bug_each([found, replace(found, callpath=2)], lambda place: REGIONS[place])) == 2


def test_a_cure_explains_no_other_gain_that_is_much_larger() -> None:
    late = replace(finding("late_receiver", {(1, 1): 60}, {}), gain=0.3)
    cure = cast("ReplayedCure", SimpleNamespace())
    removes = {(1, 1): 60.0 * MS}
    synchronous = replace(finding("synchronous_sends", {(1, 1): 60}, {}), gain=0.06, replayed=cure, removes=removes)
    assert kinds(late, synchronous) == ["synchronous_sends", "late_receiver"]
    assert kinds(late, replace(synchronous, gain=0.28)) == ["synchronous_sends"]
