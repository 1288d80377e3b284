"""A communicator, window or file that is made at the same place again and again, though one would do.

Cure: make it once and keep it. It applies to calls that make one of the same communicator's members, each time on every
one of them. In the graph all but the first last nothing and wait for none; so do all but the last of the calls that
release as many. Of windows and files, what is made may differ in size or name from time to time, which no trace shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, Finding, Number, Sum
from logpost.analyzer.run.schema import HANDLE_OPERATIONS
from logpost.replay.columns import Int64

KIND = "collective_cost"
MAKES = tuple(name for name in HANDLE_OPERATIONS if name.startswith("create"))
RELEASES = tuple(name for name in HANDLE_OPERATIONS if name.startswith("destroy"))


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    return offered(evidence, propose, of_messages=False)


def propose(program: Program) -> Iterator[Proposal]:
    """What the calls of each path make, made once."""
    operation = pl.col("operation")
    inside = pl.col("call").is_in(pl.Series(np.flatnonzero(program.inside).astype(np.int32)).implode())
    rows = program.operations.filter(inside, pl.col("call") == pl.col("complete_call")).sort("location", "call")
    releases = rows.filter(operation.is_in(RELEASES))
    for (callpath, _), made in (
        rows.filter(operation.is_in(MAKES)).partition_by("callpath", "comm", as_dict=True, maintain_order=True).items()
    ):
        count = made["instance"].n_unique()
        if count < MIN_SAMPLES or made.height != count * made["location"].n_unique():
            continue
        lasts = column(program.count)
        made_again = _but(made, pl.col("call").min())
        lasts[made_again] = 0
        for _, released in releases.partition_by("callpath", as_dict=True).items():
            if count - 1 <= released["instance"].n_unique() <= count:
                lasts[_but(released, pl.col("call").max())] = 0
        own = np.maximum(0, program.own_ps)[made["call"].to_numpy()]
        yield Proposal(
            kind=KIND,
            callpath=int(callpath),
            at_fault=frozenset(made["location"].to_list()),
            change=Transformation(lasts_ps=lasts),
            numbers=(
                Sum("operations", count, "count"),
                Number("mean_cost", float(own.mean()), "ps"),
                Number("made_again", len(made_again) / made["location"].n_unique(), "count"),
            ),
            confidence=MEDIUM,
            certainty="the calls are measured; whether all of them need the same one is not known",
        )


def _but(rows: pl.DataFrame, one: pl.Expr) -> Int64:
    """The calls of each location but that one."""
    return rows.filter(pl.col("call") != one.over("location"))["call"].to_numpy().astype(np.int64)
