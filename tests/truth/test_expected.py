"""A first finding is compared with the cause, place, cure and gain that a program was written to have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.said import facts

from .expected import (
    NOTHING,
    Expected,
    Explained,
    Span,
    below_floor,
    calibration,
    first_finding,
    line,
    lost,
    risen,
    summary,
    verdict,
)
from .pairs.measure import median_span

BARRIER = Expected(cause=("barrier",), place=("end_of_step",), cures=("drop barrier",), ranks=frozenset({1}))
TRUE = Span(0.40, 0.45, 0.50)


def finding(**changes: Any) -> dict[str, Any]:
    first = {
        "kind": "needless_barrier",
        "title": "ranks 0-1 wait in MPI_Barrier",
        "path": "app / main / end_of_step / MPI_Barrier",
        "region": "MPI_Barrier",
        "advice": "Leave this barrier out.",
        "ranks": [0, 1],
        "gain": 0.42,
        "gain_low": 0.30,
        "gain_high": 0.42,
        "confidence": 0.6,
    }
    return {"findings": [{**first, **changes}]}


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({}, (True, True, True, True)),
        ({"kind": "load_imbalance", "title": "rank 1 computes longer"}, (False, True, True, True)),
        ({"path": "app / main / end_of_steps / MPI_Barrier"}, (True, False, True, True)),
        ({"ranks": [0]}, (True, False, True, True)),
        ({"advice": "Balance the work."}, (True, True, False, True)),
        ({"advice": "", "cure": "drop the barrier"}, (True, True, True, True)),
        ({"gain": 0.39, "gain_high": 0.39}, (True, True, True, False)),
        ({"gain": 0.44, "gain_low": None, "gain_high": None}, (True, True, True, True)),
        ({"gain": 0.51, "gain_low": None, "gain_high": None}, (True, True, True, False)),
    ],
)
def test_each_part_is_judged_alone(changes: dict[str, Any], right: tuple[bool, ...]) -> None:
    one = verdict("app", 2, TRUE, first_finding(finding(**changes)), BARRIER)
    assert (one.cause, one.place, one.cure, one.gain) == right
    assert one.right == all(right[:3])


def test_of_a_program_with_losses_of_its_own_what_has_risen_is_compared() -> None:
    balance = finding(kind="load_imbalance", gain=0.50, gain_low=0.45, gain_high=0.55)["findings"]
    own = {"findings": [{**balance[0], "gain": 0.60}]}
    report = {"findings": [*balance, *finding()["findings"]]}
    # With the loss the program lasts 4 / 3 as long: of the imbalance's 60 %, 45 are left; the barrier is new.
    assert risen(report, own, 0.75).kind == "needless_barrier"
    assert risen(report, {"findings": []}, 1.0) == first_finding(report)
    # An imbalance that has risen by 5 points.
    one = risen({"findings": balance}, own, 0.75)
    assert (one.gain.low, one.gain.middle, one.gain.high) == pytest.approx((0.0, 0.05, 0.10))
    assert risen({"findings": []}, own, 1.0) is NOTHING


def test_no_finding_is_wrong_about_a_loss() -> None:
    one = verdict("app", 2, TRUE, first_finding({"findings": []}), BARRIER)
    assert one.first is NOTHING
    assert (one.cause, one.place, one.cure, one.gain) == (False, False, False, False)
    assert line(one) == "| app | 2 | 45.0 ± 5.0 % | nothing | – | no | no | no | no | – |"


def test_a_measured_gain_that_may_be_nothing_decides_nothing() -> None:
    one = verdict("app", 2, Span(-0.10, 0.40, 0.90), first_finding(finding()), BARRIER)
    assert one.gain is None
    assert line(one).endswith("| yes | yes | yes | noise | – |")
    assert "gain inside 0 of 0" in summary([one])


def test_a_line_and_a_sum_of_it() -> None:
    one = verdict("app", 2, TRUE, first_finding(finding()), BARRIER)
    stated = "needless_barrier | 42.0 % (30.0 to 42.0)"
    assert line(one) == f"| app | 2 | 45.0 ± 5.0 % | {stated} | yes | yes | yes | yes | – |"
    # Half of 12 points is 14.3 % of 42; |0.42 - 0.45| = 0.03 is less than a quarter of 0.45.
    assert facts(summary([one])) == [*"1" * 5, *"1" * 4, "14.3 %"]


@pytest.mark.parametrize(("said", "right"), [(0.24, 1), (0.21, 1), (0.19, 0), (0.31, 0)])
def test_what_a_report_explains_is_right_within_five_points(said: float, right: int) -> None:
    covered = {"coverage": {"lost_s": 6.0, "share": 0.3, "explained_s": said * 20}}
    assert lost(covered) == pytest.approx((6.0, 20.0, said * 20))
    one = replace(verdict("app", 2, TRUE, first_finding(finding()), BARRIER), explained=Explained(said, 0.25))
    assert line(one).endswith(f"| {100 * said:.1f} (25.0) % |")
    assert summary([one]).endswith(f"explained within 5 points {right} of 1")


def test_statements_are_counted_by_their_confidence_and_kind() -> None:
    right = verdict("app", 2, TRUE, first_finding(finding()), BARRIER)
    of_another = verdict("app", 2, TRUE, first_finding(finding(ranks=[0], gain_high=0.39, gain=0.39)), BARRIER)
    sure = verdict("app", 2, TRUE, first_finding(finding(confidence=0.9)), BARRIER)
    silent = verdict("app", 2, TRUE, first_finding({"findings": []}), BARRIER)
    assert list(calibration([right, of_another, sure, silent]))[2:] == [
        "| 0.9 | all | 1 | 1 (100.0 %) | 1 of 1 |",
        "| 0.9 | needless_barrier | 1 | 1 (100.0 %) | 1 of 1 |",
        "| 0.6 | all | 2 | 1 (50.0 %) | 1 of 2 |",
        "| 0.6 | needless_barrier | 2 | 1 (50.0 %) | 1 of 2 |",
    ]
    # Half of those are right of which six tenths should be.
    assert below_floor([right, of_another, sure, silent]) == [0.6]
    assert below_floor([right, right, of_another, sure, silent]) == []


def test_the_interval_of_a_median_is_of_order_statistics() -> None:
    # 5 values: all of them hold the median with 1 - 2 / 2^5 = 94 %; without the outermost, 1 - 2 (1 + 5) / 32 = 63 %.
    assert median_span([5, 1, 4, 2, 3]) == Span(1, 3, 5)
    # 8 values without the outermost: 1 - 2 (1 + 8) / 256 = 93 %; without two at each end: 1 - 2 * 37 / 256 = 71 %.
    assert median_span([8, 1, 7, 2, 6, 3, 5, 4]) == Span(2, 4.5, 7)
    assert median_span([0.3]) == Span(0.3, 0.3, 0.3)
