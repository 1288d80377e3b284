"""Uneven steps: the ranks take turns at computing longest, and wait for the slowest one of each step.

Cure: the work of each step is shared evenly. In the graph, the code before these calls lasts, visit by visit, as long
as the mean of the ranks; what visits have beyond the usual that are long once remains (`long_visits`). It applies where
the visits of ranks are equally many, and none is slow throughout (that is `uneven_computation`): all stretches of code
at once, since a rank that is long in one may be short in the next.

The duration of code varies on every machine. What is lost by that is no more than `NOISE`, and nothing is stated below.
Steps that end in a barrier or a fence are that one's matter (`needless_barrier`): without it, they even out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from logpost.analyzer.findings.cures.long_visits import beyond_usual_ps
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.stretches import Stretch, stretches
from logpost.analyzer.findings.cures.uneven_computation import KIND, described
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, NOISE, Finding, Number, Sum


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    found = offered(evidence, propose, of_messages=False)
    each = (described(evidence, one) for one in found if one.gain > NOISE)
    return (one for one in each if one.exposed_ps > 0)


def propose(program: Program) -> Iterator[Proposal]:
    """All stretches whose steps are uneven."""
    places = [one for one in stretches(program) if _takes_turns(program, one)]
    if not places:
        return
    longer = column(program.count, 0)
    usual_ps = program.gap_ps - beyond_usual_ps(program)
    longest = mean_of_all = 0.0
    for place in places:
        calls = np.array(place.calls)
        visits = usual_ps[calls]
        longer[calls] = np.rint(visits.mean(axis=0) - visits)
        longest += float(visits.max(axis=0).sum())
        mean_of_all += float(visits.mean(axis=0).sum())
    yield Proposal(
        kind=KIND,
        callpath=max(places, key=lambda one: one.uneven_ps).callpath,
        callpaths=frozenset(one.callpath for one in places),
        at_fault=frozenset().union(*(one.locations for one in places)),
        change=Transformation(longer_ps=longer, lasts_ps=program.shortest_ps),
        numbers=(
            Sum("steps", sum(one.visits.shape[1] for one in places if one.visits is not None), "count"),
            Sum("longest", longest, "ps"),
            Sum("mean", mean_of_all, "ps"),
            Number("load_balance", mean_of_all / max(1.0, longest), "1"),
        ),
        confidence=MEDIUM,
        beyond=NOISE,
        certainty="compute time is measured; whether the work of a step can be shared is not known",
    )


def _takes_turns(program: Program, place: Stretch) -> bool:
    return (
        place.visits is not None
        and place.visits.shape[1] >= MIN_SAMPLES
        and not place.slow.any()
        and not program.is_kind("barrier", "one_sided")[place.calls[0]].any()
        and place.uneven_ps > 0
    )
