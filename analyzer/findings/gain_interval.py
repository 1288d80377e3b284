"""Between what a finding's gain is, where that is computed.

Six sources, as fractions of the slowest rank's program time:

* the machine and what the trace leaves open: the cure is replayed again with every value of the machine at its low and
  at its high end, and at the other end of what is not known (`ReplayedCure.ends`);
* the choice: where another cure of the same cause is possible, what that saves is an end as well;
* the part of a long program that is replayed: what each of its ranks saves until it ends;
* the windows of a sampled program: `sampling_error`;
* the repetitions of another one: `repetition_noise`;
* the residual: of the time in the calls where the cure saves, the part that the machine's values do not explain. The
  cure may save all of it, or none; no more than what these calls last without the cure is left to save.

The first three are ends, each of which may be what is true; the others, which are independent errors, widen the
interval at either end. It is rounded outward to the tenth of a percent to which gains are stated.
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
from logpost.analyzer.statistics.recurrence import period
from logpost.replay.columns import Int64

STUDENT = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
"""Degrees of freedom to the quantile at 97.5 % of Student's t distribution."""
BATCHES = max(STUDENT) + 1
"""Parts of equally many repetitions."""
PRINTED = 1000
"""Steps of a fraction that reports print: tenths of a percent."""
HALF = 0.5
"""Of such a step: a gain is stated to the nearest one."""
DIGITS = 6
"""Behind the point of those steps: beyond them, a difference is one of binary fractions (2^-53 of 1 is 10^-16)."""
CHOICES = ("gain_if_as_fast", "gain_if_shared")
"""Evidence: what either cure saves."""


def with_intervals(evidence: Evidence, found: Iterable[Finding], faults: Faults) -> list[Finding]:
    """The findings with the intervals of their gains, in the same order; those that have one keep it."""
    return [
        one
        if one.gain_low is not None
        else faults.guard(f"interval of {one.kind}", partial(_with_interval, evidence, one), one)
        for one in found
    ]


def sure(evidence: Evidence, found: Iterable[Finding], faults: Faults) -> list[Finding]:
    """Those that are stated, in the same order: what is not explains no time of another one. Where their interval
    decides that, with it."""
    kept: list[Finding] = []
    for one in found:
        beyond = one.replayed.proposal.beyond
        if beyond is None:
            kept.append(one)
        elif one.gain > beyond:
            (bounded,) = with_intervals(evidence, [one], faults)
            if bounded.gain_low is None or bounded.gain_low > beyond:
                kept.append(bounded)
    return kept


def _with_interval(evidence: Evidence, finding: Finding) -> Finding:
    ends = [number.value for number in finding.evidence if number.name in CHOICES]
    ends += finding.replayed.ends()
    program = finding.replayed.program
    after = program.replay(finding.replayed.proposal.change)
    if after is not None and not program.whole:
        ends += _saved_by_each(program, after.leave_ps)
    noise = None
    if after is not None:
        windows = len(program.windows_end_ps) > 1
        noise = (
            _of_sample(evidence, program, after.leave_ps)
            if windows
            else _noise(program, after.enter_ps, after.leave_ps)
        )
    residual = _residual(finding)
    if not ends and noise is None and residual is None:
        return finding
    gain, (less, more) = finding.gain, residual or (0.0, 0.0)
    low = min(gain, *ends, gain) - gain * math.hypot(noise or 0.0, less)
    high = max(gain, *ends, gain) + gain * math.hypot(noise or 0.0, more)
    return replace(
        finding,
        gain_low=max(0.0, math.floor(round(low * PRINTED - HALF, DIGITS)) / PRINTED),
        gain_high=min(1.0, math.ceil(round(high * PRINTED + HALF, DIGITS)) / PRINTED),
    )


def _saved_by_each(program: Program, leave_ps: Int64) -> list[float]:
    """What each location saves until its last call here, as fractions: a part of a program ends for them at different
    points of their work, and which of them the whole one waits for is not in it."""
    last = np.append(~program.follows[1:], True) & program.inside
    saved = (program.leave_ps - leave_ps)[last] / program.length_ps
    return [max(0.0, float(one)) for one in saved]


def _residual(finding: Finding) -> tuple[float, float] | None:
    """By which parts of it the gain may be less, and more, by the residual of calls at the places where the cure saves
    time; None: it saves none in calls."""
    program = finding.replayed.program
    places = np.fromiter((location * program.paths + path for location, path in finding.removes), dtype=np.int64)
    here = np.isin(program.place_of, places) & program.inside
    time, saved = float((program.leave_ps - program.enter_ps)[here].sum()), sum(finding.removes.values())
    if not time > 0 or not saved > 0:
        return None
    return residual_parts(time, saved, float(program.spent_ps("residual")[here].sum()))


def residual_parts(time: float, saved: float, residual: float) -> tuple[float, float]:
    """By which parts of it a saving may be less, and more: of the time in some calls, what is saved, and the residual;
    ps."""
    return residual / time, min(residual / time, max(0.0, time / saved - 1))


def _of_sample(evidence: Evidence, program: Program, leave_ps: Int64) -> float | None:
    """By which part the gain of a program that is sampled in windows may differ from that of the whole one."""
    until = [program.enter_ps < end for end in program.windows_end_ps]
    saved = [program.leave_ps[calls].max(initial=0) - leave_ps[calls].max(initial=0) for calls in until]
    part = program.length_ps / max(1, evidence.slowest_program_ps)
    return sampling_error(np.array(saved), min(1.0, part))


def sampling_error(saved_ps: npt.NDArray[np.int64], part: float) -> float | None:
    """By which part of it a saving differs that is known from about equal windows: half of its interval at 95 %.

    The windows are a sample without replacement, so that what was replayed has no error.

    Arguments:
        saved_ps: until the end of each window, in their order.
        part: of the program that the windows are.

    Returns:
        The part; None: they save nothing.
    """
    each = np.diff(saved_ps, prepend=0)
    if len(each) - 1 not in STUDENT or each.sum() <= 0:
        return None
    error = np.std(each, ddof=1) * math.sqrt(len(each) * (1 - part))
    return STUDENT[len(each) - 1] * float(error / each.sum())


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
    would: the method of batch means. What recurs (`recurrence.period`) is in all of them equally often.

    Arguments:
        saved_ps: until the end of each repetition, in their order.

    Returns:
        The part; None: they are too few, or save nothing, or differ by more than all that they save: then they are no
        repetitions of one loss.
    """
    every = period(np.diff(saved_ps, prepend=0))
    saved_ps = saved_ps[every - 1 :: every]
    batches = min(BATCHES, len(saved_ps))
    if batches - 1 not in STUDENT or saved_ps[-1] <= 0:
        return None
    last = np.arange(1, batches + 1) * len(saved_ps) // batches - 1
    sizes = np.diff(last, prepend=-1)
    each = np.diff(saved_ps[last], prepend=0) / sizes
    error = np.std(each, ddof=1) * math.sqrt(batches)
    part = STUDENT[batches - 1] * float(error / each.sum())
    return part if 0 <= part < 1 else None
