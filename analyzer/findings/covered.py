"""What findings explain of the ranks' lost time: what their cures save of it together.

Cures are replayed one after the other, each with all that are stated before it in place. What the ranks then spend less
in calls is lost time that the finding explains; two findings never explain the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.finding import COVERS, UNEXPLAINED, Finding, Number
from logpost.analyzer.run.wide import exact_sum


def with_coverage(found: Sequence[Finding], program_ps: int) -> list[Finding]:
    """The findings in their order, each with what it explains further.

    Arguments:
        found: the one that gains most first.
        program_ps: the sum of the ranks' program times, of which the replayed program may be a part.
    """
    return [
        one if covers is None else replace(one, evidence=(*one.evidence, Number(COVERS, covers, "ps")))
        for one, covers in zip(found, _covered(found, program_ps), strict=True)
    ]


def _covered(found: Sequence[Finding], program_ps: int) -> list[float | None]:
    covers: list[float | None] = []
    together, saved = Transformation(), 0
    for one in found:
        program = one.replayed.program
        now = together.then(one.replayed.proposal.change)
        after = None if one.kind == UNEXPLAINED else _saved_ps(program, now)
        if after is None:
            covers.append(None)
            continue
        # With those before it in place, a cure may move more waiting to other calls than it saves.
        covers.append(max(0, after - saved) * program.times_longer(program_ps))
        together, saved = now, max(saved, after)
    return covers


def _saved_ps(program: Program, change: Transformation) -> int | None:
    """What the ranks spend less in calls; None: these cures cannot be in place together."""
    found = program.replay(change)
    if found is None:
        return None
    less = (program.base.leave_ps - program.base.enter_ps) - (found.leave_ps - found.enter_ps)
    return exact_sum(less[program.inside])
