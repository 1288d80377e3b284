"""Waits of one-sided communication as edges of the graph: which call waits for which call of the other process.

The table `epochs` says how long an access, an exposure, a lock or a change was waited for: the wait ends when a call of
the other process begins (of a lock: ends), at that very instant. A transfer that its target does not attend to ends
its way back, L of it, after the target has entered the call that serves it: the last one before. A latency that is only
bounded is taken for nothing here: the bound would rule out the call that did serve the transfer. Waits whose end is no
such instant stay as they were measured. Times in ps.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.replay._native import wait_reasons
from logpost.replay.columns import Column

REASONS = {
    "access": "access",
    "exposure": "exposure",
    "lock_shared": "lock",
    "lock_exclusive": "lock",
    "change": "change",
}
"""Kind of an epoch to the reason of its wait."""

ENDED_BY = {
    "access": (("exposure",), "begin_call"),
    "exposure": (("access",), "end_call"),
    "lock": (("lock_shared", "lock_exclusive"), "end_call"),
}
"""Reason of a wait to the other process's epochs, whose begin or end it lasts until."""

NONE = pl.DataFrame(
    schema={"row": pl.Int64, "source": pl.Int64, "reason": pl.String, "rest_ps": pl.Int64, "own": pl.Boolean}
)
"""Waits of a program that has none; its calls, which are many, need not be looked through."""


def one_sided_waits(evidence: Evidence, calls: pl.DataFrame) -> dict[str, Column]:
    """Columns of the native `RecordedEpochs`.

    Arguments:
        evidence: of the run.
        calls: of the graph (call, location, enter_ps, leave_ps), in the order of its rows.
    """
    rows = calls.select("call", "location", "enter_ps", "leave_ps").with_row_index("row")
    waits = pl.concat([_epochs(evidence, rows), _transfers(evidence, rows)]).sort("row", "source")
    codes = waits["reason"].replace_strict(wait_reasons(), range(len(wait_reasons())), return_dtype=pl.UInt8)
    return {
        "call": waits["row"].cast(pl.Int32).to_numpy(),
        "source": waits["source"].cast(pl.Int32).to_numpy(),
        "leaves": (waits["reason"] == "lock").cast(pl.UInt8).to_numpy(),
        "own": waits["own"].cast(pl.UInt8).to_numpy(),
        "reason": np.ascontiguousarray(codes.to_numpy()),
        "rest_ps": waits["rest_ps"].to_numpy(),
    }


def _epochs(evidence: Evidence, rows: pl.DataFrame) -> pl.DataFrame:
    epochs = (
        evidence.tables["epochs"]
        .filter(pl.col("wait_ps") > 0, pl.col("waits_for") >= 0)
        .select(
            "location",
            "waits_for",
            "begin_call",
            "end_call",
            "enter_ps",
            "wait_ps",
            reason=pl.col("kind").cast(pl.String),
        )
        .filter(pl.col("reason").is_in(list(REASONS)))
        .with_columns(pl.col("reason").replace(REASONS))
        .collect()
    )
    if epochs.is_empty():
        return NONE
    numbers = rows.select("call", "row")
    ended = pl.concat(
        evidence.tables["epochs"]
        .filter(pl.col("kind").cast(pl.String).is_in(kinds))
        .select(call=at, reason=pl.lit(reason))
        .unique()
        .collect()
        .join(numbers, on="call")
        .select("reason", source="row")
        for reason, (kinds, at) in ENDED_BY.items()
    )
    ends = rows.select(end_call="call", end_enter_ps="enter_ps")
    until = pl.when(pl.col("reason") == "exposure").then("end_enter_ps").otherwise("enter_ps") + pl.col("wait_ps")
    epochs = epochs.join(ends, on="end_call", how="left").with_columns(until_ps=until).drop_nulls("until_ps")
    begins = rows.select("row", waits_for="location", until_ps="enter_ps").with_columns(released=pl.lit(value=False))
    released = rows.select("row", waits_for="location", until_ps="leave_ps").with_columns(released=pl.lit(value=True))
    sources = pl.concat([begins, released]).rename({"row": "source"})
    found = epochs.with_columns(released=pl.col("reason") == "lock").join(
        sources, on=["waits_for", "until_ps", "released"]
    )
    begun = numbers.rename({"call": "begin_call", "row": "begin_row"})
    found = pl.concat([found, _completed_later(epochs, ended, rows)], how="diagonal")
    waiting = _waiting(_of_epochs(found, ended).join(begun, on="begin_call", how="left"), rows)
    # What is left where an epoch begins, or an exposure ends, is the other one's word on its way.
    word = (pl.col("reason") == "exposure") | ((pl.col("reason") == "access") & (pl.col("row") == pl.col("begin_row")))
    return waiting.with_columns(own=~word.fill_null(value=False)).drop("begin_row")


def _completed_later(epochs: pl.DataFrame, ended: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Exposures that are over before an access of theirs is completed, as clocks have it that disagree: its completion
    is the next one there, and comes later by less than was waited for it."""
    completing = ended.filter(pl.col("reason") == "exposure").select("source")
    completing = completing.join(rows.select("row", "location", "enter_ps"), left_on="source", right_on="row")
    left = rows.select(end_call="call", until_ps="leave_ps")
    over = epochs.filter(pl.col("reason") == "exposure").join(left, on=["end_call", "until_ps"], how="semi")
    return (
        over.sort("until_ps")
        .join_asof(
            completing.select("source", waits_for="location", at_ps="enter_ps").sort("at_ps"),
            left_on="until_ps",
            right_on="at_ps",
            by="waits_for",
            strategy="forward",
            check_sortedness=False,
        )
        .filter(pl.col("at_ps") > pl.col("until_ps"), pl.col("at_ps") - pl.col("until_ps") < pl.col("wait_ps"))
        .drop("at_ps")
        .with_columns(released=pl.lit(value=False))
    )


def _of_epochs(found: pl.DataFrame, ends: pl.DataFrame) -> pl.DataFrame:
    """Of several calls at that instant, as a coarse clock has them: those that begin or end an epoch that is waited
    for, where there is one."""
    known = found.join(ends.with_columns(ends_it=pl.lit(value=True)), on=["source", "reason"], how="left")
    wait = ["location", "waits_for", "until_ps", "reason"]
    ends_it = pl.col("ends_it").fill_null(value=False)
    return known.filter(ends_it == ends_it.max().over(wait)).drop("ends_it")


def _transfers(evidence: Evidence, rows: pl.DataFrame) -> pl.DataFrame:
    way_back = pl.col("latency_ps") // 2 if evidence.divides("latency") else pl.lit(0)
    queued = (
        evidence.tables["transfers"]
        .filter(pl.col("processor_queueing_ps") > 0, pl.col("target") >= 0)
        .select(
            "location",
            waits_for="target",
            start_ps="start_ps",
            there_ps=pl.col("complete_leave_ps") - way_back,
            end_ps="complete_leave_ps",
        )
        .collect()
    )
    if queued.is_empty():
        return NONE
    enters = rows.select(pl.col("row").alias("source"), waits_for="location", until_ps="enter_ps").sort("until_ps")
    enters = enters.with_columns(at_ps="until_ps")

    def attended(transfers: pl.DataFrame, until: str) -> pl.DataFrame:
        """With the last call that their target entered until then, if that was behind their start."""
        last = transfers.sort(until).join_asof(
            enters, left_on=until, right_on="at_ps", by="waits_for", strategy="backward", check_sortedness=False
        )
        return last.with_columns(pl.when(pl.col("until_ps") > pl.col("start_ps")).then("source"))

    found = attended(queued, "there_ps")
    # A clock that is coarser than the way back has the target enter only behind it.
    late = attended(found.filter(pl.col("source").is_null()).select(queued.columns), "end_ps")
    found = pl.concat([found, late]).drop_nulls("source")
    known = found.with_columns(reason=pl.lit("target"), begin_row=pl.lit(None, dtype=pl.UInt32))
    return _waiting(known, rows).with_columns(own=pl.lit(value=True)).drop("begin_row")


def _waiting(found: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The first call that lasts until then, and what it takes without the wait: of several, behind the last one."""
    lasts = rows.select("row", "location", "enter_ps", "leave_ps", at_ps="leave_ps").sort("at_ps")
    calls = (
        found.select("location", "source", "until_ps", "reason", "begin_row")
        .sort("until_ps")
        .join_asof(
            lasts, left_on="until_ps", right_on="at_ps", by="location", strategy="forward", check_sortedness=False
        )
        .drop_nulls("row")
        .filter(pl.col("enter_ps") < pl.col("until_ps"))
    )
    rest = (pl.col("leave_ps") - pl.col("until_ps")).min().over("row")
    return calls.select(
        pl.col("row").cast(pl.Int64),
        pl.col("source").cast(pl.Int64),
        "reason",
        "begin_row",
        rest_ps=rest.cast(pl.Int64),
    )
