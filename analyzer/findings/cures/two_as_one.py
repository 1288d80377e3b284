"""An operation that hands to all what the one before it has just brought to its root: one operation does both.

    Reduce, then Bcast     Allreduce
    Gather, then Bcast     Allgather
    Reduce, then Scatter   Reduce_scatter

Cure: that operation. It applies to operations of one communicator, to and from the same root, with as many bytes, and
with so little code in between (`successive`) that the root can hardly have changed them. The one operation has as many
rounds of messages as the first half (recursive doubling, halving: ceil(log2 p)), but all get what only its root got: in
the graph the second operation ends at each member as soon as its root enters it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.rounds import one_round
from logpost.analyzer.findings.evidence.tables import Evidence, in_order
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY

KIND = "collective_cost"
ONE = {("Reduce", "Bcast"): "MPI_Allreduce", ("Gather", "Bcast"): "MPI_Allgather"}
ONE |= {("Reduce", "Scatter"): "MPI_Reduce_scatter"}
"""Two operations to the one that does both."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for each two operations, at the place of the second that most time is spent in."""
    return (
        replace(found, cause_region=f"MPI_{first}")
        for found in offered(evidence, propose, of_messages=False)
        for (first, _), one in ONE.items()
        if any(number.name == f"both_in_one[{one}]" for number in found.evidence)
    )


def propose(program: Program) -> Iterator[Proposal]:
    """No second operation of each two."""
    second = second_halves(program)
    for (one,), calls in sorted(second.partition_by("one", as_dict=True).items()):
        roots = calls.filter(pl.col("location") == pl.col("root_location")).select("instance", root_call="call")
        members = calls.join(roots, on="instance")
        operations = members["instance"].n_unique()
        if operations < MIN_SAMPLES:
            continue
        call, root = (members[name].to_numpy() for name in ("call", "root_call"))
        lasts = column(program.count)
        lasts[call] = 0
        spent = members.group_by("callpath").agg(pl.col("own_ps").sum())
        own = members.select(pl.col("bytes", "own_ps").mean().cast(pl.Float64)).row(0)
        yield Proposal(
            kind=KIND,
            callpath=int(spent.sort("own_ps", "callpath", descending=[True, False])["callpath"][0]),
            at_fault=frozenset(members["location"].to_list()),
            change=Transformation(lasts_ps=lasts, edges=((2 * root, 2 * call + 1, column(len(call), 0)),)),
            numbers=(
                Sum("operations", operations, "count"),
                Number("mean_size", own[0], "B"),
                Number("mean_cost", own[1], "ps"),
                Sum(f"both_in_one[{one}]", operations, "count"),
            ),
            confidence=MEDIUM,
            certainty="the calls are measured; whether the root changes the data in between is not known",
        )


@once
def second_halves(program: Program) -> pl.DataFrame:
    """(one, instance, location, callpath, call, own_ps, bytes): the calls of operations that could be one with
    those before them."""
    inside = np.flatnonzero(program.inside).astype(np.int32)
    wanted = ("instance", "location", "comm", "root", "callpath", "call", "enter_ps", "leave_ps", "wait_ps")
    of_root = pl.col("members").list.get(pl.col("root"), null_on_oob=True).alias("root_location")
    communicators = program.facts("communicators").select("comm", "members")
    rows = (
        program.facts("collectives")
        .filter(pl.col("call").is_in(pl.Series(inside).implode()))
        .join(communicators, on="comm", how="left", maintain_order="left")
        .select(*wanted, of_root, "bytes_sent", "bytes_received", operation=pl.col("operation").cast(pl.String))
        .collect()
    )
    if not set(rows["operation"].unique()) & {second for _, second in ONE}:
        return rows.clear().with_columns(one=pl.lit(""), own_ps=pl.lit(0), bytes=pl.lit(0))
    before = {name: pl.col(name).shift(1).over("location") for name in ("operation", "comm", "root", "leave_ps")}
    own = pl.col("leave_ps") - pl.col("enter_ps") - pl.col("wait_ps")
    members = pl.len().over("instance")
    gave = pl.col("bytes_sent").shift(1).over("location")
    got = pl.col("bytes_received")
    paired = in_order(rows, "location", "call").with_columns(
        own_ps=own.clip(lower_bound=0),
        bytes=got,
        close=(pl.col("enter_ps") - before["leave_ps"] < one_round(own))
        & (pl.col("comm") == before["comm"])
        & (pl.col("root") == before["root"])
        & (pl.col("instance") >= 0),
        # Only the root gets another number of bytes than it gave; it alone has something for all.
        same=pl.when(pl.col("operation") == "Scatter")
        .then(gave == members * got)
        .otherwise(pl.when(before["operation"] == "Gather").then(members * gave == got).otherwise(gave == got)),
    )
    names = pl.concat_str(before["operation"], "operation", separator=" then ")
    ones = {f"{first} then {second}": one for (first, second), one in ONE.items()}
    found = paired.with_columns(one=names.replace_strict(ones, default=None, return_dtype=pl.String))
    alike = (pl.col("close") & pl.col("same")).fill_null(value=False).mean().over("instance")
    return found.with_columns(alike=alike).filter(pl.col("one").is_not_null(), pl.col("alike") > MAINLY)
