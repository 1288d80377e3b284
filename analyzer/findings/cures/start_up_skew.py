"""Start-up skew: some ranks leave start-up later than others, which wait for them in the program.

A rank that is still in MPI_Init (or shmem_init) sends nothing and enters no collective operation. That others wait for
it is no fault of the program: the launch of the job delays it.

Cure: all ranks leave start-up when the last one does. In the graph the programs of the others begin so much later, and
their lengths are measured from there. The run as a whole ends no earlier unless start-up itself becomes shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import HIGH, Finding, Number, sums_at_locations
from logpost.analyzer.findings.wording.facts import HEAVY
from logpost.analyzer.words.location_names import owners

KIND = "start_up_skew"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run; a region of interest begins later than the program."""
    if evidence.manifest.region_of_interest is not None:
        return ()
    return (_described(evidence, one) for one in offered(evidence, partial(propose, evidence), of_messages=False))


def propose(evidence: Evidence, program: Program) -> Iterator[Proposal]:
    """All programs begin at once."""
    later = _later(evidence.locations)
    apart = max(later.values(), default=0)
    longer, at_end = column(program.count, 0), column(program.location_count, 0)
    for location, calls in program.calls_of.items():
        if len(calls):
            longer[calls[0]] = later[location]
            at_end[location] = -later[location]
    change = Transformation(longer_ps=longer, longer_at_end_ps=at_end)
    lost: dict[int, float] = {}
    for (_, path), time in program.saved_at(change).items() if apart else ():
        lost[path] = lost.get(path, 0.0) + time
    if lost:
        yield Proposal(
            kind=KIND,
            callpath=max(lost, key=lambda path: lost[path]),
            at_fault=frozenset(location for location, time in later.items() if time <= HEAVY * apart),
            change=change,
            numbers=(Number("start_up_ends_apart", apart, "ps"),),
            confidence=HIGH,
            certainty="the end of each rank's start-up and the calls are measured",
        )


def _later(locations: pl.DataFrame) -> dict[int, int]:
    """Location to how long before the last rank its own one leaves start-up; ps. Threads leave it with their process;
    one without a rank is its own."""
    rows = locations.with_columns(owner=owners(locations))
    of_rank = rows.filter(pl.col("rank") >= 0).group_by("owner").agg(until_ps=pl.col("begin_ps").min())
    until = rows.join(of_rank, on="owner", how="left").select("location", until=pl.coalesce("until_ps", "begin_ps"))
    return dict(until.select("location", pl.col("until").max() - pl.col("until")).iter_rows())


def _described(evidence: Evidence, found: Finding) -> Finding:
    """The finding with the ranks that wait, those that they wait for, and the call in which these start up."""
    lost = sums_at_locations(found.removes)
    most = max(lost.values())
    waiting = [location for location, time in lost.items() if time >= HEAVY * most]
    late = sorted(found.replayed.proposal.at_fault)
    names = evidence.callpaths.filter(pl.col("kind") == "init_finalize")["name"].to_list()
    return replace(
        found,
        named=evidence.named(sorted({*lost, *late})),
        cause_region=next((name for name in names if "init" in name.lower()), ""),
        evidence=(
            *found.evidence,
            *evidence.rank_numbers("late_rank", late),
            *evidence.rank_numbers("waiting_rank", waiting),
            *evidence.exposed_numbers(lost),
        ),
    )
