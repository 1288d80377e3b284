"""A fence that synchronizes everybody.

Where ranks exchange transfers with some others only, the cure is to synchronize the ranks that exchange data (post,
start, complete and wait). In the graph a rank leaves a fence once the ranks that it puts to or gets from, and those
that do so with it, have entered it, and as long after them as it did after the last rank of all, but for rounds:
partners need one, and all P ranks no less than log2 P (dissemination). At the other end of the gain, it leaves right
then. It applies to fences of which some rank has such partners, and not all, and in which it is waited for others: the
duration of rounds alone is no such loss.

Where that saves no more than noise, and another rank is the last one from fence to fence, steps that are long on
different ranks even out with fewer fences, one for several steps. In the graph their calls last nothing and wait for
none. The code of every rank varies, so that only more than `NOISE` is stated. Which data is needed when, no trace
shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.needless_barrier import mostly_last
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, MEDIUM, MIN_SAMPLES, MIN_SHARE, NOISE, Finding, Number, Sum

KIND = "wait_at_fence"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    return offered(evidence, propose, of_messages=False)


def propose(program: Program) -> Iterator[Proposal]:
    """The fences of each call path, for partners only, and fewer of them."""
    fences = program.operations.filter(pl.col("operation") == "Fence")
    partners = program.partners
    for (path,), rows in fences.partition_by("callpath", as_dict=True, maintain_order=True).items():
        locations = rows["location"].unique()
        if rows["instance"].n_unique() < MIN_SAMPLES:
            continue
        near = {one: partners.get(one, set()) & set(locations) for one in locations.to_list()}
        are_fewer = any(0 < len(some) < len(locations) - 1 for some in near.values())
        ways = tuple(_for_partners(program, rows, near)) if are_fewer else ()
        if not ways or program.gain(ways[1]) <= NOISE:
            yield from _fewer(program, int(path), rows)
        if not ways or program.gain(ways[0]) < MIN_SHARE:
            continue
        yield Proposal(
            kind=KIND,
            callpath=int(path),
            at_fault=frozenset(locations.to_list()),
            change=ways[1],
            other_ends=(ways[2],),
            numbers=(Number("partners", max(len(some) for some in near.values()), "count"),),
            confidence=MEDIUM,
            certainty="the waiting and the partners are measured; the duration of their synchronization is not",
        )


def _fewer(program: Program, path: int, rows: pl.DataFrame) -> Iterator[Proposal]:
    """Without these fences, where no rank enters most of them last."""
    calls = rows["call"].to_numpy()
    if mostly_last(program, calls) is not None:
        return
    lasts = column(program.count)
    lasts[calls] = 0
    yield Proposal(
        kind=KIND,
        callpath=path,
        at_fault=frozenset(rows["location"].to_list()),
        change=Transformation(lasts_ps=lasts),
        numbers=(
            Sum("operations", rows["instance"].n_unique(), "count"),
            Number("takes_turns", 1.0, "1"),
        ),
        confidence=LOW,
        beyond=NOISE,
        certainty="the waiting is measured; whether the transfers of one step are needed in the next one is not known",
    )


def _for_partners(program: Program, fences: pl.DataFrame, near: dict[int, set[int]]) -> Iterator[Transformation]:
    """The program in which each rank waits for its partners, and as long then as it does now; less the rounds that only
    all ranks need; and not any longer."""
    rounds_ps = (max(1, math.ceil(math.log2(max(2, len(near))))) - 1) * program.empty_message_ps
    lasts = column(program.count)
    calls = fences["call"].to_numpy()
    lasts[calls] = 0
    sources: list[int] = []
    targets: list[int] = []
    weights: list[int] = []
    for (_,), members in fences.partition_by("instance", as_dict=True).items():
        call_of = dict(members.select("location", "call").iter_rows())
        last = int(program.enter_ps[list(call_of.values())].max())
        for location, call in call_of.items():
            took = int(program.leave_ps[call]) - max(last, int(program.enter_ps[call]))
            for one in {location, *near[location]} & call_of.keys():
                sources.append(2 * call_of[one])
                targets.append(2 * call + 1)
                weights.append(max(0, took))
    source, target = (np.array(of, dtype=np.int64) for of in (sources, targets))
    time = np.array(weights, dtype=np.int64)
    for weight in (time, np.maximum(0, time - round(rounds_ps)), np.zeros_like(time)):
        yield Transformation(lasts_ps=lasts, edges=((source, target, weight),))
