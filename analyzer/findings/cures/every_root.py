"""Operations of one kind in a row, each with another root, until each member was the root once: one operation does all.

    Bcast     Allgather
    Gather    Alltoall
    Scatter   Alltoall
    Reduce    Reduce_scatter

Cure: that operation. It applies where most members spend less between two of them than one round lasts (`one_round`).
In the graph it is where the first of them is: it ends at all members so long after the last of them has entered as one
of the row lasted on its slowest member, on the mean, and longer by what the bytes of the others cost, where each member
gets them all; the rest of the row lasts nothing. At the other ends of the gain it is as long as the longest of the row;
or the code between them, a loop over the roots, is gone as well.

Where the machine does not divide the duration of messages, these are single values only, and nothing may be saved
(`in_one`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, column, in_one, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.stretches import Floats
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.part_bytes import own_part_bytes
from logpost.analyzer.findings.evidence.rounds import one_round
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY

KIND = "collective_cost"
ONE = {"Bcast": "MPI_Allgather", "Gather": "MPI_Alltoall", "Scatter": "MPI_Alltoall", "Reduce": "MPI_Reduce_scatter"}
"""Operation to the one that does it for each root."""
TO_ALL = ("Bcast", "Reduce")
"""Those whose one operation has more bytes for a member than each of them has for its root."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    return offered(evidence, propose, of_messages=False)


def propose(program: Program) -> Iterator[Proposal]:
    """One operation for each row, at each call path."""
    for (path, operation), calls in sorted(turns(program).partition_by("at", "operation", as_dict=True).items()):
        count = calls["instance"].n_unique()
        mean_size, mean_cost, largest = calls.select(
            pl.col("part", "own_ps").mean().cast(pl.Float64), most=pl.col("part").max()
        ).row(0)
        if count < MIN_SAMPLES:
            continue
        rows = calls.with_columns(slowest=pl.col("own_ps").max().over("instance")).with_columns(
            mean=pl.col("slowest").mean().over("row"),
            longest=pl.col("slowest").max().over("row"),
            members=pl.col("location").n_unique().over("row"),
        )
        further = _further_bytes(program, rows, operation)
        change, longest = (_one(program, rows, rows[name].to_numpy() + further) for name in ("mean", "longest"))
        between = rows.filter(pl.col("turn") > 0)["call"].to_numpy()
        longer = column(program.count, 0)
        longer[between] = -program.gap_ps[between]
        cure = Proposal(
            kind=KIND,
            callpath=int(path),
            at_fault=frozenset(calls["location"].to_list()),
            change=change,
            other_ends=(longest, replace(change, longer_ps=longer)),
            numbers=(
                Sum("operations", count, "count"),
                Number("mean_size", mean_size, "B"),
                Number("mean_cost", mean_cost, "ps"),
                Number(f"every_root[{ONE[operation]}]", count / rows["row"].n_unique(), "count"),
            ),
            confidence=MEDIUM,
            certainty="the calls and their roots are measured; whether a root needs what it got before is not known",
        )
        yield from in_one(cure, int(largest), known=program.knows_bytes)


def _further_bytes(program: Program, rows: pl.DataFrame, operation: str) -> Floats:
    """By call: what the bytes of the others cost the one operation."""
    if not program.knows_bytes or operation not in TO_ALL:
        return np.zeros(rows.height)
    part, members = (rows[name].to_numpy().astype(np.float64) for name in ("part", "members"))
    whole, one = (program.costs(size).serialization for size in (part * (members - 1), part))
    return np.nan_to_num(whole - one)


def _one(program: Program, rows: pl.DataFrame, lasts_ps: Floats) -> Transformation:
    """The first call of each row ends so long after all members have entered it; the others last nothing."""
    lasts = column(program.count)
    lasts[rows["call"].to_numpy()] = 0
    is_first = (rows["turn"] == 0).to_numpy()
    first = rows["call"].to_numpy()[is_first].astype(np.int64)
    meet = -rows["row"].rank("dense").to_numpy().astype(np.int64)[is_first]  # the k-th further node is -1 - k
    weight = np.rint(lasts_ps[is_first]).astype(np.int64)
    return Transformation(
        lasts_ps=lasts,
        edges=((2 * first, meet, np.zeros_like(weight)), (meet, 2 * first + 1, weight)),
        further_nodes=rows["row"].n_unique(),
    )


@once
def turns(program: Program) -> pl.DataFrame:
    """(row, turn, at, operation, instance, location, callpath, call, own_ps, part): the calls of rows of operations in
    which each member is the root once; `turn`: its place in the row, `at`: the call path of the first one, `part`: its
    bytes for each member."""
    inside = pl.Series(np.flatnonzero(program.inside).astype(np.int32)).implode()
    sizes = program.facts("communicators").select("comm", size=pl.col("members").list.len())
    where = ("instance", "location", "comm", "root", "callpath", "call")
    times = ("enter_ps", "leave_ps", "wait_ps", "bytes_sent", "bytes_received")
    rows = (
        program.facts("collectives")
        .filter(pl.col("call").is_in(inside), pl.col("call") == pl.col("complete_call"), pl.col("instance") >= 0)
        .join(sizes.unique("comm"), on="comm", how="left", maintain_order="left")
        .select(*where, *times, "size", pl.col("operation").cast(pl.String))
        .collect()
        .sort("location", "call")
    )
    own = pl.col("leave_ps") - pl.col("enter_ps") - pl.col("wait_ps")
    before = {name: pl.col(name).shift(1).over("location") for name in ("operation", "comm", "root", "leave_ps")}
    joins = (
        (pl.col("operation") == before["operation"])
        & (pl.col("comm") == before["comm"])
        & (pl.col("root") != before["root"])
        & (pl.col("enter_ps") - before["leave_ps"] < one_round(own.max().over("instance")))
        & pl.col("operation").is_in(list(ONE))
    )
    rows = rows.with_columns(
        own_ps=own.clip(lower_bound=0), part=own_part_bytes(pl.col("size")), joins=joins.fill_null(value=False)
    )
    # Of operations, in the order of each communicator: members call them in the same one.
    each = (
        rows.group_by("instance", maintain_order=True)
        .agg(pl.col("comm", "root", "size", "operation").first(), pl.col("joins").mean(), at=pl.col("enter_ps").min())
        .sort("comm", "at")
        .with_columns(row=(pl.col("joins") <= MAINLY).cum_sum())
        .with_columns(place=pl.int_range(pl.len()).over("row"))
        .with_columns(cycle=pl.col("place") // pl.col("size"), turn=pl.col("place") % pl.col("size"))
        .filter(pl.col("size") > 1, pl.col("root").n_unique().over("row", "cycle") == pl.col("size"))
        .with_columns(row=pl.struct("row", "cycle").rank("dense"))
    )
    found = rows.join(each.select("instance", "row", "turn"), on="instance", maintain_order="left")
    return found.with_columns(at=pl.col("callpath").sort_by("turn").first().over("row"))
