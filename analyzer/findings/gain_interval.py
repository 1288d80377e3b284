"""Between what a finding's gain is, where that is computed.

Three sources, as fractions of the slowest rank's program time:

* the machine and what the trace leaves open: the cure is replayed again with every value of the machine at its low and
  at its high end, and at the other end of what is not known (`ReplayedCure.ends`);
* the choice: where another cure of the same cause is possible, what that saves is an end as well;
* the repetitions: `repetition_noise`.

The first two are ends; the third one, which does not depend on them, widens either side as independent errors add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import Finding
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.analyzer.run.faults import Faults
from logpost.replay.columns import Int64

STUDENT = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
"""Degrees of freedom to the quantile at 97.5 % of Student's t distribution."""
BATCHES = max(STUDENT) + 1
"""Parts of equally many repetitions: sums over some of them hide what recurs with a period of its own."""
CHOICES = ("gain_if_as_fast", "gain_if_shared")
"""Evidence: what either cure saves."""


def with_intervals(evidence: Evidence, found: Iterable[Finding], faults: Faults) -> list[Finding]:
    """The findings with the intervals of their gains, in the same order."""
    return [faults.guard(f"interval of {one.kind}", partial(_with, evidence, one), one) for one in found]


def _with(evidence: Evidence, finding: Finding) -> Finding:
    ends = [number.value for number in finding.evidence if number.name in CHOICES]
    ends += finding.replayed.ends()
    program = finding.replayed.program
    after = program.replay(finding.replayed.proposal.change)
    noise = None if after is None else _noise(program, after.enter_ps, after.leave_ps)
    if not ends and noise is None:
        return finding
    gain, off = finding.gain, finding.gain * (noise or 0.0)
    low, high = gain - min(gain, *ends, gain), max(gain, *ends, gain) - gain
    return replace(
        finding,
        gain_low=max(0.0, gain - math.hypot(low, off)),
        gain_high=min(1.0, gain + math.hypot(high, off)),
    )


def _noise(before: Program, enter_ps: Int64, leave_ps: Int64) -> float | None:
    """By which part the gain may differ, by what is saved with each repetition at the location that saves most there.

    Repetitions are those of the call that this location makes least often, as far as most of the time is saved between
    them: the outermost loop.

    Arguments:
        before: the program as it was.
        enter_ps: of its calls with the cure.
        leave_ps: likewise.
    """
    saved = before.leave_ps - leave_ps
    if not len(saved):
        return None
    shorter = np.bincount(before.location, weights=saved - (before.enter_ps - enter_ps))
    here = np.flatnonzero(before.location == np.argmax(shorter))
    _, of, count = np.unique(before.callpath[here], return_inverse=True, return_counts=True)
    for path in np.argsort(count, kind="stable").tolist():
        marks = saved[here[of == path]]
        if count[path] > min(STUDENT) and marks[-1] - marks[0] > MAINLY * saved[here[-1]] > 0:
            return repetition_noise(marks)
    return None


def repetition_noise(saved_ps: npt.NDArray[np.int64]) -> float | None:
    """By which part of it a sum of repeated savings may differ with the next run: half of its interval at 95 %.

    The repetitions are cut into batches of equally many, whose savings vary as those of independent runs of one batch
    would: the method of batch means.

    Arguments:
        saved_ps: until the end of each repetition, in their order.

    Returns:
        The part; None: they are too few, or save nothing, or differ by more than all that they save: then they are no
        repetitions of one loss.
    """
    batches = min(BATCHES, len(saved_ps))
    if batches - 1 not in STUDENT or saved_ps[-1] <= 0:
        return None
    last = np.arange(1, batches + 1) * len(saved_ps) // batches - 1
    sizes = np.diff(last, prepend=-1)
    each = np.diff(saved_ps[last], prepend=0) / sizes
    error = np.std(each, ddof=1) * math.sqrt(batches)
    part = STUDENT[batches - 1] * float(error / each.sum())
    return part if 0 <= part < 1 else None
