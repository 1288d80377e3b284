"""Which of several cures of the same time is stated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from tests.analyzer.findings.test_order import finding

from logpost.analyzer.findings.combined import without_alternatives
from logpost.analyzer.findings.cures.program import Transformation
from logpost.analyzer.findings.finding import HIGH, LOW, MEDIUM, Finding

if TYPE_CHECKING:
    from logpost.analyzer.findings.cures.offered import ReplayedCure

MORE_CODE = Transformation(longer_ps=np.array([1, -1]))


@dataclass
class OneLoss:
    """A program with one loss, which each cure removes in part: two save what the better one does."""

    gains: dict[int, float] = field(default_factory=dict)

    def gain(self, change: Transformation) -> float:
        return self.gains.get(id(change), max(self.gains.values()))


@dataclass(frozen=True)
class Replayed:
    program: OneLoss
    proposal: Proposal

    def gain(self) -> float:
        return self.program.gain(self.proposal.change)


@dataclass(frozen=True)
class Proposal:
    change: Transformation


def cure(program: OneLoss, kind: str, gain: float, confidence: float, *, moves_code: bool = False) -> Finding:
    change = replace(MORE_CODE) if moves_code else Transformation()
    program.gains[id(change)] = gain
    replayed = cast("ReplayedCure", Replayed(program, Proposal(change)))
    return replace(finding(gain, confidence=confidence), kind=kind, replayed=replayed)


def stated(*found: Finding) -> list[tuple[str, list[str]]]:
    """The kinds that are stated, each with its alternatives."""
    return [
        (one.kind, [number.name.partition("[")[0].removeprefix("instead_") for number in one.evidence[1:]])
        for one in without_alternatives(found)
    ]


def test_the_cure_that_saves_most_is_stated_and_the_others_are_alternatives() -> None:
    loss = OneLoss()
    found = cure(loss, "late_receiver", 0.3, MEDIUM), cure(loss, "needless_barrier", 0.4, MEDIUM)
    assert stated(*found) == [("needless_barrier", ["late_receiver"])]


def test_of_equal_gains_the_cure_that_leaves_code_in_its_place_is_stated() -> None:
    # 36 % without dividing work anew are as much as 37 with it, but for the noise of 5 % of any computation.
    loss = OneLoss()
    divided = cure(loss, "late_sender_chain", 0.37, HIGH, moves_code=True)
    smaller = cure(loss, "unattended", 0.3, MEDIUM)
    as_much = cure(loss, "synchronous_sends", 0.36, MEDIUM)
    assert stated(divided, smaller, as_much) == [("synchronous_sends", ["late_sender_chain", "unattended"])]
    assert stated(divided, cure(loss, "synchronous_sends", 0.35, MEDIUM)) == [
        ("late_sender_chain", ["synchronous_sends"])
    ]
    assert stated(divided, cure(loss, "synchronous_sends", 0.36, LOW)) == [("late_sender_chain", ["synchronous_sends"])]


def test_a_surer_cure_is_stated_before_one_that_is_rather_wrong_than_right() -> None:
    loss = OneLoss()
    found = cure(loss, "load_imbalance", 0.4, LOW), cure(loss, "late_sender_chain", 0.25, MEDIUM)
    assert stated(*found) == [("late_sender_chain", ["load_imbalance"])]
