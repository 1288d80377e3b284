"""Between what a finding's gain is, where that is computed.

A gain that is what the cure's replay saves depends on the machine: the cure is replayed again with every value of the
machine at its low and at its high end, and with it what messages take without their cause (`evidence.message_errors`).
These ends are its interval. A gain that is another bound than its cure's replay, or without one, has no interval;
neither has one whose replay takes nothing from a machine, or all of whose values are exact.

Fractions of the slowest rank's program time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from logpost.analyzer.findings.evidence.message_errors import with_messages_off
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import Finding
from logpost.analyzer.run.faults import Faults


def with_intervals(evidence: Evidence, found: Iterable[Finding], faults: Faults) -> list[Finding]:
    """The findings with the intervals of their gains, in the same order."""
    return [faults.guard(f"interval of {one.kind}", partial(_with, evidence, one), one) for one in found]


def _with(evidence: Evidence, finding: Finding) -> Finding:
    if finding.replayed is not None:
        return _between(finding, finding.replayed.ends())
    cure = finding.cure
    if cure is None or not math.isclose(cure.gain(), finding.gain):
        return finding
    return _between(finding, [end.gain() for end in with_messages_off(evidence, cure)])


def _between(finding: Finding, ends: list[float]) -> Finding:
    if not ends:
        return finding
    return replace(finding, gain_low=min(finding.gain, *ends), gain_high=min(1.0, max(finding.gain, *ends)))
