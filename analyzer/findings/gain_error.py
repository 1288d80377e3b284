"""How sure a finding's gain is.

    gain_error = sqrt(machine^2 + bound^2 + (residual^2 + deficit^2 + CURE^2) gain^2) + other cure

- The machine: the cure's replay with every value of the machine at its low and at its high end, and with it what
  messages take without their cause (`evidence.message_errors`). Of replays that take nothing from a model it is 0.
- The bound: by how much the cure's replay saves less than the gain, where that is a bound on sums of times.
- The residual's and the deficit's share of message time, where the cure takes modelled parts away: so much of these may
  be something else.
- CURE: who removes a cause does so in a program whose messages and ranks then take another course than in the replay.
- The other cure: where two are possible (`gain_if_shared`, `gain_as_tree`, `gain_if_as_fast`,
  `gain_if_answered_together`), whoever takes one or the
  other gets so much more or less than is stated.

Fractions of the slowest rank's program time, to both sides of the gain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from logpost.analyzer.findings.evidence.message_errors import with_messages_off
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import Finding

CURE = 0.20
"""Of a gain: what it differs from the true one where nothing else is to blame. In nine of ten simulated programs it is
less (docs/accuracy.md)."""
OTHER_CURES = ("gain_if_shared", "gain_as_tree", "gain_if_as_fast", "gain_if_answered_together")


def with_errors(evidence: Evidence, found: Iterable[Finding]) -> list[Finding]:
    """The findings with the errors of their gains, in the same order."""
    return [replace(finding, gain_error=_error(evidence, finding)) for finding in found]


def _error(evidence: Evidence, finding: Finding) -> float:
    machine = evidence.manifest.machine
    terms = [CURE * finding.gain]
    cure = finding.cure
    if cure is not None:
        gain = cure.gain()
        ends = [end.gain() for end in with_messages_off(evidence, cure)]
        terms += [max((abs(end - gain) for end in ends), default=0.0)]
        if cure.graph.whole:
            terms.append(max(0.0, finding.gain - gain))
        if cure.hypothesis.takes_parts:
            terms += [machine.residual_share * finding.gain, machine.deficit_share * finding.gain]
    others = [number.value for number in finding.evidence if number.name in OTHER_CURES]
    between = max((abs(finding.gain - other) for other in others), default=0.0)
    return min(1.0, math.hypot(*terms) + between)
