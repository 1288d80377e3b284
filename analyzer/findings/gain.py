"""Upper bound on what fixing a pattern gains, as a share of the slowest rank's program time.

With P the program time of the slowest rank and b_i the time in which rank i surely works (its program time without
waiting, polling for what has not been sent, and residual and operations whose members are not known, which may be
waiting), no cure makes the program shorter than its critical resource:

    moving work in time (other order, earlier posts, overlap)      P - max(b_i)
    sharing work (another partition, a tree instead of one rank)   P - mean(b_i)

A wait that is removed also saves no more than the worst-hit rank lost by it, W = max(W_i), however far it propagates:

    gain = min(W, P - max(b_i)) / P    where the cure moves work
    gain = min(W, P - mean(b_i)) / P   where it may share work
"""

from __future__ import annotations

from collections.abc import Mapping

from logpost.analyzer.findings.evidence.polled import polled_ps
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.unknown_members import unknown_members_ps


def busy_ps(evidence: Evidence) -> dict[int, int]:
    """Location to the time in which it surely works."""
    polled, unknown = polled_ps(evidence), unknown_members_ps(evidence)
    return {
        location: time - polled.get(location, 0) - unknown.get(location, 0)
        for location, time in evidence.busy_ps.items()
    }


def gain_by_moving(evidence: Evidence, lost: Mapping[int, float]) -> float:
    """At most, where the cure changes when work is done, not who does it."""
    return _gain(evidence, max(lost.values(), default=0.0), max(busy_ps(evidence).values(), default=0))


def gain_by_sharing(evidence: Evidence, saved_ps: float) -> float:
    """At most, where the cure may give work to other ranks."""
    busy = busy_ps(evidence)
    return _gain(evidence, saved_ps, sum(busy.values()) / max(1, len(busy)))


def _gain(evidence: Evidence, saved_ps: float, critical_ps: float) -> float:
    program = evidence.slowest_program_ps
    return max(0.0, min(saved_ps, program - critical_ps)) / program if program > 0 else 0.0
