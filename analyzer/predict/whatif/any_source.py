"""Receives whose sender the program left open: a prediction keeps the one whose message arrived first in the
recording."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.findings.evidence.places import NOWHERE, places_of
from logpost.analyzer.run.directory import Run


def open_choices(run: Run) -> pl.DataFrame:
    """Messages whose receive named no sender, and could have taken another one's message: a row each, as in `messages`.

    Others may have been taken where the receiver gets messages of the same communicator and tag from several senders,
    or takes several senders' messages by such receives, which may have left the tag open as well.
    """
    named = {"location": "recv_location", "number": "recv_number"}
    receives = run.facts("any_source").rename(named).collect()
    messages = run.facts("messages")
    if receives.is_empty():
        return messages.head(0).collect()
    senders = pl.col("send_location").n_unique()
    mine = messages.join(receives.lazy(), on=list(named.values()), how="semi").collect()
    by_tag, by_receive = ["recv_location", "comm", "tag"], ["recv_location", "comm"]
    same_tag = (
        messages.join(mine.select(by_tag).unique().lazy(), on=by_tag, how="semi")
        .group_by(by_tag)
        .agg(senders.alias("of_tag"))
        .collect()
    )
    return (
        mine.join(same_tag, on=by_tag, how="left")
        .filter((pl.col("of_tag") > 1) | (senders.over(by_receive) > 1))
        .drop("of_tag")
    )


def choice_notes(run: Run, mine: pl.DataFrame) -> list[str]:
    """A sentence on these, with the place where most of them are; none: there are none, or the archive does not say."""
    if mine.is_empty():
        return []
    messages = run.facts("messages").select(pl.len()).collect().item()
    callpath = mine.group_by("recv_callpath").len().sort("len", "recv_callpath", descending=[True, False]).row(0)[0]
    place = places_of({name: run.facts(name) for name in ("callpaths", "regions")}).get(callpath, NOWHERE).named
    return [
        f"{mine.height} of {messages} receives took the message that arrived first (MPI_ANY_SOURCE)"
        + (f", most of them in {place}" if place else "")
        + ": each keeps the sender that the trace has, where another's message might have arrived first; another order "
        "may also shorten the program, which the interval does not contain"
    ]
