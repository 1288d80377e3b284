"""Uneven computation: some ranks compute longer than the others do.

Cure: they are as fast as the others. In the graph, the code of a rank that computes longer than the median rank (of an
even number, the upper one: half of the ranks are no exception) lasts in all as long as that one's; each piece of it is
shorter in proportion.

What another finding explains is that one's: this one is stated where none explains half of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, offered, program_of
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, MIN_SHARE, Finding, Number
from logpost.analyzer.run.wide import wide_sum

KIND = "load_imbalance"
EXPLAINED = 0.5
"""Of what this cure saves: another finding that gains as much explains it."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    return (_of_code(evidence, found) for found in offered(evidence, propose, of_messages=False))


def _of_code(evidence: Evidence, found: Finding) -> Finding:
    """The finding with the code in which the slowest rank computes longest, and how long ranks compute there."""
    program = program_of(evidence)
    assert program is not None
    assert found.replayed is not None
    change = found.replayed.proposal.change.longer_ps
    assert change is not None
    slowest = int(program.location[int(np.argmin(change))])
    region = evidence.delaying_region(slowest, found.callpath)
    if region:
        paths = evidence.callpaths_of(region)
        rows = evidence.user_profile.filter(pl.col("callpath").is_in(paths)).select("location", time="exclusive_ps")
    else:
        here = program.inside & (program.callpath == found.callpath)
        rows = pl.DataFrame({"location": program.location[here], "time": program.gap_ps[here]})
    times = rows.group_by("location").agg(wide_sum("time"))["time"].to_list()
    return replace(
        found,
        region="",
        callpath=-1,
        cause_region=region or evidence.code_before(found.callpath),
        evidence=(
            Number("longest", float(max(times, default=0)), "ps"),
            Number("mean", sum(times) / max(1, evidence.locations.height), "ps"),
        ),
    )


def unexplained(found: Iterable[Finding], others: Sequence[Finding]) -> list[Finding]:
    """Those of the findings that none of the others explains."""
    most = max((other.gain for other in others), default=0.0)
    return [one for one in found if most < EXPLAINED * one.gain]


def propose(program: Program) -> Iterator[Proposal]:
    """All code of ranks that compute longer than the median rank."""
    locations = np.array(list(program.calls_of))
    row = np.searchsorted(locations, program.location).clip(max=max(0, len(locations) - 1))
    gaps = np.where(program.inside, program.gap_ps, 0).astype(np.float64)
    totals = np.bincount(row, weights=gaps, minlength=len(locations))
    middle = float(np.sort(totals)[len(totals) // 2])
    longer = totals > middle * (1.0 + MIN_SHARE)
    if not longer.any():
        return
    kept = np.where(longer, middle / np.maximum(totals, 1.0), 1.0)
    less = np.rint(gaps * (kept[row] - 1.0)).astype(np.int64)
    worst = int(np.argmax(totals))
    saved = np.where(row == worst, -less, 0)
    callpath = int(program.callpath[int(np.argmax(np.bincount(program.callpath, weights=saved)[program.callpath]))])
    yield Proposal(
        kind=KIND,
        callpath=callpath,
        at_fault=frozenset(locations[longer].tolist()),
        change=Transformation(longer_ps=less),
        numbers=(),
        confidence=LOW,
        certainty="computation is measured; whether these ranks have more to compute, or are slower, is not known",
    )
