"""An operation that hands to all what the one before it has just brought to its root: one operation does both.

    Reduce, then Bcast     Allreduce
    Gather, then Bcast     Allgather
    Reduce, then Scatter   Reduce_scatter

of one communicator, to and from the same root, with as many bytes, and with so little code in between (`successive`)
that the root can hardly have changed them. The one operation takes as many rounds of messages as the first half does
(recursive doubling, halving: ceil(log2 p)), but all get what only its root got.

Gain: the same program if the second operation ended as soon as its root came to it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.successive import CLOSE
from logpost.analyzer.findings.evidence.tables import Evidence, in_order
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of

ONE = {("Reduce", "Bcast"): "MPI_Allreduce", ("Gather", "Bcast"): "MPI_Allgather"}
ONE |= {("Reduce", "Scatter"): "MPI_Reduce_scatter"}
"""Two operations to the one that does both."""
MAINLY = 0.5
"""More than half of an operation's members must come to it like that."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for each two operations, at the place of the second that most time is spent in."""
    if not evidence.worth_a_look(["collective"]):
        return
    second = _second_halves(evidence)
    for (one,), calls in sorted(second.partition_by("one", as_dict=True).items()):
        graph = graph_of(evidence)
        here = graph.flags(calls["call"])
        cut = Hypothesis(
            work_ps=np.where(here, 0, graph.work_ps),
            member_ps=np.where(here, 0, np.iinfo(np.int64).max),
        )
        saving = saving_if(graph, cut)
        operations = calls["instance"].n_unique()
        if saving.gain < MIN_SHARE or operations < MIN_SAMPLES:
            continue
        took = (
            calls.group_by("callpath").agg(pl.col("own_ps").sum()).sort("own_ps", "callpath", descending=[True, False])
        )
        callpath = int(took["callpath"][0])
        first = calls["first"].unique().sort()[0]
        yield finding_of(
            evidence,
            graph,
            "collective_cost",
            saving,
            at_fault=set(calls["location"].to_list()),
            callpath=callpath,
            cause_region=f"MPI_{first}",
            numbers=(
                Number("operations", operations, "count"),
                Number("mean_size", float(calls["bytes"].mean() or 0.0), "B"),  # type: ignore[arg-type]
                Number("mean_cost", float(calls["own_ps"].mean() or 0.0), "ps"),  # type: ignore[arg-type]
                Number(f"both_in_one[{one}]", operations, "count"),
            ),
            confidence=evidence.confidence(
                MEDIUM, "the calls are measured; whether the root changes the data in between is not known"
            ),
        )


def _second_halves(evidence: Evidence) -> pl.DataFrame:
    """(one, first, instance, location, callpath, call, own_ps, bytes): the calls of operations that could be one with
    those before them."""
    scope = evidence.tables["locations"].select("location", "begin_ps", "end_ps")
    wanted = ("instance", "location", "comm", "root", "callpath", "call", "enter_ps", "leave_ps", "wait_ps")
    rows = (
        evidence.tables["collectives"]
        .join(scope, on="location", maintain_order="left")
        .filter(pl.col("enter_ps") >= pl.col("begin_ps"), pl.col("leave_ps") <= pl.col("end_ps"))
        .select(*wanted, "bytes_sent", "bytes_received", operation=pl.col("operation").cast(pl.String))
        .collect()
    )
    if not set(rows["operation"].unique()) & {second for _, second in ONE}:
        return rows.clear().with_columns(one=pl.lit(""), first=pl.lit(""), own_ps=pl.lit(0), bytes=pl.lit(0))
    before = {name: pl.col(name).shift(1).over("location") for name in ("operation", "comm", "root", "leave_ps")}
    own = pl.col("leave_ps") - pl.col("enter_ps") - pl.col("wait_ps")
    members = pl.len().over("instance")
    gave = pl.col("bytes_sent").shift(1).over("location")
    got = pl.col("bytes_received")
    paired = in_order(rows, "location", "call").with_columns(
        own_ps=own.clip(lower_bound=0),
        bytes=got,
        first=before["operation"],
        close=(pl.col("enter_ps") - before["leave_ps"] <= CLOSE * own)
        & (pl.col("comm") == before["comm"])
        & (pl.col("root") == before["root"])
        & (pl.col("instance") >= 0),
        # Only the root gets another number of bytes than it gave; it alone has something for all.
        same=pl.when(pl.col("operation") == "Scatter")
        .then(gave == members * got)
        .otherwise(pl.when(before["operation"] == "Gather").then(members * gave == got).otherwise(gave == got)),
    )
    names = pl.concat_str("first", "operation", separator=" then ")
    ones = {f"{first} then {second}": one for (first, second), one in ONE.items()}
    found = paired.with_columns(one=names.replace_strict(ones, default=None, return_dtype=pl.String))
    alike = (pl.col("close") & pl.col("same")).fill_null(value=False).mean().over("instance")
    return found.with_columns(alike=alike).filter(pl.col("one").is_not_null(), pl.col("alike") > MAINLY)
