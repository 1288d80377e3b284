"""Between what a finding's gain is, where that is computed.

A gain bounds what its cure saves. Two things open an interval around it, both of replays of the cure:

- The machine: the cure is replayed with every value of the machine at its low and at its high end, and with it what
  messages take without their cause (`evidence.message_errors`). A replay that takes nothing from a model has no ends.
- The bound: where the gain is a bound on sums of times, and the cure's replay of the whole program saves less, that is
  an end as well. Where the gain is less than the replay, the bound holds at each end.

Fractions of the slowest rank's program time. A gain without a replay has no interval; neither has one whose replay has
no ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from logpost.analyzer.faults import Faults
from logpost.analyzer.findings.evidence.message_errors import with_messages_off
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import Finding


def with_intervals(evidence: Evidence, found: Iterable[Finding], faults: Faults) -> list[Finding]:
    """The findings with the intervals of their gains, in the same order."""
    return [faults.guard(f"interval of {one.kind}", lambda one=one: _with(evidence, one), one) for one in found]


def _with(evidence: Evidence, finding: Finding) -> Finding:
    cure = finding.cure
    if cure is None:
        return finding
    saved = cure.gain()
    ends = [end.gain() for end in with_messages_off(evidence, cure)]
    if finding.gain < saved:
        ends = [min(end, finding.gain) for end in ends]
    elif cure.graph.whole and finding.gain > saved:
        ends.append(saved)
    if not ends:
        return finding
    return replace(finding, gain_low=min(finding.gain, *ends), gain_high=min(1.0, max(finding.gain, *ends)))
